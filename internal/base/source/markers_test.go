package source_test

import (
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"testing"

	"mcptest/internal/base/source"
)

// The files in testdata/diagnostics contain the expected diagnostics:
//
//	timout: 5s # want "3: error: servers.api: unknown key \"timout\""
//
// The regular expression is matched against "col: severity: path: msg", then " | hint" and
// " | line:col: msg" of each related position. "want+1" refers to the next line, "want-2"
// to the second line above, for lines that can't have a comment. A marker without a
// diagnostic and a diagnostic without a marker both fail the test.
var (
	marker     = regexp.MustCompile(`# want([+-]\d+)?((?: +"(?:[^"\\]|\\.)*")+)\s*$`)
	markerText = regexp.MustCompile(`"(?:[^"\\]|\\.)*"`)
)

type wanted struct {
	line int
	re   *regexp.Regexp
}

func readMarkers(t *testing.T, text string) []wanted {
	t.Helper()
	var out []wanted
	for i, line := range strings.Split(strings.ReplaceAll(text, "\r\n", "\n"), "\n") {
		m := marker.FindStringSubmatch(line)
		if m == nil {
			if strings.Contains(line, "# want") {
				t.Errorf("line %d: marker can't be read: %s", i+1, line)
			}
			continue
		}
		offset := 0
		if m[1] != "" {
			offset, _ = strconv.Atoi(m[1])
		}
		for _, quoted := range markerText.FindAllString(m[2], -1) {
			expr, err := strconv.Unquote(quoted)
			if err != nil {
				t.Fatalf("line %d: %v", i+1, err)
			}
			out = append(out, wanted{line: i + 1 + offset, re: regexp.MustCompile(expr)})
		}
	}
	return out
}

func describe(d source.Diagnostic) string {
	var b strings.Builder
	fmt.Fprintf(&b, "%d: %s: ", d.Pos.Col, d.Severity)
	if d.Path != "" {
		b.WriteString(d.Path + ": ")
	}
	b.WriteString(d.Msg)
	if d.Hint != "" {
		b.WriteString(" | " + d.Hint)
	}
	for _, r := range d.Related {
		fmt.Fprintf(&b, " | %d:%d: %s", r.Pos.Line, r.Pos.Col, r.Msg)
	}
	return b.String()
}

// checkMarkers returns the missing and the unexpected diagnostics.
func checkMarkers(wants []wanted, ds source.Diagnostics) []string {
	var complaints []string
	used := make([]bool, len(ds))
	for _, w := range wants {
		found := false
		for i, d := range ds {
			if !used[i] && d.Pos.Line == w.line && w.re.MatchString(describe(d)) {
				used[i], found = true, true
				break
			}
		}
		if !found {
			complaints = append(complaints, fmt.Sprintf("%d: missing: %s", w.line, w.re))
		}
	}
	for i, d := range ds {
		if !used[i] {
			complaints = append(complaints, fmt.Sprintf("%d: extra: %s", d.Pos.Line, describe(d)))
		}
	}
	return complaints
}

func TestMarkedDiagnostics(t *testing.T) {
	files, err := filepath.Glob("testdata/diagnostics/*.yaml")
	if err != nil || len(files) < 10 {
		t.Fatalf("%d files, %v", len(files), err)
	}
	for _, path := range files {
		t.Run(strings.TrimSuffix(filepath.Base(path), ".yaml"), func(t *testing.T) {
			f, ds := source.Read(path, filepath.Base(path))
			if len(ds) > 0 {
				t.Fatal(ds.Error())
			}
			var s sample
			for _, c := range checkMarkers(readMarkers(t, string(f.Data)), load(f, &s)) {
				t.Error(filepath.Base(path) + ":" + c)
			}
		})
	}
}

// TestMarkersCanFail shows that the harness detects both kinds of mistake.
func TestMarkersCanFail(t *testing.T) {
	text := "servers: {}\nnme: x # want \"unknown key\"\nname: 5\ntools: [] # want \"nothing is wrong here\"\n"
	var s sample
	got := checkMarkers(readMarkers(t, text), load(file(text), &s))
	if len(got) != 2 || !strings.Contains(got[0], "4: missing: nothing is wrong here") ||
		!strings.Contains(got[1], "3: extra: 7: error: name: expected text, got number 5") {
		t.Errorf("got %q", got)
	}
}

// TestMarkedFilesKeepTheirBytes protects files with a line ending or a tab that an editor
// or a checkout could change.
func TestMarkedFilesKeepTheirBytes(t *testing.T) {
	for name, has := range map[string]string{"crlf.yaml": "\r\n", "tab.yaml": "\n\t"} {
		data, err := os.ReadFile(filepath.Join("testdata/diagnostics", name))
		if err != nil || !strings.Contains(string(data), has) {
			t.Errorf("%s has lost %q (%v)", name, has, err)
		}
	}
}
