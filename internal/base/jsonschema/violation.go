package jsonschema

import (
	"cmp"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"mcptest/internal/base/jsonschema/engine"
	"mcptest/internal/base/jsonv"
	"mcptest/internal/base/lists"
)

// maxViolations bounds the number of violations of one validation.
const maxViolations = 1000

// reporter converts the engine's failures to a flat list of messages.
type reporter struct {
	sources *sources
	root    jsonv.Value // the instance
	found   []finding
	fault   error // the schema itself cannot be evaluated
}

// finding is a Violation with the data needed for sorting and merging.
type finding struct {
	Violation
	tokens []string // of the instance pointer
	order  []int    // positions along tokens
	miss   miss
	wants  []string // the values that type, const and enum would accept
	got    jsonv.Value
}

// miss orders findings by how surely they mean "this alternative was not intended".
type miss uint8

const (
	missOther miss = iota
	missType       // another type
	missValue      // a value other than the accepted constants
)

func (s *sources) listViolations(failures []engine.Failure, v jsonv.Value) ([]Violation, error) {
	r := &reporter{sources: s, root: v}
	r.reportAll(failures)
	if r.fault != nil {
		return nil, r.fault
	}
	found := r.sortFindings()
	out := make([]Violation, 0, len(found))
	for _, f := range found {
		if len(out) == 0 || out[len(out)-1] != f.Violation {
			out = append(out, f.Violation)
		}
	}
	return out, nil
}

// sortFindings returns the findings in the order of the instance.
func (r *reporter) sortFindings() []finding {
	slices.SortStableFunc(r.found, func(a, b finding) int {
		return cmp.Or(
			slices.Compare(a.order, b.order),
			strings.Compare(a.SchemaPointer, b.SchemaPointer),
			strings.Compare(a.Msg, b.Msg),
		)
	})
	return r.found
}

// locate follows the tokens of a pointer through the instance.
func (r *reporter) locate(f *finding, tokens []string) {
	v := r.root
	for _, token := range tokens {
		at := -1
		if v.Kind() == jsonv.KindArray {
			at, _ = strconv.Atoi(token)
			f.InstancePath = jsonv.JoinIndex(f.InstancePath, at)
			v = v.At(at)
		} else {
			f.InstancePath = jsonv.JoinKey(f.InstancePath, token)
			i := 0
			for k, e := range v.Members() {
				if k == token {
					at, v = i, e
				}
				i++
			}
		}
		f.order = append(f.order, at)
	}
	f.tokens, f.got = tokens, v
}

// newFinding returns a finding for a failure with place, keyword and pointer, but without a
// message.
func (r *reporter) newFinding(e engine.Failure, extra ...string) finding {
	var f finding
	r.locate(&f, append(slices.Clip(e.At), extra...))
	f.Keyword, f.SchemaPointer = e.Keyword, r.sources.formatPointer(e.Place)
	return f
}

func (r *reporter) add(f finding, format string, args ...any) {
	if len(r.found) < maxViolations {
		f.Msg = fmt.Sprintf(format, args...)
		r.found = append(r.found, f)
	}
}

func (r *reporter) reportAll(failures []engine.Failure) {
	for _, e := range failures {
		if len(r.found) < maxViolations {
			r.report(e)
		}
	}
}

// report adds the findings of a failure.
func (r *reporter) report(e engine.Failure) {
	if e.Endless {
		r.fault = fmt.Errorf("check against the schema: %w",
			&Error{Pointer: r.sources.formatPointer(e.Place), Msg: "the schema refers to itself without end"})
		return
	}
	switch e.Keyword {
	case "anyOf":
		r.addAlternatives(e)
	case "oneOf":
		if e.Pair[1] > 0 {
			r.add(r.newFinding(e), "fits alternatives %d and %d, must fit exactly one", e.Pair[0], e.Pair[1])
			return
		}
		r.addAlternatives(e)
	case "required":
		for _, name := range e.Names {
			r.add(r.newFinding(e), "missing property %s", quoteName(name))
		}
	case "additionalProperties":
		for _, name := range e.Names {
			r.add(r.newFinding(e, name), "unexpected property %s", quoteName(name))
		}
	case "propertyNames":
		r.addPropertyName(e)
	case "dependencies", "dependentRequired":
		for _, name := range e.Names {
			r.add(r.newFinding(e), "missing property %s, required because %s is there", quoteName(name),
				quoteName(e.Name))
		}
	default:
		f := r.newFinding(e)
		f.miss, f.wants = describeWanted(e)
		r.add(f, "%s", formatMessage(f, e))
	}
}

func (r *reporter) addPropertyName(e engine.Failure) {
	f := r.newFinding(e, e.Name)
	sub := &reporter{sources: r.sources, root: jsonv.String(e.Name)}
	sub.reportAll(e.Causes)
	if r.fault = sub.fault; r.fault != nil {
		return
	}
	msg := "the name of property " + quoteName(e.Name) + " does not fit"
	if reasons := lists.Map(sub.sortFindings(), func(s finding) string { return s.Msg }); len(reasons) > 0 {
		msg += ": " + strings.Join(reasons, "; ")
	}
	r.add(f, "%s", msg)
}

// describeWanted returns the values that a keyword would have accepted, for merging alternatives.
func describeWanted(e engine.Failure) (kind miss, wants []string) {
	switch e.Keyword {
	case "type":
		return missType, engine.TypeNames(e.Rule)
	case "const":
		return missValue, []string{e.Rule.Short(shortLimit)}
	case "enum":
		for _, w := range e.Rule.Elems() {
			wants = append(wants, w.Short(shortLimit))
		}
		return missValue, wants
	}
	return missOther, nil
}

// addAlternatives reports a value that matches none of anyOf or oneOf. The user needs to
// know why it does not match the intended alternative, so those that were clearly not
// intended are eliminated first: another type, then another constant, then another
// value in a property that distinguishes the alternatives. When one is left its
// faults are reported; when none is left, the values they would have accepted;
// otherwise one line for each of the first few.
func (r *reporter) addAlternatives(e engine.Failure) {
	var alts [][]finding
	for _, failures := range e.Alternatives {
		sub := &reporter{sources: r.sources, root: r.root}
		sub.reportAll(failures)
		if sub.fault != nil {
			r.fault = sub.fault
			return
		}
		if found := sub.sortFindings(); len(found) > 0 { // none if there are too many failures
			alts = append(alts, found)
		}
	}
	if len(alts) == 0 {
		r.reportListed(e, alts)
		return
	}
	here := len(e.At)
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
	r.reportListed(e, alts)
}

// merge reports alternatives that all fail in the same way at the same place as one
// violation with all the values they would accept.
func (r *reporter) merge(e engine.Failure, alts [][]finding, same func(finding) bool) bool {
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
	f := r.newFinding(e)
	f.InstancePath, f.tokens, f.order, f.got = first.InstancePath, first.tokens, first.order, first.got
	f.miss, f.wants = first.miss, wants // an enclosing anyOf may merge further
	if f.miss == missType {
		r.add(f, "%s", wantType(wants, f.got))
	} else {
		r.add(f, "%s", wantValue(wants, f.got))
	}
	return true
}

// reportListed reports alternatives of which none matches best.
func (r *reporter) reportListed(e engine.Failure, alts [][]finding) {
	const shown = 4
	f := r.newFinding(e)
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
	msg := fmt.Sprintf("fits none of the %d alternatives", len(e.Alternatives))
	if len(reasons) > 0 {
		msg += ": " + strings.Join(reasons, "; or ")
	}
	r.add(f, "%s", msg)
}
