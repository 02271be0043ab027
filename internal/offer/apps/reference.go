package apps

import (
	"net/url"
	"strings"
)

// A use is what a page does with a URL.
type use int

const (
	useScript use = iota
	useStylesheet
	useModule // that is only loaded ahead
	useImage
	useFont
	useFrame
	useBase
	useConnection // that a script opens
)

// nouns name the uses.
var nouns = map[use]string{
	useScript:     "script",
	useStylesheet: "stylesheet",
	useModule:     "module",
	useImage:      "image",
	useFont:       "font",
	useFrame:      "frame",
	useBase:       "base",
	useConnection: "connection to",
}

// A reference is a URL in a page that a browser loads by itself.
type reference struct {
	use use
	url string
}

// maxAddress bounds the addresses that are looked at.
const maxAddress = 8 << 10

// asBrowsersRead removes what browsers ignore in an address.
var asBrowsersRead = strings.NewReplacer("\n", "", "\r", "", "\t", "", `\`, "/")

// parseReference returns the URL of a reference, and whether it is relative. ok is false for
// what no server gives, or what is no URL.
func parseReference(address string) (u *url.URL, relative, ok bool) {
	if len(address) > maxAddress {
		return nil, false, false // one that holds data
	}
	address = asBrowsersRead.Replace(address)
	if strings.HasPrefix(address, "//") {
		address = "https:" + address
	}
	u, err := url.Parse(address)
	switch {
	case err == nil:
	case hasScheme(address):
		return nil, false, false
	default: // a browser takes what looks odd, such as %PUBLIC_URL%/x.js, for a path
		u = &url.URL{Path: address}
	}
	switch strings.ToLower(u.Scheme) {
	case "":
		return u, true, true
	case "http", "https", "ws", "wss":
		return u, false, u.Host != ""
	}
	return nil, false, false
}

// hasScheme reports whether an address begins with a scheme.
func hasScheme(address string) bool {
	scheme, _, found := strings.Cut(address, ":")
	return found && isScheme(scheme)
}

// isScheme reports whether a text is the name of a scheme.
func isScheme(text string) bool {
	for i, r := range text {
		isLetter := r >= 'a' && r <= 'z' || r >= 'A' && r <= 'Z'
		isOther := r >= '0' && r <= '9' || r == '+' || r == '-' || r == '.'
		if !isLetter && (i == 0 || !isOther) {
			return false
		}
	}
	return text != ""
}
