package secret

import (
	"os"
	"path/filepath"
	"strings"
)

// InEnviron returns the secrets among the entries of an environment (NAME=value).
// Hooks and steps get all entries and servers some, and any of them could print the
// secrets.
func InEnviron(env []string) []string {
	var out []string
	for _, kv := range env {
		if name, v, ok := strings.Cut(kv, "="); ok && Inherited(name, v) && !onDisk(v) {
			out = append(out, v)
		}
	}
	return out
}

// onDisk reports whether v is the path of a file, or of one that could be created
// in an existing folder, as in SSH_AUTH_SOCK. It distinguishes paths from secrets
// that begin with a slash.
func onDisk(v string) bool {
	v = strings.TrimSpace(v)
	if !filepath.IsAbs(v) {
		return false
	}
	if _, err := os.Lstat(v); err == nil {
		return true
	}
	top, _, below := strings.Cut(strings.TrimLeft(filepath.ToSlash(v), "/"), "/")
	if filepath.VolumeName(v) != "" || !below {
		return false
	}
	info, err := os.Stat("/" + top)
	return err == nil && info.IsDir()
}
