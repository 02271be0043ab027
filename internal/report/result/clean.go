package result

import (
	"fmt"
	"math"
	"reflect"
	"slices"
	"strings"
	"unicode/utf8"

	"mcptest/internal/base/display"
	"mcptest/internal/base/secret"
)

// cleaner prepares an event for the record: it masks secrets, makes bytes visible
// that are not UTF-8, shortens long texts and rounds times to microseconds. It
// changes structs in place and copies slices and maps that may be shared with the
// plan.
type cleaner struct {
	secrets *secret.Redactor
	// keys follow the private keys in the output of each server: each printed line is
	// a separate excerpt.
	keys map[string]secret.KeyLines
	// shown are values of credentials, in the form in which messages of this case
	// show them.
	shown []string
}

// clean returns the event for the record.
func (k cleaner) clean(e Event) Event {
	switch e := e.(type) {
	case RunStarted:
		k.fields(&e, nil)
		k.fields(&e.Tool, nil)
		if e.Shard != nil {
			k.text(&e.Shard.Digest)
		}
		if e.Origin != nil {
			origin := *e.Origin
			k.fields(&origin, nil)
			e.Origin = &origin
		}
		e.Suites = slices.Clone(e.Suites)
		for i := range e.Suites {
			k.fields(&e.Suites[i], nil)
		}
		e.Started = e.Started.UTC().Round(0)
		return e
	case ServerUp:
		k.server(&e.Server)
		return e
	case ServerDown:
		k.server(&e.Server)
		return e
	case PhaseFinished:
		k.phase(&e.Phase)
		return e
	case CaseStarted:
		k.text(&e.Name, &e.State)
		return e
	case CaseFinished:
		k.testCase(e.Case)
		return e
	case FindingSeen:
		f := &e.Finding
		k.excerpt(f.Server, &f.Excerpt)
		k.fields(f, &f.Excerpt)
		return e
	case CoverageMeasured:
		k.coverage(e.Coverage)
		return e
	case Noted:
		k.text(&e.Note)
		return e
	case RunFinished:
		k.fields(&e, nil)
		return e
	}
	return e
}

func (k *cleaner) coverage(c *Coverage) {
	k.text(&c.Partial)
	for i := range c.Servers {
		s := &c.Servers[i]
		k.fields(s, nil)
		for j := range s.Parts {
			k.fields(&s.Parts[j], nil)
		}
		for j := range s.Skeletons {
			k.fields(&s.Skeletons[j], nil)
		}
	}
}

// text cleans fields. It limits their length, because a server may put ten megabytes
// into a message.
func (k *cleaner) text(fields ...*string) {
	for _, f := range fields {
		if *f != "" {
			*f, _ = shorten(display.ShowInvalid(k.secrets.String(*f)), otherText)
		}
	}
}

// fields cleans the texts, lists of texts and times of a struct except one text, so
// that fields that are added later are cleaned too.
func (k *cleaner) fields(structure any, but *string) {
	v := reflect.ValueOf(structure).Elem()
	for i := range v.NumField() {
		switch f := v.Field(i).Addr().Interface().(type) {
		case *string:
			if f != but {
				k.text(f)
			}
		case *[]string:
			k.list(f)
		case *float64:
			if strings.HasSuffix(v.Type().Field(i).Name, "MS") {
				k.ms(f)
			}
		}
	}
}

// tail is text for fields whose end is the most useful part.
func (k *cleaner) tail(f *string) {
	if *f != "" {
		*f = shortenHead(display.ShowInvalid(cutText(k.secrets, display.StripColors(*f))), otherText)
	}
}

// list cleans the strings of a slice that may be shared.
func (k *cleaner) list(p *[]string) {
	copied := false
	for i, s := range *p {
		clean := s
		k.text(&clean)
		if clean == s {
			continue
		}
		if !copied {
			*p, copied = slices.Clone(*p), true
		}
		(*p)[i] = clean
	}
}

