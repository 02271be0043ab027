package report

import (
	"path"
	"path/filepath"
	"strings"

	"mcptest/internal/result"
)

// inRepository is a path of a record as it is called in the repository: code
// hosts know no other names. dir is Run.Dir; an absolute path stays.
func inRepository(dir, file string) string {
	if dir == "" || file == "" || path.IsAbs(file) || filepath.IsAbs(file) {
		return file
	}
	return path.Join(dir, strings.ReplaceAll(file, `\`, "/"))
}

// renamed finds the suite files of one run among those of another, which may
// have been started in another folder. A file that both know by the same name
// is itself; any other is the one file that shares the longest end of its
// path, if there is exactly one. The result maps names of after to names of
// before.
func renamed(before, after *result.Run) map[string]string {
	names := func(r *result.Run) []string {
		var out []string
		for _, s := range r.Suites {
			out = append(out, s.File)
		}
		return out
	}
	out := map[string]string{}
	taken := map[string]bool{}
	old := names(before)
	for _, file := range names(after) {
		for _, was := range old {
			if inRepository(before.Dir, was) == inRepository(after.Dir, file) {
				out[file], taken[was] = was, true
			}
		}
	}
	for _, file := range names(after) {
		if _, ok := out[file]; ok {
			continue
		}
		best, shared, tie := "", 0, false
		for _, was := range old {
			switch n := sharedEnd(was, file); {
			case taken[was] || n == 0 || n < shared:
			case n == shared:
				tie = true
			default:
				best, shared, tie = was, n, false
			}
		}
		if best != "" && !tie {
			out[file], taken[best] = best, true
		}
	}
	return out
}

// sharedEnd counts the last elements that two paths have in common.
func sharedEnd(a, b string) (n int) {
	as, bs := strings.Split(path.Clean(filepath.ToSlash(a)), "/"), strings.Split(path.Clean(filepath.ToSlash(b)), "/")
	for n < len(as) && n < len(bs) && as[len(as)-1-n] == bs[len(bs)-1-n] {
		n++
	}
	return n
}
