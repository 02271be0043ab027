package cli

import (
	"context"
	"fmt"
	"io"
	"log/slog"
	"os"
	"runtime/debug"
	"sync"
	"time"

	"mcptest/internal/proc"
	"mcptest/internal/secret"
	"mcptest/internal/term"
	"mcptest/internal/vigil"
)

// world holds what outlives no run: the guardian, the reaper, the ledger of
// process groups.
type world struct {
	s      Streams
	ledger *proc.Ledger

	mu    sync.Mutex
	temps map[string]bool // files that must not outlive us unfinished; true: folders
}

// newWorld starts the guardian and makes this process adopt orphans. Both are
// a second line of defence: without them groups still end, and the log says
// why they are missing.
func newWorld(s Streams, log *slog.Logger) *world {
	var guardian *proc.Guardian
	if s.Self != "" {
		var err error
		if guardian, err = proc.StartGuardian(s.Self, vigil.Arg); err != nil {
			log.Warn("no guardian: if this program is killed, what it started lives on", "error", err)
		}
	}
	reaper, err := proc.Adopt()
	if err != nil {
		log.Warn("orphans are not adopted", "error", err)
	}
	return &world{s: s, ledger: proc.NewLedger(guardian, reaper)}
}

// sweepTime is what a process that nobody ended gets to end by itself.
const sweepTime = 500 * time.Millisecond

// sweep ends what is left and returns what had to be ended.
func (w *world) sweep(ctx context.Context) []proc.Leftover {
	return w.ledger.Sweep(ctx, proc.Grace{Term: sweepTime})
}

// close ends what is left and says goodbye to the guardian.
func (w *world) close() { w.ledger.Close(bareContext(), proc.Grace{Term: sweepTime}) }

// kill ends every process at once and then this one.
func (w *world) kill(code int) {
	w.ledger.KillAll()
	// A file that is being opened is waited for, but not for long: what is
	// opened may be a pipe that nobody reads.
	for range 20 {
		if w.mu.TryLock() {
			for path, dir := range w.temps {
				if dir {
					_ = proc.RemoveDir(path)
				} else {
					_ = os.Remove(path)
				}
			}
			break // the lock is kept: nothing more is opened
		}
		time.Sleep(5 * time.Millisecond)
	}
	w.s.Exit(code)
}

// keepFile runs open and has the file it names removed should this program be
// killed before drop is called: by kill, or by the guardian.
func (w *world) keepFile(open func() (path string)) (drop func()) {
	w.mu.Lock()
	defer w.mu.Unlock()
	path := open()
	if path == "" {
		return func() {}
	}
	if w.temps == nil {
		w.temps = map[string]bool{}
	}
	w.temps[path] = false
	return w.dropper(path, w.ledger.KeepFile(path))
}

// keepDir has a folder removed should this program be killed before drop is
// called, as keepFile does.
func (w *world) keepDir(path string) (drop func()) {
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.temps == nil {
		w.temps = map[string]bool{}
	}
	w.temps[path] = true
	return w.dropper(path, w.ledger.KeepDir(path))
}

func (w *world) dropper(path string, forget func()) func() {
	return func() {
		w.mu.Lock()
		defer w.mu.Unlock()
		delete(w.temps, path)
		forget()
	}
}

// guarded runs fn; a fault of ours in it ends every process and is exit 4.
func (w *world) guarded(fn func() error) (err error) {
	defer func() {
		if p := recover(); p != nil {
			w.ledger.KillAll()
			fmt.Fprintf(w.s.Err, "mcptest: internal error: %s\n%s", term.EscapeLines(fmt.Sprint(p)), debug.Stack())
			err = &exitError{code: exitInternal}
		}
	}()
	return fn()
}

// logLevels are the values of --log-level.
var logLevels = map[string]slog.Level{
	"error": slog.LevelError, "warn": slog.LevelWarn, "info": slog.LevelInfo, "debug": slog.LevelDebug,
}

// openLog returns the log of a run, on standard error and through the
// redactor.
func openLog(w io.Writer, level string, redactor *secret.Redactor) (*slog.Logger, func(), error) {
	lv, ok := logLevels[level]
	if !ok {
		return nil, nil, fail(exitInvalid, "--log-level: want error, warn, info or debug, got %q", level)
	}
	out := redactor.Writer(w)
	h := slog.NewTextHandler(out, &slog.HandlerOptions{Level: lv, ReplaceAttr: func(_ []string, a slog.Attr) slog.Attr {
		if a.Key == slog.TimeKey {
			a.Value = slog.StringValue(a.Value.Time().Format("15:04:05.000"))
		}
		return a
	}})
	return slog.New(h), func() { _ = out.Close() }, nil
}

// bareContext is for work that ends by limits of its own.
func bareContext() context.Context { return context.Background() }
