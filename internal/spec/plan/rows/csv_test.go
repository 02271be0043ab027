package rows_test

import (
	"encoding/csv"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"mcptest/internal/base/jsonv"
	"mcptest/internal/spec/plan/rows"
)

func TestCSVTypes(t *testing.T) {
	for field, want := range map[string]string{
		"abc": `"abc"`, "": `""`, `""`: `""`, "5": "5", `"5"`: `"5"`, "-1.50": "-1.50", "1e3": "1e3", "007": `"007"`, "+1": `"+1"`, ".5": `".5"`,
		"true": "true", "false": "false", "True": `"True"`, "null": "null", `"null"`: `"null"`, "nul": `"nul"`, "NaN": `"NaN"`,
		" 5": "5", " x ": `" x "`, "[1]": `"[1]"`, "{}": `"{}"`, `"a""b"`: `"a\"b"`, "\"a\nb\"": `"a\nb"`, `"a,b"`: `"a,b"`, "é": `"é"`, "1 2": `"1 2"`,
		"0x10": `"0x10"`, "1_000": `"1_000"`, "-": `"-"`, "truex": `"truex"`, "99999999999999999999": "99999999999999999999",
	} {
		for _, text := range []string{"a,b\n" + field + ",x\n", "a,b\r\n" + field + ",x", "\ufeffb,a\nx," + field + "\n"} {
			read, diags := rows.ReadCSV(text)
			if len(read) != 1 || len(diags) > 0 {
				t.Errorf("%q: %v, %v", text, read, diags)
				continue
			}
			if got, _ := read[0].Get("a"); got.String() != want {
				t.Errorf("%q: got %s, want %s", text, got, want)
			}
		}
	}
}

// Any input that another RFC 4180 reader accepts has the same fields here.
func TestCSVAgreesWithAnotherReader(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		columns := rapid.IntRange(1, 4).Draw(t, "columns")
		header := []string{"a", "b c", "d.e", "f"}[:columns]
		records := rapid.SliceOfN(rapid.SliceOfN(rapid.StringOfN(rapid.RuneFrom([]rune("ab1,\"\n é0.-")), 0, 6, -1), columns, columns), 0, 6).Draw(t, "records")
		var b strings.Builder
		w := csv.NewWriter(&b)
		w.UseCRLF = rapid.Bool().Draw(t, "crlf")
		if err := w.Write(header); err != nil {
			t.Fatal(err)
		}
		if err := w.WriteAll(records); err != nil {
			t.Fatal(err)
		}
		var kept [][]string
		for _, r := range records {
			if columns == 1 && r[0] == "" && !strings.Contains(b.String(), `""`) {
				continue // an empty line
			}
			kept = append(kept, r)
		}
		read, diags := rows.ReadCSV(b.String())
		if len(diags) > 0 {
			t.Fatalf("%q: %v", b.String(), diags)
		}
		if columns == 1 {
			return // an empty field alone is an empty line or a quoted one, as the writer likes
		}
		if len(read) != len(kept) {
			t.Fatalf("%q: %d read, want %d", b.String(), len(read), len(kept))
		}
		for i, r := range kept {
			for j, field := range r {
				got, _ := read[i].Get(header[j])
				text := got.Text()
				if got.Kind() != jsonv.KindString {
					text = got.String()
					field = strings.TrimSpace(field)
				}
				if w.UseCRLF {
					text = strings.ReplaceAll(text, "\r\n", "\n")
				}
				if text != field {
					t.Fatalf("%q: row %d, column %d: got %q, want %q", b.String(), i, j, text, field)
				}
			}
		}
	})
}

func FuzzCSV(f *testing.F) {
	for _, s := range []string{"a,b\n1,2\n", "a\n\"x\"\n", "\ufeffa,b\r\n\r\n1,\"x\ny\"", "a,,b\n", "\"", "a\n1,2\n", "a,b\n,\n"} {
		f.Add(s)
	}
	// Each seed reaches code that no other seed does.
	for _, seed := range []string{
		"0\n0\n\"",
		"%\nnn\n\n\n\n\nnn",
		"===9\xad\x03\xd8\xec/\xaf\x91؛\u038b\xf7\xf9Z[\x91؛\xce+\xa8}\x1b\xa71\xb4================,\"\n\n\x82\n%,\x85 \x1e\xf4\"",
	} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, text string) {
		read, diags := rows.ReadCSV(text)
		for _, r := range read {
			if r.Kind() != jsonv.KindObject || r.Len() == 0 {
				t.Fatalf("%q: %v", text, r)
			}
		}
		if len(read) == 0 && len(diags) == 0 && strings.Count(strings.TrimSpace(text), "\n") > 2 && !strings.ContainsAny(text, "\"\r\ufeff") {
			lines := strings.Split(strings.Trim(text, "\n"), "\n")
			if full := strings.TrimSpace(strings.Join(lines[1:], "")); full != "" {
				t.Fatalf("%q: nothing was read and nothing said", text)
			}
		}
	})
}
