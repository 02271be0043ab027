package watch

import (
	"bytes"
	"context"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/fsnotify/fsnotify"
)

func write(t *testing.T, path, text string) {
	t.Helper()
	if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
}

// Several events are one change, when they are over.
func TestDebounce(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		events := make(chan fsnotify.Event)
		f := newFiles(events, func(string) error { return nil })
		after := func(d time.Duration) (pending bool) {
			time.Sleep(d)
			synctest.Wait()
			return len(f.changed) > 0
		}
		for range 5 {
			events <- fsnotify.Event{}
			if after(quiet - time.Millisecond) {
				t.Fatal("a change while events come")
			}
		}
		if !after(time.Millisecond) {
			t.Fatal("no change after the last event")
		}
		<-f.changed
		// Events that never end do not put it off forever.
		for began := time.Now(); !after(quiet / 2); {
			if time.Since(began) > 2*most {
				t.Fatal("endless events: no change")
			}
			events <- fsnotify.Event{}
		}
		close(events)
	})
}

// With the real file system: saving, replacing, removing and creating files are
// changes, writing the same again is none.
func TestFiles(t *testing.T) {
	dir := t.TempDir()
	path := func(name string) string { return filepath.Join(dir, name) }
	write(t, path("suite.yaml"), "a")
	write(t, path("other.yaml"), "a")
	f, stop, err := NewFiles()
	if err != nil {
		t.Fatal(err)
	}
	defer stop()
	if err := f.Watch(path("suite.yaml"), path(".env"), path("none/rows.csv")); err != nil {
		t.Fatal(err)
	}
	for _, step := range []struct {
		name string
		do   func()
		want []string
	}{
		{"saved", func() { write(t, path("suite.yaml"), "b") }, []string{"suite.yaml"}},
		{"saved without a change", func() { write(t, path("suite.yaml"), "b") }, nil},
		{"another file", func() { write(t, path("other.yaml"), "b") }, nil},
		{"replaced", func() {
			write(t, path("suite.yaml~"), "c")
			if err := os.Rename(path("suite.yaml~"), path("suite.yaml")); err != nil {
				t.Fatal(err)
			}
		}, []string{"suite.yaml"}},
		{"created", func() { write(t, path(".env"), "A=1") }, []string{".env"}},
		{"removed", func() { _ = os.Remove(path(".env")) }, []string{".env"}},
	} {
		step.do()
		select {
		case <-f.changed:
		case <-time.After(time.Minute):
			t.Fatalf("%s: no event", step.name)
		}
		var got []string
		for _, p := range f.Accept() {
			got = append(got, filepath.Base(p))
		}
		if !slices.Equal(got, step.want) {
			t.Errorf("%s: changed %q, want %q", step.name, got, step.want)
		}
	}
}

// A file that changes between two readings stays changed when it is added again.
func TestWatchKeepsWhatWasRead(t *testing.T) {
	path := filepath.Join(t.TempDir(), "suite.yaml")
	write(t, path, "a")
	f := newFiles(make(chan fsnotify.Event), func(string) error { return nil })
	if err := f.Watch(path); err != nil {
		t.Fatal(err)
	}
	write(t, path, "bb")
	if err := f.Watch(path); err != nil {
		t.Fatal(err)
	}
	if got := f.Accept(); len(got) != 1 {
		t.Errorf("changed %q, want the file", got)
	}
}

// A program whose folder does not exist yet, such as dist, is watched.
func TestProgramInMissingFolder(t *testing.T) {
	dir := t.TempDir()
	want := []string{filepath.Join(dir, "dist", "server.js")}
	if got := listProgramFiles([]string{"./dist/server.js"}, dir); !slices.Equal(got, want) {
		t.Errorf("got %q, want %q", got, want)
	}
}

func none() ([]string, error) { return nil, nil }

// loop runs Loop until it ends; each run does what the function says.
func loop(t *testing.T, keys string, f *Files, run func(n int, r Request, stop context.CancelFunc)) (requests []Request, out string) {
	t.Helper()
	ctx, stop := context.WithTimeout(t.Context(), time.Minute)
	defer stop()
	var b bytes.Buffer
	RunLoop(ctx, Options{Keys: readKeys(strings.NewReader(keys)), Out: &b, Files: f, Find: none, Run: func(_ context.Context, r Request, _ func([]string)) []string {
		requests = append(requests, r)
		run(len(requests), r, stop)
		return nil
	}})
	if err := ctx.Err(); err == context.DeadlineExceeded {
		t.Fatalf("the loop did not end\n%s", b.String())
	}
	return requests, b.String()
}

