package cli_test

import (
	"bytes"
	"maps"
	"os"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"

	"mcptest/internal/assert/match"
	"mcptest/internal/assert/target"
	"mcptest/internal/base/jsonv"
	"mcptest/internal/base/testkit"
	"mcptest/internal/cli"
	"mcptest/internal/cli/cmdutil"
	"mcptest/internal/client/protocol"
	"mcptest/internal/report"
	"mcptest/schemas"
)

// schemaKeys collects the names of all properties of a schema; true for those of the
// arguments of matchers. Reserved keys allow no value.
func schemaKeys(v jsonv.Value, ofMatcher bool, into map[string]bool) {
	for name, prop := range v.Lookup("properties").Members() {
		if not := prop.Lookup("not"); not.Kind() != jsonv.KindObject || not.Len() > 0 {
			already, ok := into[name]
			into[name] = ofMatcher && (already || !ok)
		}
	}
	for name, m := range v.Members() {
		schemaKeys(m, ofMatcher || name == "matcher", into)
	}
	for _, e := range v.Elems() {
		schemaKeys(e, ofMatcher, into)
	}
}

// explain knows every word of a suite or a report, and prints more than the word.
func TestExplainKnowsEveryWord(t *testing.T) {
	t.Parallel()
	schema, err := jsonv.Parse(schemas.V1)
	if err != nil {
		t.Fatal(err)
	}
	matchers := map[string]bool{}
	for _, m := range match.Matchers() {
		matchers[m.Name] = true
		for _, a := range m.Aliases {
			matchers[a] = true
		}
	}
	keys := map[string]bool{}
	schemaKeys(schema, false, keys)
	titles := map[string]string{} // word → a line that its explanation begins with
	for k, ofMatcher := range keys {
		switch {
		case matchers[k]:
		case ofMatcher:
			titles[k] = "matcher "
		default:
			titles[k] = "key " + strings.ReplaceAll(k, "assert_set", "assert-set")
		}
	}
	for _, m := range match.Matchers() {
		titles[m.Name] = "matcher " + m.Name
	}
	for _, r := range target.Roots() {
		titles[r.Name] = "target root " + r.Name
	}
	for _, k := range protocol.ViolationKinds {
		titles[k.Name] = "violation " + k.Name
	}
	titles["output-schema"] = "violation output-schema"
	for _, f := range report.Formats {
		titles[f.Name] = "reporter " + f.Name
	}
	for _, word := range []string{"isError", "score", "csv"} {
		titles[word] = "word " + word
	}
	for _, c := range exitCodesInCode(t) {
		titles[c] = "exit code " + c
	}
	if len(titles) < 150 {
		t.Fatalf("only %d words", len(titles))
	}
	for i, word := range slices.Sorted(maps.Keys(titles)) {
		if i%4 != 0 && !testkit.Deep() {
			continue
		}
		title := titles[word]
		var out, errs bytes.Buffer
		code := cli.Main([]string{"explain", word}, cmdutil.Streams{In: strings.NewReader(""), Out: &out, Err: &errs})
		head := headOf(title)
		if before, after, snake := strings.Cut(word, "_"); snake && !head.MatchString(out.String()) {
			word = before + strings.ToUpper(after[:1]) + after[1:] // another spelling of a key
			head = headOf("key " + word)
		}
		at := head.FindStringIndex(out.String())
		if code != 0 || at == nil {
			t.Errorf("explain %s: exit code %d, no %q: %.200s%s", word, code, title, out.String(), errs.String())
			continue
		}
		if text := strings.TrimSpace(out.String()[at[1]:]); len(text) < 10 {
			t.Errorf("explain %s says nothing: %q", word, out.String())
		}
	}
}

// headOf returns the first line of what explain says under a title. A key that is
// documented in several places has a line for each instead.
func headOf(title string) *regexp.Regexp {
	if title == "matcher " {
		return regexp.MustCompile(`(?m)^matcher \S+$`)
	}
	head := `(?m)^` + regexp.QuoteMeta(title) + `$`
	if name, key := strings.CutPrefix(title, "key "); key {
		head += `|(?m)^(\S+\.)?` + regexp.QuoteMeta(name) + ` \(type: `
	}
	return regexp.MustCompile(head)
}

// exitCodesInCode are the exit codes of the program's constants, and those of the signals
// that end it.
func exitCodesInCode(t *testing.T) []string {
	t.Helper()
	text, err := os.ReadFile("option/exit.go")
	if err != nil {
		t.Fatal(err)
	}
	codes := map[string]bool{"129": true, "130": true, "131": true, "143": true}
	for _, m := range regexp.MustCompile(`(?m)^\tExit[A-Z]\w+\s+= (\d+)`).FindAllStringSubmatch(string(text), -1) {
		if _, err := strconv.Atoi(m[1]); err == nil {
			codes[m[1]] = true
		}
	}
	if len(codes) < 8 {
		t.Fatalf("found only the exit codes %v", codes)
	}
	return slices.Sorted(maps.Keys(codes))
}
