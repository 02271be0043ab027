//go:build linux

package faults_test

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"
)

// families are the parts of the table, in the order of the page.
var families = []struct{ name, title string }{
	{"start", "Servers that do not start, or start in an unusual way"},
	{"era", "Servers that are slow during protocol detection"},
	{"process", "Servers that crash, hang or leave processes behind"},
	{"framing", "Lines that are truncated, mixed or badly encoded"},
	{"message", "Invalid JSON-RPC messages"},
	{"result", "Invalid results and lists of tools"},
	{"volume", "Servers that send too much"},
	{"http", "Invalid HTTP responses and broken connections"},
	{"sse", "Event streams"},
	{"session", "Sessions over HTTP, and requests of version 2026-07-28"},
	{"hook", "Hooks"},
	{"fixture", "Fixtures"},
	{"suite", "Invalid suites and flags"},
	{"output", "Outputs that cannot be written"},
	{"signal", "Signals to the program"},
	{"text", "Hostile text from a server"},
}

const pageHead = `# Faults

Each row is tried on the built program by ` + "`make faults`" + `. Unless a row says otherwise a run has two tests of one tool, and the server answers
the first of them wrongly; the second shows what happens to the session. Rows that begin with "odd" are servers that are unusual but within the
protocol: they pass. The verdicts are those of the two tests; "prints" lists parts of the output; the limits apply to the time of the whole run
and to the peak memory of the program.

`

// page is the table as Markdown.
func page() string {
	var b strings.Builder
	b.WriteString(pageHead)
	fmt.Fprintf(&b, "%d faults.\n", len(table()))
	for _, f := range families {
		fmt.Fprintf(&b, "\n## %s\n\n| fault | what goes wrong | exit | verdicts | prints | limits |\n|---|---|---|---|---|---|\n", f.title)
		for _, r := range table() {
			if strings.HasPrefix(r.id, f.name+"/") {
				fmt.Fprintf(&b, "| `%s` | %s | %s | %s | %s | %s, %d MiB |\n", r.id, cell(r.what), exitCell(&r), r.tests, saysCell(&r), r.lasts(), r.most())
			}
		}
	}
	return b.String()
}

func exitCell(r *row) string {
	if r.dead {
		return fmt.Sprintf("signal %d", r.exit)
	}
	return fmt.Sprint(r.exit)
}

func saysCell(r *row) string {
	var out []string
	for _, s := range r.says {
		out = append(out, "`"+cell(s)+"`")
	}
	return strings.Join(out, " ")
}

func cell(s string) string {
	return strings.NewReplacer("|", "\\|", "\n", " ", "<", "&lt;").Replace(s)
}

// TestPage writes the table to the file that -page names, and compares the
// families with docs/spec/faults.md.
func TestPage(t *testing.T) {
	if *pageFile != "" {
		if err := os.WriteFile(*pageFile, []byte(page()), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	doc, err := os.ReadFile(filepath.Join("..", "..", "..", "docs", "spec", "faults.md"))
	if err != nil {
		t.Fatal(err)
	}
	for _, f := range families {
		if line := fmt.Sprintf("| `%s` | %s |\n", f.name, f.title); !strings.Contains(string(doc), line) {
			t.Errorf("docs/spec/faults.md lacks the family %s", line)
		}
	}
}

// Each fault is in the table once, belongs to a family, and has a description
// and a part of the output that names it.
func TestTable(t *testing.T) {
	seen := map[string]bool{}
	known := map[string]int{}
	for _, f := range families {
		known[f.name] = 0
	}
	for _, r := range table() {
		family, _, ok := strings.Cut(r.id, "/")
		if _, there := known[family]; !ok || !there {
			t.Errorf("%s: no family of that name", r.id)
		}
		known[family]++
		if seen[r.id] {
			t.Errorf("%s: duplicate id", r.id)
		}
		seen[r.id] = true
		if r.what == "" || r.exit != 0 && len(r.says) == 0 && !strings.HasPrefix(r.id, "volume/") && r.exit != 9 && !strings.HasPrefix(r.id, "signal/") {
			t.Errorf("%s: the row needs a description and a part of the output that names the fault", r.id)
		}
		if r.lasts() > 20*time.Second {
			t.Errorf("%s: %s is too long", r.id, r.lasts())
		}
	}
	if len(seen) < 120 {
		t.Errorf("%d faults, expected at least 120", len(seen))
	}
}
