package proc_test

import (
	"bufio"
	"fmt"
	"runtime"
	"testing"

	"mcptest/internal/process/proc"
)

// What a program wrote to standard error before a line of standard output is there when
// that line has been read.
func TestStderrIsCompleteWhenOutputArrives(t *testing.T) {
	if runtime.GOOS != "linux" {
		t.Skip("only Linux tells how much of a pipe is unread")
	}
	t.Parallel()
	p, err := proc.Start(t.Context(), proc.Spec{
		Argv: []string{"sh", "-c", `while read n; do echo "error $n" >&2; echo "output $n"; done`}, PipeStdin: true, PipeStdout: true,
	})
	if err != nil {
		t.Fatal(err)
	}
	defer p.Stop(t.Context(), proc.Grace{})
	out := bufio.NewScanner(p.Stdout())
	for i := range 2000 {
		mark := p.Stderr().Mark()
		fmt.Fprintln(p.Stdin(), i)
		if !out.Scan() {
			t.Fatal(out.Err())
		}
		if got, want := p.Stderr().Since(mark), fmt.Sprintf("error %d\n", i); got != want {
			t.Fatalf("after line %d standard error is %q, expected %q", i, got, want)
		}
	}
}