// ms rounds a time in milliseconds to whole microseconds, to keep the record short.
func (k *cleaner) ms(p *float64) { *p = finite(math.Round(*p*1000) / 1000) }

func (k *cleaner) server(s *Server) {
	k.fields(s, &s.Stderr)
	k.tail(&s.Stderr)
	if s.ServerInfo != nil {
		info := *s.ServerInfo
		k.fields(&info, nil)
		s.ServerInfo = &info
	}
}

func (k *cleaner) phase(p *Phase) {
	k.fields(p, &p.Output)
	p.Status = known(p.Status)
	k.tail(&p.Output)
}

func (k *cleaner) testCase(c *Case) {
	c.Status = known(c.Status)
	// Clean the exchanges first: credentials found there are masked in the rest of
	// the case.
	k.exchanges(c)
	k.assertions(c.Assertions)
	for _, shown := range k.shown {
		c.Message = unshown(c.Message, shown)
		for i := range c.Attempts {
			c.Attempts[i].Message = unshown(c.Attempts[i].Message, shown)
		}
	}
	k.fields(c, &c.Stderr)
	if c.Row != nil {
		k.fields(c.Row, nil)
	}
	c.Repro = anyInPattern(c.Repro)
	k.tail(&c.Stderr)
	if len(c.StderrMS) != strings.Count(c.Stderr, "\n")+1 {
		c.StderrMS = nil // a mask or a limit has changed the lines
	}
	k.cleanRepeated(c)
	if f := c.KnownFailure; f != nil { // cases share the reason, which comes from a file
		f = &KnownFailure{known(f.Status), f.Reason}
		k.text(&f.Reason)
		c.KnownFailure = f
	}
	for i := range c.DerivedMetrics {
		m := &c.DerivedMetrics[i]
		k.fields(m, nil)
		m.Value = finite(m.Value)
	}
	for i := range c.Attempts {
		a := &c.Attempts[i]
		a.Status = known(a.Status)
		k.fields(a, nil)
		for j := range a.Phases {
			k.phase(&a.Phases[j])
		}
	}
	for i := range c.SideEvents {
		k.fields(&c.SideEvents[i], nil)
	}
	for i := range c.Violations {
		v := &c.Violations[i]
		k.excerpt(c.Server, &v.Excerpt)
		k.fields(v, &v.Excerpt)
	}
	for i := range c.Phases {
		k.phase(&c.Phases[i])
	}
	k.conversations(c)
	if c.Probe != nil {
		k.fields(c.Probe, nil)
		for i := range c.Probe.Families {
			k.fields(&c.Probe.Families[i], nil)
		}
	}
}

// frame returns the limit for a frame of a case with this status.
func (s Status) frame() int {
	if s == Pass {
		return passFrame
	}
	return failFrame
}

// known returns s if it is one of the statuses; anything else is an internal
// error and must not count as success.
func known(s Status) Status {
	if s.check() != nil {
		return Error
	}
	return s
}

// shorten limits s to limit bytes and adds the number of omitted ones.
func shorten(s string, limit int) (string, bool) {
	if len(s) <= limit {
		return s, false
	}
	n := limit
	for n > 0 && !utf8.RuneStart(s[n]) {
		n--
	}
	return fmt.Sprintf("%s… (%d of %d bytes)", s[:n], n, len(s)), true
}

// shortenHead removes the beginning of s.
func shortenHead(s string, limit int) string {
	if len(s) <= limit {
		return s
	}
	n := len(s) - limit
	for n < len(s) && !utf8.RuneStart(s[n]) {
		n++
	}
	return fmt.Sprintf("(the last %d of %d bytes) …%s", len(s)-n, len(s), s[n:])
}

// anyInPattern makes the pattern of a repro command match any text where a secret is
// masked in the test's name.
func anyInPattern(line string) string {
	from := strings.Index(line, " --filter ")
	to := strings.LastIndex(line, "$'")
	if from < 0 || to < from {
		return line
	}
	return line[:from] + strings.ReplaceAll(line[from:to], secret.Mask, ".*") + line[to:]
}
