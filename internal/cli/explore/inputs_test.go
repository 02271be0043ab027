package explore

import (
	"context"
	"os"
	"path/filepath"
	"testing"
	"time"

	"mcptest/internal/base/secret"
)

const oneServer = "servers:\n  one: {command: [one]}\n"

// A suite, or a file that it imports, that is saved after it was read and before the files
// are watched is read again: the page once showed the old servers for good.
func TestChangesBeforeTheWatchAreSeen(t *testing.T) {
	dir := t.TempDir()
	write := func(name, text string) {
		t.Helper()
		if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	for changed, text := range map[string]string{
		"suite.yaml": oneServer + "  two: {command: [two]}\nimports: [more.yaml]\n",
		"more.yaml":  "servers:\n  two: {command: [two]}\n",
	} {
		write("suite.yaml", oneServer+"imports: [more.yaml]\n")
		write("more.yaml", "variables: {a: 1}\n")
		in := &inputs{
			flags: &flags{}, redactor: secret.NewRedactor(), paths: []string{filepath.Join(dir, "suite.yaml")},
		}
		list, problem := in.Servers()
		if len(list) != 1 || problem != "" {
			t.Fatalf("%d servers, %s", len(list), problem)
		}
		if in.isStale() {
			t.Fatal("nothing was saved yet")
		}
		write(changed, text)
		ctx, cancel := context.WithTimeout(t.Context(), 10*time.Second)
		in.watch(ctx, func() {
			if list, _ := in.Servers(); len(list) == 2 {
				cancel()
			}
		})
		if ctx.Err() != context.Canceled {
			t.Errorf("%s was saved, and the page has the old servers", changed)
		}
		cancel()
	}
}
