package engine

import (
	"net/netip"
	"net/url"
	"strings"
)

// Format returns the check of a format, nil for one that is not checked.
func Format(name string) func(text string) bool {
	switch name {
	case "date":
		return isDate
	case "time":
		return isTime
	case "date-time":
		return isDateTime
	case "duration":
		return isDuration
	case "period":
		return isPeriod
	case "email":
		return isEmail
	case "hostname":
		return isHostname
	case "ipv4":
		return isIPv4
	case "ipv6":
		return isIPv6
	case "uri", "iri":
		return isURI
	case "uri-reference", "iri-reference":
		return isURIReference
	case "uri-template":
		return isURITemplate
	case "json-pointer":
		return isJSONPointer
	case "relative-json-pointer":
		return isRelativePointer
	case "uuid":
		return isUUID
	case "semver":
		return isSemver
	case "regex":
		return isRegex
	}
	return nil
}

// isJSONPointer implements RFC 6901: a tilde is followed by 0 or 1.
func isJSONPointer(text string) bool {
	if text == "" {
		return true
	}
	if text[0] != '/' {
		return false
	}
	for i := range len(text) {
		if text[i] == '~' && (i+1 == len(text) || text[i+1] != '0' && text[i+1] != '1') {
			return false
		}
	}
	return true
}

// isRelativePointer reports whether a text is a number without a leading zero, and then #
// or a JSON Pointer.
func isRelativePointer(text string) bool {
	n := leadingDigits(text)
	if n == 0 || n > 1 && text[0] == '0' {
		return false
	}
	return text[n:] == "#" || isJSONPointer(text[n:])
}

// isUUID implements the syntax of RFC 9562.
func isUUID(text string) bool {
	groups := strings.Split(text, "-")
	if len(groups) != 5 {
		return false
	}
	for i, length := range [...]int{8, 4, 4, 4, 12} {
		if len(groups[i]) != length || !consists(groups[i], isHexDigit) {
			return false
		}
	}
	return true
}

// isIPv4 accepts four decimal numbers without leading zeros; a sign is tolerated.
func isIPv4(text string) bool {
	groups := strings.Split(text, ".")
	if len(groups) != 4 {
		return false
	}
	for _, group := range groups {
		if len(group) > 1 && group[0] == '0' {
			return false
		}
		if n, ok := integer(group); !ok || n < 0 || n > 255 {
			return false
		}
	}
	return true
}

func isIPv6(text string) bool {
	addr, err := netip.ParseAddr(text)
	return err == nil && strings.Contains(text, ":") && addr.Zone() == ""
}

// isHostname implements RFC 1123: labels of 1 to 63 letters, digits and inner hyphens, 253
// characters in all, and perhaps a dot at the end.
func isHostname(text string) bool {
	text = strings.TrimSuffix(text, ".")
	if len(text) > 253 {
		return false
	}
	for label := range strings.SplitSeq(text, ".") {
		if len(label) < 1 || len(label) > 63 || label[0] == '-' || label[len(label)-1] == '-' {
			return false
		}
		if !consists(label, func(c byte) bool { return isLetter(c) || isDigit(c) || c == '-' }) {
			return false
		}
	}
	return true
}

// isEmail implements RFC 5321 without quoted pairs.
func isEmail(text string) bool {
	at := strings.LastIndexByte(text, '@')
	if at < 0 || at > 64 || len(text) > 254 {
		return false
	}
	return isLocalPart(text[:at]) && isMailDomain(text[at+1:])
}

func isLocalPart(text string) bool {
	if len(text) > 1 && text[0] == '"' && text[len(text)-1] == '"' {
		return !strings.ContainsAny(text[1:len(text)-1], `\"`)
	}
	if strings.HasPrefix(text, ".") || strings.HasSuffix(text, ".") || strings.Contains(text, "..") {
		return false
	}
	return consists(text, func(c byte) bool {
		return isLetter(c) || isDigit(c) || strings.IndexByte(".!#$%&'*+-/=?^_`{|}~", c) >= 0
	})
}

// isMailDomain reports whether a text is a host name, or an address in brackets.
func isMailDomain(text string) bool {
	if !strings.HasPrefix(text, "[") || !strings.HasSuffix(text, "]") {
		return isHostname(text)
	}
	text = text[1 : len(text)-1]
	if rest, ok := strings.CutPrefix(text, "IPv6:"); ok {
		return isIPv6(rest)
	}
	return isIPv4(text)
}

// parseURI parses a URI or a reference. Package url does not check addresses in hosts.
func parseURI(text string) (*url.URL, bool) {
	u, err := url.Parse(text)
	if err != nil {
		return nil, false
	}
	if host := u.Hostname(); strings.Contains(host, ":") {
		return u, strings.Contains(u.Host, "[") && strings.Contains(u.Host, "]") && isIPv6(host)
	}
	return u, true
}

func isURI(text string) bool {
	u, ok := parseURI(text)
	return ok && u.IsAbs()
}

func isURIReference(text string) bool {
	_, ok := parseURI(text)
	return ok && !strings.Contains(text, `\`)
}

// isURITemplate reports whether the braces in each part of the path are in pairs (RFC
// 6570).
func isURITemplate(text string) bool {
	u, ok := parseURI(text)
	if !ok {
		return false
	}
	for part := range strings.SplitSeq(u.RawPath, "/") {
		decoded, err := url.PathUnescape(part)
		if err != nil || !bracesPair(decoded) {
			return false
		}
	}
	return true
}

func bracesPair(text string) bool {
	open := false
	for i := range len(text) {
		switch text[i] {
		case '{':
			if open {
				return false
			}
			open = true
		case '}':
			if !open {
				return false
			}
			open = false
		}
	}
	return !open
}

// isSemver implements semver.org 2.0.0.
func isSemver(text string) bool {
	text, build, hasBuild := strings.Cut(text, "+")
	if hasBuild && !areIdentifiers(build, false) {
		return false
	}
	core, pre, hasPre := strings.Cut(text, "-")
	if hasPre && !areIdentifiers(pre, true) {
		return false
	}
	parts := strings.Split(core, ".")
	if len(parts) != 3 {
		return false
	}
	for _, part := range parts {
		if part == "" || hasLeadingZero(part) || !consists(part, isDigit) {
			return false
		}
	}
	return true
}

func hasLeadingZero(text string) bool { return len(text) > 1 && text[0] == '0' }

// areIdentifiers reports whether a text is a list of identifiers, separated by dots. Those
// of a pre-release that are numbers have no leading zero.
func areIdentifiers(text string, preRelease bool) bool {
	for id := range strings.SplitSeq(text, ".") {
		if id == "" || !consists(id, func(c byte) bool { return isDigit(c) || isLetter(c) || c == '-' }) {
			return false
		}
		if preRelease && hasLeadingZero(id) && consists(id, isDigit) {
			return false
		}
	}
	return true
}
