package guard

import (
	"slices"
	"strings"

	"mcptest/internal/base/jsonv"
	"mcptest/internal/mcpaql/evidence"
	"mcptest/internal/mcpaql/live/catalog"
	"mcptest/internal/mcpaql/live/change"
)

// Some members hold dates and have names that do not say so, such as verified. They are
// found by their values: in every response of every operation the member is a date that
// the run did not send.

// dateLog collects the texts in responses that may be dates under other names.
type dateLog struct {
	fields map[string]*dateField
	sent   map[string]bool // texts that the run sent
}

// dateField is what was seen of the members of one name.
type dateField struct {
	other bool       // one of them is not a date, or the name says what it holds
	shown []dateSeen // the first date of each operation, and the first that is not ISO 8601
	cases int
}

type dateSeen struct {
	op    string
	value string
	reply Reply
	iso   bool
}

// writtenDate matches a text that is a date as a whole, with a time or without, in a form
// that is not that of ISO 8601. A year of two digits counts only before a time: 1.2.26 may
// be a version.
var writtenDate = evidence.Pattern(`(?i)^(` +
	`(0?[1-9]|[12]\d|3[01])[./-](0?[1-9]|[12]\d|3[01])[./-]((19|20)\d\d(,?[ T]+` + clockForm + `)?|\d\d,?[ T]+` + clockForm + `)` +
	`|(19|20)\d\d[./](0?[1-9]|1[0-2])[./](0?[1-9]|[12]\d|3[01])(,?[ T]+` + clockForm + `)?` +
	`|(` + dayName + `,? +)?\d{1,2}(st|nd|rd|th|\.)?[ -]+(of +)?` + monthName + `,?[ -]+(19|20)\d\d(,?( at)? +` + clockForm + `)?` +
	`|(` + dayName + `,? +)?` + monthName + ` +\d{1,2}(st|nd|rd|th)?,? +(19|20)\d\d(,?( at)? +` + clockForm + `)?` +
	`|` + dayName + ` +` + monthName + ` +\d{1,2} +` + clockForm + ` +(19|20)\d\d` +
	`)$`)

// The parts of dates in words.
const (
	clockForm = `\d{1,2}:\d\d(:\d\d(\.\d+)?)?( ?[ap]\.?m\.?)?( ?(z|utc|gmt|[a-z]{3,4}))?( ?[+-]\d\d:?\d\d)?( ?\([^()]*\))?`
	dayName   = `(mon|tue|wed|thu|fri|sat|sun)[a-z]*\.?`
	monthName = `(jan|feb|mar|apr|may|jun|jul|aug|sep|oct|nov|dec)[a-z]*\.?`
)

// textName matches the names of members that hold texts written by people, which may look like dates.
var textName = evidence.Pattern(`(?i)(^|_)(id|key|name|title|label|text|content|body|subject|summary|description|note|notes|comment|message|value|version|query|marker|cursor|slug|path|file)$`)

// watch notes the texts of a call and of its response.
func (d *dateLog) watch(op *catalog.Operation, r Reply) {
	evidence.VisitTexts(r.Args, func(s string) { d.sent[s] = true })
	if op == nil || !r.IsOK() || op.Name == "introspect" {
		return
	}
	d.walk(op, r, r.Data(), 0)
}

func (d *dateLog) walk(op *catalog.Operation, r Reply, v jsonv.Value, depth int) {
	if depth > 20 {
		return
	}
	for k, e := range v.Children() {
		if v.Kind() == jsonv.KindObject && d.isOpen(k) {
			d.note(op, r, k, e)
		}
		d.walk(op, r, e, depth+1)
	}
}

// isOpen reports whether a member can still turn out to hold dates by its values. Its name is
// held against the expressions once in a run: every member of every response gets here.
func (d *dateLog) isOpen(name string) bool {
	f := d.fields[name]
	if f == nil {
		f = &dateField{other: change.DateName().MatchString(name) || textName().MatchString(name)}
		d.fields[name] = f
	}
	return !f.other
}

// note records one member of a response. An empty one says nothing.
func (d *dateLog) note(op *catalog.Operation, r Reply, name string, v jsonv.Value) {
	if v.Kind() == jsonv.KindNull || v.Kind() == jsonv.KindString && strings.TrimSpace(v.Text()) == "" {
		return
	}
	f := d.fields[name]
	text := strings.TrimSpace(v.Text())
	iso := isoDate().MatchString(text)
	switch {
	case f.other:
		return
	case v.Kind() != jsonv.KindString || !iso && !writtenDate().MatchString(text):
		*f = dateField{other: true}
		return
	}
	f.cases++
	known := slices.ContainsFunc(f.shown, func(s dateSeen) bool { return s.op == op.Name && s.iso == iso })
	if !known {
		f.shown = append(f.shown, dateSeen{op: op.Name, value: text, reply: r, iso: iso})
	}
}

// isoDate matches the format that D 4.7.2 requires of dates: ISO 8601.
var isoDate = evidence.Pattern(`^\d{4}-\d\d-\d\d([Tt ]\d\d:\d\d(:\d\d(\.\d+)?)?([Zz]|[+-]\d\d:?\d\d)?)?$`)
