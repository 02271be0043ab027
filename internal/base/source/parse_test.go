package source_test

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"mcptest/internal/base/source"
)

// nested writes n collections inside each other, as flow or as block.
func nested(n int, open string) string { return strings.Repeat(open, n) }

func nestedBlock(n int) string {
	var b strings.Builder
	for i := range n {
		b.WriteString(strings.Repeat(" ", i) + "a:\n")
	}
	return b.String()
}

func aliasBomb(levels, width int) string {
	var b strings.Builder
	b.WriteString("a0: &a0 [x, x, x]\n")
	for i := 1; i <= levels; i++ {
		fmt.Fprintf(&b, "a%d: &a%d [%s]\n", i, i, strings.TrimSuffix(strings.Repeat(fmt.Sprintf("*a%d, ", i-1), width), ", "))
	}
	return b.String()
}

// TestParseRefuses has every reason why a file is not a document, with the first line of
// the message, and a time limit.
func TestParseRefuses(t *testing.T) {
	size := strings.Repeat("# 3456789\n", source.MaxSize/10)
	tests := map[string]struct{ text, want string }{
		"empty":              {"", "suite.yaml:1:1: error: the file is empty"},
		"white space":        {" \n\n  \n", "suite.yaml:1:1: error: the file is empty"},
		"only a BOM":         {"\ufeff", "suite.yaml:1:1: error: the file is empty"},
		"only comments":      {"# a\n  # b\n", "suite.yaml:1:1: error: the file has no content, only comments"},
		"empty document":     {"# a\n---\n", "suite.yaml:1:1: error: the document is empty"},
		"prose with a colon": {"Hello: this is\nnot a suite, but a letter\n", `suite.yaml:2:1: error: this line has no ":", so it is not a key`},
		"HTML":               {"<!DOCTYPE html>\n<html>\n<p>a: b\n", `suite.yaml:2:1: error: this line has no ":", so it is not a key`},
		"binary":             {"\x7fELF\x02\x01\x01\x00\x00", "suite.yaml:1:5: error: a control character (U+0002) in the text"},
		"NUL":                {"a: 1\nb: \x00\n", "suite.yaml:2:4: error: a NUL byte: this is not a text file"},
		"escape":             {"a: \x1b[31m\n", "suite.yaml:1:4: error: a control character (U+001B) in the text"},
		"Latin-1":            {"a: é\nb: caf\xe9\n", "suite.yaml:2:7: error: not UTF-8: byte 0xE9"},
		"surrogate":          {"a: \xed\xa0\x80", "suite.yaml:1:4: error: not UTF-8: byte 0xED"},
		"overlong":           {"a: \xc0\xaf", "suite.yaml:1:4: error: not UTF-8: byte 0xC0"},
		"UTF-16LE BOM":       {"\xff\xfea\x00:\x00", "suite.yaml:1:1: error: the file is encoded in UTF-16, not UTF-8"},
		"UTF-16BE BOM":       {"\xfe\xff\x00a\x00:", "suite.yaml:1:1: error: the file is encoded in UTF-16, not UTF-8"},
		"UTF-16LE":           {"a\x00:\x00 \x001\x00", "suite.yaml:1:1: error: the file is encoded in UTF-16, not UTF-8"},
		"UTF-16BE":           {"\x00a\x00:\x00 \x001", "suite.yaml:1:1: error: the file is encoded in UTF-16, not UTF-8"},
		"UTF-32":             {"\xff\xfe\x00\x00a\x00\x00\x00", "suite.yaml:1:1: error: the file is encoded in UTF-32, not UTF-8"},
		"BOM inside":         {"a: x\ufeffy\n", "suite.yaml:1:5: error: a byte order mark inside the text"},
		"line separator":     {"a: x\u2028y\n", "suite.yaml:1:5: error: an invisible character (U+2028) in the text"},
		"next line":          {"a: x\u0085y\n", "suite.yaml:1:5: error: a control character (U+0085) in the text"},
		"tab":                {"a:\n\tb: 1\n", "suite.yaml:2:1: error: a tab is used as indentation"},
		"tab after spaces":   {"a:\n  b:\n  \tc: 1\n", "suite.yaml:3:3: error: a tab is used as indentation"},
		"tab under a list":   {"a:\n  - b: 1\n\t  c: 1\n", "suite.yaml:3:1: error: a tab is used as indentation"},
		"tab in a block":     {"a: |\n\tx\n", "suite.yaml:2:1: error: a tab is used as indentation"},
		"tab after the dash": {"-\ta: 1\n\tb: 1\n", "suite.yaml:1:2: error: a tab is used as indentation"},
		"too large":          {size + "a: 1\n", "suite.yaml: error: the file is too large: 11 MiB, the limit is 10 MiB"},
		"too many values":    {"[" + strings.Repeat("1,", source.MaxNodes+1) + "]", "suite.yaml: error: the file has too many values: the limit is 1000000"},
		"deep flow":          {nested(100_000, "["), "suite.yaml:1:101: error: nested more than 100 deep"},
		"deep flow map":      {nested(100_000, "{a: "), "suite.yaml:1:401: error: nested more than 100 deep"},
		"deep mixed":         {nested(50_000, "[{a: "), "suite.yaml:1:251: error: nested more than 100 deep"},
		"deep block":         {nestedBlock(2_000), "suite.yaml:101:102: error: nested more than 100 deep"},
		"deep items":         {nested(100_000, "- "), "suite.yaml:1:201: error: nested more than 100 deep"},
		"deep keys":          {nested(100_000, "? "), "suite.yaml:1:201: error: nested more than 100 deep"},
		"deep block in flow": {nested(60, "- ") + nested(60, "[") + nested(60, "]"), "suite.yaml:1:161: error: nested more than 100 deep"},
		"deep by alias":      {"a: &a " + nested(60, "[") + nested(60, "]") + "\nb: " + nested(60, "[") + "*a" + nested(60, "]"), "suite.yaml:2:64: error: with this alias expanded: nested more than 100 deep"},
		"alias bomb":         {aliasBomb(9, 9), "suite.yaml:5:20: error: aliases repeat too much: expanded, the file would have more than 12410 values"},
		"recursive alias":    {"a: &a\n  b: *a\n", `suite.yaml:2:6: error: the alias "*a" is used inside its own value`},
		"unknown alias":      {"a: *b\n", `suite.yaml:1:4: error: unknown alias "*b": no "&b" comes before it`},
		"second document":    {"a: 1\n---\nb: 1\n", "suite.yaml:2:1: error: a second document: a file can contain only one"},
		"third is broken":    {"a: 1\n...\n", ""},
		"second is broken":   {"a: 1\n---\n]\n", `suite.yaml:3:1: error: expected a value, got "]"`},
		"trailing marker":    {"a: 1\n---\n", "suite.yaml:2:1: error: a second document: a file can contain only one"},
		"duplicate":          {"a: 1\nb: 2\n'a': 3\n", `suite.yaml:3:1: error: duplicate key "a"`},
		"unclosed quote":     {"a: 1\nb: 'x\nc: 1\n", "suite.yaml:2:4: error: the quoted text that begins here is never closed"},
		"bang":               {"a: 1\nb: ![x]\n", `suite.yaml:2:4: error: a value can't begin with "!"`},
		"undefined handle":   {"a: 1\nb: !u!x y\n", `suite.yaml:2:4: error: a value can't begin with "!"`},
		"percent":            {"a: 1\nb: %d\n", `suite.yaml:2:4: error: a value can't begin with "%"`},
		"directive":          {"%FOO\n---\na: 1\n", "suite.yaml:1:1: error: not a YAML directive"},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			start := time.Now()
			_, ds := parse(tt.text)
			if took := time.Since(start); took > time.Minute {
				t.Errorf("took %v", took)
			}
			first, _, _ := strings.Cut(ds.Error(), "\n")
			if tt.want == "" && len(ds) > 0 || !strings.HasPrefix(first, tt.want) {
				t.Errorf("got  %s\nwant %s", ds.Error(), tt.want)
			}
			if tt.want != "" && !ds.HasErrors() {
				t.Error("not an error")
			}
			var b strings.Builder
			if err := ds.Print(&b, source.Style{}); err != nil || strings.ContainsAny(b.String(), "\x1b\x00") {
				t.Errorf("print: %v %q", err, b.String())
			}
		})
	}
}

