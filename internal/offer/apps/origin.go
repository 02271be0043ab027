package apps

import (
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"net/netip"
	"net/url"
	"strings"
	"unicode"

	"mcptest/internal/base/jsonv"
)

// A policy is what csp of a view allows.
type policy struct {
	resources, frames, bases, connections allowance
}

// newPolicy reads the lists of csp. What is malformed allows nothing.
func newPolicy(csp jsonv.Value) policy {
	return policy{
		resources: newAllowance(csp.Lookup("resourceDomains")),
		frames:    newAllowance(csp.Lookup("frameDomains")),
		bases:     newAllowance(csp.Lookup("baseUriDomains")),

		connections: newAllowance(csp.Lookup("connectDomains")),
	}
}

// An allowance is one list of origins, by host: long lists cost no more than short ones.
type allowance struct {
	schemes map[string]bool // such as https:
	hosts   map[string][]entry
}

// An entry is one item of a list, without its host.
type entry struct{ scheme, port, path string }

// everyHost is the key of entries for each host.
const everyHost = "*"

// newAllowance reads a list.
func newAllowance(list jsonv.Value) allowance {
	a := allowance{schemes: map[string]bool{}, hosts: map[string][]entry{}}
	if list.Kind() != jsonv.KindArray {
		return a
	}
	for _, text := range dropRepeats(list.Texts()) {
		text = strings.TrimSpace(text)
		if scheme, ok := strings.CutSuffix(text, ":"); ok && isScheme(scheme) {
			a.schemes[strings.ToLower(scheme)] = true
			continue
		}
		host, e := splitEntry(text)
		if host != "" {
			a.hosts[host] = append(a.hosts[host], e)
		}
	}
	return a
}

// splitEntry divides an entry into its host and the rest.
func splitEntry(text string) (host string, e entry) {
	rest := text
	if scheme, after, ok := strings.Cut(text, "://"); ok {
		e.scheme, rest = strings.ToLower(scheme), after
	}
	rest, path, _ := strings.Cut(rest, "/")
	if path != "" {
		e.path = "/" + path
	}
	host = rest
	if i := strings.LastIndexByte(rest, ':'); i >= 0 && !strings.HasSuffix(rest, "]") {
		host, e.port = rest[:i], rest[i+1:]
	}
	return strings.ToLower(host), e
}

// maxHost bounds the hosts that are looked up: longer ones have no address.
const maxHost = 255

// allows reports whether a view may load a URL.
func (a allowance) allows(u *url.URL) bool {
	host := strings.ToLower(u.Hostname())
	if strings.Contains(host, ":") {
		host = "[" + host + "]"
	}
	if a.schemes[u.Scheme] || a.schemes["http"] && u.Scheme == "https" {
		return true
	}
	if len(host) > maxHost {
		return false
	}
	if matches(a.hosts[host], u) || matches(a.hosts[everyHost], u) {
		return true
	}
	for parent := host; ; {
		_, rest, ok := strings.Cut(parent, ".")
		if !ok {
			return false
		}
		parent = rest
		if matches(a.hosts["*."+parent], u) {
			return true
		}
	}
}

// matches reports whether an entry for the host of a URL allows the rest of it.
func matches(entries []entry, u *url.URL) bool {
	for _, e := range entries {
		if schemeMatches(e.scheme, u.Scheme) && portMatches(e, u) && pathMatches(e.path, u.Path) {
			return true
		}
	}
	return false
}

// schemeMatches reports whether an entry allows a scheme: http stands for https, too, and ws
// for wss. Without a scheme an entry means the pages of https.
func schemeMatches(allowed, scheme string) bool {
	return allowed == "" || allowed == scheme || allowed+"s" == scheme
}

// portMatches reports whether an entry allows the port of a URL; none is that of the scheme.
func portMatches(e entry, u *url.URL) bool {
	port := u.Port()
	if e.port == everyHost || e.port == port {
		return true
	}
	normal := map[string]string{"http": "80", "https": "443", "ws": "80", "wss": "443"}[u.Scheme]
	isNormal := func(p string) bool { return p == "" || p == normal }
	return isNormal(e.port) && isNormal(port)
}

// pathMatches reports whether an entry allows a path: one that ends with a slash is a
// folder, another one a file.
func pathMatches(allowed, path string) bool {
	if decoded, err := url.PathUnescape(allowed); err == nil {
		allowed = decoded
	}
	switch {
	case allowed == "" || allowed == "/":
		return true
	case strings.HasSuffix(allowed, "/"):
		return strings.HasPrefix(path, allowed)
	}
	return path == allowed
}

// entryFault is what is wrong with an entry of csp.
type entryFault struct {
	level   Level
	message string
}

