package result_test

import (
	"bytes"
	"fmt"
	"io"
	"math/rand/v2"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"testing"

	"mcptest/internal/base/testkit"
	"mcptest/internal/report/result"
)

func TestSpoolKeepsPlanOrder(t *testing.T) {
	for _, n := range []int{0, 3, 2000} { // in memory, and in a file
		dir := t.TempDir()
		s := result.NewSpool(dir)
		for _, i := range rand.New(rand.NewPCG(1, 2)).Perm(n) {
			c := smallCase(i)
			if i%10 == 0 {
				c.Status = result.Fail
			}
			if i%500 == 7 {
				c.Stderr = strings.Repeat("long ", 30_000) // more than one window
			}
			if err := s.Put(c); err != nil {
				t.Fatal(err)
			}
		}
		if s.Len() != n || s.Err() != nil {
			t.Fatalf("Len %d, Err %v", s.Len(), s.Err())
		}
		for range 2 { // it can be read again
			next := 0
			for c, err := range s.All() {
				if err != nil {
					t.Fatal(err)
				}
				if c.Index != next || c.Name != smallCase(next).Name {
					t.Fatalf("place %d: index %d, %q", next, c.Index, c.Name)
				}
				next++
			}
			if next != n {
				t.Fatalf("read %d of %d", next, n)
			}
		}
		failed := 0
		for c, err := range s.Select(result.Fail) {
			if err != nil || c.Status != result.Fail {
				t.Fatal(c.Status, err)
			}
			failed++
		}
		if want := (n + 9) / 10; failed != want {
			t.Errorf("%d failed, want %d", failed, want)
		}
		if err := s.Close(); err != nil {
			t.Fatal(err)
		}
		if left, _ := os.ReadDir(dir); len(left) > 0 {
			t.Errorf("left behind: %v", left)
		}
	}
}

// TestSpoolFileHasNoName: a process that is killed leaves nothing behind.
func TestSpoolFileHasNoName(t *testing.T) {
	if runtime.GOOS == "windows" {
		t.Skip("the system keeps open files")
	}
	dir := t.TempDir()
	s := result.NewSpool(dir)
	defer s.Close()
	for i := range 1000 {
		s.Put(smallCase(i))
	}
	if left, _ := os.ReadDir(dir); len(left) > 0 {
		t.Errorf("has a name: %v", left)
	}
}

// TestSpoolWithoutDisk: a folder that can't be written costs memory, nothing
// else.
func TestSpoolWithoutDisk(t *testing.T) {
	rec := result.NewRecorder(result.RecorderOptions{Spool: result.NewSpool(filepath.Join(t.TempDir(), "missing"))})
	defer rec.Close()
	for i := range 1000 {
		rec.Send(result.CaseFinished{Case: smallCase(i)})
	}
	rec.Send(result.RunFinished{})
	n := 0
	for _, err := range rec.Run().Cases.All() {
		if err != nil {
			t.Fatal(err)
		}
		n++
	}
	if n != 1000 {
		t.Errorf("read %d", n)
	}
	if notes := rec.Run().Notes; len(notes) != 1 || !strings.HasPrefix(notes[0], "the results were kept in memory: make a file") {
		t.Errorf("notes %q", notes)
	}
}

// TestManyCases: the record of many tests (100,000 in a deep run) is written, read back and
// written again with little memory.
func TestManyCases(t *testing.T) {
	n := testkit.Count(20_000, 100_000)
	if slow {
		n = 5_000
	}
	rec := result.NewRecorder(result.RecorderOptions{Spool: result.NewSpool(t.TempDir())})
	defer rec.Close()
	rec.Send(result.RunStarted{Total: n})
	for i := range n {
		rec.Send(result.CaseFinished{Case: smallCase(i)})
	}
	rec.Send(result.RunFinished{})
	path := filepath.Join(t.TempDir(), "run.json")
	f, err := os.Create(path)
	if err != nil {
		t.Fatal(err)
	}
	if err := result.WriteJSON(f, rec.Run()); err != nil {
		t.Fatal(err)
	}
	if _, err := f.Seek(0, io.SeekStart); err != nil {
		t.Fatal(err)
	}
	back, err := result.ReadJSON(f)
	if err != nil {
		t.Fatal(err)
	}
	defer back.Close()
	f.Close()
	var ms runtime.MemStats
	runtime.GC()
	runtime.ReadMemStats(&ms)
	t.Logf("%d tests: %d MB in use with two records open", n, ms.HeapAlloc>>20)
	if ms.HeapAlloc > 16<<20 {
		t.Errorf("%d MB in use", ms.HeapAlloc>>20)
	}
	if back.Summary.Total != n || back.Cases.Len() != n {
		t.Errorf("read %d, stored %d", back.Summary.Total, back.Cases.Len())
	}
	var last *result.Case
	for c, err := range back.Cases.All() {
		if err != nil {
			t.Fatal(err)
		}
		last = c
	}
	if last.Name != smallCase(n-1).Name {
		t.Errorf("last is %q", last.Name)
	}
}

