package arch_test

import (
	"go/scanner"
	"go/token"
	"maps"
	"os"
	"path"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
)

// houseWords are words and spellings that the project's prose avoids, and what
// to write instead. The style is plain technical English in American spelling.
var houseWords = []struct{ pattern, instead string }{
	{`beside`, "in addition to, next to, along with"},
	{`in vain`, "timed out, failed to"},
	{`(?:is|are|was|were|be|been) told`, "is passed, is reported"},
	{`stands?`, "is, has, holds; only `stands for` is fine"},
	{`mend(?:s|ed|ing)?`, "fix, repair"},
	{`nobody`, "no one; or name the subject"},
	{`what came of`, "the result of"},
	{`whatever`, "any; regardless of"},
	{`want more than`, "must be greater than"},
	{`letIn|(?:let|lets|letting) in`, "admit, authorize"},
	{`vigil`, "watchdog"},
	{`of ours`, "our, the program's"},
	{`the like`, "similar"},
	{`\w*(?:colour|behaviour|favour|honour|neighbour|artefact|catalogue|grey)\w*`, "American spelling"},
	{`\w*(?:recogn|normal|serial|initial|organ|summar|optim|author|custom|minim|maxim|synchron|sanit|token|capital|categor|general|standard|util|visual|memo|real|emphas|prior|final|random|special|stabil|analy)(?:is|ys)(?:e[sdr]?|ing|ations?|ers)`, "American spelling"},
}

// remainingWords is how many are left. It only goes down.
const remainingWords = 709

// TestHouseWords fails when there are more of the words in houseWords than
// remainingWords. It reads identifiers, texts and comments of Go files, and
// Markdown; testdata is left out. With -v it lists them by package and page.
func TestHouseWords(t *testing.T) {
	t.Parallel()
	root := repoRoot(t)
	var alternatives []string
	for _, w := range houseWords {
		alternatives = append(alternatives, w.pattern)
	}
	words := regexp.MustCompile(`(?i)\b(?:` + strings.Join(alternatives, "|") + `)\b(?: for)?`)
	found := map[string][]string{}
	for _, name := range committed(t, root) {
		if strings.Contains(name, "testdata/") || name == "internal/arch/words_test.go" {
			continue
		}
		row, text := name, ""
		switch path.Ext(name) {
		case ".go":
			row, text = path.Dir(name), goProse(t, filepath.Join(root, name))
		case ".md":
			data, err := os.ReadFile(filepath.Join(root, name))
			if err != nil && !os.IsNotExist(err) {
				t.Fatal(err)
			}
			text = string(data)
		}
		for _, at := range words.FindAllStringIndex(text, -1) {
			if word := strings.ToLower(text[at[0]:at[1]]); word != "stands for" && word != "stand for" {
				line := text[strings.LastIndexByte(text[:at[0]], '\n')+1 : at[1]]
				found[row] = append(found[row], name+": "+line)
			}
		}
	}
	total := 0
	for _, row := range slices.Sorted(maps.Keys(found)) {
		total += len(found[row])
		t.Logf("%s %d\n\t%s", row, len(found[row]), strings.Join(found[row], "\n\t"))
	}
	if total > remainingWords {
		t.Errorf("%d house words, %d more than before: houseWords says what to write instead", total, total-remainingWords)
	}
}

// goProse returns the identifiers, texts and comments of a Go file, one a line.
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
