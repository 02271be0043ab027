package trajectory

import (
	"fmt"
	"slices"
	"strings"

	"mcptest/internal/assert/shown"
	"mcptest/internal/base/display"
	"mcptest/internal/base/jsonv"
	"mcptest/internal/base/secret"
	"mcptest/internal/base/source"
)

const (
	callSchema  = `{"type":"string","minLength":1},{"type":"object","minProperties":1,"maxProperties":1,"additionalProperties":{"type":"object"}`
	entrySchema = `{"anyOf":[` + callSchema + `,"properties":{"optional":{"anyOf":[` + callSchema + `}]}}}]}`
	// Schema is the JSON Schema of the matcher's argument.
	Schema = `{"type":"object","additionalProperties":false,"minProperties":1,"not":{"required":["in_order","any_order"]},
		"anyOf":[{"required":["in_order"]},{"required":["any_order"]},{"required":["forbid"],"not":{"properties":{"extra":{"const":"forbid"}},"required":["extra"]}}],
		"properties":{"in_order":{"type":"array","minItems":1,"items":` + entrySchema + `},"any_order":{"type":"array","minItems":1,"items":` + entrySchema + `},
		"extra":{"enum":["allow","forbid"]},"forbid":{"type":"array","minItems":1,"items":{"type":"string","minLength":1}}}}`
)

// Path is the argument of the matcher trajectory.
type Path struct {
	entries  []entry
	ordered  bool
	noExtra  bool
	forbid   []string
	mentions []Mention
}

// entry is one expected call.
type entry struct {
	name     string
	args     jsonv.Value // absent: any
	optional bool
}

// Mention is the exact name of a tool in an assertion. Absent is set if it passes when the
// tool is not called.
type Mention struct {
	In, Name string
	Absent   bool
}

// Mentions returns the exact names of tools that the argument has.
func (p *Path) Mentions() []Mention { return p.mentions }

// Decode reads the argument of the matcher; it returns nil after a mistake.
func Decode(n *source.Node, at string, d *source.Decoder) *Path {
	before := d.Count()
	var k struct {
		InOrder  []*source.Node `yaml:"in_order"`
		AnyOrder []*source.Node `yaml:"any_order"`
		Extra    string         `yaml:"extra" enum:"allow|forbid"`
		Forbid   []string       `yaml:"forbid"`
	}
	d.Decode(n, at, &k)
	p := &Path{ordered: k.InOrder != nil, noExtra: k.Extra == "forbid", forbid: k.Forbid}
	key, list := "in_order", k.InOrder
	if k.AnyOrder != nil {
		key, list = "any_order", k.AnyOrder
	}
	switch {
	case n.Kind != source.KindMap:
	case k.InOrder != nil && k.AnyOrder != nil:
		d.Errorf(n, at, "in_order and any_order exclude each other")
	case len(list) == 0 && (n.Get(key) != nil || len(k.Forbid) == 0):
		d.Errorf(n, at, "a trajectory needs the calls that are expected").Hint = "write in_order: [TOOL, …], any_order: [TOOL, …] or forbid: [TOOL, …]"
	case len(list) == 0 && p.noExtra:
		d.Errorf(n.Get("extra"), at+".extra", "extra: requires in_order: or any_order:")
	}
	for i, item := range list {
		p.entry(item, source.PathIndex(at+"."+key, i), d)
	}
	if len(list) > 0 && p.fitsAll() && d.Count() == before {
		d.Errorf(n.Get(key), at+"."+key, "every call is optional: any calls fit").Hint = "name a call that is expected, or write extra: forbid"
	}
	if k.Forbid != nil && len(k.Forbid) == 0 {
		d.Errorf(n.Get("forbid"), at+".forbid", "the list is empty: it forbids nothing")
	}
	for i, pattern := range k.Forbid {
		if !strings.Contains(pattern, "*") {
			p.mentions = append(p.mentions, Mention{"forbid", pattern, true})
		}
		if pattern == "" {
			d.Errorf(n.Get("forbid").Items[i], source.PathIndex(at+".forbid", i), "the name is empty")
		}
	}
	if d.Count() > before {
		return nil
	}
	return p
}

// fitsAll reports whether no list of calls is refused.
func (p *Path) fitsAll() bool {
	required := slices.ContainsFunc(p.entries, func(e entry) bool { return !e.optional })
	return !required && !p.noExtra && len(p.forbid) == 0
}

