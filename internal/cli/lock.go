package cli

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"mcptest/internal/cmdutil"
	"mcptest/internal/display"
	"mcptest/internal/inspect"
	"mcptest/internal/jsonv"
	"mcptest/internal/shellwords"
	"mcptest/internal/source"
	"mcptest/internal/surface"
	"mcptest/internal/surface/diff"
)

const defaultLock = "mcptest.lock.yaml"

// lockFlags are the flags of `mcptest lock`.
type lockFlags struct {
	target    targetFlags
	changes   diffOutput
	out       string
	check     bool
	allowInCI bool
	again     inspect.Again
}

func newLockCmd(s cmdutil.Streams) *cobra.Command {
	var f lockFlags
	cmd := &cobra.Command{
		Use:   "lock" + targetUse,
		Short: "Write what a server offers to a lock file, or compare with it",
		Long: `Write the complete definitions of a server's tools, resources, resource templates and prompts to a lock file,
which belongs into version control. With --check nothing is written: the server is compared with the lock file, and
the changes are printed as diff prints them.
--server 'api@*' is all variants of a server in a suite, and --config alone all its servers, if --out is a folder: each
gets a file. With --check a server that does not start, but has a lock file, is missing on the new side.
The lists are read twice in a session. If they differ, or with --sessions and --after-calls elsewhere, unless the
server announced it with list_changed, they are not stable: the differences are printed, and nothing is written.
Secrets are masked; a hash in their place shows changes. With CI=true the file is not changed without --allow-update-in-ci.

Exit codes: 0 the lock file was written, or --check found no change, 1 the server failed, or its lists are ambiguous,
2 invalid command line or lock file, 4 the file could not be written, 5 refused in CI, 6 --check found a change, or
the lists are not stable.`,
		Example: `  mcptest lock -- node dist/server.js
  mcptest lock --check --config suite.yaml --server api --out surface/
  mcptest lock --config suite.yaml --server 'api@*' --out surface/`,
		RunE: func(cmd *cobra.Command, args []string) error {
			_, argv, err := f.target.split(cmd, args, 0)
			if err != nil {
				return err
			}
			if err := f.changes.validate(f.target.json); err != nil {
				return err
			}
			if f.again.Sessions < 1 || f.again.Sessions > 100 {
				return fail(exitInvalid, "--sessions: expected a number from 1 to 100, got %d", f.again.Sessions)
			}
			return f.run(cmd, s, argv)
		},
	}
	f.target.add(cmd)
	fl := cmd.Flags()
	fl.StringVarP(&f.out, "out", "o", defaultLock, "lock `file`; a folder (with / at its end) gets one file per server")
	fl.BoolVar(&f.check, "check", false, "compare with the lock file instead of writing it; exit 6 if something changed")
	fl.BoolVar(&f.allowInCI, "allow-update-in-ci", false, "change the lock file although CI is set")
	fl.IntVar(&f.again.Sessions, "sessions", 1, "read the lists in `n` sessions")
	fl.BoolVar(&f.again.AfterCalls, "after-calls", false, "read the lists once more after calls of the tools that declare to read only and require no arguments")
	f.changes.add(cmd, "any")
	return cmd
}

// names are the servers that the flags name: those of a suite that match a
// pattern, or all of them if there is a folder for their lock files.
func (f *lockFlags) names(s cmdutil.Streams, argv []string) ([]string, error) {
	all := f.target.server == "" && len(f.target.configs) > 0 && surface.LockPath(f.out, "server") != f.out
	if len(argv) == 0 && f.target.url == "" && (all || strings.Contains(f.target.server, "*")) {
		return f.target.servers(s)
	}
	return []string{f.target.server}, nil
}

