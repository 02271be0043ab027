package cmdutil

import (
	"context"
	"log/slog"
	"os"
	"sync"
	"time"

	"mcptest/internal/proc"
	"mcptest/internal/vigil"
)

// World is what must not outlive a command: the process groups that it started
// (Ledger) and its temporary files. A guardian process and the reaper of orphans
// watch over both.
type World struct {
	s      Streams
	Ledger *proc.Ledger

	mu    sync.Mutex
	temps map[string]bool // unfinished files, and folders (true), to be removed
}

// NewWorld starts the guardian and makes this process adopt orphans. Both are
// a second line of defense: without them process groups are still ended, and the
// log says why they are missing.
func NewWorld(s Streams, log *slog.Logger) *World {
	var guardian *proc.Guardian
	if s.Self != "" {
		var err error
		if guardian, err = proc.StartGuardian(s.Self, vigil.Arg); err != nil {
			log.Warn("the guardian process could not be started: if mcptest is killed, the programs it started keep running", "error", err)
		}
	}
	reaper, err := proc.Adopt()
	if err != nil {
		log.Warn("orphaned processes can't be adopted", "error", err)
	}
	return &World{s: s, Ledger: proc.NewLedger(guardian, reaper)}
}

// Guardian acts as the guardian of another process of this program if the
// command line says so, and reports whether it did.
func Guardian(args []string, s Streams) bool {
	if len(args) != 1 || args[0] != vigil.Arg {
		return false
	}
	proc.GuardianMain(vigil.Told(s.In))
	return true
}

// sweepTime is how long a process that was not ended may take to end by itself.
const sweepTime = 500 * time.Millisecond

// Sweep ends the remaining processes and returns those that had to be ended.
func (w *World) Sweep(ctx context.Context) []proc.Leftover {
	return w.Ledger.Sweep(ctx, proc.Grace{Term: sweepTime})
}

// Close ends the remaining processes and dismisses the guardian.
func (w *World) Close() { w.Ledger.Close(context.Background(), proc.Grace{Term: sweepTime}) }

// Kill ends every process at once and then this one.
func (w *World) Kill(code int) {
	w.Ledger.KillAll()
	// Wait for a file that is being opened, but not for long: it may be a
	// pipe without a reader.
	for range 20 {
		if w.mu.TryLock() {
			for path, dir := range w.temps {
				if dir {
					_ = proc.RemoveDir(path)
				} else {
					_ = os.Remove(path)
				}
			}
			break // the lock is kept, so no more files are opened
		}
		time.Sleep(5 * time.Millisecond)
	}
	w.s.Exit(code)
}

// KeepFile runs open and has the file that it names removed if this program is
// killed before drop is called: by Kill, or by the guardian.
func (w *World) KeepFile(open func() (path string)) (drop func()) {
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
	return w.dropper(path, w.Ledger.KeepFile(path))
}

// KeepDir has a folder removed if this program is killed before drop is called,
// as KeepFile does.
func (w *World) KeepDir(path string) (drop func()) {
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.temps == nil {
		w.temps = map[string]bool{}
	}
	w.temps[path] = true
	return w.dropper(path, w.Ledger.KeepDir(path))
}

func (w *World) dropper(path string, forget func()) func() {
	return func() {
		w.mu.Lock()
		defer w.mu.Unlock()
		delete(w.temps, path)
		forget()
	}
}
