package format

import (
	"encoding/base64"
	"net/mail"
	"net/netip"
	"net/url"
	"regexp"
	"strconv"
	"strings"
	"time"

	"mcptest/internal/jsonv"
)

// MaxBytes is the longest text a format is checked on; none of them makes sense
// beyond it.
const MaxBytes = 1 << 20

// Format is one named text format.
type Format struct {
	Name  string
	What  string // for messages: "an IPv4 address"
	Valid func(string) bool
}

// table holds the formats, sorted by name.
var table = [...]Format{
	{"base64", "base64 (RFC 4648 section 4)", isBase64},
	{"date", "a date such as 2026-11-05 (RFC 3339)", isDate},
	{"date-time", "a date-time such as 2026-11-05T09:30:00Z (RFC 3339)", isDateTime},
	{"duration", "a duration such as PT1M30S (ISO 8601)", isDuration},
	{"email", "an email address (RFC 5321)", isEmail},
	{"hostname", "a host name (RFC 1123)", isHostname},
	{"ipv4", "an IPv4 address", isIPv4},
	{"ipv6", "an IPv6 address", isIPv6},
	{"json-pointer", "a JSON Pointer such as /a/0 (RFC 6901)", isJSONPointer},
	{"regex", "a regular expression (RE2)", isRegex},
	{"semver", "a semantic version such as 1.2.3-rc.1 (semver.org 2.0.0)", isSemver},
	{"time", "a time such as 09:30:00Z (RFC 3339)", isTime},
	{"uri", "a URI with a scheme (RFC 3986)", isURI},
	{"uri-reference", "a URI or a relative reference (RFC 3986)", isURIReference},
	{"uuid", "a UUID (RFC 9562)", isUUID},
}

// Names returns the names of the formats, sorted.
func Names() []string {
	names := make([]string, len(table))
	for i := range table {
		names[i] = table[i].Name
	}
	return names
}

// Find returns a format, nil when there is none of that name.
func Find(name string) *Format {
	for i := range table {
		if table[i].Name == name {
			return &table[i]
		}
	}
	return nil
}

func isBase64(s string) bool {
	_, err := base64.StdEncoding.Strict().DecodeString(s)
	return err == nil && !strings.ContainsAny(s, "\r\n")
}

func isDate(s string) bool {
	_, err := time.Parse(time.DateOnly, s)
	return err == nil && len(s) == len(time.DateOnly)
}

// isDateTime follows RFC 3339 section 5.6, letters in either case.
func isDateTime(s string) bool {
	if len(s) < 11 || s[10] != 'T' && s[10] != 't' {
		return false
	}
	return isDate(s[:10]) && isTime(s[11:])
}

// isTime follows full-time of RFC 3339; second 60 is for leap seconds, which
// end a UTC day.
func isTime(s string) bool {
	clock, offset, ok := splitOffset(s)
	if !ok || len(clock) < 8 || clock[2] != ':' || clock[5] != ':' {
		return false
	}
	h, m, sec := twoDigits(clock[0:2]), twoDigits(clock[3:5]), twoDigits(clock[6:8])
	if h < 0 || h > 23 || m < 0 || m > 59 || sec < 0 || sec > 60 {
		return false
	}
	if frac := clock[8:]; frac != "" && (frac[0] != '.' || !allDigits(frac[1:])) {
		return false
	}
	const day = 24 * 60
	return sec < 60 || (h*60+m-offset+2*day)%day == day-1
}

// splitOffset cuts Z or ±hh:mm, in minutes, from the end.
func splitOffset(s string) (clock string, minutes int, ok bool) {
	if n := len(s); n > 0 && (s[n-1] == 'Z' || s[n-1] == 'z') {
		return s[:n-1], 0, true
	}
	if len(s) < 6 {
		return "", 0, false
	}
	clock, off := s[:len(s)-6], s[len(s)-6:]
	h, m := twoDigits(off[1:3]), twoDigits(off[4:6])
	if off[0] != '+' && off[0] != '-' || off[3] != ':' || h < 0 || h > 23 || m < 0 || m > 59 {
		return "", 0, false
	}
	minutes = h*60 + m
	if off[0] == '-' {
		minutes = -minutes
	}
	return clock, minutes, true
}

// twoDigits returns a number of two digits, -1 when it is none.
func twoDigits(s string) int {
	if len(s) != 2 || !allDigits(s) {
		return -1
	}
	return int(s[0]-'0')*10 + int(s[1]-'0')
}

func allDigits(s string) bool {
	for i := range len(s) {
		if s[i] < '0' || s[i] > '9' {
			return false
		}
	}
	return s != ""
}

