package server

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"strings"

	"github.com/spf13/cobra"

	"mcptest/internal/base/display"
	"mcptest/internal/base/filekind"
	"mcptest/internal/base/secret"
	"mcptest/internal/cli/cmdutil"
	"mcptest/internal/cli/option"
	"mcptest/internal/offer/checkout"
	"mcptest/internal/offer/diff"
	"mcptest/internal/offer/surface"
)

// diffFlags are the flags of `mcptest diff`.
type diffFlags struct {
	target                    option.TargetFlags
	changes                   option.ChangeFlags
	oldURL, oldCommand, build string
	baseline                  string
}

// NewDiffCmd returns the command `mcptest diff`.
func NewDiffCmd(s cmdutil.Streams) *cobra.Command {
	var f diffFlags
	cmd := &cobra.Command{
		Use:   "diff OLD [NEW] [--url URL | --server NAME | -- command args…]",
		Short: "Compare what two versions of a server offer",
		Long: `Compare two versions of what a server offers, and classify each change by its effect on clients:
  breaking  a valid call is now rejected, or a formerly impossible response is now allowed; an example is printed
  trust     a relaxed hint, hidden characters or new addresses in texts, or a definition under a new name
  review    changed texts, and schema changes that could not be proved to be breaking or safe
  safe      changes that are proved to accept all earlier calls; a new tool or optional argument

OLD and NEW are lock files, results of tools/list as JSON, records of mcptest, folders with lock files or toolsnaps, or
git:REF: that commit, checked out into a temporary folder, built with --build if it is given, and started with the command
after --, or those of a suite: --config selects all its servers, --server 'api@*' variants. Without NEW, OLD is compared with the server of --url, --server or the command after --. --old-url or --old-command
select a server instead of OLD.

Exit codes: 0 no change selected by --fail-on, 1 a server or a build failed, 2 invalid command line or file, 4 the changes
could not be written, 6 changes selected by --fail-on.`,
		Example: `  mcptest diff mcptest.lock.yaml -- node dist/server.js
  mcptest diff git:main --build 'npm ci && npm run build' -- node dist/server.js
  mcptest diff git:main --config mcptest.yaml --server 'api@*'
  mcptest diff --old-command 'npx -y some-server@1.0.0' -- npx -y some-server@1.1.0`,
	}
	f.target.Add(cmd)
	option.AddClient(cmd, &f.target.Client)
	fl := cmd.Flags()
	fl.StringVar(&f.oldURL, "old-url", "", "compare with the server at this `address` instead of OLD")
	fl.StringVar(&f.oldCommand, "old-command", "", "compare with the server that this `command` starts instead of OLD; quote it as one argument")
	fl.StringVar(&f.build, "build", "", "shell `command` that builds git:REF, in its folder")
	fl.StringVar(&f.baseline, "baseline", "", "YAML `file` of accepted changes, each with a reason")
	f.changes.Add(cmd, "breaking")
	cmd.MarkFlagsMutuallyExclusive("old-url", "old-command")
	return option.AddOutput(cmd, s, f.target.Run(2, f.run))
}

// side is one side of a comparison: a path or git:REF, or a server.
type side struct {
	path  string
	flags option.TargetFlags
	argv  []string
}

func (f *diffFlags) run(cmd *cobra.Command, s cmdutil.Streams, own, argv []string) error {
	if err := f.changes.Check(f.target.JSON); err != nil {
		return err
	}
	old, new, err := f.splitSides(own, argv)
	if err != nil {
		return err
	}
	base, err := readBaseline(s, f.target.Color, f.baseline, diff.UnknownClass)
	if err != nil {
		return err
	}
	names, err := f.target.Names(s, argv, isRef(old.path) || old.path == "" && isRef(new.path))
	if err != nil {
		return err
	}
	var list [2][]*surface.Surface
	for i, x := range []side{old, new} {
		if list[i], err = f.readSurfaces(cmd, s, x, names); err != nil {
			return err
		}
	}
	for _, kind := range diff.NotCompared(list[0], list[1]) {
		fmt.Fprintf(s.Err, "warning: only one side lists %ss: they are not compared%s\n", kind.Noun(), explainAdd(kind))
	}
	changes := diff.Compare(cmd.Context(), list[0], list[1], diff.Options{
		Target: new.flags.Usage(s, new.argv),
		ByName: len(names) > 1,
		InNew:  new.path != "" && !isRef(new.path),
	})
	return f.changes.Print(s, diff.Accept(changes, base))
}

