package expect_test

import (
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"testing"

	"mcptest/internal/assert/expect"
	"mcptest/internal/base/source"
)

// A line of testdata/diagnostics/*.yaml names the expected diagnostics:
//
//	# want COLUMN `regexp` COLUMN `regexp` …
//
// want+1 refers to the next line. Each diagnostic must be expected, and each expected one
// must occur.
var wantLine = regexp.MustCompile(`# want(\+1)? (.*)$`)

var wantOne = regexp.MustCompile("(\\d+) `([^`]*)`")

func TestDiagnostics(t *testing.T) {
	files, err := filepath.Glob("testdata/diagnostics/*.yaml")
	if err != nil || len(files) == 0 {
		t.Fatal("no files", err)
	}
	for _, file := range files {
		t.Run(filepath.Base(file), func(t *testing.T) {
			data, err := os.ReadFile(file)
			if err != nil {
				t.Fatal(err)
			}
			checkDiagnostics(t, string(data), diagnose(t, string(data)))
		})
	}
}

// diagnose compiles a suite's text and returns its diagnostics.
func diagnose(t *testing.T, text string) source.Diagnostics {
	t.Helper()
	n := node(t, text)
	var d source.Decoder
	tr := expect.Merge(parts(n, "", &d), parts(n.Get("defaultTest"), "defaultTest.", &d))
	tr.Check("", &d)
	ds := d.Diagnostics()
	ds.Sort()
	return ds
}

func checkDiagnostics(t *testing.T, text string, ds source.Diagnostics) {
	t.Helper()
	said := make([]bool, len(ds))
	for i, line := range strings.Split(text, "\n") {
		m := wantLine.FindStringSubmatch(line)
		if m == nil {
			continue
		}
		at := i + 1
		if m[1] != "" {
			at++
		}
		for _, want := range wantOne.FindAllStringSubmatch(m[2], -1) {
			col, _ := strconv.Atoi(want[1])
			re, found := regexp.MustCompile(want[2]), false
			for j, d := range ds {
				if !said[j] && d.Pos.Line == at && d.Pos.Col == col && re.MatchString(d.String()) {
					said[j], found = true, true
					break
				}
			}
			if !found {
				t.Errorf("line %d: nothing at column %d says %s", at, col, want[2])
			}
		}
	}
	for j, d := range ds {
		if !said[j] {
			t.Errorf("not wanted: %s %s", d, hintOf(d))
		}
	}
}

func hintOf(d source.Diagnostic) string {
	if d.Hint == "" {
		return ""
	}
	return fmt.Sprintf("(hint: %s)", d.Hint)
}
