package result_test

import (
	"bytes"
	"encoding/json"
	"testing"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"mcptest/internal/report/result"
)

// encode returns the JSON form of a case.
func encode(t interface{ Fatal(...any) }, c *result.Case) []byte {
	text, err := result.EncodeCase(c)
	if err != nil {
		t.Fatal(err)
	}
	return text
}

func TestCaseRoundTrip(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		c := drawCase(t, 0)
		text := encode(t, c)
		back, err := result.DecodeCase(string(text))
		if err != nil {
			t.Fatal(err)
		}
		if d := cmp.Diff(string(text), string(encode(t, back))); d != "" {
			t.Fatal(d)
		}
	})
}

func TestStringsHideNothing(t *testing.T) {
	for in, want := range map[string]string{
		"plain":              `"plain"`,
		"a\x1b[31m\x7f":      `"a\u001b[31m\u007f"`,
		"\u0085\u202e\ufeff": `"\u0085\u202e\ufeff"`,
		"##[error]x":         `"#\u0023[error]x"`,
		"# one ## two":       `"# one #\u0023 two"`,
		"\U000e0041":         `"\udb40\udc41"`,
		"é日😀":                `"é日😀"`,
		"\xff":               `"\ufffd"`,
		"a\nb\t\"\\/":        `"a\nb\t\"\\/"`,
	} {
		text := encode(t, &result.Case{Name: in, Status: result.Pass})
		if !bytes.HasPrefix(text, []byte(`{"name":`+want+`,"status"`)) {
			t.Errorf("%q: got %s, want %s", in, text, want)
		}
	}
}

func FuzzDecodeCase(f *testing.F) {
	f.Add(string(encode(f, smallCase(1))))
	f.Add(`{"name":"\ud83d\ude00\ud800","status":"fail","http":null,"assertions":null,"unknown":[{"a":1e5}]}`)
	f.Add(`{"status":"pass","exchanges":[{"http":{"status":200,"headers":{"a":"b"}}}]}`)
	// Each reaches code that no other seed does.
	for _, seed := range []string{
		"{\"status\":\"ass\xdb\"",
		"null",
	} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, text string) {
		c, err := result.DecodeCase(text)
		if err != nil {
			return
		}
		out := encode(t, c)
		if !json.Valid(out) {
			t.Fatalf("invalid JSON: %q", out)
		}
		again, err := result.DecodeCase(string(out))
		if err != nil {
			t.Fatal(err)
		}
		if twice := encode(t, again); !bytes.Equal(out, twice) {
			t.Fatalf("not stable:\n%s\n%s", out, twice)
		}
	})
}

func BenchmarkEncodeCase(b *testing.B) {
	c := smallCase(1)
	b.ReportAllocs()
	for b.Loop() {
		encode(b, c)
	}
}

func BenchmarkDecodeCase(b *testing.B) {
	text := string(encode(b, smallCase(1)))
	b.ReportAllocs()
	b.SetBytes(int64(len(text)))
	for b.Loop() {
		if _, err := result.DecodeCase(text); err != nil {
			b.Fatal(err)
		}
	}
}
