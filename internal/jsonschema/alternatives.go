package jsonschema

import (
	"fmt"
	"slices"
	"strings"

	"github.com/santhosh-tekuri/jsonschema/v6"
)

// alternatives reports a value that matches none of anyOf or oneOf. The user needs to
// know why it does not match the intended alternative, so those that were clearly not
// intended are eliminated first: another type, then another constant, then another
// value in a property that distinguishes the alternatives. When one is left its
// faults are reported; when none is left, the values they would have accepted;
// otherwise one line for each of the first few.
func (r *reporter) alternatives(e *jsonschema.ValidationError) {
	var alts [][]finding
	for _, c := range e.Causes {
		sub := &reporter{sources: r.sources, root: r.root}
		sub.report(c)
		if sub.fault != nil {
			r.fault = sub.fault
			return
		}
		alts = append(alts, sub.sorted())
	}
	if len(alts) == 0 {
		r.listed(e, alts)
		return
	}
	here := len(e.InstanceLocation)
	filters := []func(finding) bool{
		func(f finding) bool { return f.miss == missType && len(f.tokens) == here },
		func(f finding) bool { return f.miss == missValue && len(f.tokens) == here },
		func(f finding) bool { return f.miss == missValue && len(f.tokens) == here+1 },
	}
	for _, wrong := range filters {
		left := slices.DeleteFunc(slices.Clone(alts), func(alt []finding) bool { return slices.ContainsFunc(alt, wrong) })
		switch len(left) {
		case 0:
			if r.merge(e, alts, wrong) {
				return
			}
		case 1:
			r.found = append(r.found, left[0]...)
			return
		default:
			alts = left
		}
	}
	r.listed(e, alts)
}

// merge reports alternatives that all fail in the same way at the same place as one
// violation with all the values they would accept.
func (r *reporter) merge(e *jsonschema.ValidationError, alts [][]finding, same func(finding) bool) bool {
	var wants []string
	var first finding
	for i, alt := range alts {
		f := alt[slices.IndexFunc(alt, same)]
		if i == 0 {
			first = f
		} else if f.InstancePath != first.InstancePath {
			return false
		}
		for _, w := range f.wants {
			if !slices.Contains(wants, w) {
				wants = append(wants, w)
			}
		}
	}
	f := r.at(e)
	f.InstancePath, f.tokens, f.order, f.got = first.InstancePath, first.tokens, first.order, first.got
	f.miss, f.wants = first.miss, wants // an enclosing anyOf may merge further
	if f.miss == missType {
		r.add(f, "%s", wantType(wants, f.got))
	} else {
		r.add(f, "%s", wantValue(wants, f.got))
	}
	return true
}

// listed reports alternatives of which none matches best.
func (r *reporter) listed(e *jsonschema.ValidationError, alts [][]finding) {
	const shown = 4
	f := r.at(e)
	var reasons []string
	for _, alt := range alts[:min(len(alts), shown)] {
		if len(alt) == 0 {
			continue
		}
		reason := alt[0].Msg
		if alt[0].InstancePath != f.InstancePath {
			reason = strings.TrimPrefix(strings.TrimPrefix(alt[0].InstancePath, f.InstancePath), ".") + ": " + reason
		}
		if !slices.Contains(reasons, reason) {
			reasons = append(reasons, reason)
		}
	}
	if len(alts) > shown {
		reasons = append(reasons, "…")
	}
	r.add(f, "%s", fmt.Sprintf("fits none of the %d alternatives: %s", len(e.Causes), strings.Join(reasons, "; or ")))
}