// keywords of policies that are no origins.
var keywords = []string{
	"self", "none", "unsafe-inline", "unsafe-eval", "unsafe-hashes", "strict-dynamic", "wasm-unsafe-eval", "report-sample",
}

// findEntryFault judges one entry.
func findEntryFault(text string) entryFault {
	for _, keyword := range keywords {
		if strings.EqualFold(text, keyword) || strings.EqualFold(text, "'"+keyword+"'") {
			return entryFault{
				LevelWarning,
				"a keyword of a policy, expected an origin such as https://cdn.example.com",
			}
		}
	}
	if strings.ContainsFunc(text, changesPolicy) {
		return entryFault{
			LevelError,
			"which has a blank, a quote, a comma or a semicolon: it would change the policy, and hosts drop it or all entries",
		}
	}
	if scheme, ok := strings.CutSuffix(text, ":"); ok && isScheme(scheme) {
		if strings.EqualFold(scheme, "data") || strings.EqualFold(scheme, "blob") {
			return entryFault{LevelAdvice, "which some hosts drop: they allow it by themselves where they want to"}
		}
		return entryFault{LevelWarning, "which allows every host: strict hosts ignore it"}
	}
	return findOriginFault(text)
}

// changesPolicy reports whether a character ends an entry of a policy.
func changesPolicy(r rune) bool {
	return unicode.IsSpace(r) || unicode.IsControl(r) || strings.ContainsRune(";,\"'", r)
}

// findOriginFault judges an entry that should be an origin.
func findOriginFault(text string) entryFault {
	host, e := splitEntry(text)
	switch {
	case text == "":
		return entryFault{LevelWarning, "an empty text, expected an origin such as https://cdn.example.com"}
	case text == "*" || host == everyHost:
		return entryFault{LevelWarning, "which allows every host: strict hosts ignore it"}
	case e.scheme == "":
		return entryFault{LevelWarning, "which has no scheme: write https:// in front of it"}
	case !isScheme(e.scheme) || !isHost(host):
		return entryFault{
			LevelWarning,
			"which is not an origin: expected one such as https://cdn.example.com or https://*.example.com",
		}
	case strings.ContainsAny(text, "?#@"):
		return entryFault{LevelWarning, "which is more than an origin: write scheme and host only"}
	case (e.scheme == "http" || e.scheme == "ws") && !isLoopback(host):
		return entryFault{LevelWarning, "which is not encrypted: a page of a host over https does not load it"}
	case e.path != "" && e.path != "/":
		return entryFault{LevelAdvice, "which has a path: browsers know it, and a host may not"}
	}
	return entryFault{}
}

// isHost reports whether a text may be a host, with a wildcard in front or without.
func isHost(host string) bool {
	host = strings.TrimPrefix(host, "*.")
	if strings.HasPrefix(host, "[") && strings.HasSuffix(host, "]") {
		_, err := netip.ParseAddr(host[1 : len(host)-1])
		return err == nil
	}
	return host != "" && !strings.ContainsAny(host, "*{}$<>()[]|\\^`%:") && !strings.HasPrefix(host, ".")
}

// isLoopback reports whether a host is this machine.
func isLoopback(host string) bool {
	host = strings.Trim(host, "[]")
	ip, err := netip.ParseAddr(host)
	return host == "localhost" || strings.HasSuffix(host, ".localhost") || err == nil && ip.IsLoopback()
}

// claudeSuffix ends the domains that Claude gives to views.
const claudeSuffix = ".claudemcpcontent.com"

// judgeDomain compares a domain of Claude with that of the address of the server.
func (j *judge) judgeDomain(domain jsonv.Value, at place) {
	name, address := strings.ToLower(domain.Text()), j.server.Address
	if !strings.HasSuffix(name, claudeSuffix) || address == "" {
		return
	}
	at.pointer = "/_meta/ui/domain"
	bare := strings.TrimRight(address, "/")
	want := computeClaudeDomain(address)
	switch name {
	case want:
	case computeClaudeDomain(bare), computeClaudeDomain(bare + "/"):
		j.reportAs(LevelAdvice, "ui-domain-claude", at,
			"domain is made of the address with a slash more or less at its end: "+
				"users have to enter it exactly so")
	default:
		message := fmt.Sprintf("domain is %s, which is not made of the address %s: Claude renders nothing",
			quote(domain.Text()), quote(address))
		j.add(LevelWarning, "ui-domain-claude", at, "leave domain out, or use "+want, message)
	}
}

// computeClaudeDomain is the domain that Claude expects for a server.
func computeClaudeDomain(address string) string {
	sum := sha256.Sum256([]byte(address))
	return hex.EncodeToString(sum[:])[:32] + claudeSuffix
}
