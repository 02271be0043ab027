package source_test

import (
	"strings"
	"testing"

	"mcptest/internal/base/source"
)

// A file that is JSON is read as JSON, with positions; one that repeats a key or is not JSON is not.
func TestJSONFiles(t *testing.T) {
	t.Parallel()
	read := func(text string) (*source.Node, source.Diagnostics) {
		return source.Parse(&source.File{Name: "s.json", Data: []byte(text)})
	}
	for what, text := range map[string]string{
		"\U0001F600": `"\ud83d\ude00"`, "a\u2028b": "\"a\u2028b\"", "a\u0085b": "\"a\u0085b\"", "a\u007fb": "\"a\u007fb\"", "tab": "\t\"tab\"",
	} {
		n, ds := read("{\n\t\"name\": [1.50, null, true, " + text + "]}\n")
		if len(ds) > 0 || n == nil {
			t.Errorf("%q: %v", text, ds)
			continue
		}
		list := n.Get("name")
		if last := list.Items[3]; last.Text != what || last.Kind != source.KindString || last.Pos.Line != 2 || list.Items[0].Text != "1.50" {
			t.Errorf("%q: got %+v", text, last)
		}
	}
	for _, text := range []string{`{"a": "\ud83d\ude00", "a": 1}`, `{"a": "\ud83d"}`, "a: \"\\ud83d\\ude00\"", `{"a": "\ud83d\ude00"} x`, "\"a\u2028b\"", strings.Repeat(`{"\ud83d\ude00":`, 120) + "1" + strings.Repeat("}", 120)} {
		if _, ds := read(text); !ds.HasErrors() {
			t.Errorf("%.60q is accepted", text)
		}
	}
}
