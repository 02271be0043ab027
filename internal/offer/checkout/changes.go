package checkout

import (
	"context"
	"os"
	"path/filepath"
	"strings"

	"mcptest/internal/base/source"
	"mcptest/internal/offer/surface"
)

// Changes is what differs between a commit and the files of the working tree.
type Changes struct {
	Root  string          // of the working tree
	Files map[string]bool // absolute paths of changed, new and removed files, and of their folders
	// Entries are the tools, resources and prompts whose entries in *.lock.yaml differ.
	Entries map[string]bool
}

// Since compares the working tree with a commit. Files that git ignores are not compared.
func Since(ctx context.Context, ref string, o Options) (*Changes, error) {
	c := &Checkout{o: o}
	var failed error
	git := func(dir string, args ...string) (out string) {
		if failed == nil {
			out, failed = c.run(ctx, "git:"+ref, dir, append([]string{"git"}, args...)...)
		}
		return out
	}
	root := git("", "rev-parse", "--show-toplevel")
	commit := git("", "rev-parse", "--verify", "--end-of-options", ref+"^{commit}")
	changed := git(root, "diff", "--name-only", "--no-renames", "--no-ext-diff", "-z", commit)
	fresh := git(root, "ls-files", "--others", "--exclude-standard", "-z")
	if failed != nil {
		return nil, failed
	}
	out := &Changes{Root: root, Files: map[string]bool{}, Entries: map[string]bool{}}
	for name := range strings.SplitSeq(changed+"\x00"+fresh, "\x00") {
		path := filepath.Join(root, filepath.FromSlash(name))
		for at := path; name != "" && len(at) >= len(root); at = filepath.Dir(at) {
			out.Files[at] = true
		}
		if strings.HasSuffix(name, ".lock.yaml") {
			was, _ := c.run(ctx, "git:"+ref, root, "git", "show", commit+":"+name) // "" if it is new
			now, _ := os.ReadFile(path)                                            // "" if it was removed
			out.compare(was, string(now))
		}
	}
	return out, nil
}

// compare adds the entries of lock files that are not in both in the same form.
func (c *Changes) compare(locks ...string) {
	seen := map[string]int{}
	for _, lock := range locks {
		if s, err := surface.ParseLock(&source.File{Data: []byte(lock)}); err == nil {
			for _, entry := range s.Items {
				seen[entry.Name+"\x00"+string(entry.Kind)+entry.Def.String()]++
			}
		}
	}
	for entry, n := range seen {
		name, _, _ := strings.Cut(entry, "\x00")
		if n < len(locks) {
			c.Entries[name] = true
		}
	}
}
