package report_test

import (
	"bytes"
	"flag"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"

	"mcptest/internal/base/term"
	"mcptest/internal/report"
	"mcptest/internal/report/render"
	"mcptest/internal/report/result"
)

var update = flag.Bool("update", false, "write the recorded streams and the goldens anew")

func names() []string { return slices.Sorted(maps.Keys(scenarios)) }

// golden compares got with a file, or writes it with -update.
func golden(t *testing.T, path string, got []byte) {
	t.Helper()
	if *update {
		if err := os.MkdirAll(filepath.Dir(path), 0o777); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, got, 0o666); err != nil {
			t.Fatal(err)
		}
		return
	}
	want, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	if d := cmp.Diff(string(want), string(got)); d != "" {
		t.Errorf("%s (-want +got):\n%s", path, d)
	}
}

func logPath(name string) string { return filepath.Join("testdata", "logs", name+".ndjson") }

// open folds a recorded stream into its record.
func open(t testing.TB, name string) *result.Run {
	t.Helper()
	f, err := os.Open(logPath(name))
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	r, err := result.Read(f)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { r.Close() })
	return r
}

func rendered(t testing.TB, format string, r *result.Run, o render.Options) []byte {
	t.Helper()
	f, err := report.Find(format)
	if err != nil {
		t.Fatal(err)
	}
	var b bytes.Buffer
	if err := f.Write(&b, r, o); err != nil {
		t.Fatal(err)
	}
	return b.Bytes()
}

// TestRecordedStreams: the streams are those that a recorder writes for the runs of
// scenarios_test.go.
func TestRecordedStreams(t *testing.T) {
	for _, name := range names() {
		var b bytes.Buffer
		log := report.NewLog(&b)
		rec := result.NewRecorder(result.RecorderOptions{Listeners: []result.Listener{log}})
		for _, e := range scenarios[name]() {
			rec.Send(e)
		}
		rec.Close()
		if rec.Err() != nil || log.Err() != nil {
			t.Fatal(rec.Err(), log.Err())
		}
		golden(t, logPath(name), b.Bytes())
	}
}

// inFull are the streams with a golden for every format. The others have one
// for pretty, and TestEveryFormatOfEveryRun checks the rest.
var inFull = []string{"failures", "hostile", "parallel"}

// TestGoldens compares the reports of the recorded streams with files.
func TestGoldens(t *testing.T) {
	check := func(t *testing.T, name, variant, format, ext string, o render.Options) {
		t.Helper()
		golden(t, filepath.Join("testdata", "golden", name+"."+variant+ext), rendered(t, format, open(t, name), o))
	}
	for _, name := range names() {
		t.Run(name, func(t *testing.T) {
			if !slices.Contains(inFull, name) {
				check(t, name, "pretty", "pretty", ".txt", render.Options{})
				return
			}
			for _, f := range report.Formats {
				check(t, name, f.Name, f.Name, f.Ext, render.Options{})
			}
			check(t, name, "pretty-verbose", "pretty", ".txt", render.Options{Verbose: true})
		})
	}
	check(t, "failures", "pretty-color", "pretty", ".txt", render.Options{Palette: term.NewPalette(term.Color), Width: 100})
}