func TestReadJSONFaults(t *testing.T) {
	const head = `{
  "schema": "mcptest.run/v1",
  "summary": {"total": 1, "passed": 1, "failed": 0, "errored": 0, "skipped": 0},
  "tests": [
    %s
  ],
  "servers": []
}
`
	for name, tc := range map[string]struct{ text, want string }{
		"empty":        {"", "line 1: this is not the record of a run"},
		"a list":       {"[]", "line 1: this is not the record of a run"},
		"not JSON":     {"hello", "line 1: this is not the record of a run"},
		"other schema": {`{"schema": "junit"}`, `schema "junit": this program reads "mcptest.run/v1"`},
		"no schema":    {`{}`, `no schema`},
		"cut":          {fmt.Sprintf(head, `{"name": "a", "sta`)[:140], "line 5: the record ends too early"},
		"bad status":   {fmt.Sprintf(head, "{\n\"status\": \"good\"}"), `line 5: test 1: status "good": must be pass, fail, error, skip or inconclusive`},
		"no status":    {fmt.Sprintf(head, `{"name": "a"}`), `line 5: test 1: no "status"`},
		"bad type":     {fmt.Sprintf(head, `{"status": "pass", "line": "x"}`), `line 5: test 1: line: unexpected string`},
		"not a test":   {fmt.Sprintf(head, `7`), `line 5: test 1: unexpected number`},
		"tests object": {strings.Replace(fmt.Sprintf(head, ``), "[\n    \n  ]", "{}", 1), `line 4: "tests" must be a list`},
		"summary type": {strings.Replace(fmt.Sprintf(head, ``), `"total": 1`, `"total": "1"`, 1), "line 3: summary.total: unexpected string"},
		"wrong count":  {fmt.Sprintf(head, ``), "the record is damaged: its summary counts 1 tests, and it has 0"},
		"wrong sum":    {fmt.Sprintf(head, `{"status":"fail"}`), "the record is damaged: its summary counts 1 passed, and it has 0"},
		"no tool":      {strings.Replace(fmt.Sprintf(head, ``), `"total": 1, "passed": 1`, `"total": 0`, 1), `the record is damaged: it has no "tool"`},
		"after":        {fmt.Sprintf(head, `{"status":"pass"}`) + "x", `line 9: text after the end of the record`},
		"bad field":    {"{\"schema\": \"mcptest.run/v1\",\n\"suites\": [\n{,}]}", "line 2: suites: invalid character"},
		"no comma":     {"{\"schema\": \"mcptest.run/v1\"\n\"suites\": []}", "line 2: invalid character"},
	} {
		t.Run(name, func(t *testing.T) {
			r, err := result.ReadJSON(strings.NewReader(tc.text))
			if err == nil {
				r.Close()
				t.Fatal("no error")
			}
			if !strings.Contains(err.Error(), tc.want) {
				t.Errorf("got %q, want %q in it", err, tc.want)
			}
		})
	}
}

// TestReadErrorIsReported: a fault of the disk is no end of the text.
func TestReadErrorIsReported(t *testing.T) {
	r := io.MultiReader(strings.NewReader(`{"schema": "mcptest.run/v1", "tests": [`), badReader{})
	if _, err := result.Read(r); err == nil || !strings.Contains(err.Error(), "read the record: disk on fire") {
		t.Errorf("got %v", err)
	}
}

type badReader struct{}

func (badReader) Read([]byte) (int, error) { return 0, fmt.Errorf("disk on fire") }

func TestWriteErrorIsReported(t *testing.T) {
	r := &result.Run{Cases: result.NewStored(smallCase(0))}
	if err := result.WriteJSON(badWriter{}, r); err == nil {
		t.Error("no error")
	}
	if err := result.WriteLog(badWriter{}, r, nil); err == nil {
		t.Error("no error")
	}
}

type badWriter struct{}

func (badWriter) Write([]byte) (int, error) { return 0, io.ErrShortWrite }

func TestIndentedRecord(t *testing.T) {
	r := &result.Run{Schema: result.Schema, Cases: result.NewStored(&result.Case{Name: "a", Status: result.Pass}), Summary: result.Summary{Total: 1, Passed: 1}}
	var b bytes.Buffer
	if err := result.WriteJSON(&b, r); err != nil {
		t.Fatal(err)
	}
	const want = `{
  "schema": "mcptest.run/v1",
  "tool": {
    "name": "",
    "version": ""
  },
  "started": "0001-01-01T00:00:00Z",
  "duration_ms": 0,
  "exit_code": 0,
  "summary": {
    "total": 1,
    "passed": 1,
    "failed": 0,
    "errored": 0,
    "skipped": 0
  },
  "tests": [
    {
      "name": "a",
      "status": "pass",
      "duration_ms": 0,
      "start_ms": 0,
      "file": "",
      "line": 0,
      "assertions": []
    }
  ],
  "servers": []
}
`
	if b.String() != want {
		t.Errorf("got %s", b.String())
	}
}