// entry reads a name, {name: arguments} or {optional: entry}.
func (p *Path) entry(n *source.Node, at string, d *source.Decoder) {
	e := entry{}
	if n.Kind == source.KindMap && len(n.Fields) == 1 && n.Fields[0].Key.Text == "optional" {
		e.optional, n, at = true, n.Fields[0].Value, at+".optional"
	}
	name := n
	if n.Kind == source.KindMap && len(n.Fields) == 1 {
		name = n.Fields[0].Key
		if e.args = n.Fields[0].Value.JSON(); e.args.Kind() != jsonv.KindObject {
			d.ReportWrongType(n.Fields[0].Value, at, "a map of arguments")
		}
	}
	text, ok := name.AsText()
	if !ok || text == "" {
		const forms = "a tool's name, {NAME: {ARGUMENT: VALUE}} or {optional: …}"
		if n.Kind == source.KindList {
			hint := `calls of one answer have the same turn: {target: "calls[*].turn", matcher: {exact: [1, 1]}}`
			d.Errorf(n, at, "expected %s, got a list", forms).Hint = hint
			return
		}
		d.ReportWrongType(n, at, forms)
		return
	}
	e.name = text
	if !strings.Contains(text, "*") {
		p.mentions = append(p.mentions, Mention{"trajectory", text, false})
	}
	p.entries = append(p.entries, e)
}

// String describes the calls that fit.
func (p *Path) String() string {
	var calls []string
	for _, e := range p.entries {
		call := e.name
		if !e.args.IsAbsent() {
			call += " " + e.args.Short(maxArguments)
		}
		if e.optional {
			call += " (optional)"
		}
		calls = append(calls, call)
	}
	between := ", then "
	if !p.ordered {
		between = " and, in any order, "
	}
	parts := []string{}
	if len(calls) > 0 {
		parts = append(parts, strings.Join(calls, between))
	}
	if p.noExtra {
		parts = append(parts, "no other call")
	}
	if len(p.forbid) > 0 {
		parts = append(parts, "never "+strings.Join(p.forbid, ", "))
	}
	return strings.Join(parts, "; ")
}

// maxArguments bounds the arguments of a call in a description.
const maxArguments = 500

// Result is the outcome of a comparison.
type Result struct {
	Problem string // "" if the calls fit
	Lines   []string
	Notes   []string
}

// Match compares the value of the target calls.
func (p *Path) Match(calls jsonv.Value) Result {
	list := calls.List()
	used := make([]string, len(list)) // what a call is for
	problem := p.checkForbidden(list, used)
	if p.ordered {
		problem = firstOf(problem, p.inOrder(list, used))
	} else {
		problem = firstOf(problem, p.anyOrder(list, used))
	}
	i := slices.Index(used, "")
	if p.noExtra && i >= 0 && problem == "" {
		problem = fmt.Sprintf("the model called %s, which is not expected", nameOf(list[i]))
	}
	if problem == "" {
		return Result{}
	}
	r := Result{Problem: problem}
	for i, c := range list {
		mark := " "
		if used[i] == "" {
			mark = "?"
		} else if used[i] == "forbidden" {
			mark = "-"
		}
		line := fmt.Sprintf("%s call %d: %s %s", mark, i+1, nameOf(c), shown.Value(c.Lookup("arguments"), shown.InLine))
		if c.Lookup("mocked").Bool() {
			line += " (answered by a mock)"
		} else if isUnsent(c) {
			line += " (not sent)"
		}
		r.Lines = append(r.Lines, line)
	}
	if len(list) == 0 {
		r.Notes = []string{"the model made no calls"}
	}
	return r
}

func (p *Path) checkForbidden(list []jsonv.Value, used []string) (problem string) {
	for i, c := range list {
		for _, pattern := range p.forbid {
			if isCalled(pattern, c) {
				used[i] = "forbidden"
				problem = firstOf(problem, fmt.Sprintf("the model called %s, which forbid: %s excludes", nameOf(c), pattern))
			}
		}
	}
	return problem
}

// mostUsed returns how many calls the entries from e use of those from i, at [e][i]; -1 if an
// entry has no call.
func (p *Path) mostUsed(list []jsonv.Value) [][]int {
	most := make([][]int, len(p.entries)+1)
	most[len(p.entries)] = make([]int, len(list)+1)
	for e := len(p.entries) - 1; e >= 0; e-- {
		most[e] = make([]int, len(list)+1)
		for i := len(list); i >= 0; i-- {
			best := -1
			if p.entries[e].optional {
				best = most[e+1][i]
			}
			if i < len(list) {
				best = max(best, most[e][i+1])
			}
			if i < len(list) && p.entries[e].fits(list[i]) && most[e+1][i+1] >= 0 {
				best = max(best, 1+most[e+1][i+1])
			}
			most[e][i] = best
		}
	}
	return most
}

