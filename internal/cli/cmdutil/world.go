package cmdutil

import (
	"context"
	"log/slog"
	"os"
	"sync"
	"time"

	"mcptest/internal/process/proc"
	"mcptest/internal/process/watchdog"
)

// World is what must not outlive a command: the process groups that it started
// (Registry) and its temporary files. A watchdog process and the reaper of orphans
// watch over both.
type World struct {
	s        Streams
	Registry *proc.Registry

	mu    sync.Mutex
	temps map[string]bool // unfinished files, and folders (true), to be removed
}

// NewWorld starts the watchdog and makes this process adopt orphans. Both are
// a second line of defense: without them process groups are still ended, and the
// log says why they are missing.
func NewWorld(s Streams, log *slog.Logger) *World {
	var process *proc.Watchdog
	if s.Self != "" {
		var err error
		if process, err = proc.StartWatchdog(s.Self, watchdog.Arg); err != nil {
			log.Warn("the watchdog process could not be started: if mcptest is killed, the programs it started keep running", "error", err)
		}
	}
	reaper, err := proc.Adopt()
	if err != nil {
		log.Warn("orphaned processes can't be adopted", "error", err)
	}
	return &World{s: s, temps: map[string]bool{}, Registry: proc.NewRegistry(process, reaper)}
}

// Watchdog acts as the watchdog of another process of this program if the
// command line says so, and reports whether it did.
func Watchdog(args []string, s Streams) bool {
	if len(args) != 1 || args[0] != watchdog.Arg {
		return false
	}
	proc.WatchdogMain(watchdog.Input(s.In))
	return true
}

// sweepTime is how long a process that was not ended may take to end by itself.
const sweepTime = 500 * time.Millisecond

// Sweep ends the remaining processes and returns those that had to be ended.
func (w *World) Sweep(ctx context.Context) []proc.Leftover {
	return w.Registry.Sweep(ctx, proc.Grace{Term: sweepTime})
}

// Close ends the remaining processes and dismisses the watchdog.
func (w *World) Close() { w.Registry.Close(context.Background(), proc.Grace{Term: sweepTime}) }

// Kill kills every process immediately, and then this one.
func (w *World) Kill(code int) {
	w.Registry.KillAll()
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
// killed before drop is called: by Kill, or by the watchdog.
func (w *World) KeepFile(open func() (path string)) (drop func()) {
	w.mu.Lock()
	defer w.mu.Unlock()
	path := open()
	if path == "" {
		return func() {}
	}
	w.temps[path] = false
	return w.newDropper(path, w.Registry.KeepFile(path))
}

// KeepDir has a folder removed if this program is killed before drop is called,
// as KeepFile does.
func (w *World) KeepDir(path string) (drop func()) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.temps[path] = true
	return w.newDropper(path, w.Registry.KeepDir(path))
}

func (w *World) newDropper(path string, forget func()) func() {
	return func() {
		w.mu.Lock()
		defer w.mu.Unlock()
		delete(w.temps, path)
		forget()
	}
}
