package arch_test

import (
	"go/scanner"
	"go/token"
	"os"
	"path"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
)

// british matches words in British spelling. The project's is American.
var british = regexp.MustCompile(`colour|behaviour|favour|honour|neighbour|artefact|catalogue|grey|licence|` +
	`(?:recogn|normal|serial|initial|organ|summar|optim|author|custom|minim|maxim|synchron|sanit|token|capital|categor|general|standard|util|visual|memo|real|emphas|prior|final|random|special|stabil|analy)(?:is|ys)(?:e[sdr]?|ing|ations?|ers)$`)

// foreign are names of other projects.
var foreign = strings.NewReplacer("lightgrey", "") // shields.io

// TestAmericanSpelling fails for words in British spelling. It reads identifiers, texts and
// comments of Go files, and Markdown, except in testdata.
func TestAmericanSpelling(t *testing.T) {
	t.Parallel()
	root := repoRoot(t)
	decided := map[string]bool{} // by word
	for _, name := range committed(t, root) {
		if strings.Contains(name, "testdata/") || name == "internal/dev/arch/words_test.go" {
			continue
		}
		text := ""
		switch path.Ext(name) {
		case ".go":
			text = goProse(t, filepath.Join(root, name))
		case ".md":
			data, err := os.ReadFile(filepath.Join(root, name))
			if err != nil && !os.IsNotExist(err) {
				t.Fatal(err)
			}
			text = string(data)
		}
		for line := range strings.Lines(text) {
			if word := britishWord(line, decided); word != "" {
				t.Errorf("%s: %q is British spelling: %s", name, word, strings.TrimSpace(line))
			}
		}
	}
}

// britishWord returns the first word of a line in British spelling, or "". It keeps its
// decisions about words in decided.
func britishWord(line string, decided map[string]bool) string {
	isLetter := func(r rune) bool { return r >= 'a' && r <= 'z' }
	for word := range strings.FieldsFuncSeq(strings.ToLower(foreign.Replace(line)), func(r rune) bool { return !isLetter(r) }) {
		is, known := decided[word]
		if !known {
			is = british.MatchString(word)
			decided[word] = is
		}
		if is {
			return word
		}
	}
	return ""
}

// goProse returns the identifiers, texts and comments of a Go file, one per line.
func goProse(t *testing.T, name string) string {
	t.Helper()
	src, err := os.ReadFile(name)
	if os.IsNotExist(err) {
		return "" // removed, and not yet committed
	}
	if err != nil {
		t.Fatal(err)
	}
	var s scanner.Scanner
	s.Init(token.NewFileSet().AddFile(name, -1, len(src)), src, nil, scanner.ScanComments)
	var b strings.Builder
	for {
		_, tok, lit := s.Scan()
		switch tok {
		case token.EOF:
			return b.String()
		case token.STRING, token.COMMENT, token.IDENT:
			b.WriteString(lit + "\n")
		}
	}
}
