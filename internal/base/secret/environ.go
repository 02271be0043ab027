package secret

import (
	"net/url"
	"os"
	"path/filepath"
	"strings"
)

// FindInEnviron returns the secrets among the entries of an environment (NAME=value).
// Hooks and steps get all entries and servers some, and any of them could print the
// secrets.
func FindInEnviron(env []string) []string {
	var out []string
	for _, kv := range env {
		if name, v, ok := strings.Cut(kv, "="); ok && IsInherited(name, v) && !isOnDisk(v) {
			out = append(out, v)
		}
	}
	return out
}

// IsInherited reports whether an undeclared entry of the environment is a secret: its
// name is that of a credential, and its value is not a common word. Programs that are
// started here get such entries and may print them. A wrong decision masks ordinary
// text in reports, so an ambiguous name ("key", "auth", "token_type") also requires a
// value that looks random.
func IsInherited(name, value string) bool {
	v, m := strings.TrimSpace(value), find(name)
	certain := m.certainty == sure || m.value == noResult && !isResult(v) // DB_PASS
	if !certain && m.certainty == unlikely || strings.EqualFold(name, "PWD") {
		return false
	}
	if len(v) < MinLength || common[strings.ToLower(v)] {
		return false
	}
	if isPlaceholder(v) || isPath(v) || isPlainURL(v) {
		return false
	}
	return certain && !m.about || isLearnable(v)
}

// isOnDisk reports whether v is the path of a file, or of one that could be created
// in an existing folder, as in SSH_AUTH_SOCK. It distinguishes paths from secrets
// that begin with a slash.
func isOnDisk(v string) bool {
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

// isPath reports whether v begins like the name of a file. Only a caller that can check
// whether the file exists can distinguish an absolute path from a value that begins
// with a slash.
func isPath(v string) bool {
	return strings.HasPrefix(v, "~/") || strings.HasPrefix(v, "./") || strings.HasPrefix(v, "../") ||
		len(v) > 2 && v[0]|0x20-'a' < 26 && v[1] == ':' && (v[2] == '\\' || v[2] == '/')
}

// isPlainURL reports whether v is an address that grants no access: without userinfo,
// and without a part that looks random.
func isPlainURL(v string) bool {
	u, err := url.Parse(v)
	if err != nil || u.Scheme == "" || u.Host == "" || u.User != nil {
		return false
	}
	rest := u.Path + "?" + u.RawQuery + "#" + u.Fragment
	for piece := range strings.FieldsFuncSeq(rest, func(r rune) bool { return strings.ContainsRune("/?&=.:#;,", r) }) {
		if len(piece) >= 2*MinLength && isByChance(piece) {
			return false
		}
	}
	return true
}

// common are words of at least MinLength letters that are common values of a
// credential's name without being secret.
var common = set(`
	administrator anonymous changeme configured database development disabled elasticsearch generated inherited keychain
	keyring localhost metadata minioadmin password1 postgres postgresql production rabbitmq resource response sessions
	standard timestamp username`)

// Arguments returns the values of the flags of a command line that are named
// like credentials: of --password=a and of --api-key b.
func Arguments(words []string) []string {
	var out []string
	for i, word := range words {
		name, v, ok := strings.Cut(word, "=")
		test := find(strings.TrimLeft(name, "-")).value
		if !strings.HasPrefix(name, "-") || test == noValue {
			continue
		}
		if !ok && i+1 < len(words) && !strings.HasPrefix(words[i+1], "-") {
			v = words[i+1]
		}
		switch {
		case v == "", isPlaceholder(v):
		case test == noResult && isResult(v):
		case test == digits && !looksGenerated("pin", v):
		default:
			out = append(out, v)
		}
	}
	return out
}
