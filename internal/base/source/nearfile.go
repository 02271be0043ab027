package source

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
)

// maxEntries limits how many names of a folder are compared.
const maxEntries = 1000

// FindNearFile returns the path that a path to nothing is most likely a misspelling of: a file or
// folder whose name is similar in the same folder, or has another extension; or "". If a
// folder on the way does not exist, a similar one counts if the rest is in it. So does a path
// that was written with the backslashes of Windows.
func FindNearFile(path string) string {
	if slashed := strings.ReplaceAll(path, `\`, "/"); slashed != path && exists(slashed) {
		return slashed
	}
	dir, base := filepath.Dir(path), filepath.Base(path)
	if _, err := os.Stat(dir); err != nil {
		if dir == path {
			return ""
		}
		near := FindNearFile(dir)
		if near == "" {
			return ""
		}
		if whole := filepath.Join(near, base); exists(whole) {
			return filepath.ToSlash(whole)
		}
		dir = near
	}
	stem := stemOf(base)
	similar := slices.DeleteFunc(listNames(dir), func(name string) bool { // an extension makes different words alike
		return stemOf(name) != stem && FindNearest(stem, []string{stemOf(name)}) == ""
	})
	near := FindNearest(base, similar)
	if near == "" && stem != "" {
		for _, name := range similar {
			if stemOf(name) == stem {
				near = name
			}
		}
	}
	if near == "" || near == base {
		return ""
	}
	return filepath.ToSlash(filepath.Join(dir, near))
}

// stemOf returns a name without its extension.
func stemOf(name string) string { return strings.TrimSuffix(name, filepath.Ext(name)) }

func exists(path string) bool {
	_, err := os.Stat(path)
	return err == nil
}

// listNames returns the names in a folder, sorted.
func listNames(dir string) []string {
	in, err := os.Open(dir)
	if err != nil {
		return nil
	}
	defer in.Close()
	names, _ := in.Readdirnames(maxEntries)
	slices.Sort(names)
	return names
}
