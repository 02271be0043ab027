package checkout

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"strings"

	"mcptest/internal/process/proc"
)

// Options are the parameters of the programs that are started.
type Options struct {
	Env      []string
	Registry *proc.Registry
	// KeepDir registers a folder that is removed if this program is killed before
	// drop is called.
	KeepDir func(path string) (drop func())
}

// Checkout is a worktree of a commit.
type Checkout struct {
	Dir string // the current folder, in the worktree

	o          Options
	temp, tree string
	drop       func()
}

// Error is the failure of a program, with the end of its output.
type Error struct {
	What   string // the build, git:main
	Status string
	Output []string
}

func (e *Error) Error() string { return e.What + " failed (" + e.Status + ")" }

// Detail returns the end of the output.
func (e *Error) Detail() string { return strings.Join(e.Output, "\n") }

// Add checks out a commit. The result is never nil and must be removed, also after an
// error.
func Add(ctx context.Context, ref string, o Options) (*Checkout, error) {
	c := &Checkout{o: o}
	prefix, err := c.run(ctx, "git", "", "git", "rev-parse", "--show-prefix")
	if err != nil {
		return c, err
	}
	commit, err := c.run(ctx, "git:"+ref, "", "git", "rev-parse", "--verify", "--end-of-options", ref+"^{commit}")
	if err != nil {
		return c, err
	}
	if c.temp, err = os.MkdirTemp("", "mcptest-build-"); err != nil {
		return c, err
	}
	c.drop = o.KeepDir(c.temp)
	c.tree = filepath.Join(c.temp, "tree")
	c.Dir = filepath.Join(c.tree, filepath.FromSlash(prefix))
	_, err = c.run(ctx, "git", "", "git", "-c", "core.hooksPath="+os.DevNull, "worktree", "add", "--quiet", "--detach", c.tree, commit)
	return c, err
}

// Build runs a shell command in Dir.
func (c *Checkout) Build(ctx context.Context, command string) error {
	_, err := c.run(ctx, "the build", c.Dir, "sh", "-c", command)
	return err
}

// Remove removes the worktree.
func (c *Checkout) Remove(ctx context.Context) error {
	if c.temp == "" {
		return nil
	}
	defer c.drop()
	_, _ = c.run(ctx, "git", "", "git", "worktree", "remove", "--force", "--force", c.tree)
	err := proc.RemoveDir(c.temp)
	_, _ = c.run(ctx, "git", "", "git", "worktree", "prune")
	if err != nil {
		return fmt.Errorf("remove %s: %w", c.temp, err)
	}
	return nil
}

func (c *Checkout) run(ctx context.Context, what, dir string, argv ...string) (output string, err error) {
	r := proc.Run(ctx, proc.Spec{
		Argv:        argv,
		Dir:         dir,
		Env:         c.o.Env,
		Registry:    c.o.Registry,
		OutputLimit: 64 << 20,
	}) // many files can differ
	switch {
	case r.StartErr != nil:
		return "", r.StartErr
	case !r.Exit.Success():
		return "", &Error{what, r.Exit.String(), append(r.Stdout.Ends(10), r.Stderr.Ends(20)...)}
	}
	return strings.TrimSpace(string(r.Stdout.Bytes())), nil
}