// TestParseFindsSeveral: everything behind the syntax is found in one pass.
func TestParseFindsSeveral(t *testing.T) {
	_, ds := parse("a: 1\na: 2\n5: x\nb: 017\nc: !x y\nd: &d [*d]\n---\n")
	want := []string{
		`suite.yaml:2:1: error: duplicate key "a"`,
		`suite.yaml:3:1: error: a key must be text, got the number 5`,
		`suite.yaml:4:4: warning: 017 is read as text: a leading zero means octal to some YAML readers and nothing to others`,
		`suite.yaml:5:4: error: unknown tag !x`,
		`suite.yaml:6:8: error: the alias "*d" is used inside its own value`,
		`suite.yaml:7:1: error: a second document: a file can contain only one`,
	}
	if diff := cmp.Diff(want, strings.Split(ds.Error(), "\n")); diff != "" {
		t.Error(diff)
	}
}

// TestParseCountsAliases: moderate repetition is allowed.
func TestParseCountsAliases(t *testing.T) {
	var b strings.Builder
	b.WriteString("base: &base {" + strings.TrimSuffix(strings.Repeat("k%d: v, ", 40), ", ") + "}\n")
	text := b.String()
	for i := range 40 {
		text = strings.Replace(text, "%d", fmt.Sprint(i), 1)
	}
	text += "list:\n" + strings.Repeat("- *base\n- {<<: *base, own: 1}\n", 5_000)
	n, ds := parse(text)
	if len(ds) > 0 || len(n.Get("list").Items) != 10_000 {
		t.Errorf("%v", ds)
	}
	if _, ds := parse(aliasBomb(3, 9)); len(ds) > 0 {
		t.Errorf("3,000 values: %v", ds)
	}
}

