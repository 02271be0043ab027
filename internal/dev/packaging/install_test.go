package main

import (
	"context"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"
	"testing"
	"time"
)

// The packages are installed into empty folders, without the network, and run
// the first example of the README.

func TestInstalledPackages(t *testing.T) {
	root := slowTest(t)
	out := t.TempDir()
	if err := run([]string{"-version", "0.0.0-dev", "-out", out}); err != nil {
		t.Fatal(err)
	}
	t.Run("npm", func(t *testing.T) {
		p, err := platformOf(runtime.GOOS, runtime.GOARCH)
		if err != nil {
			t.Fatal(err)
		}
		dir := exampleFolder(t, root)
		command(t, dir, 0, "npm", "install", "--offline", "--no-audit", "--no-fund", "--loglevel=error",
			filepath.Join(out, "mcptest-0.0.0-dev.tgz"), filepath.Join(out, "mcptest-"+p.os+"-"+p.cpu+"-0.0.0-dev.tgz"))
		runsExample(t, dir, "npx", "--no-install", "mcptest")
		// The three commands of docs/guides/first-suite.md, without its server.
		command(t, dir, 0, "npx", "--no-install", "mcptest", "init", "--", "npx", "--no-install", "mcptest", "mock", "--preset", "echo")
		command(t, dir, 0, "npx", "--no-install", "mcptest", "run")
		command(t, dir, 0, "node", "--input-type=module", "-e", "import {binary} from 'mcptest'; if (!binary().includes('node_modules')) process.exit(1)")
		if err := os.RemoveAll(filepath.Join(dir, "node_modules", "@mcptest")); err != nil {
			t.Fatal(err)
		}
		text := command(t, dir, 4, "npx", "--no-install", "mcptest", "--version")
		if !strings.Contains(text, "mcptest: the package @mcptest/"+p.os+"-"+p.cpu+" is not installed") {
			t.Errorf("without the package of the platform: %s", text)
		}
	})
	t.Run("vitest 3", func(t *testing.T) { runsVitest(t, out, "3") })
	t.Run("vitest 4", func(t *testing.T) { runsVitest(t, out, "4") })
	t.Run("pytest", func(t *testing.T) { runsPytest(t, out) })
	t.Run("formula", func(t *testing.T) {
		// Homebrew is not here; the suite in the formula's test is run without it.
		text, err := os.ReadFile("packaging/homebrew/mcptest.rb.tmpl")
		if err != nil {
			t.Fatal(err)
		}
		_, rest, _ := strings.Cut(string(text), "<<~YAML\n")
		suite, _, found := strings.Cut(rest, "    YAML\n")
		if !found {
			t.Fatal("the formula has no suite")
		}
		dir, program := t.TempDir(), filepath.Join(out, "build", "mcptest")
		put(t, filepath.Join(dir, "mcptest.yaml"), strings.ReplaceAll(suite, "#{bin}/mcptest", program))
		command(t, dir, 0, program, "run")
	})
	t.Run("wheel", func(t *testing.T) {
		dir := exampleFolder(t, root)
		wheels, err := filepath.Glob(filepath.Join(out, "*.whl"))
		if err != nil || len(wheels) != 1 {
			t.Fatalf("%v %v", wheels, err)
		}
		command(t, dir, 0, "python3", "-m", "venv", "env")
		bin := filepath.Join(dir, "env", "bin")
		command(t, dir, 0, filepath.Join(bin, "pip"), "install", "--quiet", "--no-index", "--disable-pip-version-check", wheels[0])
		runsExample(t, dir, filepath.Join(bin, "mcptest"))
		runsExample(t, dir, filepath.Join(bin, "python"), "-m", "mcptest")
	})
}

// slowTest skips the test outside `make packages-test`. It changes to the root
// of the project and returns it.
func slowTest(t *testing.T) string {
	t.Helper()
	if os.Getenv("MCPTEST_PACKAGES") == "" {
		t.Skip("MCPTEST_PACKAGES is not set: make packages-test")
	}
	t.Chdir("../../..")
	root, err := os.Getwd()
	if err != nil {
		t.Fatal(err)
	}
	return root
}

// exampleFolder has the files of the README's first example, and nothing else.
func exampleFolder(t *testing.T, root string) string {
	t.Helper()
	dir := t.TempDir()
	for _, name := range []string{"suite-composition.yml", "composition-mock.yaml"} {
		data, err := os.ReadFile(filepath.Join(root, "examples", name))
		if err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(filepath.Join(dir, name), data, 0o644); err != nil {
			t.Fatal(err)
		}
	}
	return dir
}

func runsExample(t *testing.T, dir string, program ...string) {
	t.Helper()
	text := command(t, dir, 0, append(program, "run", "--config", "suite-composition.yml")...)
	if !strings.Contains(text, "PASSED  4 passed of 4 tests") {
		t.Errorf("%v run: %s", program, text)
	}
	// The exit code of the program is the one of the launcher.
	command(t, dir, 7, append(program, "run", "--config", "suite-composition.yml", "--filter", "no such test")...)
}

// command runs a program and checks its exit code.
func command(t *testing.T, dir string, want int, argv ...string) string {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), 2*time.Minute)
	defer cancel()
	cmd := exec.CommandContext(ctx, argv[0], argv[1:]...)
	cmd.Dir = dir
	text, err := cmd.CombinedOutput()
	if cmd.ProcessState == nil || cmd.ProcessState.ExitCode() != want {
		t.Fatalf("%v: %v, expected exit code %d\n%s", argv, err, want, text)
	}
	return string(text)
}
