package target

import (
	"strings"

	"mcptest/internal/assert/jsonpath"
	"mcptest/internal/assert/shown"
	"mcptest/internal/base/display"
	"mcptest/internal/base/jsonv"
)

// Subject is the value that a matcher evaluates, selected by a target.
type Subject struct {
	// Target is the target as written, for messages and exec matchers.
	Target string
	// Value is absent if and only if Miss is set.
	Value jsonv.Value
	// Miss describes why there is no value.
	Miss *Miss
	// Present reports whether the target exists, ignoring defaults. The matchers
	// absent and exists evaluate it.
	Present bool
	// Elsewhere is the place where a fallback found the value.
	Elsewhere string

	// Lacking lists the elements of a surface that do not have the target. Only each
	// counts them.
	Lacking []*Miss

	// Cut says why only the beginning and the end of the value, a text, are known.
	Cut string
	// Notes say what was left out.
	Notes []string
	// Name is that of the assertion.
	Name string
}

// Eval selects the target's value. If there is none, the value is absent and the Miss
// describes why.
func (t *Target) Eval(o *Observation) (jsonv.Value, *Miss) {
	s := t.Subject(o)
	return s.Value, s.Miss
}

// Subject evaluates the target.
func (t *Target) Subject(o *Observation) Subject {
	if t.root.part == partSurface {
		return t.surfaceSubject(o.Surface)
	}
	if o.Unanswered != "" && t.needsResponse() {
		return Subject{Target: t.src, Miss: &Miss{Target: t.src, why: o.Unanswered, Unknown: true}}
	}
	base, why := o.base(t.root)
	if base.IsAbsent() {
		return Subject{
			Target: t.src,
			Miss:   &Miss{Target: t.src, why: why, Unknown: o.Result.IsAbsent() && t.inResult()},
		}
	}
	switch t.root.part {
	case partResult:
		return t.resultSubject(o, base)
	case partError, partRefusal:
		if base.Kind() == jsonv.KindNull {
			return t.notFailed(o, base)
		}
	case partHTTPHeaders:
		if len(t.steps) > 0 && t.steps[0].Kind == jsonpath.Name {
			return t.headerSubject(base)
		}
	case partOwn:
		if t.CallOf() != "" {
			return t.callSubject(base)
		}
	}
	s := t.walk(base, t.steps, t.root.Name)
	s.Cut = o.Cut[t.root.Name]
	return s
}

// notFailed returns the subject of a target at error or refusal if there is no error:
// null at the root, absent below it.
func (t *Target) notFailed(o *Observation, null jsonv.Value) Subject {
	if len(t.steps) == 0 {
		return Subject{Target: t.src, Value: null}
	}
	why := "the call returned a result"
	if o.Result.IsAbsent() {
		why = unanswered
	} else if o.Flagged() {
		why = o.Failure() + "; for its text write target: refusal.text in place of " + t.src
	}
	return Subject{Target: t.src, Miss: &Miss{Target: t.src, why: "there is no " + t.root.Name + ": " + why}}
}

// resultSubject adds the rules of result: isError defaults to false, and missing
// members are looked up in structuredContent and text.
func (t *Target) resultSubject(o *Observation, result jsonv.Value) Subject {
	if t.IsErrorFlag() {
		if _, has := result.Get(KeyIsError); !has && result.Kind() == jsonv.KindObject {
			s := t.walk(jsonv.Bool(false), t.steps[1:], "result.isError")
			s.Present = false
			return s
		}
	}
	if !t.fallback {
		return t.walk(result, t.steps, t.root.Name)
	}
	name := t.steps[0].Name
	var found *Subject
	var lacking []place
	look := func(p place) (present bool) {
		v, has := p.value.Get(name)
		if !has {
			lacking = append(lacking, p)
			return false
		}
		s := t.walk(v, t.steps[1:], p.name+jsonpath.Key(name))
		if p.name != t.root.Name {
			s.Elsewhere = p.name
		}
		if found == nil || found.Miss != nil && s.Miss == nil || s.Present {
			found = &s
		}
		return s.Present
	}
	_ = look(place{t.root.Name, result}) || look(place{"result.structuredContent", result.Lookup(keyStructured)}) ||
		look(place{"the text content's JSON", o.textJSON()})
	if found != nil {
		return *found
	}
	s := t.walk(result, t.steps, t.root.Name)
	if name == "structured" || name == "text" || name == "error" || name == "refusal" {
		s.Miss.Near = name // suggest the root called name
	}
	s.Miss.lookElsewhere(name, lacking[1:])
	return s
}

