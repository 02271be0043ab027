package report_test

import (
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"mcptest/internal/report/render"
)

// TestAgentContract: every line of the agent format has the form that the page for coding
// agents promises, and every word that the page explains is written for some run.
func TestAgentContract(t *testing.T) {
	page, err := os.ReadFile(filepath.Join("..", "..", "docs", "guides", "agents.md"))
	if err != nil {
		t.Fatal(err)
	}
	words := map[string]bool{} // whether a run has it
	for _, row := range regexp.MustCompile("(?m)^\\| (`.*`) \\|").FindAllStringSubmatch(string(page), -1) {
		for _, word := range regexp.MustCompile("`([A-Za-z]+)`").FindAllStringSubmatch(row[1], -1) {
			words[word[1]] = false
		}
	}
	var (
		verdict = regexp.MustCompile(`^VERDICT (pass|fail) \d+/\d+ passed( \(\d+ .*\))?$`)
		head    = regexp.MustCompile(`^([A-Z]+) .`)
		fact    = regexp.MustCompile(`^  ([a-z]+): .`)
		more    = regexp.MustCompile(`^    ([-+].*|…)$`)
		drafts  = regexp.MustCompile(`^( .*)?$`)
	)
	for _, name := range names() {
		r := open(t, name)
		for _, verbose := range []bool{false, true} {
			lines := strings.Split(strings.TrimSuffix(string(rendered(t, "agent", r, render.Options{Verbose: verbose})), "\n"), "\n")
			if m := verdict.FindStringSubmatch(lines[0]); m == nil || (m[1] == "pass") != (r.ExitCode == 0) {
				t.Errorf("%s, exit code %d: the first line is %q", name, r.ExitCode, lines[0])
			}
			block := ""
			for _, line := range lines[1:] {
				m := head.FindStringSubmatch(line)
				if m != nil {
					block = m[1]
				} else if block == "COVERAGE" && drafts.MatchString(line) || more.MatchString(line) {
					continue
				} else {
					m = fact.FindStringSubmatch(line)
				}
				if m == nil {
					t.Errorf("%s: the page does not allow the line %q", name, line)
				} else if _, ok := words[m[1]]; !ok {
					t.Errorf("%s: the page does not explain %s: %q", name, m[1], line)
				} else {
					words[m[1]] = true
				}
			}
		}
	}
	for word, seen := range words {
		if !seen {
			t.Errorf("no run has the word %s, which the page explains", word)
		}
	}
}
