package apps

import (
	"fmt"
	"net/url"
	"strings"
)

// judgePage judges the HTML of a view.
func (j *judge) judgePage(page string, allowed policy, at place) {
	page = strings.TrimPrefix(page, "\ufeff")
	if strings.HasPrefix(page, "\xff\xfe") || strings.HasPrefix(page, "\xfe\xff") {
		j.note("the view %s was not judged: it is UTF-16", quote(strings.TrimPrefix(at.subject, "resource ")))
		return
	}
	if strings.TrimSpace(page) == "" {
		j.report("ui-html", at, "the view is empty: hosts show a blank frame")
		return
	}
	c := pageJudge{judge: j, allowed: allowed, at: at, seen: map[string]bool{}}
	base := findBase(page)
	c.base = base
	s := scanPage(page, c.judgeReference)
	switch {
	case !s.hasTag && !s.hasDoctype:
		j.report("ui-html", at, "the view has no tag: it is no HTML page")
	case !s.hasDoctype:
		j.reportAs(LevelWarning, "ui-html", at,
			"the view does not begin with <!doctype html>: browsers show it in quirks mode")
	}
}

// findBase returns the URL to which the references of a page are relative, nil if none of a
// server is. It may stand behind the first of them.
func findBase(page string) *url.URL {
	if !mayHaveBase(page) {
		return nil
	}
	s := scanPage(page, func(reference) {})
	u, relative, ok := parseReference(strings.TrimSpace(s.base))
	if !s.hasBase || !ok || relative {
		return nil
	}
	return u
}

// mayHaveBase reports whether a page has to be read for its base.
func mayHaveBase(page string) bool {
	const tag = "<base"
	for {
		at := strings.IndexByte(page, '<')
		if at < 0 || len(page) < at+len(tag) {
			return false
		}
		if strings.EqualFold(page[at:at+len(tag)], tag) {
			return true
		}
		page = page[at+1:]
	}
}

// pageJudge judges the references of one page.
type pageJudge struct {
	*judge
	allowed policy
	at      place
	base    *url.URL
	seen    map[string]bool // origins, and kinds of relative references, that were reported
}

// judgeReference judges one reference.
func (c *pageJudge) judgeReference(r reference) {
	u, relative, ok := parseReference(r.url)
	switch {
	case !ok || relative && (r.use == useBase || r.use == useConnection):
	case relative && c.base == nil:
		c.judgeRelative(r)
	case relative:
		c.judgeBased(r, c.base.ResolveReference(u))
	case !c.findAllowance(r.use).allows(u):
		c.reportUndeclared(r, u)
	}
}

// findAllowance is the list of csp that a use needs.
func (c *pageJudge) findAllowance(u use) allowance {
	switch u {
	case useFrame:
		return c.allowed.frames
	case useBase:
		return c.allowed.bases
	case useConnection:
		return c.allowed.connections
	}
	return c.allowed.resources
}

// listFor names the list of csp that a use needs.
func listFor(u use) string {
	switch u {
	case useFrame:
		return "csp.frameDomains"
	case useBase:
		return "csp.baseUriDomains"
	case useConnection:
		return "csp.connectDomains"
	}
	return "csp.resourceDomains"
}

// isDecoration reports whether a page works without what it loads.
func isDecoration(u use) bool { return u == useImage || u == useFont }

// isFirst reports whether a key was not seen before. The number of keys is bounded.
func (c *pageJudge) isFirst(key string) bool {
	if c.seen[key] || len(c.seen) > 1000 {
		return false
	}
	c.seen[key] = true
	return true
}

// judgeRelative reports a reference to a server that a frame does not have.
func (c *pageJudge) judgeRelative(r reference) {
	switch {
	case r.use == useScript || r.use == useStylesheet:
		if c.isFirst("relative " + nouns[r.use] + " " + shorten(r.url)) {
			c.report("ui-relative", c.at,
				"the page loads the %s %s, and its frame has no server: it is not found", nouns[r.use], quote(r.url))
		}
	case isDecoration(r.use):
		if c.isFirst("relative " + nouns[r.use] + " " + shorten(r.url)) {
			c.reportAs(LevelWarning, "ui-relative", c.at,
				"the page shows the %s %s, and its frame has no server: it is not found",
				nouns[r.use], quote(r.url))
		}
	}
}

// judgeBased judges a reference that is relative to the base of the page. If that is not
// declared, the base was reported.
func (c *pageJudge) judgeBased(r reference, u *url.URL) {
	if c.findAllowance(r.use).allows(u) || !c.allowed.bases.allows(c.base) {
		return
	}
	origin := originOf(u)
	if c.isFirst("based " + listFor(r.use) + " " + origin) {
		message := fmt.Sprintf("the %s %s is relative to the base %s, which is in csp.baseUriDomains only",
			nouns[r.use], quote(r.url), quote(origin))
		c.add(LevelAdvice, "ui-csp-covers", c.at, "add "+origin+" to "+listFor(r.use)+" of the resource, too", message)
	}
}

// reportUndeclared reports a reference that csp does not declare.
func (c *pageJudge) reportUndeclared(r reference, u *url.URL) {
	origin, level := originOf(u), LevelError
	switch {
	case r.use == useConnection:
		level = LevelAdvice // whether it is executed is not known
	case isDecoration(r.use):
		level = LevelWarning
	}
	if c.isFirst(string(level) + " " + listFor(r.use) + " " + origin) {
		c.add(level, "ui-csp-covers", c.at, "add "+shorten(origin)+" to "+listFor(r.use)+" of the resource",
			"a strict host blocks the "+nouns[r.use]+" "+quote(u.String())+": its origin is not declared")
	}
}

// originOf is the origin of a URL.
func originOf(u *url.URL) string { return shorten(strings.ToLower(u.Scheme + "://" + u.Host)) }
