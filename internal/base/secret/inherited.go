package secret

import (
	"net/url"
	"strings"
)

// Inherited reports whether an undeclared entry of the environment is a secret: its
// name is that of a credential, and its value is not a common word. Programs that are
// started here get such entries and may print them. A wrong decision masks ordinary
// text in reports, so an ambiguous name ("key", "auth", "token_type") also requires a
// value that looks random.
func Inherited(name, value string) bool {
	v := strings.TrimSpace(value)
	level := credential(name)
	if confidenceIn(name) == ifText && !result(v) {
		level = sure // DB_PASS
	}
	if level == no || strings.EqualFold(name, "PWD") || len(v) < MinLength || placeholder(v) || common[strings.ToLower(v)] || path(v) || plainURL(v) {
		return false
	}
	for word := range splitWords(name) {
		if about[strings.ToLower(word)] {
			level = perhaps
		}
	}
	return level > perhaps || learnable(v)
}

// path reports whether v begins like the name of a file. Only a caller that can check
// whether the file exists can distinguish an absolute path from a value that begins
// with a slash.
func path(v string) bool {
	return strings.HasPrefix(v, "~/") || strings.HasPrefix(v, "./") || strings.HasPrefix(v, "../") ||
		len(v) > 2 && v[0]|0x20-'a' < 26 && v[1] == ':' && (v[2] == '\\' || v[2] == '/')
}

// plainURL reports whether v is an address that grants no access: without userinfo,
// and without a part that looks random.
func plainURL(v string) bool {
	u, err := url.Parse(v)
	if err != nil || u.Scheme == "" || u.Host == "" || u.User != nil {
		return false
	}
	rest := u.Path + "?" + u.RawQuery + "#" + u.Fragment
	for piece := range strings.FieldsFuncSeq(rest, func(r rune) bool { return strings.ContainsRune("/?&=.:#;,", r) }) {
		if len(piece) >= 2*MinLength && chance(piece) {
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
