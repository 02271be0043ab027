package protocol

import (
	"bytes"
	"encoding/json"
	"strings"
	"testing"
)

// The envelope scan agrees with encoding/json on every object.
func FuzzEnvelope(f *testing.F) {
	f.Add([]byte(`{"jsonrpc":"2.0","id":1,"result":{"a":[1,"x",null]}}`))
	f.Add([]byte(`{"id":"a","id":3,"error":{},"method":"\u006d","params":[]}`))
	f.Add([]byte("{\"\":\"\",\"ggresult\":{\"a\": ")) // reaches code that no other seed does
	f.Fuzz(func(t *testing.T, raw []byte) {
		s := NewScanner()
		err := s.Scan(raw)
		var want map[string]json.RawMessage
		if e := json.Unmarshal(raw, &want); e != nil || want == nil {
			if err == nil && e != nil && !strings.Contains(e.Error(), "exceeded max depth") {
				t.Errorf("scanned what encoding/json refuses: %v", e)
			}
			return
		}
		if err != nil {
			if !strings.Contains(err.Error(), "deep") {
				t.Fatalf("refused: %v", err)
			}
			return
		}
		for name, got := range map[string][]byte{"jsonrpc": s.Version, "id": s.ID, "method": s.Method, "params": s.Params, "result": s.Result, "error": s.Err} {
			if !bytes.Equal(bytes.TrimSpace(want[name]), got) {
				t.Errorf("%s: %q, want %q", name, got, want[name])
			}
		}
	})
}

func TestExcerpt(t *testing.T) {
	for in, want := range map[string]string{
		"plain": "plain", "a\tb\r\n": `a\tb\r\n`, "\x1b[0m\x00\x7f": `\x1b[0m\x00\x7f`, "é\u202e\u200b": `é\u202e\u200b`,
		"\xff\xfe": `\xff\xfe`, `a\nb`: `a\\nb`, strings.Repeat("x", 200): strings.Repeat("x", 200),
		strings.Repeat("x", 201): strings.Repeat("x", 197) + "…", strings.Repeat("é", 150): strings.Repeat("é", 98) + "…",
	} {
		if got := Excerpt([]byte(in)); got != want {
			t.Errorf("%q: got %s, want %s", in, got, want)
		}
	}
}

func TestViolationKindsAreClosed(t *testing.T) {
	seen := map[string]bool{}
	for _, k := range ViolationKinds {
		if seen[k.Name] || k.Doc == "" || k.Since == "" {
			t.Errorf("row %+v", k)
		}
		seen[k.Name] = true
	}
}