// run writes or compares the lock files of servers. One that fails does not keep
// the others from their turn; if it has a lock file, it is missing on the new side.
func (f *lockFlags) run(cmd *cobra.Command, s cmdutil.Streams, argv []string) error {
	names, err := f.names(s, argv)
	if err != nil {
		return err
	}
	if len(names) > 1 && surface.LockPath(f.out, names[0]) == f.out {
		return fail(exitInvalid, "--out: %d servers need a folder for their lock files: --out surface/", len(names))
	}
	changes, code := f.orphans(cmd, s, names), 0
	for _, name := range names {
		target := f.target
		target.server = name
		options := diff.Options{Target: usage(&target, argv), ByName: len(names) > 1}
		err := target.with(cmd, s, argv, func(ctx context.Context, l *viewer) error {
			live, unstable, err := f.read(ctx, l, options)
			if err != nil {
				return err
			}
			path := surface.LockPath(f.out, live.Server)
			if changes = append(changes, unstable...); len(unstable) > 0 {
				code = exitGate
			}
			if !f.check {
				return f.write(ctx, s, path, live, len(unstable) == 0)
			}
			locked, err := f.locked(s, path, live.Server, options.Target)
			if err == nil {
				changes = append(changes, diff.Compare(ctx, locked, []*surface.Surface{live}, options)...)
			}
			return err
		})
		if err == nil {
			continue
		}
		var failed *exitError
		if len(names) == 1 || !errors.As(err, &failed) || failed.code > exitGate {
			return err
		}
		if failed.msg != "" {
			fmt.Fprintln(s.Err, "mcptest: "+display.Escape(failed.msg))
		}
		fmt.Fprintf(s.Err, "  in the server %q\n", name)
		if locked, err := surface.Read(surface.LockPath(f.out, name), nil); f.check && failed.msg == "" && err == nil {
			changes = append(changes, diff.Compare(background(cmd.Context()), locked, nil, options)...)
			continue
		}
		code = max(code, failed.code)
		if f.check {
			changes = append(changes, diff.Change{Class: diff.Review, Kind: surface.Server, Name: name, Message: "could not be compared"})
		}
	}
	if f.check || len(changes) > 0 {
		err = f.changes.print(s, changes)
	}
	if code > 0 {
		err = &exitError{code: code}
	}
	return err
}

// read reads the lists of a server, and lists what differs when they are read
// again. Its error was reported.
func (f *lockFlags) read(ctx context.Context, l *viewer, o diff.Options) (live *surface.Surface, unstable []diff.Change, err error) {
	err = l.conn.Readings(ctx, f.again, func(reading string, offer *surface.Offer) {
		if live == nil {
			live = surfaceOf(l, offer.Lists)
			return
		}
		again := surface.New(live.Server, l.conn.Session().ServerInfo(), offer.Lists, l.redactor.String, nil)
		unstable = diff.Unstable(ctx, unstable, live, again, reading, o)
	})
	if err != nil {
		return nil, nil, l.failed(ctx, "", err)
	}
	return live, unstable, nil
}

// orphans lists what the lock files of variants that do not exist any more have;
// without --check it names the files.
func (f *lockFlags) orphans(cmd *cobra.Command, s cmdutil.Streams, names []string) (changes []diff.Change) {
	if len(names) < 2 {
		return nil
	}
	for _, orphan := range surface.Orphans(f.out, names) {
		if f.check {
			changes = append(changes, diff.Compare(background(cmd.Context()), []*surface.Surface{orphan}, nil, diff.Options{ByName: true})...)
		} else {
			fmt.Fprintf(s.Err, "warning: %s is the lock of the variant %q, which does not exist: remove the file\n", display.Escape(orphan.Source), orphan.Server)
		}
	}
	return changes
}

// locked reads the lock file of a server.
func (f *lockFlags) locked(s cmdutil.Streams, path, server, target string) ([]*surface.Surface, error) {
	locked, err := surface.Read(path, nil)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		if f.out != defaultLock {
			target = " --out " + shellwords.Quote(f.out) + target
		}
		return nil, fail(exitGate, "%s: there is no lock of the server %q: run mcptest lock%s and commit the file", path, server, target)
	case err != nil:
		return nil, surfaceError(s, f.target.color, err)
	case locked[0].Server != server:
		return nil, fail(exitInvalid, "%s is the lock of the server %q, not of %q: use --out for another file", path, locked[0].Server, server)
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
		return fail(exitFailed, "%v", err)
	}
	note := ""
	if had, err := os.ReadFile(path); err == nil {
		if err := surface.Replaceable(had); err != nil {
			return fail(exitInvalid, "%s %v", path, err)
		}
		if string(had) == string(data) {
			fmt.Fprintf(s.Out, "%s is up to date: %s\n", path, live.Counts())
			return nil
		}
		if locked, err := surface.Read(path, nil); err == nil && locked[0].Server != live.Server {
			return fail(exitInvalid, "%s is the lock of the server %q, not of %q: use --out for another file, or remove it", path, locked[0].Server, live.Server)
		} else if err == nil {
			note = "; " + diff.Summary(diff.Compare(ctx, locked, []*surface.Surface{live}, diff.Options{}))
		}
	}
	if err := allowUpdate(s.Env, f.allowInCI, path+" is not written", "mcptest lock"); err != nil {
		return err
	}
	if err := surface.Write(path, data); err != nil {
		return fail(exitInternal, "write %s: %s", path, cmdutil.Reason(err))
	}
	fmt.Fprintf(s.Out, "wrote %s: %s%s\n", display.Escape(path), live.Counts(), note)
	return nil
}

