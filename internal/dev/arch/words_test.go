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

// houseWords are words that the project's prose avoids, and what to write
// instead. The style is plain technical English in American spelling.
var houseWords = map[string]string{
	"beside":         "in addition to, next to, along with",
	"in vain":        "timed out, failed to",
	"told":           "passed, reported",
	"stands":         "is, has, holds; only `stands for` is fine",
	"stand":          "is, has, holds; only `stand for` is fine",
	"mend":           "fix, repair",
	"mends":          "fixes, repairs",
	"mended":         "fixed, repaired",
	"mending":        "fixing",
	"nobody":         "no one; or name the subject",
	"what came of":   "the result of",
	"whatever":       "any; regardless of",
	"want more than": "must be greater than",
	"letin":          "admit, authorize",
	"let in":         "admitted, authorized",
	"vigil":          "watchdog",
	"of ours":        "our, the program's",
	"the like":       "similar",
}

var british = regexp.MustCompile(`colour|behaviour|favour|honour|neighbour|artefact|catalogue|grey|licence|` +
	`(?:recogn|normal|serial|initial|organ|summar|optim|author|custom|minim|maxim|synchron|sanit|token|capital|categor|general|standard|util|visual|memo|real|emphas|prior|final|random|special|stabil|analy)(?:is|ys)(?:e[sdr]?|ing|ations?|ers)$`)

// foreign are names of other projects.
var foreign = strings.NewReplacer("NoBody", "", "lightgrey", "") // net/http, shields.io

// TestHouseWords fails for the words in houseWords. It reads identifiers, texts and
// comments of Go files, and Markdown, except in testdata.
func TestHouseWords(t *testing.T) {
	t.Parallel()
	root := repoRoot(t)
	bad := map[string]bool{} // by word
	found := map[string][]string{}
	for _, name := range committed(t, root) {
		if strings.Contains(name, "testdata/") || name == "internal/dev/arch/words_test.go" {
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
		for _, line := range strings.Split(text, "\n") {
			for range houseWordsIn(line, bad) {
				found[row] = append(found[row], name+": "+strings.TrimSpace(line))
			}
		}
	}
	for _, row := range slices.Sorted(maps.Keys(found)) {
		t.Errorf("%s: %d house words; houseWords says what to write instead\n\t%s", row, len(found[row]), strings.Join(found[row], "\n\t"))
	}
}

// houseWordsIn counts the words of a line that houseWords contains or that are in
// British spelling. It caches its decisions about words in bad.
func houseWordsIn(line string, bad map[string]bool) (n int) {
	words := strings.FieldsFunc(strings.ToLower(foreign.Replace(line)), func(r rune) bool { return r < 'a' || r > 'z' })
	for i, word := range words {
		is, decided := bad[word]
		if !decided {
			is = houseWords[word] != "" || british.MatchString(word)
			bad[word] = is
		}
		switch {
		case strings.HasPrefix(word, "stand") && i+1 < len(words) && words[i+1] == "for":
		case is,
			i >= 1 && houseWords[words[i-1]+" "+word] != "",
			i >= 2 && houseWords[words[i-2]+" "+words[i-1]+" "+word] != "":
			n++
		}
	}
	return n
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
