package detach

import (
	"errors"
	"os"
	"slices"
	"strings"
	"testing"

	"mcptest/internal/process/proc"
	"mcptest/internal/run"
	"mcptest/internal/spec/suite"
)

func TestEnvironmentFromSetupToTeardown(t *testing.T) {
	t.Chdir(t.TempDir())
	if _, err := Open(); !errors.Is(err, ErrNothing) {
		t.Fatalf("an empty folder: %v", err)
	}
	su := &suite.Suite{EnvRead: []suite.Var{{Name: "TOKEN", Value: "then"}}, EnvMissing: []string{"REGION"}}
	st, err := Begin([]*suite.Suite{su}, Options{Vars: []string{"a=1"}})
	if err != nil {
		t.Fatal(err)
	}
	if _, err := Begin(nil, Options{}); err == nil || !strings.Contains(err.Error(), "another mcptest is using") {
		t.Errorf("a second setup at the same time: %v", err)
	}
	groups := proc.Snapshot{Groups: []proc.Ref{{Pid: 1, Name: "db"}}, Mark: "MCPTEST_RUN=x"}
	if err := st.Detach([]run.SavedState{{File: "s.yaml"}}, groups); err != nil {
		t.Fatal(err)
	}
	st.Release()
	if info, err := os.Stat(statePath(Dir)); err != nil || info.Mode().Perm()&0o077 != 0 {
		t.Errorf("the state file: %v, %v", info, err)
	}
	if _, err := Begin(nil, Options{}); !Running() || err == nil || !strings.Contains(err.Error(), "already running here") {
		t.Errorf("a second setup: %v", err)
	}
	got, err := Open()
	if err != nil || got.Damage != nil || len(got.Files) != 1 || got.Mark != groups.Mark || !slices.Equal(got.Vars, st.Vars) {
		t.Fatalf("got %+v, %v", got, err)
	}
	if env := got.Environ([]string{"TOKEN=now", "REGION=eu", "HOME=/"}); !slices.Equal(env, []string{"HOME=/", "TOKEN=then"}) {
		t.Errorf("got %v", env)
	}
	if err := got.Remove(); err != nil {
		t.Fatal(err)
	}
	got.Release()
	if Running() {
		t.Error("it is still there")
	}
}

// The processes are known even if the state file is damaged; without them the
// user learns how to find them.
func TestDamagedState(t *testing.T) {
	t.Chdir(t.TempDir())
	st, err := Begin(nil, Options{})
	if err != nil {
		t.Fatal(err)
	}
	if err := st.Detach(nil, proc.Snapshot{Mark: "MCPTEST_RUN=x"}); err != nil {
		t.Fatal(err)
	}
	st.Release()
	for _, text := range []string{"{", `{"schema": "mcptest.up/v9"}`} {
		if err := os.WriteFile(statePath(Dir), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		got, err := Open()
		if err != nil || got.Damage == nil || got.Mark != "MCPTEST_RUN=x" {
			t.Fatalf("%s: got %+v, %v", text, got, err)
		}
		got.Release()
	}
	if err := os.Remove(processesPath(Dir)); err != nil {
		t.Fatal(err)
	}
	if _, err := Open(); err == nil || !strings.Contains(err.Error(), "stop the processes yourself") {
		t.Errorf("got %v", err)
	}
}

// What a killed setup left is removed.
func TestUnfinishedSetup(t *testing.T) {
	t.Chdir(t.TempDir())
	st, err := Begin(nil, Options{})
	if err != nil {
		t.Fatal(err)
	}
	st.Release()
	if _, err := Open(); !errors.Is(err, ErrNothing) {
		t.Errorf("got %v", err)
	}
	if _, err := os.Stat(Dir); !errors.Is(err, os.ErrNotExist) {
		t.Errorf("the folder: %v", err)
	}
}