// fetchSurface requests all lists of a server, all pages of them. Its error was
// reported.
func fetchSurface(ctx context.Context, l *viewer) (*surface.Surface, error) {
	offer, err := l.conn.Complete(ctx)
	if err != nil {
		return nil, l.failed(ctx, "", err)
	}
	return surfaceOf(l, offer.Lists), nil
}

// surfaceOf is the surface of a server with these lists; what is odd about them
// is printed.
func surfaceOf(l *viewer, lists map[surface.Kind][]jsonv.Value) *surface.Surface {
	name := l.server.Name
	if l.f.server == "" && len(l.f.configs) == 0 {
		name = l.conn.Session().ServerInfo().Lookup("serverInfo", "name").Text()
	}
	s := surface.New(cmp.Or(name, "server"), l.conn.Session().ServerInfo(), lists, l.redactor.String, nil)
	warnOf(l.s, s)
	return s
}

func warnOf(s cmdutil.Streams, list ...*surface.Surface) {
	for _, one := range list {
		for _, w := range one.Warnings {
			fmt.Fprintln(s.Err, "warning: "+display.Escape(w))
		}
	}
}

// usage is how a command reaches the server that these flags name; "" if they
// name none.
func usage(f *targetFlags, argv []string) string {
	words := append([]string{"--"}, argv...)
	switch {
	case len(argv) > 0:
	case f.url != "":
		words = []string{"--url", f.url}
	case f.server != "":
		words = []string{"--server", f.server, "--config", cmp.Or(strings.Join(f.configs, ""), defaultSuites[0])}
	default:
		return ""
	}
	return " " + shellwords.QuoteAll(words)
}

// surfaceError reports a file that can't be read as a surface, mistakes of lock
// files with their lines.
func surfaceError(s cmdutil.Streams, color string, err error) error {
	var ds source.Diagnostics
	if errors.As(err, &ds) {
		n, _ := printDiagnostics(s, color, ds)
		return fail(exitInvalid, "%s in the lock file", display.Count(n, "error"))
	}
	return fail(exitInvalid, "%s", err.Error())
}

// diffOutput are the flags that say how changes are printed and which of them
// fail.
type diffOutput struct {
	format, failOn string
}

func (o *diffOutput) add(cmd *cobra.Command, failOn string) {
	cmd.Flags().StringVarP(&o.format, "format", "f", "text", "format of the changes: `"+strings.Join(diff.Formats(), "`, ")+"")
	cmd.Flags().StringVar(&o.failOn, "fail-on", failOn, "exit 6 for changes of this `class` and those before it: breaking, trust, review, any")
}

func (o *diffOutput) validate(json bool) error {
	if json {
		o.format = "json"
	}
	if err := oneOf("--format", []string{o.format}, diff.Formats()); err != nil {
		return err
	}
	return oneOf("--fail-on", []string{o.failOn}, []string{"breaking", "trust", "review", "any"})
}

// print writes the changes; its error is that of --fail-on.
func (o *diffOutput) print(s cmdutil.Streams, changes []diff.Change) error {
	if err := diff.Write(s.Out, o.format, changes, cmdutil.Version()); err != nil {
		return fail(exitInternal, "write the changes: %s", cmdutil.Reason(err))
	}
	if slices.ContainsFunc(changes, func(c diff.Change) bool { return diff.Fails(c.Class, o.failOn) }) {
		return &exitError{code: exitGate}
	}
	return nil
}
