package secret

import (
	"os"
	"path/filepath"
	"strings"
)

// InEnviron returns the secrets among the entries of an environment, each
// NAME=value. Hooks and steps get all of it, and servers what they inherit; what
// any of them prints of it must not be shown.
func InEnviron(env []string) []string {
	var out []string
	for _, kv := range env {
		if name, v, ok := strings.Cut(kv, "="); ok && Inherited(name, v) && !onDisk(v) {
			out = append(out, v)
		}
	}
	return out
}

// onDisk reports whether v names a file, or would in a folder that is there:
// SSH_AUTH_SOCK holds a path. A secret that begins with a slash does not begin
// with a folder's name.
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
