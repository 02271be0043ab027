package report_test

import (
	"bytes"
	"encoding/json"
	"encoding/xml"
	"errors"
	"fmt"
	"html"
	"io"
	"slices"
	"strings"
	"testing"
	"unicode"
	"unicode/utf8"

	"mcptest/internal/base/display"
	"mcptest/internal/report"
	"mcptest/internal/report/explain"
	"mcptest/internal/report/render"
)

// TestEveryFormatOfEveryRun checks the reports that have no golden: each is well-formed, shows no hidden character and names every test
// that did not pass.
func TestEveryFormatOfEveryRun(t *testing.T) {
	for _, name := range names() {
		if slices.Contains(inFull, name) {
			continue
		}
		r := open(t, name)
		for _, f := range report.Formats {
			t.Run(name+"/"+f.Name, func(t *testing.T) {
				out := rendered(t, f.Name, r, render.Options{Verbose: true})
				if !utf8.Valid(out) {
					t.Error("not UTF-8")
				}
				if i := bytes.IndexFunc(out, func(c rune) bool { return c != '\n' && display.IsHidden(c) }); i >= 0 {
					t.Errorf("a hidden character in %q", out[max(0, i-20):min(len(out), i+20)])
				}
				if err := wellFormed(f, out); err != nil {
					t.Error(err)
				}
				if f.Name == "agent" { // it counts failures that have the same cause
					return
				}
				text := letters(string(out))
				for c, err := range r.Cases.NotPassed() {
					if err != nil {
						t.Fatal(err)
					}
					testName, _, _ := strings.Cut(c.Name, " @") // matrix has a column for the server, and for the model
					if f.Name == "matrix" {
						testName, _ = explain.SplitModel(c)
					}
					if !strings.Contains(text, letters(testName)) {
						t.Errorf("%q is not named", c.Name)
					}
					if c.Row != nil && f.Name != "matrix" { // which has marks, no reasons
						row := fmt.Sprintf("%s:%d %s", c.Row.File, c.Row.Line, c.Row.Values)
						if f.Name == "json" || f.Name == "ndjson" {
							row = c.Row.Values
						}
						if !strings.Contains(text, letters(row)) {
							t.Errorf("%q: its row %s is not shown", c.Name, row)
						}
					}
				}
			})
		}
	}
}

// wellFormed parses the formats that have a parser in the standard library.
func wellFormed(f report.Format, out []byte) error {
	switch {
	case f.Name == "json" || f.Name == "sarif" || f.Name == "gitlab" || f.Name == "otlp":
		return json.Unmarshal(out, new(any))
	case f.Name == "ndjson":
		for line := range bytes.Lines(out) {
			if err := json.Unmarshal(line, new(any)); err != nil {
				return fmt.Errorf("%w in %s", err, line)
			}
		}
	case f.Name == "junit":
		d := xml.NewDecoder(bytes.NewReader(out))
		for {
			if _, err := d.Token(); errors.Is(err, io.EOF) {
				return nil
			} else if err != nil {
				return err
			}
		}
	case f.Name == "html":
		if !bytes.HasPrefix(out, []byte("<!DOCTYPE html>")) || !bytes.HasSuffix(out, []byte("</html>\n")) {
			return errors.New("not a whole page")
		}
	}
	return nil
}

// letters is what a name looks like in every format: escaping changes only the
// other characters.
func letters(s string) string {
	return strings.Map(func(c rune) rune {
		if unicode.IsLetter(c) && c < unicode.MaxASCII || unicode.IsDigit(c) {
			return c
		}
		return -1
	}, html.UnescapeString(s))
}
