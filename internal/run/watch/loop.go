package watch

import (
	"bufio"
	"context"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"

	"mcptest/internal/base/display"
	"mcptest/internal/base/term"
)

// Request describes the next run.
type Request struct {
	Filter  string // in place of the filters of the command line, unless empty
	Update  bool   // store snapshots
	Restart bool   // start the servers again
}

// Options of [RunLoop].
type Options struct {
	// Run runs the tests. It calls loaded with the files that it has read, before it
	// starts anything, and returns the files that it has written.
	Run func(ctx context.Context, r Request, loaded func(files []string)) (written []string)
	// Keys receives the pressed keys; nil without a keyboard.
	Keys <-chan rune
	// Out shows the keys and what happens.
	Out   io.Writer
	Files *Files
	// Find returns the suites that the next run would read, so that a new one is
	// noticed. It passes the folders in which it looks to [Files.Folder]. An error
	// is one of the next run.
	Find func() ([]string, error)
}

// RunLoop runs the tests, and again after each change of a file and at the request of
// a key, until ctx ends or the user quits.
func RunLoop(ctx context.Context, o Options) {
	var r Request
	for {
		written := o.Run(ctx, r, o.watchFiles)
		if ctx.Err() != nil {
			return
		}
		if len(written) > 0 {
			o.Files.Accept(written...)
		}
		o.printPrompt(r)
		next, ok := o.awaitReason(ctx, r)
		if !ok {
			return
		}
		r = next
	}
}

// watchFiles watches the files that a run has read.
func (o *Options) watchFiles(files []string) {
	if err := o.Files.Watch(files...); err != nil {
		fmt.Fprintf(o.Out, "mcptest: %s; its changes are not noticed\n", display.Escape(err.Error()))
	}
}

// printPrompt says what the loop waits for.
func (o *Options) printPrompt(r Request) {
	if r.Filter != "" {
		fmt.Fprintf(o.Out, "only tests with %q; ", r.Filter)
	}
	fmt.Fprint(o.Out, "waiting for changes of files")
	if o.Keys != nil {
		fmt.Fprint(o.Out, "; Enter starts the servers and runs again, f filter, u update snapshots, q quit")
	}
	fmt.Fprintln(o.Out)
}

// awaitReason waits for a reason to run again; ok is false if there will be none.
func (o *Options) awaitReason(ctx context.Context, last Request) (next Request, ok bool) {
	for {
		select {
		case <-ctx.Done():
			return last, false
		case <-o.Files.changed:
			found, _ := o.Find()
			changed := append(o.Files.Accept(), o.Files.Unknown(found)...)
			if len(changed) > 0 {
				fmt.Fprintf(o.Out, "\nchanged: %s\n", joinNames(changed))
				return Request{Filter: last.Filter}, true
			}
		case key, isOpen := <-o.Keys:
			switch {
			case !isOpen:
				o.Keys = nil // the input has ended
			case key == 'q':
				return last, false
			case key == 'f':
				filter, ok := o.askFilter(ctx, last.Filter)
				return Request{Filter: filter}, ok
			case key == 'u':
				return Request{Filter: last.Filter, Update: true}, true
			case key == '\n' || key == '\r': // what a server depends on is not fully known
				return Request{Filter: last.Filter, Restart: true}, true
			}
		}
	}
}

// joinNames joins the names of files, as short as possible.
func joinNames(paths []string) string {
	dir, _ := os.Getwd()
	short := make([]string, len(paths))
	for i, p := range paths {
		short[i] = p
		if rel, err := filepath.Rel(dir, p); err == nil && !strings.HasPrefix(rel, "..") {
			short[i] = rel
		}
		short[i] = display.Escape(short[i])
	}
	return display.Truncate(strings.Join(short, ", "), 200)
}

// askFilter reads a filter from the keyboard, an empty one for none; Escape keeps the
// last one. ok is false if ctx ends.
func (o *Options) askFilter(ctx context.Context, last string) (filter string, ok bool) {
	const erase = "\r\x1b[K"
	var text []rune
	for {
		fmt.Fprintf(o.Out, "%srun tests whose name contains (Enter for all): %s", erase, display.Escape(string(text)))
		select {
		case <-ctx.Done():
			return "", false
		case key, isOpen := <-o.Keys:
			switch {
			case !isOpen:
				return last, true
			case key == '\n' || key == '\r':
				fmt.Fprintln(o.Out)
				return string(text), true
			case key == 0x1b:
				fmt.Fprintln(o.Out)
				return last, true
			case key == 0x7f || key == '\b':
				text = text[:max(0, len(text)-1)]
			case key >= ' ':
				text = append(text, key)
			}
		}
	}
}

// Keys returns the keys that are pressed, or nil if in is not a terminal. restore
// puts the terminal into its former state. Where a terminal can't report single
// keys, each needs Enter.
func Keys(in io.Reader) (keys <-chan rune, restore func()) {
	if !term.IsTerminal(in) {
		return nil, func() {}
	}
	restore, err := term.EnterKeyMode(in.(*os.File))
	if err != nil {
		restore = func() {}
	}
	return readKeys(in), restore
}

// readKeys passes on what is typed. Its goroutine ends with the input.
func readKeys(in io.Reader) <-chan rune {
	out := make(chan rune)
	go func() {
		defer close(out)
		r := bufio.NewReader(in)
		for {
			key, _, err := r.ReadRune()
			if err != nil {
				return
			}
			out <- key
		}
	}()
	return out
}
