package main

import (
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"go.yaml.in/yaml/v4"
)

// What goreleaser and a container engine would fail on first, without them:
// files that do not exist, and builds that do not build. `make release-check`
// runs goreleaser.

func TestReleaseConfiguration(t *testing.T) {
	root := filepath.Join("..", "..", "..")
	text, err := os.ReadFile(filepath.Join(root, ".goreleaser.yaml"))
	if err != nil {
		t.Fatal(err)
	}
	var c struct {
		Builds []struct {
			ID, Main     string
			Flags        []string
			GOOS, GOARCH []string
		}
		Archives []struct {
			IDs, Files []string
			Name       string `yaml:"name_template"`
		}
	}
	if err := yaml.Unmarshal(text, &c); err != nil {
		t.Fatal(err)
	}
	var ids []string
	for _, b := range c.Builds {
		ids = append(ids, b.ID)
		if _, err := os.Stat(filepath.Join(root, b.Main, "main.go")); err != nil {
			t.Error(err)
		}
		if !slices.Equal(b.Flags, []string{"-trimpath", "-buildvcs=true"}) {
			t.Errorf("flags of %s: %v", b.ID, b.Flags)
		}
		var built []string
		for _, goos := range b.GOOS {
			for _, goarch := range b.GOARCH {
				if _, err := platformOf(goos, goarch); err != nil {
					t.Error(err)
				}
				built = append(built, goos+"/"+goarch)
			}
		}
		if len(built) != len(platforms) {
			t.Errorf("%s is built for %v", b.ID, built)
		}
	}
	archive := c.Archives[0]
	if !slices.Equal(archive.IDs, ids) {
		t.Errorf("the archive has %v, the builds are %v", archive.IDs, ids)
	}
	for _, pattern := range archive.Files {
		if found, err := filepath.Glob(filepath.Join(root, pattern)); err != nil || len(found) == 0 {
			t.Errorf("%s: %v %v", pattern, found, err)
		}
	}
	if want := "mcptest_{{ .Version }}_{{ .Os }}_{{ .Arch }}"; archive.Name != want {
		t.Errorf("archives are called %s, the formula expects %s", archive.Name, want)
	}
}

func TestContainerFile(t *testing.T) {
	root, err := filepath.Abs("../../..")
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
	if !containerBuild.MatchString(file) {
		t.Error("it builds nothing")
	}
}

var containerBuild = regexp.MustCompile(`(?m)^RUN (CGO_ENABLED=0 go build .*)$`)

// TestContainerBuild runs the command that builds the programs of the image. It compiles
// everything with other flags than the tests, so it belongs to `make packages-test`.
func TestContainerBuild(t *testing.T) {
	root := slowTest(t)
	file, err := os.ReadFile("Containerfile")
	if err != nil {
		t.Fatal(err)
	}
	command := string(containerBuild.FindSubmatch(file)[1])
	out := t.TempDir()
	cmd := exec.Command("sh", "-ec", strings.Replace(command, "/out/", out+"/", 1))
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
