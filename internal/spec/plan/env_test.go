package plan_test

import (
	"slices"
	"testing"

	"mcptest/internal/spec/plan"
)

// A server gets the variables that all programs need, those that it lists, and those of the
// suite; from .env only those that it lists. Hooks and steps get all.
func TestEnvironments(t *testing.T) {
	env := []string{"PATH=/bin", "LC_ALL=C", "TOKEN=outside", "LISTED=outside", "BOTH=outside", "MODE=outside"}
	p := planOf(t, plan.Settings{Env: env}, `env: {MODE: suite, PORT: 1}
servers:
  minimal: {command: [x]}
  listed: {command: [x], inherit_env: [LISTED, FROM_FILE, BOTH], env: {PORT: 2}}
  all: {command: [x], inherit_env: all}
default_server: minimal
tools: [{name: n, tool: t}]
`, ".env", "FROM_FILE=file\nBOTH=file\nOTHER=file\n")
	f := p.Files[0]
	for name, want := range map[string][]string{
		"minimal": {"LC_ALL=C", "MODE=suite", "PATH=/bin", "PORT=1"},
		"listed":  {"BOTH=outside", "FROM_FILE=file", "LC_ALL=C", "LISTED=outside", "MODE=suite", "PATH=/bin", "PORT=2"},
		"all":     {"BOTH=outside", "LC_ALL=C", "LISTED=outside", "MODE=suite", "PATH=/bin", "PORT=1", "TOKEN=outside"},
	} {
		got := slices.Sorted(slices.Values(f.Server(name).Env))
		if !slices.Equal(got, want) {
			t.Errorf("%s: got %q, want %q", name, got, want)
		}
	}
	want := []string{"BOTH=outside", "FROM_FILE=file", "LC_ALL=C", "LISTED=outside", "MODE=suite", "OTHER=file", "PATH=/bin", "PORT=1", "TOKEN=outside"}
	if got := slices.Sorted(slices.Values(f.HookEnv)); !slices.Equal(got, want) {
		t.Errorf("hooks: got %q, want %q", got, want)
	}
}
