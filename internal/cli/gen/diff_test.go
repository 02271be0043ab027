package gen_test

import (
	"fmt"
	"maps"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"mcptest/internal/assert/match"
	"mcptest/internal/base/jsonv"
	"mcptest/internal/base/source"
	"mcptest/internal/base/testkit"
)

// stricter lists what the program finds in a suite and the schema cannot, or
// does not: one kind of mistake a row, by the words of its message.
var stricter = []struct {
	kind  string
	words *regexp.Regexp
}{
	{"a name that nothing in the suite has", re(`no server is called|names no server|no earlier step captures|no default_server`)},
	{"a client that no rule is about", re(`unknown client or directory`)},
	{"the same name twice", re(`already exists|in the list twice|captured twice|declared twice|set twice|has the name of an item|is the name of \d+ items`)},
	{"a reference that can't resolve", re(`refers to itself|is declared later`)},
	{"a placeholder that nothing fills", re(`neither a variable nor set|known in (tests with cases|the later steps)|\}: no "|the environment variable \S+ is not set`)},
	{
		"the grammar of a text: regular expression, target, probe, address, command",
		re(`bad regular expression|the path|unexpected|unknown root|is not an? (http|path|probe|port)|is not tcp|is not a URL|log probe|the command is empty|the program's name is empty`),
	},
	{"the keywords of a JSON Schema", re(`JSON Schema`)},
	{"weights that form no score", re(`every weight of|add up to more`)},
	{"a duration of zero", re(`must be more than zero|must be greater than zero`)},
	{"bounds against each other", re(`no number is between|is more than max`)},
	{"a number that no float holds", re(`out of range|too large`)},
	{"null written out where the empty value is meant", re(`expected a list of (assertions|metrics).*, got null$`)},
	{"a path of a server that has no url", re(`is a path on the default server`)},
	{"a suite without servers, which an import may bring", re(`a suite needs at least one server`)},
	{"a duration for a target that is not in milliseconds", re(`^expected a number, got text "\d+m?s"$`)},
	{"a number for a target that is a text", re(`is always a text`)},
	{"files", re(`can't read|no such file|outside the suite's directory|can't tell what`)},
}

func re(words string) *regexp.Regexp { return regexp.MustCompile(words) }

// excused says which kind of mistake a diagnostic is, "" for one that the
// schema should have found.
func excused(d source.Diagnostic, where string, doc jsonv.Value) string {
	switch {
	case strings.Contains(where, ` = "`) && strings.Contains(where, "${"):
		return "a placeholder whose value does not fit"
	case strings.HasSuffix(where, " = 2.0"):
		return "a whole number written with a fraction"
	}
	for _, row := range stricter {
		if row.words.MatchString(d.Msg) {
			return row.kind
		}
	}
	path, _, _ := strings.Cut(d.Path, " (row")
	if v := nearestAt(doc, path); v.Kind() == jsonv.KindString && strings.Contains(v.Text(), "${") {
		return "a placeholder whose value does not fit"
	}
	return ""
}

// nearestAt returns the value at a path as diagnostics write it, or the
// deepest one above it.
func nearestAt(v jsonv.Value, path string) jsonv.Value {
	for path != "" {
		var next jsonv.Value
		rest := ""
		for key, val := range v.Members() {
			if after, ok := strings.CutPrefix(path, jsonv.JoinKey("", key)); ok && (after == "" || after[0] == '.' || after[0] == '[') {
				next, rest = val, strings.TrimPrefix(after, ".")
			}
		}
		for i, val := range v.Elems() {
			if after, ok := strings.CutPrefix(path, fmt.Sprintf("[%d]", i)); ok {
				next, rest = val, strings.TrimPrefix(after, ".")
			}
		}
		if next.IsAbsent() {
			return v
		}
		v, path = next, rest
	}
	return v
}

// palette is what every value of the corpus is replaced by.
var palette = []string{
	`null`, `true`, `0`, `5`, `-1`, `1.5`, `2.0`, `""`, `"text"`, `"30s"`, `"${region}"`, `"${limit}"`, `"x${region}"`, `"1${limit}"`,
	`[]`, `["a"]`, `[1]`, `[null]`, `[{}]`, `{}`, `{"a": 1}`, `{"a": "b"}`,
}

