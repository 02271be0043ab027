package main_test

import (
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/rogpeppe/go-internal/testscript"

	"mcptest/internal/aql"
	"mcptest/internal/cli"
)

func TestMain(m *testing.M) {
	testscript.Main(m, map[string]func(){
		"mcpaql-conformance": conformance,
		"mcpaql-generate":    generate,
	})
}

func conformance() {
	os.Exit(cli.AQLMain(os.Args[1:], cli.Streams{In: os.Stdin, Out: os.Stdout, Err: os.Stderr}))
}

// generate stands in for an adapter generator: it leaves an adapter's folder
// with the bundle that a generated adapter comes with.
func generate() {
	out := ""
	for i, a := range os.Args[:len(os.Args)-1] {
		if a == "--output" {
			out = os.Args[i+1]
		}
	}
	fixtures, err := aql.Fixtures()
	if err == nil {
		err = os.MkdirAll(filepath.Join(out, "conformance"), 0o777)
	}
	if err == nil {
		name := os.Getenv("STAND_IN_BUNDLE")
		for _, f := range fixtures {
			if f.Name == name {
				err = os.WriteFile(filepath.Join(out, "conformance", "reference.json"), f.Data, 0o666)
			}
		}
	}
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}

// recipe returns the commands of the guide's step for generated adapters.
func recipe(t *testing.T) []string {
	t.Helper()
	guide, err := os.ReadFile("../../docs/guides/mcpaql.md")
	if err != nil {
		t.Fatal(err)
	}
	text := strings.ReplaceAll(string(guide), "\r\n", "\n")
	m := regexp.MustCompile("(?s)<!-- recipe: generated adapter -->\n(?:<!--[^\n]*-->\n)?```yaml\n.*?run: \\|\n(.*?)```").FindStringSubmatch(text)
	if m == nil {
		t.Fatal("the guide has no recipe for generated adapters")
	}
	return strings.Split(strings.TrimSpace(m[1]), "\n")
}

// The recipe of the guide works as it is printed: it passes for a good
// adapter, and stops at the first command that a bad one does not pass.
func TestRecipeForGeneratedAdapters(t *testing.T) {
	lines := recipe(t)
	if len(lines) < 2 {
		t.Fatalf("the recipe is %q", lines)
	}
	good, bad := "env STAND_IN_BUNDLE=level1.json\n", "env STAND_IN_BUNDLE=required-refused.json\n"
	for i, line := range lines {
		command := "exec " + strings.TrimSpace(line) + "\n"
		good += command
		switch i {
		case 0:
			bad += command
		case 1:
			bad += "! " + command + "stdout 'FAIL: Required parameters are enforced'\n"
		}
	}
	good += "exists results.json badge.svg\ngrep 'Level 1' badge.svg\nexec mcpaql-conformance diff results.json results.json\n"
	good += "exec mcpaql-conformance verify-fixtures\nstdout 'PASS level1.json -> expected 0, got 0'\n! stdout FAIL\n"
	dir := t.TempDir()
	for name, script := range map[string]string{"good.txtar": good, "bad.txtar": bad} {
		if err := os.WriteFile(filepath.Join(dir, name), []byte(script), 0o666); err != nil {
			t.Fatal(err)
		}
	}
	testscript.Run(t, testscript.Params{Dir: dir})
}
