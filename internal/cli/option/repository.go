package option

import (
	"os"
	"path/filepath"
	"strings"

	"mcptest/internal/cmdutil"
)

// RepositoryDir is the working directory as seen from the root of the
// repository it is in, with slashes: "" when it is the root, or in none. CI
// systems name the root; elsewhere it is the folder that holds .git.
func RepositoryDir(env []string) string {
	dir, err := os.Getwd()
	if err != nil {
		return ""
	}
	for _, name := range []string{"GITHUB_WORKSPACE", "CI_PROJECT_DIR"} {
		if below, ok := belowRoot(cmdutil.LookupEnv(env, name), dir); ok {
			return below
		}
	}
	for root := dir; ; root = filepath.Dir(root) {
		if _, err := os.Stat(filepath.Join(root, ".git")); err == nil {
			below, _ := belowRoot(root, dir)
			return below
		}
		if filepath.Dir(root) == root {
			return ""
		}
	}
}

// belowRoot is dir as seen from root; not ok when it isn't there. Both may be
// reached through links.
func belowRoot(root, dir string) (below string, ok bool) {
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
