package secret

import (
	"net/url"
	"strings"
)

// Inherited reports whether an undeclared entry of the environment
// is a secret: its name is one of a credential, and its value no word that
// every text may hold. Programs that are started here are given such entries,
// and may print them. What is wrongly taken for a secret tears holes into
// reports, so a name that leaves doubts ("key", "auth", "token_type") wants a
// value that looks drawn by chance.
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

// path reports whether v reads like the name of a file from where it begins.
// One from the root is distinguished from a value that happens to begin with a slash by
// whoever can look whether it is there.
func path(v string) bool {
	return strings.HasPrefix(v, "~/") || strings.HasPrefix(v, "./") || strings.HasPrefix(v, "../") ||
		len(v) > 2 && v[0]|0x20-'a' < 26 && v[1] == ':' && (v[2] == '\\' || v[2] == '/')
}

// plainURL reports whether v is an address that grants no access: without
// userinfo, and without a part that looks drawn by chance.
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

// common are words of MinLength letters and more that are common as the value of a
// credential where there is none, or one that everybody knows.
var common = set(`
	administrator anonymous changeme configured database development disabled elasticsearch generated inherited keychain
	keyring localhost metadata minioadmin password1 postgres postgresql production rabbitmq resource response sessions
	standard timestamp username`)