// refPrefix is before the name of a commit.
const refPrefix = "git:"

// isRef reports whether an argument is git:REF.
func isRef(path string) bool { return strings.HasPrefix(path, refPrefix) }

// explainAdd says how a lock file of an earlier time gets definitions of a kind.
func explainAdd(kind surface.Kind) string {
	if kind == surface.Skill {
		return "; mcptest lock adds them to a lock file"
	}
	return ""
}

// splitSides parses the command line.
func (f *diffFlags) splitSides(own, argv []string) (old, new side, err error) {
	live := f.target.URL != "" || f.target.Server != "" || len(f.target.Configs) > 0 || len(argv) > 0
	old, new = side{flags: f.target, argv: argv}, side{flags: f.target, argv: argv}
	switch {
	case f.oldURL+f.oldCommand != "":
		old.flags.URL, old.flags.Server, old.flags.Configs = f.oldURL, "", nil
		if old.argv, err = option.Words("--old-command", f.oldCommand); err != nil {
			return old, new, err
		}
	case len(own) == 0:
		return old, new, option.Invalid("missing OLD: a lock file, another file or folder, git:REF, --old-url or --old-command")
	default:
		old.path, own = own[0], own[1:]
	}
	if len(own) == 1 {
		new.path = own[0]
	}
	builds := isRef(old.path) || isRef(new.path)
	switch {
	case len(own) > 1:
		return old, new, option.Invalid("unexpected argument %q", own[1])
	case new.path == "" && !live:
		return old, new, option.Invalid("missing NEW: a file or folder, git:REF, --url, --server, or -- command args…")
	case new.path != "" && live && !builds:
		return old, new, option.Invalid("NEW is %s, so the server is not needed: leave out one of them", new.path)
	case builds && len(argv) == 0 && f.target.Server == "" && len(f.target.Configs) == 0:
		return old, new, option.Invalid("git:REF requires the server's command after --, or --config and --server of a suite")
	case !builds && f.build != "":
		return old, new, option.Invalid("--build requires git:REF")
	}
	return old, new, nil
}

// readSurfaces reads one side.
func (f *diffFlags) readSurfaces(
	cmd *cobra.Command, s cmdutil.Streams, x side, names []string,
) ([]*surface.Surface, error) {
	if ref, ok := strings.CutPrefix(x.path, refPrefix); ok {
		return f.readAtRef(cmd, s, ref, x, names)
	}
	if x.path != "" {
		return f.readFiles(s, x.path)
	}
	return readServers(cmd, s, x, names)
}

// readFiles reads a file or a folder.
func (f *diffFlags) readFiles(s cmdutil.Streams, path string) ([]*surface.Surface, error) {
	if err := option.RefuseOther("", path, filekind.Lock, filekind.Tools, filekind.Record); err != nil {
		return nil, err
	}
	list, err := surface.Read(path, secret.NewRedactor().String)
	if err != nil {
		return nil, explainSurface(s, f.target.Color, err)
	}
	warnAbout(s, list...)
	return list, nil
}

// readServers asks the servers of a side what they offer.
func readServers(cmd *cobra.Command, s cmdutil.Streams, x side, names []string) (out []*surface.Surface, err error) {
	if len(x.argv) > 0 || x.flags.URL != "" {
		names = []string{""}
	}
	for _, name := range names {
		x.flags.Server = name
		err := x.flags.With(cmd, s, x.argv, func(ctx context.Context, l *option.Viewer) error {
			live, err := fetchSurface(ctx, l)
			out = append(out, live)
			return err
		})
		if err != nil {
			return nil, explainServer(s, names, name, err)
		}
	}
	return out, nil
}

