package wire

import (
	"testing"

	"mcptest/internal/process/proc"
)

// A program that ends at once when its input is closed ended because of that, even if it
// is gone before the stop begins.
func TestQuickEndIsByEOF(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		script string
		want   proc.How
	}{{"cat", proc.ByEOF}, {"exit 0", proc.ByItself}} {
		tr, err := NewStdio(t.Context(), proc.Spec{Argv: []string{"sh", "-c", c.script}}, StdioOptions{})
		if err != nil {
			t.Fatal(err)
		}
		s := tr.(*Stdio)
		if c.want == proc.ByEOF {
			s.closeWrite()
		}
		<-s.p.Exited()
		if got := s.Close(t.Context()); got.How != c.want {
			t.Errorf("%s: ended %s, expected %s", c.script, got.How, c.want)
		}
	}
}

// A pipe has deadlines for writes: without them a goroutine writes each request, which
// cost a test 40 % more context switches and 20 % more CPU time.
func TestStdioWritesWithDeadlines(t *testing.T) {
	t.Parallel()
	tr, err := NewStdio(t.Context(), proc.Spec{Argv: []string{"cat"}}, StdioOptions{})
	if err != nil {
		t.Fatal(err)
	}
	defer tr.Close(t.Context())
	if tr.(*Stdio).out.deadline == nil {
		t.Error("the writer to a process has no deadline")
	}
}
