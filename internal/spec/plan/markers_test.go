package plan_test

import (
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"

	"mcptest/internal/base/source"
	"mcptest/internal/spec/plan"
	"mcptest/internal/spec/suite"
)

// The suites in testdata/diagnostics contain the expected diagnostics:
//
//	timout: 5s # want "3: error: servers.api: unknown key"
//
// The regular expression is matched against "col: severity: path: msg", then " | hint" and
// " | [file:]line:col: msg" of each related position. "want+1" refers to the next line,
// "want-2" to the second line above, for lines that can't have a comment. A marker without
// a diagnostic and a diagnostic without a marker both fail the test.
//
// A suite is a file, or suite.yaml in a directory with the files it uses. For files without
// comments, want.txt has the markers: rows.csv:3 "…". Comments at the top set the
// environment: "# env NAME=value", "# var name=value", "# env-file NAME", "# ci",
// "# allow-outside".
//
// UPDATE_MARKERS=1 writes markers for unexpected diagnostics; check them before you commit
// them.
var (
	marker     = regexp.MustCompile(`# want([+-]\d+)?((?: +"(?:[^"\\]|\\.)*")+)\s*$`)
	markerText = regexp.MustCompile(`"(?:[^"\\]|\\.)*"`)
	setting    = regexp.MustCompile(`(?m)^# (env|var|env-file|ci|allow-outside|list)(?: (.*))?$`)
	wantLine   = regexp.MustCompile(`^(\S+):(\d+) (".*")$`)
)

type wanted struct {
	file string // base name
	line int
	re   *regexp.Regexp
}

func readMarkers(t *testing.T, path string) []wanted {
	t.Helper()
	data, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	var out []wanted
	add := func(file string, line int, quoted string) {
		for _, q := range markerText.FindAllString(quoted, -1) {
			expr, err := strconv.Unquote(q)
			if err != nil {
				t.Fatalf("%s:%d: %v", path, line, err)
			}
			out = append(out, wanted{file, line, regexp.MustCompile(expr)})
		}
	}
	for i, line := range strings.Split(string(data), "\n") {
		if m := wantLine.FindStringSubmatch(line); m != nil && filepath.Base(path) == "want.txt" {
			n, _ := strconv.Atoi(m[2])
			add(m[1], n, m[3])
			continue
		}
		m := marker.FindStringSubmatch(line)
		if m == nil {
			if strings.Contains(line, "# want") {
				t.Errorf("%s:%d: marker can't be read: %s", path, i+1, line)
			}
			continue
		}
		offset := 0
		if m[1] != "" {
			offset, _ = strconv.Atoi(m[1])
		}
		add(filepath.Base(path), i+1+offset, m[2])
	}
	return out
}

func describe(d source.Diagnostic) string {
	if wd, err := os.Getwd(); err == nil {
		d.Msg, d.Hint = strings.ReplaceAll(d.Msg, wd, "WD"), strings.ReplaceAll(d.Hint, wd, "WD")
	}
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
		b.WriteString(" | ")
		if r.Pos.File != d.Pos.File && r.Pos.File != nil {
			b.WriteString(filepath.Base(r.Pos.File.Name) + ":")
		}
		fmt.Fprintf(&b, "%d:%d: %s", r.Pos.Line, r.Pos.Col, r.Msg)
	}
	return b.String()
}

func fileOf(d source.Diagnostic) string {
	if d.Pos.File == nil {
		return "-"
	}
	return filepath.Base(d.Pos.File.Name)
}

// checkMarkers returns the missing and the unexpected diagnostics.
func checkMarkers(wants []wanted, ds source.Diagnostics) (missing []string, extra source.Diagnostics) {
	used := make([]bool, len(ds))
	for _, w := range wants {
		i := slices.IndexFunc(ds, func(d source.Diagnostic) bool {
			return fileOf(d) == w.file && d.Pos.Line == w.line && w.re.MatchString(describe(d))
		})
		for i >= 0 && used[i] {
			rest := slices.IndexFunc(ds[i+1:], func(d source.Diagnostic) bool {
				return fileOf(d) == w.file && d.Pos.Line == w.line && w.re.MatchString(describe(d))
			})
			if rest < 0 {
				i = -1
				break
			}
			i += 1 + rest
		}
		if i < 0 {
			missing = append(missing, fmt.Sprintf("%s:%d: missing: %s", w.file, w.line, w.re))
			continue
		}
		used[i] = true
	}
	for i, d := range ds {
		if !used[i] {
			extra = append(extra, d)
		}
	}
	return missing, extra
}

// violationKinds are examples, because plan does not know the kinds of the wire.
var violationKinds = []string{"bad-json", "output-schema", "stray-output", "unknown-id"}

