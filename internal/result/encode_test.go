package result_test

import (
	"bytes"
	"encoding/json"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"
	"pgregory.net/rapid"

	"mcptest/internal/result"
)

// canonical decodes and encodes a JSON text, so that escapes that mean the
// same are the same. The order of members stays.
func canonical(t interface{ Fatalf(string, ...any) }, text []byte) string {
	var out bytes.Buffer
	dec := json.NewDecoder(bytes.NewReader(text))
	dec.UseNumber()
	for {
		tok, err := dec.Token()
		if err != nil {
			if out.Len() == 0 {
				t.Fatalf("not JSON: %v: %s", err, text)
			}
			return out.String()
		}
		b, _ := json.Marshal(tok)
		out.Write(b)
		out.WriteByte(' ')
	}
}

// TestCaseEncoderAgreesWithTags compares the written encoder with what the
// struct tags say, by way of encoding/json: names, order, omission, values.
func TestCaseEncoderAgreesWithTags(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		c := drawCase(t, 0)
		if c.Assertions == nil {
			c.Assertions = []result.Assertion{}
		}
		want, err := json.Marshal(c)
		if err != nil {
			t.Fatal(err)
		}
		got := result.AppendCase(nil, c)
		if !json.Valid(got) {
			t.Fatalf("invalid JSON: %s", got)
		}
		if d := cmp.Diff(canonical(t, want), canonical(t, got)); d != "" {
			t.Fatal(d)
		}
	})
}

func TestCaseRoundTrip(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		c := drawCase(t, 0)
		text := result.AppendCase(nil, c)
		back, err := result.DecodeCase(string(text))
		if err != nil {
			t.Fatal(err)
		}
		var std result.Case
		if err := json.Unmarshal(text, &std); err != nil {
			t.Fatal(err)
		}
		if d := cmp.Diff(&std, back, cmpopts.EquateEmpty()); d != "" {
			t.Fatalf("decoded otherwise than by encoding/json:\n%s", d)
		}
		if d := cmp.Diff(string(text), string(result.AppendCase(nil, back))); d != "" {
			t.Fatal(d)
		}
	})
}

func TestAppendStringHidesNothing(t *testing.T) {
	for in, want := range map[string]string{
		"plain":              `"plain"`,
		"a\x1b[31m\x7f":      `"a\u001b[31m\u007f"`,
		"\u0085\u202e\ufeff": `"\u0085\u202e\ufeff"`,
		"##[error]x":         `"#\u0023[error]x"`,
		"# one ## two":       `"# one #\u0023 two"`,
		"\U000e0041":         `"\udb40\udc41"`,
		"é日😀":                `"é日😀"`,
		"\xff":               "\"\ufffd\"",
		"a\nb\t\"\\/":        `"a\nb\t\"\\/"`,
	} {
		if got := string(result.AppendString(nil, in)); got != want {
			t.Errorf("%q: got %s, want %s", in, got, want)
		}
	}
}

func FuzzDecodeCase(f *testing.F) {
	f.Add(string(result.AppendCase(nil, smallCase(1))))
	f.Add(`{"name":"\ud83d\ude00\ud800","status":"fail","http":null,"assertions":null,"unknown":[{"a":1e5}]}`)
	f.Add(`{"status":"pass","exchanges":[{"http":{"status":200,"headers":{"a":"b"}}}]}`)
	f.Fuzz(func(t *testing.T, text string) {
		c, err := result.DecodeCase(text)
		if err != nil {
			return
		}
		out := result.AppendCase(nil, c)
		if !json.Valid(out) {
			t.Fatalf("invalid JSON: %q", out)
		}
		again, err := result.DecodeCase(string(out))
		if err != nil {
			t.Fatal(err)
		}
		if twice := result.AppendCase(nil, again); !bytes.Equal(out, twice) {
			t.Fatalf("not stable:\n%s\n%s", out, twice)
		}
	})
}

func BenchmarkAppendCase(b *testing.B) {
	c := smallCase(1)
	var buf []byte
	b.ReportAllocs()
	for b.Loop() {
		buf = result.AppendCase(buf[:0], c)
	}
	b.SetBytes(int64(len(buf)))
}

func BenchmarkMarshalCase(b *testing.B) {
	c := smallCase(1)
	for b.Loop() {
		json.Marshal(c)
	}
}

func BenchmarkDecodeCase(b *testing.B) {
	text := string(result.AppendCase(nil, smallCase(1)))
	b.ReportAllocs()
	b.SetBytes(int64(len(text)))
	for b.Loop() {
		if _, err := result.DecodeCase(text); err != nil {
			b.Fatal(err)
		}
	}
}
