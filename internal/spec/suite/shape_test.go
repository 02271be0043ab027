package suite_test

import (
	"path/filepath"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"mcptest/internal/spec/suite"
)

// A value of any kind replaces its placeholder completely, and changes nothing else of the
// suite.
func TestValuesKeepTheShape(t *testing.T) {
	dir := write(t, map[string]string{"s.yml": "servers:\n  api: {command: [x], env: {WHOLE: \"${VALUE}\", PART: \"a${VALUE}z\"}}\ntools:\n  - {name: one, tool: t}\n"})
	rapid.Check(t, func(t *rapid.T) {
		value := strings.ReplaceAll(rapid.OneOf(rapid.String(), rapid.SampledFrom([]string{
			"a: b", "x}\ny: [1", "\"", "# no comment", "${VALUE}", "$${", "- one\n- two", "{}", "&a *a", "!!int 5", "null", "\t",
		})).Draw(t, "value"), "\x00", "")
		s, diags := suite.Load(filepath.Join(dir, "s.yml"), suite.Options{BaseDir: dir, Env: []string{"VALUE=" + value}})
		if diags.HasErrors() {
			t.Fatal(diags)
		}
		env := s.Servers[0].Env.Entries
		if len(s.Servers) != 1 || len(env) != 2 || len(s.Entries) != 1 {
			t.Fatalf("%d servers, %d entries, %d tests", len(s.Servers), len(env), len(s.Entries))
		}
		for i, want := range []string{value, "a" + value + "z"} {
			if got := string(env[i].Value); got != want {
				t.Fatalf("%s is %q, want %q", env[i].Key, got, want)
			}
		}
	})
}