func diagnose(t *testing.T, path string) source.Diagnostics {
	t.Helper()
	data, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	o := suite.Options{Vars: map[string]string{}, BaseDir: abs(t, filepath.Dir(path))}
	set := plan.Settings{ViolationKinds: violationKinds}
	for _, m := range setting.FindAllStringSubmatch(string(data), -1) {
		switch m[1] {
		case "env":
			o.Env = append(o.Env, m[2])
			set.Env = o.Env
		case "var":
			k, v, _ := strings.Cut(m[2], "=")
			o.Vars[k] = v
		case "env-file":
			o.EnvFiles = append(o.EnvFiles, filepath.Join(filepath.Dir(path), m[2]))
		case "ci":
			set.CI = true
		case "allow-outside":
			o.AllowOutside, set.AllowOutside = true, true
		}
	}
	s, ds := suite.Load(path, o)
	if s != nil {
		_, more := plan.Compile([]*suite.Suite{s}, set)
		ds = append(ds, more...)
	}
	ds.Sort()
	return ds
}

func abs(t *testing.T, path string) string {
	t.Helper()
	p, err := filepath.Abs(path)
	if err != nil {
		t.Fatal(err)
	}
	return p
}

func TestMarkedDiagnostics(t *testing.T) {
	files, _ := filepath.Glob("testdata/diagnostics/*.yaml")
	folders, _ := filepath.Glob("testdata/diagnostics/*/suite.yaml")
	if len(files)+len(folders) < 30 {
		t.Errorf("only %d suites", len(files)+len(folders))
	}
	for _, path := range append(files, folders...) {
		name := strings.TrimSuffix(filepath.ToSlash(path)[len("testdata/diagnostics/"):], ".yaml")
		t.Run(name, func(t *testing.T) {
			sources := []string{path}
			if filepath.Base(path) == "suite.yaml" {
				sources = filesBelow(t, filepath.Dir(path))
			}
			var wants []wanted
			for _, p := range sources {
				wants = append(wants, readMarkers(t, p)...)
			}
			missing, extra := checkMarkers(wants, diagnose(t, path))
			for _, m := range missing {
				t.Error(m)
			}
			for _, d := range extra {
				t.Errorf("%s:%d: extra: %s", fileOf(d), d.Pos.Line, describe(d))
			}
			if os.Getenv("UPDATE_MARKERS") != "" {
				writeMarkers(t, sources, extra)
			}
		})
	}
}

func filesBelow(t *testing.T, dir string) []string {
	t.Helper()
	var out []string
	err := filepath.WalkDir(dir, func(path string, d fs.DirEntry, err error) error {
		if err == nil && !d.IsDir() {
			out = append(out, path)
		}
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return out
}

// writeMarkers adds markers for unexpected diagnostics.
func writeMarkers(t *testing.T, sources []string, extra source.Diagnostics) {
	t.Helper()
	for _, path := range sources {
		data, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		lines := strings.Split(string(data), "\n")
		for _, d := range extra {
			if fileOf(d) != filepath.Base(path) || d.Pos.Line < 1 {
				continue
			}
			if !strings.HasSuffix(path, ".yaml") || len(data) == 0 {
				writeWant(t, path, d)
				continue
			}
			at := &lines[d.Pos.Line-1]
			said, _, _ := strings.Cut(describe(d), " | the matchers are")
			text := strconv.Quote(regexp.QuoteMeta(said))
			text = strings.ReplaceAll(text, `\\.`, `.`)
			if marker.MatchString(*at) {
				*at += " " + text
			} else {
				*at += " # want " + text
			}
		}
		if err := os.WriteFile(path, []byte(strings.Join(lines, "\n")), 0o600); err != nil {
			t.Fatal(err)
		}
	}
}

// writeWant adds a line to want.txt.
func writeWant(t *testing.T, path string, d source.Diagnostic) {
	t.Helper()
	f, err := os.OpenFile(filepath.Join(filepath.Dir(path), "want.txt"), os.O_APPEND|os.O_CREATE|os.O_WRONLY, 0o600)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	fmt.Fprintf(f, "%s:%d %q\n", filepath.Base(path), d.Pos.Line, regexp.QuoteMeta(describe(d)))
}

// TestMarkersCanFail shows that the harness detects both kinds of mistake.
func TestMarkersCanFail(t *testing.T) {
	path := filepath.Join(t.TempDir(), "s.yaml")
	text := "servers: {a: {command: [x]}}\nnme: x # want \"unknown key\"\nname: 5\ntools: [] # want \"nothing is wrong here\"\n"
	if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	missing, extra := checkMarkers(readMarkers(t, path), diagnose(t, path))
	if len(missing) != 1 || !strings.Contains(missing[0], "4: missing: nothing is wrong here") {
		t.Errorf("missing: %q", missing)
	}
	if len(extra) != 1 || !strings.Contains(describe(extra[0]), "7: error: name: expected text, got number 5") {
		t.Errorf("extra: %v", extra)
	}
}