// explainServer names the server of an error if there are several.
func explainServer(s cmdutil.Streams, names []string, name string, err error) error {
	if len(names) > 1 {
		fmt.Fprintf(s.Err, "  in the server %q\n", name)
	}
	return err
}

// reportError prints the error of one of several servers.
func reportError(s cmdutil.Streams, name string, failed *option.ExitError) {
	if failed.Message != "" {
		fmt.Fprintln(s.Err, "mcptest: "+display.Escape(failed.Message))
	}
	fmt.Fprintf(s.Err, "  in the server %q\n", name)
}

// readAtRef checks out a commit into a temporary folder, builds it and starts the servers
// there.
func (f *diffFlags) readAtRef(
	cmd *cobra.Command, s cmdutil.Streams, ref string, x side, names []string,
) (out []*surface.Surface, err error) {
	x.flags.Server = names[0]
	ctx, l, end, err := x.flags.Prepare(cmd, s, x.argv)
	if err != nil {
		return nil, err
	}
	err = option.Guarded(l.World, s.Err, func() error {
		defer end()
		c, err := checkout.Add(ctx, ref, checkout.Options{Env: s.Env, Registry: l.World.Registry, KeepDir: l.World.KeepDir})
		defer removeCheckout(l, c)
		if err == nil && f.build != "" {
			err = c.Build(ctx, f.build)
		}
		if err != nil {
			return l.Failed(ctx, "", err)
		}
		out, err = f.readInCheckout(ctx, l, c.Dir, ref, names)
		return err
	})
	return out, err
}

// removeCheckout removes the folder of a commit, also after a signal.
func removeCheckout(l *option.Viewer, c *checkout.Checkout) {
	ctx, cancel := option.CleanupContext()
	defer cancel()
	if err := c.Remove(ctx); err != nil {
		fmt.Fprintln(l.Streams.Err, "warning: "+l.Text(err.Error()))
	}
}

// readInCheckout starts the servers one after the other in the folder of a commit.
func (f *diffFlags) readInCheckout(
	ctx context.Context, first *option.Viewer, dir, ref string, names []string,
) (out []*surface.Surface, err error) {
	for _, name := range names {
		l := first
		if name != first.Flags.Server {
			if l, err = first.Of(name); err != nil {
				return out, err
			}
		}
		live, err := f.readWithin(ctx, l, dir, ref)
		if err != nil {
			return out, explainServer(l.Streams, names, name, err)
		}
		out = append(out, live)
	}
	return out, nil
}

// readWithin starts a server in the checkout of a commit.
func (f *diffFlags) readWithin(ctx context.Context, l *option.Viewer, dir, ref string) (*surface.Surface, error) {
	defer l.Conn.Close()
	if b := l.Server.Bundle; b != nil {
		return nil, option.Invalid("%s is a bundle, and is not built by a commit: "+
			"lock both bundles and compare the lock files", l.Text(b.Bundle.Name))
	}
	here, _ := os.Getwd() // "" is an error of Rel
	warnOfWorkingTree(l, here, ref)
	below, err := filepath.Rel(here, l.Server.Dir)
	l.Server.Dir = filepath.Join(dir, below)
	if err == nil {
		err = l.Conn.Open(ctx)
	}
	if err != nil {
		return nil, l.Failed(ctx, "", err)
	}
	defer l.Conn.ReportRemaining()
	return fetchSurface(ctx, l)
}

// warnOfWorkingTree warns of the first word of the server's command that names a file of the
// working tree instead of the commit.
func warnOfWorkingTree(l *option.Viewer, here, ref string) {
	for _, word := range l.Server.Argv {
		isBelow := strings.HasPrefix(filepath.Clean(word), here+string(filepath.Separator))
		if isBelow && word != l.Streams.Self {
			fmt.Fprintf(l.Streams.Err, "warning: %s is a file of the working tree, not of git:%s: "+
				"write it relative to the folder\n", l.Text(word), l.Text(ref))
			return
		}
	}
}
