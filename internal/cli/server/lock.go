package server

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"slices"

	"github.com/spf13/cobra"

	"mcptest/internal/base/display"
	"mcptest/internal/base/filekind"
	"mcptest/internal/base/shellwords"
	"mcptest/internal/base/source"
	"mcptest/internal/cli/cmdutil"
	"mcptest/internal/cli/option"
	"mcptest/internal/offer/diff"
	"mcptest/internal/offer/surface"
	"mcptest/internal/run/inspect"
)

const defaultLock = "mcptest.lock.yaml"

// lockFlags are the flags of `mcptest lock`.
type lockFlags struct {
	target    option.TargetFlags
	changes   option.ChangeFlags
	out       string
	check     bool
	allowInCI bool
	again     inspect.Again
}

// NewLockCmd returns the command `mcptest lock`.
func NewLockCmd(s cmdutil.Streams) *cobra.Command {
	var f lockFlags
	cmd := &cobra.Command{
		Use:   "lock" + option.TargetUse,
		Short: "Write what a server offers to a lock file, or compare with it",
		Long: `Write the complete definitions of a server's tools, resources, resource templates and prompts to a lock file,
which belongs in version control. --check writes nothing: it compares the server with the lock file and prints the
changes like mcptest diff.
--server 'api@*' selects all variants of a server in a suite, and --config alone all its servers; --output must then be
a folder, which gets a file for each. With --check, a server that has a lock file but does not start is a breaking change.
A lock file in the folder whose server is not in the suite is a warning, because it may belong to another suite.
The lists are read twice in a session, in a second session (--sessions), and again with --after-calls. If they differ and the server did
not send list_changed, they are not stable: the differences are printed, and nothing is written. That is also so if they change, announced, although they
were only read. --check also compares the announced lists with the lock file: what only they have is a matter of trust.
Secrets are replaced with a hash, which reveals changes. With CI=true the file is not changed without --allow-update-in-ci.

Exit codes: 0 the lock file was written, or --check found no change, 1 the server failed, or its lists are ambiguous,
2 invalid command line or lock file, 4 the file could not be written, 5 refused in CI, 6 --check found a change, or
the lists are not stable.`,
		Example: `  mcptest lock -- node dist/server.js
  mcptest lock --check --config suite.yaml --server api --output surface/
  mcptest lock --config suite.yaml --server 'api@*' --output surface/`,
		RunE: func(cmd *cobra.Command, args []string) error { return f.target.Run(0, f.runChecked)(cmd, s, args) },
	}
	f.target.Add(cmd)
	option.AddClient(cmd, &f.target.Client)
	fl := cmd.Flags()
	fl.StringVarP(&f.out, "output", "o", defaultLock, "lock `file`; a folder (with / at its end) gets one file per server")
	fl.BoolVar(&f.check, "check", false, "compare with the lock file instead of writing it; exit 6 if something changed")
	fl.BoolVar(&f.allowInCI, "allow-update-in-ci", false, "change the lock file although CI is set")
	fl.IntVar(&f.again.Sessions, "sessions", 2, "read the lists in `n` sessions")
	fl.BoolVar(&f.again.AfterCalls, "after-calls", false, "read the lists once more after calls of the tools that declare to read only and require no arguments")
	f.changes.Add(cmd, "any")
	return cmd
}

func (f *lockFlags) runChecked(cmd *cobra.Command, s cmdutil.Streams, _, argv []string) error {
	if err := f.changes.Check(f.target.JSON); err != nil {
		return err
	}
	if f.again.Sessions < 1 || f.again.Sessions > 100 {
		return option.Invalid("--sessions: expected a number from 1 to 100, got %d", f.again.Sessions)
	}
	return f.run(cmd, s, argv)
}

// lockOne writes or compares the lock file of a server. unstable reports whether the server
// offered different lists when they were read again.
func (f *lockFlags) lockOne(ctx context.Context, l *option.Viewer, o diff.Options) (changes []diff.Change, unstable bool, err error) {
	l.Single = "--sessions 1 reads the lists in one session"
	live, announced, changes, err := f.read(ctx, l, o)
	if err != nil {
		return nil, false, err
	}
	unstable = len(changes) > 0
	path := surface.LockPath(f.out, live.Server)
	if !f.check {
		return changes, unstable, f.write(ctx, l.Streams, path, live, !unstable)
	}
	locked, err := f.readLocked(l.Streams, path, live.Server, o.Target)
	if err != nil {
		return changes, unstable, err
	}
	if slices.Contains(diff.NotCompared(locked, []*surface.Surface{live}), surface.Skill) {
		const form = "note: %s has no skills, so those of the server are not compared: mcptest lock%s adds them\n"
		fmt.Fprintf(l.Streams.Err, form, display.Escape(path), f.describeUsage(o.Target))
	}
	found := diff.Compare(ctx, locked, []*surface.Surface{live}, o)
	return append(changes, diff.Announced(ctx, found, locked, announced, o)...), unstable, nil
}

