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
		k.cleanFields(&e, nil)
		k.cleanFields(&e.Tool, nil)
		if e.Shard != nil {
			k.cleanTexts(&e.Shard.Digest)
		}
		if e.Origin != nil {
			origin := *e.Origin
			k.cleanFields(&origin, nil)
			e.Origin = &origin
		}
		e.Suites = slices.Clone(e.Suites)
		for i := range e.Suites {
			k.cleanFields(&e.Suites[i], nil)
		}
		e.Started = e.Started.UTC().Round(0)
		return e
	case ServerUp:
		k.cleanServer(&e.Server)
		return e
	case ServerDown:
		k.cleanServer(&e.Server)
		return e
	case PhaseFinished:
		k.cleanPhase(&e.Phase)
		return e
	case CaseStarted:
		k.cleanTexts(&e.Name, &e.State)
		return e
	case CaseFinished:
		k.cleanCase(e.Case)
		return e
	case FindingSeen:
		f := &e.Finding
		k.cleanExcerpt(f.Server, &f.Excerpt)
		k.cleanFields(f, &f.Excerpt)
		return e
	case CoverageMeasured:
		k.cleanCoverage(e.Coverage)
		return e
	case Noted:
		k.cleanTexts(&e.Note)
		return e
	case RunFinished:
		k.cleanFields(&e, nil)
		return e
	}
	return e
}

func (k *cleaner) cleanCoverage(c *Coverage) {
	k.cleanTexts(&c.Partial)
	for i := range c.Servers {
		s := &c.Servers[i]
		k.cleanFields(s, nil)
		for j := range s.Parts {
			k.cleanFields(&s.Parts[j], nil)
		}
		for j := range s.Skeletons {
			k.cleanFields(&s.Skeletons[j], nil)
		}
	}
}

// cleanTexts cleans fields. It limits their length, because a server may put ten megabytes
// into a message.
func (k *cleaner) cleanTexts(fields ...*string) {
	for _, f := range fields {
		if *f != "" {
			*f, _ = shorten(display.ShowInvalid(k.secrets.String(*f)), otherText)
		}
	}
}

// cleanFields cleans the texts, lists of texts and times of a struct except one text, so
// that fields that are added later are cleaned too.
func (k *cleaner) cleanFields(structure any, but *string) {
	v := reflect.ValueOf(structure).Elem()
	for i := range v.NumField() {
		switch f := v.Field(i).Addr().Interface().(type) {
		case *string:
			if f != but {
				k.cleanTexts(f)
			}
		case *[]string:
			k.cleanList(f)
		case *float64:
			if strings.HasSuffix(v.Type().Field(i).Name, "MS") {
				k.roundTime(f)
			}
		}
	}
}

// cleanTail is text for fields whose end is the most useful part.
func (k *cleaner) cleanTail(f *string) {
	if *f != "" {
		*f = shortenHead(display.ShowInvalid(maskCut(k.secrets, display.StripColors(*f))), otherText)
	}
}

// cleanList cleans the strings of a slice that may be shared.
func (k *cleaner) cleanList(p *[]string) {
	copied := false
	for i, s := range *p {
		clean := s
		k.cleanTexts(&clean)
		if clean == s {
			continue
		}
		if !copied {
			*p, copied = slices.Clone(*p), true
		}
		(*p)[i] = clean
	}
}

// roundTime rounds a time in milliseconds to whole microseconds, to keep the record short.
func (k *cleaner) roundTime(p *float64) { *p = makeFinite(math.Round(*p*1000) / 1000) }

func (k *cleaner) cleanServer(s *Server) {
	k.cleanFields(s, &s.Stderr)
	k.cleanTail(&s.Stderr)
	if s.ServerInfo != nil {
		info := *s.ServerInfo
		k.cleanFields(&info, nil)
		s.ServerInfo = &info
	}
}

func (k *cleaner) cleanPhase(p *Phase) {
	k.cleanFields(p, &p.Output)
	p.Status = checkStatus(p.Status)
	k.cleanTail(&p.Output)
}

func (k *cleaner) cleanCase(c *Case) {
	c.Status = checkStatus(c.Status)
	// Clean the exchanges first: credentials found there are masked in the rest of
	// the case.
	k.cleanExchanges(c)
	k.cleanAssertions(c.Assertions)
	for _, shown := range k.shown {
		c.Message = maskShown(c.Message, shown)
		for i := range c.Attempts {
			c.Attempts[i].Message = maskShown(c.Attempts[i].Message, shown)
		}
	}
	k.cleanFields(c, &c.Stderr)
	if c.Row != nil {
		k.cleanFields(c.Row, nil)
	}
	c.Repro = matchMasked(c.Repro)
	k.cleanTail(&c.Stderr)
	if len(c.StderrMS) != strings.Count(c.Stderr, "\n")+1 {
		c.StderrMS = nil // a mask or a limit has changed the lines
	}
	k.cleanRepeated(c)
	if f := c.KnownFailure; f != nil { // cases share the reason, which comes from a file
		f = &KnownFailure{checkStatus(f.Status), f.Reason}
		k.cleanTexts(&f.Reason)
		c.KnownFailure = f
	}
	for i := range c.DerivedMetrics {
		m := &c.DerivedMetrics[i]
		k.cleanFields(m, nil)
		m.Value = makeFinite(m.Value)
	}
	for i := range c.Attempts {
		a := &c.Attempts[i]
		a.Status = checkStatus(a.Status)
		k.cleanFields(a, nil)
		for j := range a.Phases {
			k.cleanPhase(&a.Phases[j])
		}
	}
	for i := range c.SideEvents {
		k.cleanFields(&c.SideEvents[i], nil)
	}
	for i := range c.Violations {
		v := &c.Violations[i]
		k.cleanExcerpt(c.Server, &v.Excerpt)
		k.cleanFields(v, &v.Excerpt)
	}
	for i := range c.Phases {
		k.cleanPhase(&c.Phases[i])
	}
	k.cleanConversations(c)
	if c.Probe != nil {
		k.cleanFields(c.Probe, nil)
		for i := range c.Probe.Families {
			k.cleanFields(&c.Probe.Families[i], nil)
		}
	}
}

// limitFrame returns the limit for a frame of a case with this status.
func (s Status) limitFrame() int {
	if s == Pass {
		return passFrame
	}
	return failFrame
}

// checkStatus returns s if it is one of the statuses; anything else is an internal
// error and must not count as success.
func checkStatus(s Status) Status {
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

// matchMasked makes the pattern of a repro command match any text where a secret is
// masked in the test's name.
func matchMasked(line string) string {
	from := strings.Index(line, " --filter ")
	to := max(strings.LastIndex(line, "$'"), strings.LastIndex(line, `$"`)) // the quotes of Windows
	if from < 0 || to < from {
		return line
	}
	return line[:from] + strings.ReplaceAll(line[from:to], secret.Mask, ".*") + line[to:]
}
