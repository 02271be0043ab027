package compat

import (
	"cmp"
	"strconv"
	"strings"
	"time"

	"mcptest/internal/base/display"
	"mcptest/internal/base/jsonv"
)

// describePlaces describes the places.
func (r *Rule) describePlaces(hits []place, l List, today time.Time) []Finding {
	var out []Finding
	for _, at := range hits {
		f := Finding{
			Rule:     r.ID,
			Profile:  r.Profile,
			Effect:   r.Effect,
			Level:    r.Level,
			Server:   l.Server,
			Tool:     at.tool,
			Subject:  at.subject,
			Pointer:  at.pointer,
			Message:  r.fill(r.Message, at, l),
			Fix:      r.fill(r.Fix, at, l),
			Basis:    r.Basis,
			Source:   r.Source,
			Seen:     r.Seen,
			Evidence: r.describeEvidence(today),
			File:     l.File,
			Line:     cmp.Or(l.Lines[at.tool], l.Line),
			declared: r.declared,
		}
		if at.line > 0 {
			f.File, f.Line, f.single = l.Bundle.Name+"/manifest.json", at.line, true
		}
		if l.Mask != nil {
			for _, text := range []*string{&f.Tool, &f.Subject, &f.Pointer, &f.Message, &f.Fix} {
				*text = l.Mask(*text)
			}
		}
		out = append(out, f)
	}
	return out
}

// fill replaces {value}, {text} (without quotes), {length}, {server} and {tools}
// in a text of a rule.
func (r *Rule) fill(text string, at place, l List) string {
	if !strings.Contains(text, "{") {
		return text
	}
	shown, plain := at.value.Short(80), ""
	length := at.value.Len()
	if at.value.Kind() == jsonv.KindString {
		plain = display.Truncate(at.value.Text(), 200)
		shown = strconv.Quote(at.value.Text())
		if runes := []rune(at.value.Text()); len(runes) > 80 {
			shown = strconv.Quote(string(runes[:79])) + "…"
		}
		length = len([]rune(at.value.Text()))
	}
	return strings.NewReplacer(
		"{value}", shown,
		"{text}", plain,
		"{length}", strconv.Itoa(length),
		"{server}", l.Installed,
		"{tools}", strconv.Itoa(len(l.Tools)),
	).Replace(text)
}

// describeEvidence describes how the fact is known, and whether it is still fresh.
func (r *Rule) describeEvidence(today time.Time) string {
	s := r.Basis + " " + r.Seen + describeVersions(r.Versions)
	if r.Expires != "" && today.Format(time.DateOnly) > r.Expires {
		s += "; not confirmed since"
	}
	return s + ": " + r.Source
}