func TestMergeKeys(t *testing.T) {
	n, ds := parse(`
a: &a {x: 1, y: 1}
b: &b {y: 2, z: 2}
one: {w: 0, <<: *a, y: 9}
before: {y: 9, <<: *a}
list: {<<: [*a, *b]}
list2: {<<: [*b, *a], z: 9}
inline: {<<: {q: 1}, r: 2}
nested: &nested {<<: *a, n: 1}
through: {<<: *nested}
quoted: {"<<": 1}
empty: {<<: []}
`)
	if len(ds) > 0 {
		t.Fatal(ds.Error())
	}
	want := map[string]string{
		"one":     `{"w":0,"x":1,"y":9}`,
		"before":  `{"y":9,"x":1}`,
		"list":    `{"x":1,"y":1,"z":2}`,
		"list2":   `{"y":2,"z":9,"x":1}`,
		"inline":  `{"q":1,"r":2}`,
		"through": `{"x":1,"y":1,"n":1}`,
		"quoted":  `{"<<":1}`,
		"empty":   `{}`,
	}
	for key, json := range want {
		if got := n.Get(key).JSON().String(); got != json {
			t.Errorf("%s: got %s, want %s", key, got, json)
		}
	}
}

// TestPositions checks the place of every node, in code points, with every
// kind of line ending.
func TestPositions(t *testing.T) {
	text := "# héllo\nä: {é: 1, 日本: [x, \"y\"]}\nb:\n- 'it''s'\n- |\n  block\nc: &anchor !!str tagged\nd: *anchor\n"
	want := map[string]string{
		"ä": "2:1", "é": "2:5", "1": "2:8", "日本": "2:11", "x": "2:16", "y": "2:19", "b": "3:1",
		"it's": "4:3", "block\n": "5:3", "c": "7:1", "tagged": "7:4", "d": "8:1",
	}
	for name, text := range map[string]string{
		"LF": text, "CRLF": strings.ReplaceAll(text, "\n", "\r\n"), "CR": strings.ReplaceAll(text, "\n", "\r"), "BOM": "\ufeff" + text,
	} {
		n, ds := parse(text)
		if len(ds) > 0 {
			t.Fatal(name, ds.Error())
		}
		got := map[string]string{}
		walk(n, func(n *source.Node) {
			if n.IsScalar() {
				got[n.Text] = fmt.Sprintf("%d:%d", n.Pos.Line, n.Pos.Col)
			}
		})
		if diff := cmp.Diff(want, got); diff != "" {
			t.Errorf("%s: %s", name, diff)
		}
	}
}

func walk(n *source.Node, fn func(*source.Node)) {
	fn(n)
	for _, item := range n.Items {
		walk(item, fn)
	}
	for _, f := range n.Fields {
		walk(f.Key, fn)
		walk(f.Value, fn)
	}
}

// TestCount: values that are not kept count too.
func TestCount(t *testing.T) {
	var d source.Decoder
	for range 10_005 {
		d.Errorf(nil, "a", "wrong")
	}
	if kept := len(d.Diagnostics()); d.Count() != 10_005 || kept != 10_001 {
		t.Errorf("%d counted, %d kept", d.Count(), kept)
	}
}

// TestDiagnosticsAreBounded: a file full of mistakes ends in a count.
func TestDiagnosticsAreBounded(t *testing.T) {
	_, ds := parse(strings.Repeat("a: 1\n", 30_000))
	if n := len(ds); n != 10_001 || ds[n-1].Msg != "19999 more problems after this one" || ds[n-1].Severity != source.Error {
		t.Errorf("%d, %v", n, ds[n-1])
	}
	long := "{" + strings.Repeat("a, ", 100_000) + "}"
	n, ds := parse(long)
	if n == nil || len(ds) != 10_001 {
		t.Fatalf("%d", len(ds))
	}
	start := time.Now()
	var b strings.Builder
	if err := ds.Print(&b, source.Style{}); err != nil {
		t.Fatal(err)
	}
	if took := time.Since(start); took > time.Minute || b.Len() > 10<<20 {
		t.Errorf("printing took %v for %d bytes", took, b.Len())
	}
}