func TestKeysRequestRuns(t *testing.T) {
	f := newFiles(make(chan fsnotify.Event), func(string) error { return nil })
	got, out := loop(t, "\nux\x01fabx\x7f\nuf\x1bf\nq", f, func(int, Request, context.CancelFunc) {})
	want := []Request{{}, {Restart: true}, {Update: true}, {Filter: "ab"}, {Filter: "ab", Update: true}, {Filter: "ab"}, {}}
	if !slices.Equal(got, want) {
		t.Errorf("requests %+v, want %+v\n%s", got, want, out)
	}
}

// A change during a run starts another one; the end of the input ends nothing.
func TestChangeDuringARun(t *testing.T) {
	path := filepath.Join(t.TempDir(), "suite.yaml")
	write(t, path, "a")
	f := newFiles(make(chan fsnotify.Event), func(string) error { return nil })
	if err := f.Watch(path); err != nil {
		t.Fatal(err)
	}
	got, out := loop(t, "", f, func(n int, _ Request, stop context.CancelFunc) {
		if n == 2 {
			stop()
			return
		}
		write(t, path, "changed")
		f.changed <- struct{}{}
	})
	if len(got) != 2 || !strings.Contains(out, "suite.yaml") {
		t.Errorf("%d runs, want 2\n%s", len(got), out)
	}
}

// What a run writes starts no other one.
func TestFilesWrittenByARun(t *testing.T) {
	path := filepath.Join(t.TempDir(), "a.snap.yaml")
	f := newFiles(make(chan fsnotify.Event), func(string) error { return nil })
	if err := f.Watch(path); err != nil {
		t.Fatal(err)
	}
	runs := 0
	keys, press := io.Pipe()
	RunLoop(t.Context(), Options{Keys: readKeys(keys), Out: io.Discard, Files: f, Find: none, Run: func(context.Context, Request, func([]string)) []string {
		runs++
		write(t, path, "new")
		f.changed <- struct{}{}
		go func() { _, _ = press.Write([]byte("q")) }()
		return []string{path}
	}})
	if runs != 1 {
		t.Errorf("%d runs, want 1", runs)
	}
}

// The files of a package belong to its program, those of installed packages do not.
func TestPartsOfPrograms(t *testing.T) {
	dir := t.TempDir()
	for _, name := range []string{
		"node/package.json", "node/bin/cli.mjs", "node/lib/part.ts", "node/lib/text.md", "node/node_modules/x/x.js", "node/.git/y.js",
		"py/one.py", "py/pkg/deep/two.py", "go/go.mod", "go/cmd/server/main.go", "go/api/api.go", "plain/run.sh", "plain/lib/part.sh", "plain/m.json",
	} {
		path := filepath.Join(dir, filepath.FromSlash(name))
		if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
			t.Fatal(err)
		}
		write(t, path, "text")
	}
	if err := os.Symlink(filepath.Join("..", "node", "bin", "cli.mjs"), filepath.Join(dir, "plain", "link.mjs")); err != nil {
		t.Fatal(err)
	}
	for command, want := range map[string]string{
		"node bin/cli.mjs in node":    "node/bin/cli.mjs node/lib/part.ts",
		"node link.mjs in plain":      "node/bin/cli.mjs node/lib/part.ts plain/link.mjs",
		"python3 -m one in py":        "py/one.py py/pkg/deep/two.py",
		"python3 -m pkg in py":        "py/one.py py/pkg/deep/two.py",
		"go run ./cmd/server in go":   "go/api/api.go go/cmd/server/main.go",
		"sh run.sh in plain":          "plain/lib/part.sh plain/run.sh",
		"server -m m.json in plain":   "plain/m.json",
		"npx -y some-server in plain": "",
	} {
		line, in, _ := strings.Cut(command, " in ")
		var got []string
		for _, name := range listProgramFiles(strings.Fields(line), filepath.Join(dir, in)) {
			rel, err := filepath.Rel(dir, name)
			if err != nil {
				t.Fatal(err)
			}
			got = append(got, filepath.ToSlash(rel))
		}
		slices.Sort(got)
		if text := strings.Join(slices.Compact(got), " "); text != want {
			t.Errorf("%s: got %q, want %q", command, text, want)
		}
	}
}
