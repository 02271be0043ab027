package option

import (
	"context"
	"os"
	"path/filepath"
	"strings"

	"mcptest/internal/cli/cmdutil"
	"mcptest/internal/offer/checkout"
	"mcptest/internal/run/inspect"
	"mcptest/internal/run/watch"
	"mcptest/internal/spec/plan"
)

// FindRepositoryDir returns the working directory relative to the root of its repository,
// with slashes: "" if it is the root or in no repository. CI systems provide the
// root; elsewhere it is the folder with .git.
func FindRepositoryDir(env []string) string {
	dir, err := os.Getwd()
	if err != nil {
		return ""
	}
	for _, name := range []string{"GITHUB_WORKSPACE", "CI_PROJECT_DIR"} {
		if below, ok := cutRoot(cmdutil.LookupEnv(env, name), dir); ok {
			return below
		}
	}
	for root := dir; ; root = filepath.Dir(root) {
		if _, err := os.Stat(filepath.Join(root, ".git")); err == nil {
			below, _ := cutRoot(root, dir)
			return below
		}
		if filepath.Dir(root) == root {
			return ""
		}
	}
}

// SelectChanged leaves in a plan the cases that are affected by the changes since a commit,
// if one is given. If none is left, the error has exit code 0.
func SelectChanged(ctx context.Context, s cmdutil.Streams, p *plan.Plan, ref string) error {
	if ref == "" || p.Len() == 0 {
		return nil
	}
	changes, err := checkout.Since(ctx, ref, checkout.Options{Env: s.Env})
	if err != nil {
		return Invalid("--changed %s: %s", ref, strings.Join(append(inspect.Detail(err), err.Error()), ": "))
	}
	p.Arrange(watch.FindAffected(p, changes.Root, changes.Files, changes.Entries))
	if p.Len() == 0 {
		return Fail(ExitPassed, "nothing that these suites depend on has changed since %s: no test was run", ref)
	}
	return nil
}

// cutRoot returns dir relative to root; ok is false if it is not below root. Both
// may contain symbolic links.
func cutRoot(root, dir string) (below string, ok bool) {
	if root == "" {
		return "", false
	}
	real := func(path string) string {
		if to, err := filepath.EvalSymlinks(path); err == nil {
			return to
		}
		return path
	}
	below, err := filepath.Rel(real(root), real(dir))
	if err != nil || below == ".." || strings.HasPrefix(below, ".."+string(filepath.Separator)) {
		return "", false
	}
	if below == "." {
		return "", true
	}
	return filepath.ToSlash(below), true
}
