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
	{"start", "Servers that do not come up, or come up strangely"},
	{"era", "Servers that take long to show which protocol revision they speak"},
	{"process", "Servers that die, hang or leave things behind"},
	{"framing", "Lines that are cut, mixed or encoded wrongly"},
	{"message", "JSON-RPC messages that are wrong"},
	{"result", "Results and lists of tools that are wrong"},
	{"volume", "Servers that say too much"},
	{"http", "Below the protocol, over HTTP"},
	{"sse", "Event streams"},
	{"session", "Sessions over HTTP, and requests of revision 2026-07-28"},
	{"hook", "Hooks"},
	{"fixture", "Fixtures"},
	{"suite", "Suites that are none"},
	{"output", "Places that can't be written to"},
	{"signal", "Signals to the program"},
	{"text", "Texts of a server that want to be more than text"},
}

const pageHead = `<!-- Written by go test ./internal/faults -run Page -update. DO NOT EDIT. -->

# Faults

What mcptest does when something goes wrong, fault by fault. Each line is tried on the built program by ` + "`make faults`" + `, in CI
too: the exit code, the verdict of each test, the words, the time of the whole run and the program's peak memory are what the
line says, no process and no file is left, and the output holds no stack trace and no character that a terminal would obey.

Unless a line says otherwise a run has two tests of one tool, and the server answers the first of them wrongly; the second shows
what becomes of the session. Lines that begin with "odd" are servers that are strange and within the protocol: they pass.
Verdicts are those of the two tests. "Says" are parts of what is printed.

`

// page is docs/spec/faults.md.
func page() string {
	var b strings.Builder
	b.WriteString(pageHead)
	fmt.Fprintf(&b, "%d faults.\n", len(table()))
	for _, f := range families {
		fmt.Fprintf(&b, "\n## %s\n\n| fault | what goes wrong | exit | verdicts | says | at most |\n|---|---|---|---|---|---|\n", f.title)
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

func TestPage(t *testing.T) {
	name := filepath.Join("..", "..", "docs", "spec", "faults.md")
	if *update {
		if err := os.WriteFile(name, []byte(page()), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	got, err := os.ReadFile(name)
	if err != nil {
		t.Fatal(err)
	}
	if string(got) != page() {
		t.Error("docs/spec/faults.md is not what the table says: go test ./internal/faults -run Page -update")
	}
}

// The table is what the page says of it: each fault once, in a family, with
// words that name it.
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
			t.Errorf("%s: twice", r.id)
		}
		seen[r.id] = true
		if r.what == "" || r.exit != 0 && len(r.says) == 0 && !strings.HasPrefix(r.id, "volume/") && r.exit != 9 && !strings.HasPrefix(r.id, "signal/") {
			t.Errorf("%s: it must say what goes wrong, and what names it in the output", r.id)
		}
		if r.lasts() > 20*time.Second {
			t.Errorf("%s: %s is too long", r.id, r.lasts())
		}
	}
	if len(seen) < 120 {
		t.Errorf("%d faults, at least 120 are wanted", len(seen))
	}
}
