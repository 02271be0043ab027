package jsonschema_test

import (
	"regexp"
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"

	"mcptest/internal/base/jsonschema"
	"mcptest/internal/base/jsonv"
)

// Walk finds the schemas in every form of keyword, and nothing in values that only look
// like schemas.
func TestWalk(t *testing.T) {
	t.Parallel()
	v, err := jsonv.Parse([]byte(`{
		"properties": {"a/b": {"items": [{"type": "string"}, true]}, "not": "no schema, but named"},
		"items": {"not": {}}, "not": [{}], "allOf": {"type": "string"}, "anyOf": [{"const": {"not": {}}}],
		"dependencies": {"a": ["b"], "c": {}}, "additionalProperties": false, "enum": [{"items": {}}], "x-own": {"items": {}}, "$ref": {}
	}`))
	if err != nil {
		t.Fatal(err)
	}
	var got, some []string
	jsonschema.Walk(v, "/at", func(at, keyword string, _ jsonv.Value) bool {
		got = append(got, keyword+" "+at)
		return true
	})
	want := []string{
		" /at", "properties /at/properties/a~1b", "items /at/properties/a~1b/items/0", "items /at/properties/a~1b/items/1", "properties /at/properties/not",
		"items /at/items", "not /at/items/not", "anyOf /at/anyOf/0", "dependencies /at/dependencies/a", "dependencies /at/dependencies/c", "additionalProperties /at/additionalProperties",
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("places (-want +got):\n%s", diff)
	}
	jsonschema.Walk(v, "", func(at, keyword string, _ jsonv.Value) bool {
		some = append(some, at)
		return keyword != "properties" && keyword != "items"
	})
	if slices.Contains(some, "/items/not") || !slices.Contains(some, "/items") {
		t.Errorf("a visit that returns false goes on inside: %v", some)
	}
}

// A text made from a pattern is short, in letters and digits where the pattern allows it.
func TestMatching(t *testing.T) {
	t.Parallel()
	for pattern, want := range map[string]string{
		`^[a-z]{2,5}$`: "aa", `[^/]{6}`: "aaaaaa", `^(foo|bar)-\d+x?$`: "foo-1", `.`: "x", `^[A-Z0-9_]*$`: "", `\bfoo\b`: "foo",
	} {
		if got, err := jsonschema.MakeMatching(pattern); got != want || err != nil {
			t.Errorf("Matching(%q) = %q, %v; want %q", pattern, got, err, want)
		}
	}
	for _, pattern := range []string{`(?!a)b`, `$a^`, `[^\x00-\x{10FFFF}]`} {
		if got, err := jsonschema.MakeMatching(pattern); err == nil {
			t.Errorf("Matching(%q) = %q, although nothing matches", pattern, got)
		}
	}
}

// A text made from a pattern matches it, for every pattern.
func FuzzMatching(f *testing.F) {
	for _, s := range []string{`^[a-z]{2,5}$`, `(a|b)*c+`, `[^a-z]`, `\d{3}\.\w`, `((((x){9}){9}){9}){9}`, `$^`, `(?i)abc`, `[^\x00-\x{10FFFF}]`} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, pattern string) {
		s, err := jsonschema.MakeMatching(pattern)
		if err == nil && !regexp.MustCompile(pattern).MatchString(s) {
			t.Errorf("%q does not match %q", s, pattern)
		}
	})
}