// run writes or compares the lock files of servers. It continues after a server
// fails; if that server has a lock file, it is missing in the new version.
func (f *lockFlags) run(cmd *cobra.Command, s cmdutil.Streams, argv []string) error {
	names, err := f.target.Names(s, argv, surface.LockPath(f.out, "server") != f.out)
	if err != nil {
		return err
	}
	if len(names) > 1 && surface.LockPath(f.out, names[0]) == f.out {
		return option.Invalid("--output: %d servers need a folder for their lock files: --output surface/", len(names))
	}
	changes, code := f.findRemovedVariants(cmd, s, names), 0
	for _, name := range names {
		target := f.target
		target.Server = name
		options := diff.Options{Target: target.Usage(s, argv), ByName: len(names) > 1}
		err := target.With(cmd, s, argv, func(ctx context.Context, l *option.Viewer) error {
			found, unstable, err := f.lockOne(ctx, l, options)
			changes = append(changes, found...)
			if unstable {
				code = option.ExitGate
			}
			return err
		})
		if err == nil {
			continue
		}
		var failed *option.ExitError
		if len(names) == 1 || !errors.As(err, &failed) || failed.Code > option.ExitGate {
			return err
		}
		reportError(s, name, failed)
		_, noLock := surface.Read(surface.LockPath(f.out, name), nil)
		switch {
		case f.check && failed.Message == "" && noLock == nil:
			const why = "did not start, so it could not be compared with its lock file"
			changes = append(changes, diff.Change{Class: diff.Breaking, Kind: surface.Server, Name: name, Message: why})
			continue
		case f.check:
			changes = append(changes, diff.Change{
				Class:   diff.Review,
				Kind:    surface.Server,
				Name:    name,
				Message: "could not be compared",
			})
		}
		code = max(code, failed.Code)
	}
	if f.check || len(changes) > 0 {
		err = f.changes.Print(s, changes)
	}
	if code > 0 {
		err = &option.ExitError{Code: code}
	}
	return err
}

// read reads the lists of a server, and returns those that the server announced as
// changed, and the other changes when they are read again. It has reported its error.
func (f *lockFlags) read(
	ctx context.Context, l *option.Viewer, o diff.Options,
) (live *surface.Surface, announced []diff.Reading, unstable []diff.Change, err error) {
	err = l.Conn.Readings(ctx, f.again, func(r inspect.Reading) {
		if live == nil {
			live = newSurface(l, r.Offer)
			return
		}
		again := diff.Reading{
			Name:    r.Name,
			Surface: surface.New(live.Server, l.Conn.Session().ServerInfo(), r.Offer.Lists, l.Redactor.String, nil),
		}
		switch {
		case r.Announced && (f.check || r.Called):
			announced = append(announced, again)
		case r.Announced: // a list that changes when it is only read: what would be locked?
			again.Name += ", announced with list_changed"
			unstable = diff.Unstable(ctx, unstable, live, again, o)
		default:
			unstable = diff.Unstable(ctx, unstable, live, again, o)
		}
	})
	if err != nil {
		return nil, nil, nil, l.Failed(ctx, "", err)
	}
	return live, announced, unstable, nil
}

// findRemovedVariants returns the changes for lock files of removed variants; without --check it
// prints the files. It warns of lock files of servers that the suite does not have.
func (f *lockFlags) findRemovedVariants(cmd *cobra.Command, s cmdutil.Streams, names []string) (changes []diff.Change) {
	if len(names) < 2 && (f.target.Server != "" || names[0] == "") {
		return nil
	}
	variants, others := surface.FindOrphans(f.out, names)
	for _, other := range others {
		if f.target.Server == "" {
			fmt.Fprintf(s.Err, "warning: %s is the lock of the server %q, which the suite does not have: remove the file, unless another suite uses it\n", display.Escape(other.Source), other.Server)
		}
	}
	for _, orphan := range variants {
		if f.check {
			changes = append(changes, diff.Compare(cmd.Context(), []*surface.Surface{orphan}, nil, diff.Options{ByName: true})...)
		} else {
			fmt.Fprintf(s.Err, "warning: %s is the lock of the variant %q, which does not exist: remove the file\n", display.Escape(orphan.Source), orphan.Server)
		}
	}
	return changes
}

