package aqlcli_test

import (
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"testing"

	"github.com/rogpeppe/go-internal/testscript"

	"mcptest/internal/cli/cmdutil"
	"mcptest/internal/mcpaql/aqlcli"
)

// The scripts below testdata/script run the program as its users do: the test
// binary is linked under its name, so nothing has to be installed.
func TestMain(m *testing.M) {
	testscript.Main(withCache{m}, map[string]func(){
		"mcpaql-conformance": func() { os.Exit(aqlcli.Main(os.Args[1:], cmdutil.System())) },
	})
}

// withCache runs the tests with an empty cache folder: live runs keep journals
// and verdicts there.
type withCache struct{ m *testing.M }

func (w withCache) Run() int {
	dir, err := os.MkdirTemp("", "mcpaql-cache-")
	if err == nil {
		defer os.RemoveAll(dir)
		err = os.Setenv("XDG_CACHE_HOME", dir)
	}
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		return 1
	}
	return w.m.Run()
}

func TestScripts(t *testing.T) {
	t.Parallel()
	testscript.Run(t, testscript.Params{
		Dir:                 "testdata/script",
		RequireExplicitExec: true,
		UpdateScripts:       os.Getenv("UPDATE_SCRIPTS") != "",
		Setup: func(e *testscript.Env) error {
			e.Setenv("NO_COLOR", "1")
			e.Setenv("CI", "")
			if runtime.GOOS == "windows" { // where os.UserCacheDir does not know XDG_CACHE_HOME
				e.Setenv("LocalAppData", filepath.Join(e.WorkDir, ".cache"))
			}
			return nil
		},
	})
}
