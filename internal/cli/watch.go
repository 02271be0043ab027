package cli

import (
	"context"
	"errors"
	"strings"

	"mcptest/internal/process/proc"

	"github.com/spf13/cobra"

	"mcptest/internal/base/secret"
	"mcptest/internal/cli/cmdutil"
	"mcptest/internal/cli/option"
	"mcptest/internal/run"
	"mcptest/internal/run/watch"
)

// watch repeats the run after file changes and key presses.
func (f *runFlags) watch(cmd *cobra.Command, args []string, s cmdutil.Streams) error {
	if err := f.checkWatchable(s.Env); err != nil {
		return err
	}
	if _, err := f.parseSpecs(); err != nil {
		return err
	}
	files, stop, err := watch.NewFiles()
	if err != nil {
		return option.Fail(option.ExitInternal, "%v", err)
	}
	defer stop()
	f.Folder = files.Folder
	find := func() ([]string, error) { return f.Paths(args) }
	if _, err := find(); err != nil {
		return err
	}
	keys, restore := watch.Keys(s.In)
	defer restore()
	exit := s.Exit
	s.Exit = func(code int) { restore(); exit(code) }
	log, closeLog, err := option.OpenLog(s.Err, f.logLevel, secret.NewRedactor())
	if err != nil {
		return err
	}
	defer closeLog()
	h := openHost(cmd.Context(), s, log, false)
	defer h.close()
	warm := run.NewWarm()
	var last error
	watch.RunLoop(h.ctx, watch.Options{Keys: keys, Out: h.streams.Err, Files: files, Find: find, Run: func(ctx context.Context, r watch.Request, loaded func([]string)) (written []string) {
		again := *f // each run starts with the flags of the command line
		again.host, again.warm = h, warm
		again.loaded = func(files []string) {
			written = listSnapshots(files)
			loaded(files)
		}
		again.updateSnapshots = f.updateSnapshots || r.Update
		if r.Filter != "" {
			again.filters = []string{r.Filter}
		}
		if r.Restart {
			warm.Keep(ctx, nil, nil)
		}
		last = again.run(cmd, args, h.streams)
		option.PrintError(h.streams.Err, last)
		return written
	}})
	var by *proc.Interrupted
	e := new(option.ExitError)
	switch {
	case errors.As(context.Cause(h.ctx), &by):
		return &option.ExitError{Code: by.Code}
	case errors.As(last, &e): // its message was printed
		return &option.ExitError{Code: e.Code}
	}
	return nil
}

// checkWatchable returns an error if the run cannot be repeated.
func (f *runFlags) checkWatchable(env []string) error {
	switch {
	case cmdutil.IsInCI(env):
		return option.Invalid("--watch waits for changes of files, and there are none in CI (CI is set); run without it")
	case f.cassettes.Record != "":
		return option.Invalid("--watch can't be combined with --record: each run would replace the cassettes of the one before; record without --watch")
	case f.list || f.dryRun || f.setupOnly || f.stopAtEOF || f.shard != "":
		return option.Invalid("--watch can't be combined with --list, --dry-run, --setup-only, --shard or --stop-at-eof")
	}
	return nil
}

// listSnapshots returns the files that a run may write: the stored snapshots.
func listSnapshots(files []string) (snapshots []string) {
	for _, name := range files {
		if strings.HasSuffix(name, ".snap.yaml") {
			snapshots = append(snapshots, name)
		}
	}
	return snapshots
}
