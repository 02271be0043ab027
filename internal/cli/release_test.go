package cli_test

import (
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"go.yaml.in/yaml/v4"
)

// Neither goreleaser nor a container engine is here. What they would stumble
// over first is looked at by hand: files that are not there, and builds that
// don't build.

func TestReleaseConfiguration(t *testing.T) {
	root := filepath.Join("..", "..")
	text, err := os.ReadFile(filepath.Join(root, ".goreleaser.yaml"))
	if err != nil {
		t.Fatal(err)
	}
	var v any
	if err := yaml.Unmarshal(text, &v); err != nil {
		t.Fatal(err)
	}
	c := node{t, v}
	if c.at("version").text() != "2" {
		t.Error("not of version 2")
	}
	ids := map[string]bool{}
	for _, b := range c.at("builds").list() {
		ids[b.at("id").text()] = true
		if _, err := os.Stat(filepath.Join(root, b.at("main").text(), "main.go")); err != nil {
			t.Error(err)
		}
		for _, flag := range b.at("flags").texts() {
			if flag != "-trimpath" && flag != "-buildvcs=true" {
				t.Errorf("flag %s", flag)
			}
		}
	}
	for _, id := range c.at("archives", 0, "ids").texts() {
		if !ids[id] {
			t.Errorf("the archive wants a build called %s", id)
		}
	}
	for _, pattern := range c.at("archives", 0, "files").texts() {
		if found, err := filepath.Glob(filepath.Join(root, pattern)); err != nil || len(found) == 0 {
			t.Errorf("%s: %v %v", pattern, found, err)
		}
	}
}

func TestContainerFile(t *testing.T) {
	root, err := filepath.Abs("../..")
	if err != nil {
		t.Fatal(err)
	}
	text, err := os.ReadFile(filepath.Join(root, "Containerfile"))
	if err != nil {
		t.Fatal(err)
	}
	file := string(text)
	mod, err := os.ReadFile(filepath.Join(root, "go.mod"))
	if err != nil {
		t.Fatal(err)
	}
	want := regexp.MustCompile(`(?m)^go (\d+\.\d+)`).FindSubmatch(mod)[1]
	if !strings.Contains(file, "golang:"+string(want)+" AS build") {
		t.Errorf("the image is not built with Go %s", want)
	}
	for _, m := range regexp.MustCompile(`(?m)^COPY (?:--from=build )?(.*) \S+$`).FindAllStringSubmatch(file, -1) {
		for name := range strings.FieldsSeq(m[1]) {
			name = strings.TrimPrefix(name, "/src/")
			if name = strings.Replace(name, "/out/", "cmd/", 1); name == "." {
				continue
			}
			if _, err := os.Stat(filepath.Join(root, name)); err != nil {
				t.Errorf("COPY %s: %v", m[1], err)
			}
		}
	}
	if !strings.Contains(file, "\nUSER node\n") || !strings.Contains(file, `ENTRYPOINT ["mcptest"]`) {
		t.Error("it does not run the program as an ordinary user")
	}
	build := regexp.MustCompile(`(?m)^RUN (CGO_ENABLED=0 go build .*)$`).FindStringSubmatch(file)
	if build == nil {
		t.Fatal("it builds nothing")
	}
	out := t.TempDir()
	cmd := exec.Command("sh", "-ec", strings.Replace(build[1], "/out/", out+"/", 1))
	cmd.Dir = root
	if text, err := cmd.CombinedOutput(); err != nil {
		t.Fatalf("%v\n%s", err, text)
	}
	for _, program := range []string{"mcptest", "mcpaql-conformance"} {
		text, err := exec.Command(filepath.Join(out, program), "--version").CombinedOutput()
		if err != nil || !strings.HasPrefix(string(text), program+" ") {
			t.Errorf("%s --version: %v %s", program, err, text)
		}
	}
}
