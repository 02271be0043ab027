package shellwords_test

import (
	"slices"
	"testing"

	"mcptest/internal/base/shellwords"
)

// What is quoted is split into the same words again.
func TestQuotedWordsAreSplitAgain(t *testing.T) {
	words := []string{"node", "dist/server.js", "", "two words", "it's", `a"b`, "$HOME", "a|b", "~", "#x", "ä é", "-x=1", "tab\there", "line\nbreak", "^", "\\"}
	line := shellwords.QuoteAll(words)
	parts, err := shellwords.Split(line)
	if err != nil {
		t.Fatal(err)
	}
	var got []string
	for _, p := range parts {
		if len(p.Expands) > 0 {
			t.Errorf("%q expands", p.Text)
		}
		got = append(got, p.Text)
	}
	if !slices.Equal(got, words) {
		t.Errorf("%s\nis read as %q", line, got)
	}
	if q := shellwords.Quote("plain-word_1.js"); q != "plain-word_1.js" {
		t.Errorf("a plain word became %s", q)
	}
}
