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
	if err != nil {
		return nil, false, false
	}
	switch strings.ToLower(u.Scheme) {
	case "":
		return u, true, true
	case "http", "https":
		return u, false, u.Host != ""
	}
	return nil, false, false
}