// inOrder assigns entries to calls, in the order of both. Of several ways it takes the
// one that uses most calls, the earliest first, so that an optional entry never takes the
// call of another.
func (p *Path) inOrder(list []jsonv.Value, used []string) (problem string) {
	most := p.mostUsed(list)
	isComplete := most[0][0] >= 0
	next := 0
	for e, entry := range p.entries {
		if entry.optional && !isComplete {
			continue
		}
		takes := func(i int) bool {
			isBest := !isComplete || 1+most[e+1][i+1] == most[e][next]
			return isBest && entry.fits(list[i])
		}
		i := next
		for i < len(list) && !takes(i) {
			i++
		}
		switch {
		case i < len(list):
			used[i], next = "expected", i+1
		case !entry.optional:
			return entry.missing(list, next)
		}
	}
	return ""
}

// anyOrder finds a call for every entry that is not optional: the entries are assigned
// to calls so that as many as possible have one.
func (p *Path) anyOrder(list []jsonv.Value, used []string) (problem string) {
	of := make([]int, len(list)) // the entry of a call, from 1
	var assign func(e int, seen []bool) bool
	assign = func(e int, seen []bool) bool {
		for i, c := range list {
			if seen[i] || !p.entries[e].fits(c) {
				continue
			}
			seen[i] = true
			if of[i] == 0 || assign(of[i]-1, seen) {
				of[i] = e + 1
				return true
			}
		}
		return false
	}
	for _, optional := range []bool{false, true} {
		for e := range p.entries {
			if p.entries[e].optional == optional && !assign(e, make([]bool, len(list))) && !optional && problem == "" {
				problem = p.entries[e].missing(list, 0)
			}
		}
	}
	for i := range list {
		if of[i] > 0 {
			used[i] = "expected"
		}
	}
	return problem
}

func (e entry) fits(call jsonv.Value) bool {
	return isCalled(e.name, call) && !isUnsent(call) && (e.args.IsAbsent() || hasArguments(e.args, call.Lookup("arguments")))
}

// missing says why no call fits an entry.
func (e entry) missing(list []jsonv.Value, from int) (problem string) {
	want := e.name
	if !e.args.IsAbsent() {
		want += " " + shown.Value(e.args, shown.InLine)
	}
	var names []string
	for i, c := range list {
		names = append(names, nameOf(c))
		if !isCalled(e.name, c) {
			continue
		}
		if isUnsent(c) {
			why := c.Lookup("text").Text()
			if why == "" {
				why = "no such tool, or its arguments are not a JSON object"
			}
			problem = fmt.Sprintf("the model called %s, which was not sent: %s", nameOf(c), why)
			continue
		}
		if e.args.IsAbsent() || hasArguments(e.args, c.Lookup("arguments")) {
			if i < from {
				return fmt.Sprintf("the model called %s too early: before the calls that are listed ahead of it", want)
			}
			continue
		}
		want := shown.Value(e.args, shown.InLine)
		got := shown.Value(c.Lookup("arguments"), shown.InLine)
		return fmt.Sprintf("the model called %s, expected at least the arguments %s, got %s", nameOf(c), want, got)
	}
	if problem != "" {
		return problem
	}
	if len(names) == 0 {
		return "the model did not call " + want + "; it called nothing"
	}
	return "the model did not call " + want + "; it called " + display.List(names, 12)
}

// hasArguments reports whether a call has the arguments of an entry, deeply: objects may have
// more members, lists have as many elements.
func hasArguments(want, got jsonv.Value) bool { return within(want, got, false) }

// Within reports whether got has all members and elements of want, deeply: objects may
// have more members, lists, which are compared by index, more elements.
func Within(want, got jsonv.Value) bool { return within(want, got, true) }

// within is Within; longer says that lists may have more elements.
func within(want, got jsonv.Value, longer bool) bool {
	if want.Kind() != got.Kind() {
		return false
	}
	switch want.Kind() {
	case jsonv.KindObject:
		for key, w := range want.Members() {
			if g, ok := got.Get(key); !ok || !within(w, g, longer) {
				return false
			}
		}
		return true
	case jsonv.KindArray:
		if want.Len() > got.Len() || want.Len() < got.Len() && !longer {
			return false
		}
		for i, w := range want.Elems() {
			if !within(w, got.At(i), longer) {
				return false
			}
		}
		return true
	}
	return jsonv.Equal(want, got)
}

// isCalled reports whether a pattern fits the name of the tool of a call, or that at its server.
func isCalled(pattern string, call jsonv.Value) bool {
	return secret.Glob(pattern, nameOf(call)) || secret.Glob(pattern, call.Lookup("tool").Text())
}

// isUnsent reports whether nothing answered a call: its arguments are no JSON object, or no
// tool has its name.
func isUnsent(call jsonv.Value) bool {
	executed := call.Lookup("executed")
	return executed.Kind() == jsonv.KindBool && !executed.Bool() && !call.Lookup("mocked").Bool()
}

func nameOf(call jsonv.Value) string { return call.Lookup("name").Text() }

func firstOf(a, b string) string {
	if a != "" {
		return a
	}
	return b
}