// TestSchemaAndProgramAgree changes every value of every suite of the corpus
// and asks both. What the program accepts the schema must accept; what only the
// program rejects must be one of the kinds listed above.
func TestSchemaAndProgramAgree(t *testing.T) {
	names, err := filepath.Glob("testdata/suites/*.yaml")
	if err != nil || len(names) == 0 {
		t.Fatal(names, err)
	}
	var values []jsonv.Value
	for _, text := range palette {
		values = append(values, parse(t, "palette", []byte(text)))
	}
	for _, name := range names {
		t.Run(strings.TrimSuffix(filepath.Base(name), ".yaml"), func(t *testing.T) {
			t.Parallel()
			c := newChecker(t)
			total, seen := 0, map[string]int{}
			variants(parse(t, name, read(t, name)), "", values, func(where string, v jsonv.Value) {
				if total++; total%5 != 0 {
					return
				}
				c.compare(t, where, v, seen)
			})
			t.Logf("%d variants", total)
			for _, kind := range slices.Sorted(maps.Keys(seen)) {
				t.Logf("%5d rejected by the program alone: %s", seen[kind], kind)
			}
		})
	}
}

func (c *checker) compare(t *testing.T, where string, v jsonv.Value, seen map[string]int) {
	t.Helper()
	bad := c.bySchema(t, v)
	diags := errorsOf(c.byProgram(t, v.Append(nil)))
	switch {
	case len(bad) > 0 && len(diags) == 0:
		t.Errorf("%s: the program accepts it, the schema says %s: %s: %s", where, bad[0].InstancePath, bad[0].Keyword, bad[0].Msg)
	case len(bad) == 0 && len(diags) > 0:
		kind := ""
		for _, d := range diags {
			if kind = excused(d, where, v); kind == "" {
				t.Errorf("%s: the schema accepts it, the program says %s: %s", where, d.Path, d.Msg)
				return
			}
		}
		seen[kind]++
	}
}

// openData are values that the author chooses freely, or that name what only the
// program knows: nothing to compare.
var openData = regexp.MustCompile(`\.(args|params|content)[.\[]|^check\.for\[`)

// variants calls fn with every variant of a document: each value replaced,
// each key left out, an unknown key added to each map.
func variants(v jsonv.Value, path string, values []jsonv.Value, fn func(where string, v jsonv.Value)) {
	if path != "" && !openData.MatchString(path) {
		for _, to := range values {
			fn(path+" = "+to.String(), to)
		}
	}
	switch v.Kind() {
	case jsonv.KindObject:
		fn(path+" + zzz", v.With("zzz", jsonv.Int(1)))
		for key, val := range v.Members() {
			at := jsonv.JoinKey(path, key)
			fn(at+" left out", v.Without(key))
			variants(val, at, values, func(where string, changed jsonv.Value) { fn(where, v.With(key, changed)) })
		}
	case jsonv.KindArray:
		for i, val := range v.Elems() {
			variants(val, fmt.Sprintf("%s[%d]", path, i), values, func(where string, changed jsonv.Value) {
				items := make([]jsonv.Value, 0, v.Len())
				for j, item := range v.Elems() {
					if j == i {
						item = changed
					}
					items = append(items, item)
				}
				fn(where, jsonv.Array(items...))
			})
		}
	}
}

// TestMatcherArguments is the same for the argument of every matcher.
func TestMatcherArguments(t *testing.T) {
	c := newChecker(t)
	var values []jsonv.Value
	for _, text := range palette {
		values = append(values, parse(t, "palette", []byte(text)))
	}
	for _, row := range match.Matchers() {
		example := parse(t, row.Name, []byte(row.Example))
		seen := map[string]int{}
		n := 0
		variants(example, "", values, func(where string, v jsonv.Value) {
			if n++; !testkit.Deep() && n%3 != 1 {
				return
			}
			doc := parse(t, "suite", []byte(`{servers: {api: {command: [node]}}, models: {judge: {api: openai, url: "http://localhost/v1", model: small}}, variables: {region: eu, limit: 5}, tools: [{name: a, tool: b, expect: [{target: text, matcher: {}}]}]}`))
			if slices.Contains([]string{"gt", "gte", "lt", "lte", "between"}, row.Name) { // the schema accepts durations for every target
				doc = set(doc, jsonv.String("duration_ms"), "tools", "0", "expect", "0", "target")
			}
			c.compare(t, where, set(doc, v, "tools", "0", "expect", "0", "matcher"), seen)
		})
	}
}

// set returns the value with another one at a path of keys and indices.
func set(v, to jsonv.Value, path ...string) jsonv.Value {
	if len(path) == 0 {
		return to
	}
	if v.Kind() == jsonv.KindArray {
		return jsonv.Array(set(v.At(0), to, path[1:]...)) // lists of one
	}
	return v.With(path[0], set(v.Lookup(path[0]), to, path[1:]...))
}
