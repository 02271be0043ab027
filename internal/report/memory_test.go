package report_test

import (
	"fmt"
	"runtime"
	"strings"
	"testing"

	"mcptest/internal/report"
	"mcptest/internal/report/render"
	"mcptest/internal/report/result"
)

// heapMeter counts what is written to it, and measures the memory in use meanwhile.
type heapMeter struct {
	written, next int
	peak          uint64
}

func (m *heapMeter) Write(p []byte) (int, error) {
	m.written += len(p)
	if m.written > m.next {
		m.next = m.written + 128<<10
		m.peak = max(m.peak, heapInUse())
	}
	return len(p), nil
}

func heapInUse() uint64 {
	var s runtime.MemStats
	runtime.GC()
	runtime.ReadMemStats(&s)
	return s.HeapAlloc
}

// TestReportsAreNotInMemory: the reports that programs read are written while the cases are
// read, so that a run of a hundred thousand tests needs no memory for its report.
func TestReportsAreNotInMemory(t *testing.T) {
	const cases = 2000
	rec := result.NewRecorder(result.RecorderOptions{})
	defer rec.Close()
	rec.Send(result.RunStarted{Total: cases, Suites: []result.Suite{{Name: "s", File: "s.yaml"}}})
	for i := range cases {
		rec.Send(result.CaseFinished{Case: &result.Case{
			Index: i, Name: fmt.Sprint("row ", i), Status: result.Fail, Suite: "s", File: "s.yaml", Line: i + 1,
			Message:    "the answer is not the expected one",
			Assertions: []result.Assertion{{Target: "text", Matcher: "exact", Message: strings.Repeat("text ", 100)}},
			Exchanges:  []result.Exchange{{Method: "tools/call", Request: `{"id":1}`, Response: strings.Repeat(`{"id":1}`, 100)}},
		}})
	}
	rec.Send(result.RunFinished{ExitCode: 1})
	for _, name := range []string{"junit", "sarif", "otlp", "gitlab"} {
		f, err := report.Find(name)
		if err != nil {
			t.Fatal(err)
		}
		before := heapInUse()
		m := &heapMeter{peak: before}
		if err := f.Write(m, rec.Run(), render.Options{}); err != nil {
			t.Fatal(err)
		}
		used := int(m.peak - before)
		t.Logf("%-6s %8d bytes written with %7d bytes of memory", name, m.written, used)
		if used > m.written/2 {
			t.Errorf("%s: %d bytes written with %d bytes in memory", name, m.written, used)
		}
	}
}
