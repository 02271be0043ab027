package jsonv_test

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"

	"mcptest/internal/base/jsonv"
)

// toolsReply is a tools/list reply as servers send it: schemas, descriptions.
func toolsReply(tools int) []byte {
	var b strings.Builder
	b.WriteString(`{"jsonrpc":"2.0","id":1,"result":{"tools":[`)
	for i := range tools {
		if i > 0 {
			b.WriteByte(',')
		}
		fmt.Fprintf(&b, `{"name":"tool_%d","title":"Tool %d","description":"Searches the issues of a repository. Returns the issues that match, newest first.\nUse the filters to narrow the result.","inputSchema":{"type":"object","properties":{"owner":{"type":"string","description":"Owner of the repository"},"repo":{"type":"string","description":"Name of the repository"},"limit":{"type":"integer","minimum":1,"maximum":100,"default":30},"labels":{"type":"array","items":{"type":"string"}}},"required":["owner","repo"],"additionalProperties":false},"annotations":{"readOnlyHint":true,"openWorldHint":false}}`, i, i)
	}
	b.WriteString(`]}}`)
	return []byte(b.String())
}

// textReply is a tools/call reply: one long text with escapes.
func textReply(lines int) []byte {
	text := strings.Repeat("2025-06-01T12:00:00Z info request handled in 12 ms, \"ok\"\n", lines)
	data, _ := json.Marshal(map[string]any{"jsonrpc": "2.0", "id": 7, "result": map[string]any{
		"content": []any{map[string]any{"type": "text", "text": text}},
	}})
	return data
}

// rowsReply is structured content: many small values.
func rowsReply(rows int) []byte {
	var b strings.Builder
	b.WriteString(`{"rows":[`)
	for i := range rows {
		if i > 0 {
			b.WriteByte(',')
		}
		fmt.Fprintf(&b, `{"id":%d,"name":"row %d","score":%d.5,"ok":true,"tag":null}`, i, i, i)
	}
	b.WriteString(`]}`)
	return []byte(b.String())
}

func replies() map[string][]byte {
	return map[string][]byte{
		"tools": toolsReply(50), "text": textReply(500), "rows": rowsReply(500),
		"row":  []byte(`{"text":"hello 4711"}`),
		"echo": []byte(`{"jsonrpc":"2.0","id":4711,"result":{"content":[{"type":"text","text":"hello 4711"}]}}`),
	}
}

func BenchmarkParse(b *testing.B) {
	for name, data := range replies() {
		b.Run(name, func(b *testing.B) {
			b.SetBytes(int64(len(data)))
			b.ReportAllocs()
			for b.Loop() {
				if _, err := jsonv.Parse(data); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}

func BenchmarkValid(b *testing.B) {
	for name, data := range replies() {
		b.Run(name, func(b *testing.B) {
			b.SetBytes(int64(len(data)))
			for b.Loop() {
				if err := jsonv.Valid(data); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}

func BenchmarkEachMember(b *testing.B) {
	data := toolsReply(50)
	b.SetBytes(int64(len(data)))
	b.ReportAllocs()
	for b.Loop() {
		if err := jsonv.VisitMembers(data, func(string, []byte) error { return nil }); err != nil {
			b.Fatal(err)
		}
	}
}

func BenchmarkAppend(b *testing.B) {
	data := toolsReply(50)
	v, err := jsonv.Parse(data)
	if err != nil {
		b.Fatal(err)
	}
	b.SetBytes(int64(len(data)))
	var buf []byte
	for b.Loop() {
		buf = v.Append(buf[:0])
	}
}

func BenchmarkDiff(b *testing.B) {
	want, err := jsonv.Parse(rowsReply(500))
	if err != nil {
		b.Fatal(err)
	}
	got := want.With("rows", jsonv.Array(append([]jsonv.Value{jsonv.Null()}, collect(want.Lookup("rows"))...)...))
	for b.Loop() {
		if n := len(jsonv.Diff(want, got)); n != 1 {
			b.Fatal(n)
		}
	}
}

func collect(v jsonv.Value) []jsonv.Value {
	var out []jsonv.Value
	for _, e := range v.Elems() {
		out = append(out, e)
	}
	return out
}

func BenchmarkStdlibUnmarshal(b *testing.B) {
	data := toolsReply(50)
	b.SetBytes(int64(len(data)))
	b.ReportAllocs()
	for b.Loop() {
		var x any
		if err := json.Unmarshal(data, &x); err != nil {
			b.Fatal(err)
		}
	}
}
