package explore

import (
	"context"
	"errors"
	"fmt"
	"os"
	"sync"

	"mcptest/internal/base/secret"
	"mcptest/internal/base/term"
	"mcptest/internal/cli/cmdutil"
	"mcptest/internal/cli/option"
	"mcptest/internal/client/wire"
	"mcptest/internal/run/connect"
	"mcptest/internal/spec/plan"
	"mcptest/internal/tape/cassette"
	"mcptest/internal/tape/transport"
	"mcptest/internal/ui/live"
)

// recorder records the sessions of the page in the folder of --record, one cassette for each
// server, and implements [api.Recorder]. Nothing that exists is replaced.
type recorder struct {
	dir      string // "": nothing is recorded
	streams  cmdutil.Streams
	redactor *secret.Redactor
	tapes    *tapes // which shows what was saved

	mu      sync.Mutex
	writers map[server]*tapeWriter
}

// tapeWriter is the cassette of a server that is being recorded.
type tapeWriter struct {
	path string
	*cassette.Writer
}

// newRecorder creates the folder.
func newRecorder(dir string, s cmdutil.Streams, redactor *secret.Redactor, t *tapes) (*recorder, error) {
	r := &recorder{dir: dir, streams: s, redactor: redactor, tapes: t, writers: map[server]*tapeWriter{}}
	if dir == "" {
		return r, nil
	}
	redactor.Add(secret.FindInEnviron(s.Env)...)
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return nil, option.Invalid("--record: %v", err)
	}
	return r, nil
}

// Folder implements [api.Recorder].
func (r *recorder) Folder() string { return r.dir }

// wrapDialer returns a dialer that records the connections of next; next itself without --record.
func (r *recorder) wrapDialer(next connect.Dialer) connect.Dialer {
	if r.dir == "" {
		return next
	}
	if next == nil {
		next = connect.Dial
	}
	return func(ctx context.Context, sv *plan.Server, o connect.Options) (wire.Transport, error) {
		w, err := r.openWriter(sv)
		if err != nil {
			return nil, fmt.Errorf("--record: %w", err)
		}
		return transport.Recorder(w.Writer, next)(ctx, sv, o)
	}
}

// openWriter returns the cassette of a server, which is created with its first session.
func (r *recorder) openWriter(sv *plan.Server) (*tapeWriter, error) {
	r.mu.Lock()
	defer r.mu.Unlock()
	key := newServer(sv)
	if w := r.writers[key]; w != nil {
		return w, nil
	}
	h := transport.MakeHeader(sv)
	h.Program = "mcptest " + cmdutil.Version()
	r.redactor.Add(secret.Arguments(sv.Written())...)
	for {
		path := transport.FindUnusedName(r.dir, sv)
		w, err := cassette.Create(path, h, r.redactor)
		if errors.Is(err, cassette.ErrBusy) { // another page took the name in the meantime
			continue
		}
		if err != nil {
			return nil, err
		}
		r.writers[key] = &tapeWriter{path, w}
		return r.writers[key], nil
	}
}

// Save implements [api.Recorder].
func (r *recorder) Save(sv *plan.Server) (string, error) {
	if r.dir == "" {
		return "", &live.RefusedError{Reason: noFolder}
	}
	r.mu.Lock()
	w := r.writers[newServer(sv)]
	r.mu.Unlock()
	if w == nil {
		return "", &live.RefusedError{Reason: "there was no session with " + sv.Name + " yet"}
	}
	path := transport.FindUnusedName(r.dir, sv)
	if err := w.Copy(path); err != nil {
		return "", &live.RefusedError{Reason: "it was not saved: " + err.Error()}
	}
	if err := r.tapes.add(path); err != nil {
		return "", &live.RefusedError{Reason: err.Error()}
	}
	return option.Shown(path), nil
}

const noFolder = "cassettes are written only to a folder that the command line names: " +
	"start mcptest ui with --record FOLDER"

// close ends the recordings, and says where they are.
func (r *recorder) close() {
	r.mu.Lock()
	defer r.mu.Unlock()
	for _, w := range r.writers {
		text := "recorded in " + w.path
		err := w.Close()
		switch {
		case err != nil:
			text = fmt.Sprintf("warning: the recording in %s is not complete: %v", w.path, err)
		case w.ExplainUnsaved() != "":
			text = w.ExplainUnsaved()
		}
		fmt.Fprintln(r.streams.Err, "mcptest: "+term.Escape(r.redactor.String(text)))
	}
}
