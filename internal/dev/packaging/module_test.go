package main

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
)

// TestModulePath: after `make module` another module can use the public package under
// its new path, and the structure tests still pass.
func TestModulePath(t *testing.T) {
	if os.Getenv("MCPTEST_MODULE") == "" {
		t.Skip("compiles everything again: make release-check")
	}
	const module = "code.example/owner/mcptest"
	root := filepath.Join("..", "..", "..")
	clone, consumer := filepath.Join(t.TempDir(), "mcptest"), t.TempDir()
	run := func(dir, name string, args ...string) string {
		t.Helper()
		cmd := exec.Command(name, args...)
		cmd.Dir = dir
		cmd.Env = append(os.Environ(), "GOFLAGS=-buildvcs=false", "GOWORK=off", "PATH="+filepath.Join(clone, "bin")+string(filepath.ListSeparator)+os.Getenv("PATH"))
		out, err := cmd.CombinedOutput()
		if err != nil {
			t.Fatalf("%s %s: %v\n%s", name, strings.Join(args, " "), err, out)
		}
		return string(out)
	}
	run(root, "git", "-c", "safe.directory=*", "clone", "-q", ".", clone)
	run(clone, "make", "module", "MODULE="+module)
	if left := run(clone, "git", "-c", "safe.directory=*", "diff", "--stat"); !strings.Contains(left, "go.mod") {
		t.Fatalf("nothing changed:\n%s", left)
	}
	run(clone, "go", "test", "./internal/dev/arch", "-run", "Imports|Rooms|Linter|Table")
	run(clone, "go", "build", "-o", "bin/", "./cmd/mcptest")

	put(t, filepath.Join(consumer, "go.mod"), "module consumer.example/server\n\ngo 1.26.0\n")
	put(t, filepath.Join(consumer, "suite.yaml"), "servers:\n  echo: {command: [mcptest, mock, --preset, echo]}\ntools:\n  - {name: echoes, tool: echo, args: {message: hi}}\n")
	put(t, filepath.Join(consumer, "server_test.go"), "package server_test\n\nimport (\n\t\"testing\"\n\n\t\""+module+"\"\n)\n\nfunc TestServer(t *testing.T) { mcptest.Test(t, \"suite.yaml\") }\n")
	run(consumer, "go", "mod", "edit", "-require", module+"@v0.0.0", "-replace", module+"="+clone)
	run(consumer, "go", "mod", "tidy")
	if out := run(consumer, "go", "test", "-v", "."); !strings.Contains(out, "--- PASS: TestServer/echoes") {
		t.Errorf("the suite did not run:\n%s", out)
	}
}