// headerSubject selects a header, ignoring case.
func (t *Target) headerSubject(headers jsonv.Value) Subject {
	name := t.steps[0].Name
	for key, v := range headers.Members() {
		if strings.EqualFold(key, name) {
			return t.walk(v, t.steps[1:], t.root.Name+jsonpath.Key(key))
		}
	}
	return t.walk(headers, t.steps, t.root.Name)
}

// CallOf returns the tool whose first call the target examines; "" for other targets.
func (t *Target) CallOf() string {
	if t.root.Name == "calls" && len(t.steps) > 0 && t.steps[0].Kind == jsonpath.Name {
		return t.steps[0].Name
	}
	return ""
}

// callSubject selects the first call of a tool.
func (t *Target) callSubject(calls jsonv.Value) Subject {
	var names []string
	for _, call := range calls.Elems() {
		name := call.Lookup("name").Text()
		if name == t.steps[0].Name || call.Lookup("tool").Text() == t.steps[0].Name {
			return t.walk(call, t.steps[1:], t.root.Name+jsonpath.Key(name))
		}
		names = append(names, name)
	}
	why := "the model called nothing"
	if len(names) > 0 {
		why = "the model did not call " + t.steps[0].Name + "; it called " + display.List(names, 12)
	}
	return Subject{Target: t.src, Miss: &Miss{Target: t.src, why: why}}
}

// walk follows steps from v, whose path is prefix.
func (t *Target) walk(v jsonv.Value, steps []jsonpath.Step, prefix string) Subject {
	for i := range steps {
		if steps[i].Kind >= jsonpath.All {
			return t.walkPlural(v, steps, i, prefix)
		}
		next, ok := steps[i].Follow(v)
		if !ok {
			return Subject{Target: t.src, Miss: newMiss(t.src, prefix+jsonpath.String(steps[:i]), v, steps[i:])}
		}
		v = next
	}
	return Subject{Target: t.src, Value: v, Present: true}
}

// walkPlural follows the steps from the first one that selects several values. It
// omits elements without the next key (RFC 9535 section 2.1.2); if all are omitted,
// the target is missing.
func (t *Target) walkPlural(v jsonv.Value, steps []jsonpath.Step, i int, prefix string) Subject {
	at := prefix + jsonpath.String(steps[:i])
	if !steps[i].SelectsIn(v) {
		return Subject{Target: t.src, Miss: newMiss(t.src, at, v, steps[i:])}
	}
	nodes := []jsonv.Value{v}
	var dropped *Miss
	droppedAt, lost, total := 0, 0, 0
	for j := i; j < len(steps); j++ {
		var next []jsonv.Value
		for _, n := range nodes {
			before := len(next)
			if steps[j].Kind >= jsonpath.All {
				next = steps[j].AppendAll(next, n)
				if len(next) > before || steps[j].SelectsIn(n) {
					continue
				}
			} else if one, ok := steps[j].Follow(n); ok {
				next = append(next, one)
				continue
			}
			if dropped == nil {
				dropped = newMiss(t.src, at+jsonpath.String(steps[i:j]), n, steps[j:])
				droppedAt = j
				total = len(nodes)
			}
			if droppedAt == j {
				lost++
			}
		}
		nodes = next
	}
	if len(nodes) == 0 && dropped != nil {
		dropped.ofAll = lost
		return Subject{Target: t.src, Miss: dropped}
	}
	s := Subject{Target: t.src, Value: jsonv.Array(nodes...), Present: len(nodes) > 0}
	if dropped != nil {
		s.Notes = []string{shown.CountOf(lost, total) + " left out: " + dropped.Reason()}
	}
	return s
}
