//go:build unix

package source_test

import (
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"mcptest/internal/base/source"
)

// A pipe is read when a process writes to it, and the wait has a limit.
func TestReadPipe(t *testing.T) {
	t.Parallel()
	name := filepath.Join(t.TempDir(), "pipe")
	if err := syscall.Mkfifo(name, 0o600); err != nil {
		t.Fatal(err)
	}
	time.AfterFunc(200*time.Millisecond, func() {
		f, err := os.OpenFile(name, os.O_WRONLY, 0)
		if err != nil {
			return
		}
		defer f.Close()
		f.WriteString("name: ")
		time.Sleep(50 * time.Millisecond)
		f.WriteString("piped\n")
	})
	f, diags := source.Read(name, "pipe")
	if diags.HasErrors() || string(f.Data) != "name: piped\n" {
		t.Fatalf("%v, %v", f, diags)
	}
	start := time.Now()
	if _, diags = source.Read(name, "pipe"); len(diags) != 1 || !strings.Contains(diags[0].Msg, "no process writes") || time.Since(start) > 60*time.Second {
		t.Error(diags)
	}
}