// describeUsage are the arguments that write the lock file of a server.
func (f *lockFlags) describeUsage(target string) string {
	if f.out != defaultLock {
		return " --output " + shellwords.QuotePathForShell(f.out) + target
	}
	return target
}

// readLocked reads the lock file of a server.
func (f *lockFlags) readLocked(s cmdutil.Streams, path, server, target string) ([]*surface.Surface, error) {
	if err := option.RefuseOther("--output", path, filekind.Lock); err != nil {
		return nil, err
	}
	locked, err := surface.Read(path, nil)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return nil, option.Fail(option.ExitGate, "%s: no lock of the server %q: run mcptest lock%s and commit the file", path, server, f.describeUsage(target))
	case err != nil:
		return nil, explainSurface(s, f.target.Color, err)
	case locked[0].Server != server:
		return nil, option.Invalid("%s is the lock of the server %q, not of %q: use --output for another file", path, locked[0].Server, server)
	}
	return locked, nil
}

func (f *lockFlags) write(ctx context.Context, s cmdutil.Streams, path string, live *surface.Surface, stable bool) error {
	if !stable {
		fmt.Fprintf(s.Err, "mcptest: %s is not written: the lists of the server are not stable\n", display.Escape(path))
		return nil
	}
	data, err := live.Lock()
	if err != nil {
		return option.Fail(option.ExitFailed, "%v", err)
	}
	note := ""
	if had, err := os.ReadFile(path); err == nil {
		if err := surface.Replaceable(had); err != nil {
			return option.Invalid("%s %v", path, err)
		}
		if string(had) == string(data) {
			fmt.Fprintf(s.Out, "%s is up to date: %s\n", path, live.Counts())
			return nil
		}
		if locked, err := surface.Read(path, nil); err == nil && locked[0].Server != live.Server {
			return option.Invalid("%s is the lock of the server %q, not of %q: use --output for another file, or remove it", path, locked[0].Server, live.Server)
		} else if err == nil {
			note = "; " + diff.Summary(diff.Compare(ctx, locked, []*surface.Surface{live}, diff.Options{}))
		}
	}
	if err := option.AllowUpdate(s.Env, f.allowInCI, path+" is not written", "mcptest lock"); err != nil {
		return err
	}
	if err := surface.Write(path, data); err != nil {
		return option.Fail(option.ExitInternal, "write %s: %s", path, cmdutil.Reason(err))
	}
	fmt.Fprintf(s.Out, "wrote %s: %s%s\n", display.Escape(path), live.Counts(), note)
	return nil
}

// fetchSurface requests all pages of all lists of a server. It has reported its
// error.
func fetchSurface(ctx context.Context, l *option.Viewer) (*surface.Surface, error) {
	offer, err := l.Conn.Complete(ctx)
	if err != nil {
		return nil, l.Failed(ctx, "", err)
	}
	return newSurface(l, offer), nil
}

// newSurface returns the surface of a server; it prints warnings about its lists.
func newSurface(l *option.Viewer, offer *surface.Offer) *surface.Surface {
	name := l.Server.Name
	if l.Flags.Server == "" && len(l.Flags.Configs) == 0 {
		name = l.Conn.Session().ServerInfo().Lookup("serverInfo", "name").Text()
	}
	s := surface.New(cmp.Or(name, "server"), l.Conn.Session().ServerInfo(), offer.Lists, l.Redactor.String, nil)
	warnAbout(l.Streams, s)
	for _, w := range offer.WarnOfMissing() {
		fmt.Fprintln(l.Streams.Err, "warning: "+l.Text(w))
	}
	return s
}

func warnAbout(s cmdutil.Streams, list ...*surface.Surface) {
	for _, one := range list {
		for _, w := range one.Warnings {
			fmt.Fprintln(s.Err, "warning: "+display.Escape(w))
		}
	}
}

// explainSurface reports a file that cannot be read as a surface, with the lines of
// mistakes in lock files.
func explainSurface(s cmdutil.Streams, color string, err error) error {
	if ds, ok := errors.AsType[source.Diagnostics](err); ok {
		n, _ := option.PrintDiagnostics(s, color, ds)
		return option.Invalid("%s in the lock file", display.Count(n, "error"))
	}
	return option.Invalid("%s", err.Error())
}
