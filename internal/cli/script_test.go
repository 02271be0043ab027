package cli_test

import (
	"bytes"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strconv"
	"strings"
	"testing"

	"github.com/rogpeppe/go-internal/testscript"

	"mcptest/internal/base/testkit"
	"mcptest/internal/cli"
	"mcptest/internal/cli/cmdutil"
	"mcptest/internal/mcpaql/aqlcli"
)

// The scripts below testdata/script run both programs like a user. The test binary is
// linked under the names of the others, so nothing has to be installed.
func TestMain(m *testing.M) {
	if runStandIn() {
		return
	}
	linked := commands()
	if runtime.GOOS == "windows" { // copies take a minute: addStandIns links
		linked = map[string]func(){"mcptest": linked["mcptest"]}
	}
	testscript.Main(withCache{m}, linked)
}

// commands are the programs that scripts start, by name.
func commands() map[string]func() {
	return map[string]func(){
		"mcptest": func() { os.Exit(cli.Main(os.Args[1:], cmdutil.System())) },
		"mcpaql-conformance": func() {
			os.Exit(aqlcli.Main(os.Args[1:], cmdutil.System()))
		},
		"sdkserver":   sdkServerMain,
		"toolsets":    toolsetsMain,
		"everything":  everythingMain,
		"serving":     servingMain,
		"big":         bigMain,
		"soak-helper": soakHelper,
		"oauthserver": oauthServerMain,
		"browser":     browserMain,
		"netcount":    netcountMain,
		"measured":    measuredMain,
		"apiserver":   apiServerMain,
		"judgeserver": judgeServerMain,
		"boundary":    boundaryMain,
		"fakemodel":   fakeModelMain,
		"statuses":    statusesMain,
		"leaky":       leakyMain,
		"greenserver": greenMain,
		"counting":    countingMain,
		"bundler":     bundlerMain,
	}
}

// withCache runs the tests with an empty cache directory, because live runs keep journals
// there. The cache of the Go command is kept.
type withCache struct{ m *testing.M }

func (w withCache) Run() int {
	if user, err := os.UserCacheDir(); err == nil && os.Getenv("GOCACHE") == "" {
		if err := os.Setenv("GOCACHE", filepath.Join(user, "go-build")); err != nil {
			fmt.Fprintln(os.Stderr, err)
			return 1
		}
	}
	dir, err := os.MkdirTemp("", "mcptest-cache-")
	if err == nil {
		defer os.RemoveAll(dir)
		err = os.Setenv("XDG_CACHE_HOME", dir)
	}
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		return 1
	}
	if err := errors.Join(linkProgram(), addStandIns()); err != nil {
		fmt.Fprintln(os.Stderr, err)
		return 1
	}
	return w.m.Run()
}

// linkProgram replaces mcptest in the PATH by the program that a user starts: each start
// takes a fifth less time of a processor than one of the larger test binary, and there are
// thousands. The flags are those of the tests, so that only the linker has work to do.
// Coverage is only counted in the test binary.
func linkProgram() error {
	if testing.CoverMode() != "" {
		return nil
	}
	path, err := exec.LookPath("mcptest")
	if err != nil {
		return err
	}
	if built := os.Getenv("MCPTEST_PROGRAM"); built != "" { // where there is no Go: tools/windows
		return copyProgram(built, path)
	}
	built := path + ".built"
	cmd := exec.Command("go", "build", "-buildvcs=false", "-o", built, "mcptest/cmd/mcptest")
	if out, err := cmd.CombinedOutput(); err != nil {
		return fmt.Errorf("build mcptest: %w\n%s", err, out)
	}
	return os.Rename(built, path)
}

// copyProgram replaces a file by a copy of another. The file is a link to the test, which
// runs and cannot be written to.
func copyProgram(from, to string) error {
	program, err := os.ReadFile(from)
	if err != nil {
		return err
	}
	if err := os.WriteFile(to+".copy", program, 0o755); err != nil {
		return err
	}
	return os.Rename(to+".copy", to)
}

func TestScripts(t *testing.T) {
	t.Parallel()
	runScripts(t, "testdata/script/*")
}

// TestDeepScripts runs the scripts whose measurements take long, and those that make test
// skips, or of which it runs the first part.
func TestDeepScripts(t *testing.T) {
	if !testkit.Deep() {
		t.Skip("only in make deep")
	}
	files := scriptsIn(t, "testdata/deep")
	for _, file := range scriptsIn(t, "testdata/script/*") {
		script, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		if bytes.Contains(script, []byte("\n[!deep] ")) {
			files = append(files, file)
		}
	}
	testscript.Run(t, scriptParams(t, files))
}

// TestSkippedScriptsAreListed checks that docs/spec/tests.md names each script that make test
// leaves out.
func TestSkippedScriptsAreListed(t *testing.T) {
	page, err := os.ReadFile("../../docs/spec/tests.md")
	if err != nil {
		t.Fatal(err)
	}
	listed := map[string]string{} // the row of each area
	for row := range strings.Lines(string(page)) {
		area, rest, _ := strings.Cut(strings.TrimPrefix(row, "| "), " | ")
		listed[area] = rest
	}
	for _, file := range scriptsIn(t, "testdata/script/*") {
		script, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		area, name := filepath.Base(filepath.Dir(file)), strings.TrimSuffix(filepath.Base(file), ".txtar")
		skipped := bytes.Contains(script, []byte("\n[!deep] skip"))
		if isListed := strings.Contains(listed[area], "`"+name+"`"); isListed != skipped {
			t.Errorf("%s: left out of make test: %t, in docs/spec/tests.md: %t", file, skipped, isListed)
		}
	}
}

// runScripts runs the scripts of each folder that matches a pattern.
func runScripts(t *testing.T, folders string) {
	dirs, err := filepath.Glob(folders)
	if err != nil {
		t.Fatal(err)
	}
	for _, dir := range dirs {
		t.Run(filepath.Base(dir), func(t *testing.T) {
			t.Parallel()
			testscript.Run(t, scriptParams(t, scriptsIn(t, dir)))
		})
	}
}

// scriptsIn returns the files of the scripts in each folder that matches a pattern.
func scriptsIn(t *testing.T, folders string) []string {
	t.Helper()
	files, err := filepath.Glob(folders + "/*.txtar")
	if err != nil || len(files) == 0 {
		t.Fatalf("%s has no scripts: %v", folders, err)
	}
	return files
}

// scriptParams returns how scripts are run.
func scriptParams(t *testing.T, files []string) testscript.Params {
	t.Helper()
	hearHangup()
	root, err := filepath.Abs(filepath.Join("..", ".."))
	if err != nil {
		t.Fatal(err)
	}
	root = filepath.ToSlash(root) // scripts write it into suites
	return testscript.Params{
		Files:               files,
		RequireExplicitExec: true,
		UpdateScripts:       os.Getenv("UPDATE_SCRIPTS") != "",
		Condition: func(name string) (bool, error) {
			if name != "deep" {
				return false, fmt.Errorf("unknown condition %q", name)
			}
			return testkit.Deep(), nil
		},
		Setup: func(e *testscript.Env) error {
			e.Setenv("ROOT", root)
			e.Setenv("NO_COLOR", "1")
			e.Setenv("CI", "")
			e.Setenv("GOGC", "400") // most programs end before they have to collect garbage
			e.Setenv("PORT1", strconv.Itoa(testkit.FindFreePort()))
			e.Setenv("PORT2", strconv.Itoa(testkit.FindFreePort()))
			return standInForFiles(e.WorkDir)
		},
	}
}
