package format

import (
	"encoding/base64"
	"net/mail"
	"net/url"
	"regexp"
	"strings"
	"sync"

	"mcptest/internal/base/jsonschema"
	"mcptest/internal/base/lazy"
	"mcptest/internal/base/lists"
)

// MaxBytes is the longest text that is checked; longer texts are invalid in every
// format.
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
	{"date", "a date such as 2026-11-05 (RFC 3339)", inSchemas("date")},
	{"date-time", "a date-time such as 2026-11-05T09:30:00Z (RFC 3339)", inSchemas("date-time")},
	{"duration", "a duration such as PT1M30S (ISO 8601)", func(s string) bool { return durationPattern().MatchString(s) }},
	{"email", "an email address (RFC 5321)", isEmail},
	{"hostname", "a host name (RFC 1123)", isHostname},
	{"ipv4", "an IPv4 address", isIPv4},
	{"ipv6", "an IPv6 address", isIPv6},
	{"json-pointer", "a JSON Pointer such as /a/0 (RFC 6901)", inSchemas("json-pointer")},
	{"regex", "a regular expression (RE2)", isRegex},
	{"semver", "a semantic version such as 1.2.3-rc.1 (semver.org 2.0.0)", inSchemas("semver")},
	{"time", "a time such as 09:30:00Z (RFC 3339)", inSchemas("time")},
	{"uri", "a URI with a scheme (RFC 3986)", isURI},
	{"uri-reference", "a URI or a relative reference (RFC 3986)", isURIReference},
	{"uuid", "a UUID (RFC 9562)", inSchemas("uuid")},
}

// inSchemas returns the check of a format that JSON Schema has too.
func inSchemas(name string) func(string) bool {
	valid := sync.OnceValue(func() func(string) bool { return jsonschema.FormatOf(name) })
	return func(s string) bool { return valid()(s) }
}

// durationPattern implements RFC 3339 appendix A: units in order, weeks only alone.
var durationPattern = lazy.Regexp(`^P(\d+W|(\d+Y(\d+M(\d+D)?)?|\d+M(\d+D)?|\d+D)(` + clockPattern + `)?|` + clockPattern + `)$`)

const clockPattern = `T(\d+H(\d+M(\d+S)?)?|\d+M(\d+S)?|\d+S)`

// uriPattern matches the characters of RFC 3986 and percent escapes.
var uriPattern = lazy.Regexp(`^([A-Za-z0-9._~:/?#\[\]@!$&'()*+,;=-]|%[0-9A-Fa-f]{2})*$`)

var (
	isHostname = inSchemas("hostname")
	isIPv4     = inSchemas("ipv4")
	isIPv6     = inSchemas("ipv6")
)

// Names returns the names of the formats, sorted.
func Names() []string {
	return lists.Map(table[:], func(f Format) string { return f.Name })
}

// Find returns the format called name, or nil.
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

func isRegex(s string) bool {
	_, err := regexp.Compile(s)
	return err == nil
}

func isURI(s string) bool {
	u, err := url.Parse(s)
	return err == nil && u.IsAbs() && isURIReference(s)
}

// isURIReference also checks what url.Parse ignores: the characters, and that every %
// starts an escape.
func isURIReference(s string) bool {
	_, err := url.Parse(s)
	return err == nil && uriPattern().MatchString(s) && strings.Count(s, "#") <= 1
}
