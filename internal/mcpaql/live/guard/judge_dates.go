package guard

import (
	"slices"
	"strings"

	"mcptest/internal/base/display"
	"mcptest/internal/mcpaql/evidence"
)

// JudgeDates reports the members that hold dates by their values and are not written as
// ISO 8601.
func (c *Run) JudgeDates() {
	log := c.Caller.dates
	for _, name := range evidence.ListKeys(log.fields) {
		f := log.fields[name]
		sent := slices.ContainsFunc(f.shown, func(s dateSeen) bool { return log.sent[s.value] })
		if f.other || sent || c.acceptsAnyText(name) {
			continue
		}
		for _, s := range f.shown {
			key := s.op + " " + name
			if c.Steady.failures[key] {
				continue // its name said so, and it was reported
			}
			c.Rows.Count("dates")
			if !s.iso {
				c.Rows.Fail("dates.iso", s.reply,
					"%s returns %q for %s", s.op, display.Truncate(s.value, 42), evidence.Quote(name))
			}
		}
	}
}

// saysDate matches descriptions of dates, and saysText those of texts.
var (
	saysDate = evidence.Pattern(`(?i)\b(date|dates|time|timestamp|datetime|when|day|iso[ -]?8601)\b`)
	saysText = evidence.Pattern(`(?i)\bfree[ -]?(form )?text\b|\bfree[ -]?form\b|\b(any|arbitrary|plain) (text|string)\b|\bas (entered|typed|written|given)\b|\bverbatim\b|\bown words\b`)
)

// acceptsAnyText reports whether the introspection describes a member as a text that people write: a
// text parameter of that name takes anything, unless it is described as a date.
func (c *Run) acceptsAnyText(name string) bool {
	for _, op := range c.Catalog.Operations {
		p := op.FindParam(name)
		if p == nil || c.Catalog.FindJSONKind(*p) != "string" {
			continue
		}
		if !strings.HasPrefix(p.Schema.Lookup("format").Text(), "date") && !saysDate().MatchString(p.Doc) {
			return true
		}
	}
	for _, t := range c.Catalog.Types {
		for _, f := range t.Detail.Lookup("fields").Elems() {
			kind := strings.ToLower(f.Lookup("type").Text())
			if f.Lookup("name").Text() != name {
				continue
			}
			if kind == "text" || kind == "markdown" || saysText().MatchString(f.Lookup("description").Text()) {
				return true
			}
		}
	}
	return false
}
