package explore

import (
	"context"
	"fmt"
	"path/filepath"
	"strings"
	"sync"

	"mcptest/internal/base/lists"
	"mcptest/internal/base/secret"
	"mcptest/internal/cli/cmdutil"
	"mcptest/internal/cli/keeping"
	"mcptest/internal/cli/option"
	"mcptest/internal/tape/cassette"
	"mcptest/internal/tape/promote"
	"mcptest/internal/tape/timeline"
	"mcptest/internal/ui/api"
	"mcptest/internal/ui/live"
)

// tapes are the cassettes of the command line, and implement [api.Tapes]. A file that has
// changed is read again.
type tapes struct {
	redactor *secret.Redactor

	mu    sync.Mutex
	files []*tape
}

// tape is a cassette.
type tape struct {
	path     string
	stamp    string // of the file, from before it was read
	cassette *cassette.Cassette
	shown    *api.Tape // nil: not asked for yet
	rows     []timeline.Row
}

// openTapes reads cassettes. Secrets of the environment and of their commands are masked.
func openTapes(paths []string, s cmdutil.Streams, redactor *secret.Redactor) (*tapes, error) {
	t := &tapes{redactor: redactor}
	if len(paths) > 0 {
		redactor.Add(secret.FindInEnviron(s.Env)...)
	}
	for _, path := range paths {
		file := &tape{path: path}
		if err := t.read(file); err != nil {
			t.close()
			return nil, option.Invalid("%v", err)
		}
		t.files = append(t.files, file)
	}
	return t, nil
}

// add adds a cassette that the page has saved.
func (t *tapes) add(path string) error {
	t.mu.Lock()
	defer t.mu.Unlock()
	file := &tape{path: path}
	if err := t.read(file); err != nil {
		return err
	}
	t.files = append(t.files, file)
	return nil
}

// read reads a cassette, and replaces what was read before. The caller holds the lock, or is
// alone.
func (t *tapes) read(f *tape) error {
	stamp := stampOf([]string{f.path})
	c, err := cassette.Open(f.path)
	if err != nil {
		return err
	}
	t.redactor.Add(secret.Arguments(c.Server.Command)...)
	if f.cassette != nil {
		_ = f.cassette.Close()
	}
	*f = tape{path: f.path, stamp: stamp, cassette: c}
	return nil
}

// close closes the files.
func (t *tapes) close() {
	t.mu.Lock()
	defer t.mu.Unlock()
	for _, f := range t.files {
		_ = f.cassette.Close()
	}
}

// Names implements [api.Tapes].
func (t *tapes) Names() []string {
	t.mu.Lock()
	defer t.mu.Unlock()
	return lists.Map(t.files, func(f *tape) string { return option.Shown(f.path) })
}

// find returns a cassette as it is now. The caller holds the lock.
func (t *tapes) find(n int) (*tape, error) {
	if n < 0 || n >= len(t.files) {
		return nil, &live.RefusedError{Reason: "there is no cassette with this number"}
	}
	f := t.files[n]
	if stampOf([]string{f.path}) != f.stamp {
		if err := t.read(f); err != nil {
			return nil, &live.RefusedError{Reason: "the cassette was changed, and can't be read: " + err.Error()}
		}
	}
	return f, nil
}

// Open implements [api.Tapes].
func (t *tapes) Open(ctx context.Context, n int) (api.Tape, error) {
	t.mu.Lock()
	defer t.mu.Unlock()
	f, err := t.find(n)
	if err != nil {
		return api.Tape{}, err
	}
	if err := f.list(ctx); err != nil {
		return api.Tape{}, err
	}
	return *f.shown, nil
}

// list makes the rows of a cassette, unless they are made.
func (f *tape) list(ctx context.Context) error {
	if f.shown != nil {
		return nil
	}
	found := timeline.Violations(ctx, f.cassette, cmdutil.Version())
	if err := ctx.Err(); err != nil { // the page was closed
		return err
	}
	rows, loose, err := timeline.Read(f.cassette, found)
	if err != nil {
		return err
	}
	f.rows, f.shown = rows, &api.Tape{About: f.describe()}
	for _, v := range loose {
		f.shown.Problems = append(f.shown.Problems, v.Kind+": "+v.Msg)
	}
	for i := range rows {
		f.shown.Rows = append(f.shown.Rows, api.TapeRow{
			Row: f.readRow(i), Name: rows[i].Name, Line: rows[i].Frame.Line, HasTest: rows[i].HasTest,
		})
	}
	return nil
}

// describe returns lines about a cassette.
func (f *tape) describe() []string {
	c := f.cassette
	what := strings.Join(c.Server.Command, " ")
	if c.Server.URL != "" {
		what = c.Server.URL
	}
	recorded := c.Recorded.Format("2006-01-02 15:04:05 MST")
	lines := []string{fmt.Sprintf("%s, %s, recorded %s by %s", what, c.Transport, recorded, c.Program)}
	if c.Warning != nil {
		lines = append(lines, c.Warning.Error())
	}
	return lines
}

// readRow returns a row of the page without the bytes of the message.
func (f *tape) readRow(i int) live.Row {
	r := &f.rows[i]
	return live.Row{
		Seq: int64(i + 1), At: r.At, Server: -1, Kind: live.Kind(r.Kind), ToServer: r.ToServer, Method: r.Method,
		ID: r.ID, Took: r.Took, Size: r.Size, Status: r.Status, Text: r.Text, Violations: r.Violations,
	}
}

// Row implements [api.Tapes].
func (t *tapes) Row(ctx context.Context, n int, seq int64) (live.Row, error) {
	t.mu.Lock()
	defer t.mu.Unlock()
	f, err := t.find(n)
	if err != nil {
		return live.Row{}, err
	}
	if err := f.list(ctx); err != nil {
		return live.Row{}, err
	}
	if seq < 1 || seq > int64(len(f.rows)) {
		return live.Row{}, &live.RefusedError{Reason: "the cassette has no such row"}
	}
	r := f.readRow(int(seq - 1))
	if f.rows[seq-1].IsMessage() {
		r.Raw = f.cassette.Data(f.rows[seq-1].Frame)
	}
	return r, f.cassette.Err()
}

// request returns a recorded call as a request that can be kept.
func (t *tapes) request(r api.Recorded) (keeping.Request, error) {
	t.mu.Lock()
	defer t.mu.Unlock()
	f, err := t.find(r.Cassette)
	if err != nil {
		return keeping.Request{}, err
	}
	test, why, err := promote.PromoteOne(f.cassette, r.Line)
	switch {
	case err != nil:
		return keeping.Request{}, err
	case why != "":
		return keeping.Request{}, refuse("line %d of %s is not kept: %s", r.Line, filepath.Base(f.path), why)
	case test == nil:
		return keeping.Request{}, refuse("line %d of %s is not a request", r.Line, filepath.Base(f.path))
	}
	server := f.cassette.Server
	return keeping.Request{Test: *test, Argv: server.Command, URL: server.URL, Redactor: t.redactor}, nil
}
