package osfile

import (
	"path/filepath"
	"strings"
)

// Place returns the absolute path of a file, with the links of its folder resolved:
// two paths with the same place refer to the same file. It returns "" for "".
func Place(path string) string {
	if path == "" {
		return ""
	}
	if abs, err := filepath.Abs(path); err == nil {
		path = abs
	}
	dir, base := filepath.Split(path)
	if real, err := filepath.EvalSymlinks(dir); err == nil {
		return filepath.Join(real, base)
	}
	return path
}

// EscapeGlob returns a pattern for filepath.Glob that matches path itself. A backslash is no
// escape on Windows.
func EscapeGlob(path string) string {
	return strings.NewReplacer(`*`, `[*]`, `?`, `[?]`, `[`, `[[]`).Replace(path)
}
