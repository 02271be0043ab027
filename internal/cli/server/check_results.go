package server

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"os"
	"strings"

	"mcptest/internal/base/display"
	"mcptest/internal/base/secret"
	"mcptest/internal/cli/option"
	"mcptest/internal/offer/compat"
	"mcptest/internal/offer/surface"
	"mcptest/internal/tape/cassette"
	"mcptest/internal/tape/results"
)

// onlyResults reports whether nothing but results was chosen, for which no list is needed.
func (f *checkFlags) onlyResults() bool {
	return len(f.groups) == 1 && f.groups[0] == compat.GroupResults
}

// judgeResults judges the results that a file holds; path is its name for people.
func (f *checkFlags) judgeResults(file, path string, rules compat.Rules) error {
	isTape := isCassette(file)
	switch {
	case len(rules.Results) == 0 && !isTape:
		return nil
	case isTape && !f.onlyResults():
		return fmt.Errorf("%s is a cassette: it holds results, and no lists of a file; choose --only results", path)
	}
	read := readRecord
	if isTape {
		read = readCassette
	}
	rep, notes, err := read(file)
	switch {
	case errors.Is(err, errNoRecord) && !f.onlyResults():
		return nil // a list, which has no results
	case err != nil && !f.onlyResults() && !isTape:
		return nil // reading the lists says it, too
	case err != nil:
		return err
	case rep.Held() == 0 && f.onlyResults():
		return fmt.Errorf("%s holds no result of a tool: nothing was judged", path)
	case rep.Held() == 0:
		return nil
	}
	f.results = &compat.Results{
		File:    option.Shown(path),
		IsLines: isTape,
		Servers: rep.Servers,
		Found:   rep.Found,
		Judged:  rep.Judged,
		Notes:   append(notes, explainUnjudged(rep, isTape)...),
		Mask:    secret.NewRedactor().String,
	}
	if file != path {
		f.results.File = ""
	}
	return nil
}

// isCassette reports whether a file begins as a cassette does.
func isCassette(file string) bool {
	f, err := os.Open(file)
	if err != nil {
		return false
	}
	defer f.Close()
	head, _ := io.ReadAll(io.LimitReader(f, 64<<10))
	line, _, _ := bytes.Cut(head, []byte("\n"))
	return bytes.HasPrefix(bytes.TrimSpace(line), []byte("{")) && bytes.Contains(line, []byte(`"mcptest_cassette"`))
}

func readCassette(file string) (*results.Report, []string, error) {
	c, err := cassette.Open(file)
	if err != nil {
		return nil, nil, err
	}
	defer c.Close()
	rep, err := results.OfCassette(c)
	if err != nil || c.Warning == nil {
		return rep, nil, err
	}
	says := fmt.Sprintf("line %d: %s", c.Warning.Line, c.Warning.Says)
	return rep, []string{says}, nil
}

// errNoRecord is the error of a file that is neither a record nor a cassette.
var errNoRecord = errors.New("expected a record (mcptest run -r json=FILE) or a cassette")

func readRecord(file string) (*results.Report, []string, error) {
	v, err := surface.ReadJSON(file)
	if err != nil {
		return nil, nil, fmt.Errorf("%w (%w)", err, errNoRecord)
	}
	if !strings.HasPrefix(v.Lookup("schema").Text(), "mcptest.run/") {
		return nil, nil, fmt.Errorf("%s holds no results: %w", file, errNoRecord)
	}
	return results.OfRecord(v), nil, nil
}

// explainUnjudged says what of a file was not judged, and why.
func explainUnjudged(rep *results.Report, isTape bool) (notes []string) {
	shortened := "%s that the record holds in part only: known is what the run noted, if its version did"
	if isTape {
		shortened = "%s too large for the cassette, which holds the beginning: not judged"
	}
	for _, n := range []struct {
		count int
		text  string
	}{
		{rep.Shortened, shortened},
		{rep.Unlisted, "%s of tools whose definition the file does not hold: it may raise the limit, so their size was not judged"},
		{rep.Mocked, "%s of a mock that the suite scripts: not judged"},
		{rep.Contentless, "%s without content, such as a task or a question to the client: not judged"},
		{rep.Unanswered, "%s that a call did not get"},
	} {
		if n.count > 0 {
			notes = append(notes, fmt.Sprintf(n.text, display.Count(n.count, "result")))
		}
	}
	return notes
}