// isDuration follows RFC 3339 appendix A: units in order, weeks alone.
func isDuration(s string) bool {
	rest, ok := strings.CutPrefix(s, "P")
	if !ok {
		return false
	}
	if weeks, ok := strings.CutSuffix(rest, "W"); ok {
		return allDigits(weeks)
	}
	date, clock, hasTime := strings.Cut(rest, "T")
	if hasTime && clock == "" || !hasTime && date == "" {
		return false
	}
	return unitsInOrder(date, "YMD") && unitsInOrder(clock, "HMS")
}

// unitsInOrder reports whether s is digits and units that follow one another
// in units without a gap, such as 1H30M.
func unitsInOrder(s, units string) bool {
	next := -1
	for s != "" {
		i := strings.IndexFunc(s, func(r rune) bool { return r < '0' || r > '9' })
		if i <= 0 {
			return false
		}
		at := strings.IndexByte(units, s[i])
		if at < 0 || next >= 0 && at != next {
			return false
		}
		next, s = at+1, s[i+1:]
	}
	return true
}

func isEmail(s string) bool {
	addr, err := mail.ParseAddress(s)
	if err != nil || addr.Name != "" || len(s) > 254 || addr.Address != s && addr.String() != "<"+s+">" {
		return false
	}
	at := strings.LastIndexByte(s, '@')
	domain := s[at+1:]
	if literal, ok := strings.CutPrefix(domain, "["); ok {
		literal = strings.TrimSuffix(literal, "]")
		return isIPv4(literal) || isIPv6(strings.TrimPrefix(literal, "IPv6:"))
	}
	return at <= 64 && isHostname(domain)
}

// isHostname follows RFC 1123 section 2.1: labels of letters, digits and inner
// hyphens, 63 characters at most, 253 in all.
func isHostname(s string) bool {
	if s == "" || len(s) > 253 {
		return false
	}
	for label := range strings.SplitSeq(s, ".") {
		if label == "" || len(label) > 63 || label[0] == '-' || label[len(label)-1] == '-' {
			return false
		}
		for i := range len(label) {
			if c := label[i]; c != '-' && !isAlnum(c) {
				return false
			}
		}
	}
	return true
}

func isAlnum(c byte) bool {
	return '0' <= c && c <= '9' || 'a' <= c && c <= 'z' || 'A' <= c && c <= 'Z'
}

func isIPv4(s string) bool {
	a, err := netip.ParseAddr(s)
	return err == nil && a.Is4()
}

func isIPv6(s string) bool {
	a, err := netip.ParseAddr(s)
	return err == nil && a.Is6() && a.Zone() == ""
}

func isJSONPointer(s string) bool {
	_, err := jsonv.ParsePointer(s)
	return err == nil
}

func isRegex(s string) bool {
	_, err := regexp.Compile(s)
	return err == nil
}

// semverPattern is the grammar of semver.org 2.0.0.
var semverPattern = regexp.MustCompile(`^` + semverNumber + `\.` + semverNumber + `\.` + semverNumber +
	`(-` + semverPre + `(\.` + semverPre + `)*)?(\+[0-9A-Za-z-]+(\.[0-9A-Za-z-]+)*)?$`)

const (
	semverNumber = `(0|[1-9][0-9]*)`
	semverPre    = `(0|[1-9][0-9]*|[0-9]*[A-Za-z-][0-9A-Za-z-]*)`
)

func isSemver(s string) bool { return semverPattern.MatchString(s) }

func isURI(s string) bool {
	u, err := url.Parse(s)
	return err == nil && u.IsAbs() && isURIReference(s)
}

// isURIReference checks what url.Parse is lax about: the characters, and that
// every % starts an escape.
func isURIReference(s string) bool {
	for i := 0; i < len(s); i++ {
		switch c := s[i]; {
		case c == '%':
			if i+2 >= len(s) {
				return false
			}
			if _, err := strconv.ParseUint(s[i+1:i+3], 16, 8); err != nil {
				return false
			}
		case !isAlnum(c) && !strings.ContainsRune("-._~:/?#[]@!$&'()*+,;=", rune(c)):
			return false
		}
	}
	_, err := url.Parse(s)
	return err == nil && strings.Count(s, "#") <= 1
}

// isUUID follows RFC 9562 section 4: 8-4-4-4-12 hexadecimal digits.
func isUUID(s string) bool {
	if len(s) != 36 {
		return false
	}
	for i := range len(s) {
		switch c := s[i]; i {
		case 8, 13, 18, 23:
			if c != '-' {
				return false
			}
		default:
			if !('0' <= c && c <= '9' || 'a' <= c && c <= 'f' || 'A' <= c && c <= 'F') {
				return false
			}
		}
	}
	return true
}
