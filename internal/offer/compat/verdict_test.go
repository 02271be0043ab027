package compat

import (
	"strings"
	"testing"

	"mcptest/internal/base/jsonv"
)

// A warning is "degraded" for clients and directories alike. The errors of a
// directory that was not chosen are warnings, which fail no check, but count in
// its verdict.
func TestVerdicts(t *testing.T) {
	t.Parallel()
	always := mustParse(t, `false`)
	rule := func(id, profile string, level Level) Rule {
		r := Rule{
			ID: id, Profile: profile, Effect: SessionLost, Level: level,
			Condition: Condition{On: "name", Must: always}, Message: "m", Fix: "f",
		}
		if err := r.compile(builtinRules(t), newRules); err != nil {
			t.Fatal(err)
		}
		return r
	}
	all := Rules{Profiles: builtinRules(t).Profiles, Rules: []Rule{
		rule("a", "claude", LevelWarning), rule("b", "claude-directory", LevelWarning), rule("c", "chatgpt-apps", LevelError),
	}}
	list := []List{{Tools: []jsonv.Value{mustParse(t, `{"name": "x"}`)}}}
	for _, c := range []struct {
		name             string
		profiles, groups []string
		want             map[string]string
		error, warning   bool
	}{
		{"nothing chosen", nil, nil, map[string]string{"claude": "degraded", "claude-directory": "degraded", "chatgpt-apps": "session lost"}, false, true},
		{"stores", nil, []string{GroupStores}, map[string]string{"claude-directory": "degraded", "chatgpt-apps": "session lost"}, true, true},
		{"one store", []string{"claude-directory"}, nil, map[string]string{"claude-directory": "degraded"}, false, true},
	} {
		rules := all.Only(c.profiles, c.groups)
		rep, err := Check(t.Context(), list, rules, today)
		if err != nil {
			t.Fatal(err)
		}
		for _, v := range rep.Verdicts {
			if want, ok := c.want[v.Profile]; ok && v.Effect != want {
				t.Errorf("%s: %s: %s, expected %s", c.name, v.Profile, v.Effect, want)
			}
		}
		if rep.Failed(LevelError) != c.error || rep.Failed(LevelWarning) != c.warning {
			t.Errorf("%s: failed at error: %t, at warning: %t", c.name, rep.Failed(LevelError), rep.Failed(LevelWarning))
		}
	}
	// Without the client's warning, only directories that were not chosen remain.
	all.Rules = all.Rules[1:]
	rep, err := Check(t.Context(), list, all.Only(nil, nil), today)
	if err != nil || rep.Failed(LevelAdvice) || len(rep.Findings) != 2 {
		t.Errorf("%v, failed: %t, %d findings", err, rep.Failed(LevelAdvice), len(rep.Findings))
	}
}

// Users choose the name of a server: what no name prevents is an error, what a short
// name prevents a warning with that name's length. The name that the server gives
// itself does not count.
func TestNameOfServer(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct {
		length    int
		installed string
		level     Level
		message   string
	}{
		{41, "", "", ""},
		{42, "", LevelWarning, "a name of at most 15 characters"},
		{56, "", LevelWarning, "a name of at most 1 characters"},
		{57, "", LevelError, "with any name of the server"},
		{56, "gitlab", LevelError, "69 characters"},
		{51, "gitlab", "", ""},
		{64, "@scope/gitlab", "", ""}, // Claude Code refuses this name
	} {
		list := List{Server: "@scope/a-server-with-a-long-name", Installed: tt.installed, Tools: []jsonv.Value{mustParse(t, `{"name": "`+strings.Repeat("x", tt.length)+`"}`)}}
		rep, err := Check(t.Context(), []List{list}, builtinRules(t).Only([]string{"claude"}, []string{GroupClients}), today)
		if err != nil {
			t.Fatal(err)
		}
		got := Finding{}
		for _, f := range rep.Findings {
			if f.Rule == "claude-qualified-name" {
				got = f
			}
		}
		if got.Level != tt.level || !strings.Contains(got.Message, tt.message) {
			t.Errorf("%d characters, installed as %q: %s %q", tt.length, tt.installed, got.Level, got.Message)
		}
		if (len(rep.Notes) > 0) != strings.HasPrefix(tt.installed, "@") {
			t.Errorf("%q: notes %q", tt.installed, rep.Notes)
		}
	}
}
