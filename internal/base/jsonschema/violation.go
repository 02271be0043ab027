package jsonschema

import (
	"cmp"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/santhosh-tekuri/jsonschema/v6"
	"github.com/santhosh-tekuri/jsonschema/v6/kind"

	"mcptest/internal/base/jsonv"
	"mcptest/internal/base/lists"
)

// maxViolations bounds the number of violations of one validation.
const maxViolations = 1000

// reporter converts the library's tree of errors to a flat list with our messages.
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

func (s *sources) violations(failed *jsonschema.ValidationError, v jsonv.Value) ([]Violation, error) {
	namePlaces{}.repair(failed, v, nil)
	r := &reporter{sources: s, root: v}
	r.report(failed)
	if r.fault != nil {
		return nil, r.fault
	}
	found := r.sorted()
	out := make([]Violation, 0, len(found))
	for _, f := range found {
		if len(out) == 0 || out[len(out)-1] != f.Violation {
			out = append(out, f.Violation)
		}
	}
	return out, nil
}

// sorted returns the findings in the order of the instance; the library walks maps,
// so its own order changes from run to run.
func (r *reporter) sorted() []finding {
	slices.SortStableFunc(r.found, func(a, b finding) int {
		return cmp.Or(slices.Compare(a.order, b.order), strings.Compare(a.SchemaPointer, b.SchemaPointer), strings.Compare(a.Msg, b.Msg))
	})
	return r.found
}

// locate follows the library's tokens, in which lone surrogates are masked, through
// the instance.
func (r *reporter) locate(masked []string) (path string, v jsonv.Value, tokens []string, order []int) {
	v = r.root
	for _, m := range masked {
		at, token, next := -1, m, jsonv.Value{}
		if v.Kind() == jsonv.KindArray {
			if i, err := strconv.Atoi(m); err == nil && i < v.Len() {
				at, next = i, v.At(i)
			}
			path += "[" + m + "]"
		} else {
			i := 0
			for k, e := range v.Members() {
				if maskSurrogates(k) == m {
					at, token, next = i, k, e
				}
				i++
			}
			path = jsonv.JoinKey(path, token)
		}
		tokens, order = append(tokens, token), append(order, at)
		if v = next; at < 0 {
			return path, v, tokens, order
		}
	}
	return path, v, tokens, order
}

// at returns a finding for an error with place, keyword and pointer, but without a
// message.
func (r *reporter) at(e *jsonschema.ValidationError, extra ...string) finding {
	var f finding
	f.InstancePath, f.got, f.tokens, f.order = r.locate(append(slices.Clone(e.InstanceLocation), extra...))
	_, _, f.SchemaPointer = r.sources.split(e.SchemaURL)
	path := e.ErrorKind.KeywordPath()
	if d, ok := e.ErrorKind.(*kind.Dependency); ok {
		path = []string{"dependencies", d.Prop}
	}
	for i, token := range path {
		if i == 0 {
			f.Keyword = token
		}
		f.SchemaPointer = jsonv.AppendPointer(f.SchemaPointer, token)
	}
	return f
}

func (r *reporter) add(f finding, format string, args ...any) {
	if len(r.found) < maxViolations {
		f.Msg = fmt.Sprintf(format, args...)
		r.found = append(r.found, f)
	}
}

func (r *reporter) reportAll(causes []*jsonschema.ValidationError) {
	for _, c := range causes {
		if len(r.found) < maxViolations {
			r.report(c)
		}
	}
}

// report adds the findings of an error and its causes. Errors that only refer to
// their causes add nothing themselves.
func (r *reporter) report(e *jsonschema.ValidationError) {
	switch k := e.ErrorKind.(type) {
	case *kind.Schema, *kind.Group, *kind.Reference, *kind.AllOf:
		r.reportAll(e.Causes)
	case *kind.AnyOf:
		r.alternatives(e)
	case *kind.OneOf:
		if len(k.Subschemas) == 2 {
			r.add(r.at(e), "fits alternatives %d and %d, must fit exactly one", k.Subschemas[0], k.Subschemas[1])
			return
		}
		r.alternatives(e)
	case *kind.RefCycle:
		_, _, ptr := r.sources.split(k.URL)
		r.fault = fmt.Errorf("check against the schema: %w",
			&Error{Pointer: ptr, Msg: "the schema refers to itself without end"})
	case *kind.Required:
		for _, name := range k.Missing {
			r.add(r.at(e), "missing property %q", name)
		}
	case *kind.AdditionalProperties:
		for _, name := range k.Properties {
			r.add(r.at(e, name), "unexpected property %q", name)
		}
	case *kind.PropertyNames:
		r.propertyName(e, k)
	case *kind.Dependency:
		r.dependent(e, k.Prop, k.Missing)
	case *kind.DependentRequired:
		r.dependent(e, k.Prop, k.Missing)
	default:
		f := r.at(e)
		r.add(r.withWants(f, e), "%s", r.message(f, e))
	}
}

func (r *reporter) dependent(e *jsonschema.ValidationError, because string, missing []string) {
	for _, name := range missing {
		r.add(r.at(e), "missing property %q, required because %q is there", name, because)
	}
}

func (r *reporter) propertyName(e *jsonschema.ValidationError, k *kind.PropertyNames) {
	f := r.at(e, k.Property)
	f.Keyword = "propertyNames"
	sub := &reporter{sources: r.sources, root: jsonv.String(k.Property)}
	sub.reportAll(e.Causes)
	if r.fault = sub.fault; r.fault != nil {
		return
	}
	reasons := lists.Map(sub.sorted(), func(s finding) string { return s.Msg })
	r.add(f, "the name of property %q does not fit: %s", k.Property, strings.Join(reasons, "; "))
}

// withWants adds the values that the keyword would have accepted, for merging
// alternatives.
func (r *reporter) withWants(f finding, e *jsonschema.ValidationError) finding {
	switch k := e.ErrorKind.(type) {
	case *kind.Type:
		f.miss, f.wants = missType, k.Want
	case *kind.Const:
		f.miss = missValue
		f.wants = []string{jsonv.From(k.Want).Short(shortLimit)}
	case *kind.Enum:
		f.miss = missValue
		for _, w := range k.Want {
			f.wants = append(f.wants, jsonv.From(w).Short(shortLimit))
		}
	}
	return f
}

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
