package skill

import (
	"net/url"
	"strings"

	"mcptest/internal/base/lazy"
)

// fileName is the file that a skill is named by.
const fileName = "/SKILL.md"

// An address is a hierarchical URI in the form in which URIs are compared.
type address struct {
	scheme, authority, path string
	hasAuthority            bool
	rest                    string // query and fragment
}

var schemeForm = lazy.Regexp(`^[A-Za-z][A-Za-z0-9+.-]*:`)

// parseAddress returns ok false for a URI that is not hierarchical.
func parseAddress(uri string) (a address, ok bool) {
	scheme := schemeForm().FindString(uri)
	if scheme == "" {
		return a, false
	}
	a.scheme = strings.ToLower(scheme)
	uri = uri[len(scheme):]
	if i := strings.IndexAny(uri, "?#"); i >= 0 {
		uri, a.rest = uri[:i], canonicalizeEscapes(uri[i:])
	}
	if after, found := strings.CutPrefix(uri, "//"); found {
		slash := strings.IndexByte(after, '/')
		if slash < 0 {
			slash = len(after)
		}
		a.hasAuthority, a.authority, uri = true, canonicalizeEscapes(after[:slash]), after[slash:]
		if a.scheme == "http:" || a.scheme == "https:" {
			a.authority = strings.ToLower(a.authority)
		}
	}
	if uri == "" && a.authority != "" {
		return a, true
	}
	isRootless := !a.hasAuthority && uri != "" && uri[0] != '/' // RFC 3986: git:acme/refunds/SKILL.md
	if isRootless && strings.Contains(uri, "/") {
		uri = "/" + uri
	}
	if !strings.HasPrefix(uri, "/") {
		return a, false
	}
	a.path = dropDots(canonicalizeEscapes(uri))
	return a, true
}

func (a address) formatAddress() string {
	if a.hasAuthority {
		return a.scheme + "//" + a.authority + a.path + a.rest
	}
	return a.scheme + a.path + a.rest
}

// canonicalizeEscapes decodes the escapes that are never needed, and escapes what is not ASCII.
func canonicalizeEscapes(s string) string {
	const hex = "0123456789ABCDEF"
	var b strings.Builder
	for i := 0; i < len(s); i++ {
		c := s[i]
		if c == '%' && i+2 < len(s) && isHex(s[i+1]) && isHex(s[i+2]) {
			decoded, _ := url.PathUnescape(s[i : i+3])
			if isUnreserved(decoded[0]) {
				b.WriteByte(decoded[0])
			} else {
				b.WriteString(strings.ToUpper(s[i : i+3]))
			}
			i += 2
			continue
		}
		if c <= ' ' || c >= 0x7f {
			b.Write([]byte{'%', hex[c>>4], hex[c&15]})
			continue
		}
		b.WriteByte(c)
	}
	return b.String()
}

func isHex(c byte) bool { return strings.IndexByte("0123456789abcdefABCDEF", c) >= 0 }

// isUnreserved reports whether a character means the same with and without an escape.
func isUnreserved(c byte) bool {
	isLetter := c >= 'a' && c <= 'z' || c >= 'A' && c <= 'Z'
	return isLetter || c >= '0' && c <= '9' || strings.IndexByte("-._~", c) >= 0
}

// dropDots resolves the segments . and .. of a path.
func dropDots(path string) string {
	var out []string
	segments := strings.Split(path[1:], "/")
	for i, s := range segments {
		last := i == len(segments)-1
		switch {
		case s == ".." && len(out) > 0:
			out = out[:len(out)-1]
		case s != "." && s != "..":
			out = append(out, s)
			continue
		}
		if last {
			out = append(out, "") // the path names a directory
		}
	}
	return "/" + strings.Join(out, "/")
}

// Identity is a URI in the form in which two of them are compared.
func Identity(uri string) string {
	if a, ok := parseAddress(uri); ok {
		return a.formatAddress()
	}
	return uri
}

// findRoot is the directory of a skill, in the form in which URIs are compared, and its name;
// ok is false if the URI is not that of a SKILL.md in a directory.
func findRoot(uri string) (root, name string, ok bool) {
	a, ok := parseAddress(uri)
	if !ok || a.rest != "" || !strings.HasSuffix(a.path, fileName) {
		return "", "", false
	}
	a.path = strings.TrimSuffix(a.path, fileName)
	name = a.path[strings.LastIndexByte(a.path, '/')+1:]
	if a.path == "" {
		name = a.authority
	}
	if decoded, err := url.PathUnescape(name); err == nil {
		name = decoded
	}
	return a.formatAddress(), name, name != ""
}
