package compat

import (
	"slices"
	"strings"
	"testing"

	"mcptest/internal/jsonv"
)

// A warning is "degraded" for clients and directories alike. The errors of a
// directory that was not chosen are warnings, which fail no check, but count in
// its verdict.
func TestVerdicts(t *testing.T) {
	t.Parallel()
	always := mustParse(t, `false`)
	rule := func(id, profile string, level Level) Rule {
		r := Rule{ID: id, Profile: profile, Effect: SessionLost, Level: level, On: "name", Must: always, Message: "m", Fix: "f"}
		if err := r.compile(builtinRules(t)); err != nil {
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

// Without the server's name, a tool's name that is too long with every name of a
// server is an error; one that is too long with a usual name is a note.
func TestUnknownServer(t *testing.T) {
	t.Parallel()
	for length, want := range map[int]int{56: 0, 57: 1} {
		rep, err := Check(t.Context(), []List{{Tools: []jsonv.Value{mustParse(t, `{"name": "`+strings.Repeat("x", length)+`"}`)}}},
			builtinRules(t).Only([]string{"claude"}, nil), today)
		found := slices.IndexFunc(rep.Findings, func(f Finding) bool { return f.Rule == "claude-qualified-name" })
		if err != nil || (found >= 0) != (want > 0) || len(rep.Notes) != 1 {
			t.Errorf("%d characters: %v, %v, %v", length, err, rep.Findings, rep.Notes)
		}
	}
}
