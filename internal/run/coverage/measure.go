package coverage

import (
	"cmp"
	"slices"
	"strings"
	"sync"

	"mcptest/internal/assert/jsonpath"
	"mcptest/internal/base/jsonschema"
	"mcptest/internal/base/jsonv"
	"mcptest/internal/offer/surface"
	"mcptest/internal/report/result"
	"mcptest/internal/spec/draft"
)

// maxSkeletons bounds the tests that are drafted for one server.
const maxSkeletons = 50

// Measure says how much of an offer was used.
func Measure(offer *surface.Offer, u *Use) (parts []result.Covered, unasserted []string, skeletons []result.Skeleton) {
	u.mu.Lock()
	defer u.mu.Unlock()
	m := &meter{offer: offer, use: u, items: map[string][]item{}, seen: map[[2]string]bool{}}
	m.measureTools()
	m.measureResources()
	m.measurePrompts()
	m.measureAnnotations()
	for _, of := range result.ListMeasured() {
		part := result.Covered{Of: of}
		for _, it := range m.items[of] {
			part.Total++
			if it.covered {
				part.Covered++
			} else {
				part.Missing = append(part.Missing, it.name)
			}
		}
		slices.Sort(part.Missing)
		parts = append(parts, part)
	}
	slices.Sort(m.unasserted)
	slices.SortStableFunc(m.skeletons, func(a, b result.Skeleton) int {
		of := result.ListMeasured()
		byKind := cmp.Compare(slices.Index(of, a.Of), slices.Index(of, b.Of))
		return cmp.Or(byKind, cmp.Compare(a.Name, b.Name))
	})
	return parts, m.unasserted, m.skeletons[:min(len(m.skeletons), maxSkeletons)]
}

// meter is the state of one Measure.
type meter struct {
	offer      *surface.Offer
	use        *Use
	items      map[string][]item
	seen       map[[2]string]bool
	unasserted []string
	skeletons  []result.Skeleton
}

type item struct {
	name    string
	covered bool
}

func (m *meter) add(of, name string, covered bool) {
	if key := [2]string{of, name}; !m.seen[key] { // else it is listed twice
		m.seen[key] = true
		m.items[of] = append(m.items[of], item{name, covered})
	}
}

// addSubject adds a definition that tests can call. It returns whether it is
// covered.
func (m *meter) addSubject(of string, c call, t draft.Test) {
	examined, called := m.use.called[c]
	m.add(of, c.subject, examined)
	if called && !examined {
		m.unasserted = append(m.unasserted, c.subject)
	}
	if !examined {
		m.skeletons = append(m.skeletons, result.Skeleton{Of: of, Name: c.subject, YAML: draft.MakeSkeleton(&t)})
	}
}

func (m *meter) measureTools() {
	for _, def := range m.offer.Lists[surface.Tool] {
		name, schema := def.Lookup("name").Text(), def.Lookup("inputSchema")
		c := call{"tools/call", name}
		m.addSubject(result.Tools, c, draft.Test{Block: "tools", Subject: name, Args: jsonschema.Arguments(schema)})
		for _, arg := range listArguments(schema) {
			of, values := result.Arguments, m.use.args[c][arg.path]
			if arg.nested {
				of = result.NestedArguments
			}
			full := name + strings.Replace("."+arg.path, ".[", "[", 1)
			m.add(of, full, values != nil)
			for _, v := range arg.values {
				m.add(result.EnumValues, full+"="+v.Short(maxValue), values[string(v.Append(nil))])
			}
		}
	}
}

func (m *meter) measureResources() {
	listed := map[string]bool{}
	for _, def := range m.offer.Lists[surface.Resource] {
		uri := def.Lookup("uri").Text()
		listed[uri] = true
		m.addSubject(result.Resources, call{"resources/read", uri}, draft.Test{Block: "resources", Subject: uri})
	}
	for _, def := range m.offer.Lists[surface.Template] {
		template := def.Lookup("uriTemplate").Text()
		matches, covered := surface.TemplatePattern(template), false
		for c, examined := range m.use.called {
			covered = covered || examined && c.method == "resources/read" && !listed[c.subject] && matches.MatchString(c.subject)
		}
		m.add(result.Resources, template, covered)
	}
}

func (m *meter) measurePrompts() {
	for _, def := range m.offer.Lists[surface.Prompt] {
		name := def.Lookup("name").Text()
		c := call{"prompts/get", name}
		args := jsonv.Object()
		for _, a := range def.Lookup("arguments").Elems() {
			arg := a.Lookup("name").Text()
			_, sent := m.use.args[c][jsonv.JoinKey("", arg)]
			m.add(result.Arguments, "prompt "+name+"."+arg, sent)
			if a.Lookup("required").Bool() {
				args = args.With(arg, jsonv.String("text"))
			}
		}
		m.addSubject(result.Prompts, c, draft.Test{Block: "prompts", Subject: name, Args: args})
	}
}

// measureAnnotations covers the hints that assertions on the list of tools examine.
func (m *meter) measureAnnotations() {
	asserted := map[string]bool{}
	for _, a := range m.use.checks {
		for _, name := range m.hints(a) {
			asserted[name] = true
		}
	}
	for _, def := range m.offer.Lists[surface.Tool] {
		for _, name := range hintsOf(def, "") {
			m.add(result.Annotations, name, asserted[name])
		}
	}
}

// hintsOf names the hints of a tool: all, or the one of that name.
func hintsOf(tool jsonv.Value, only string) (out []string) {
	for key, v := range tool.Lookup("annotations").Members() {
		if v.Kind() == jsonv.KindBool && (only == "" || only == key) {
			out = append(out, tool.Lookup("name").Text()+"."+key)
		}
	}
	return out
}

// hints names the hints that an assertion examines.
func (m *meter) hints(a Assertion) (out []string) {
	steps, _, err := jsonpath.Parse(a.Target)
	if err != nil {
		return nil
	}
	list := m.offer.Lists[surface.Tool]
	next := func() (s jsonpath.Step, ok bool) {
		if len(steps) == 0 {
			return s, false
		}
		s, steps = steps[0], steps[1:]
		return s, true
	}
	next() // the root
	if s, ok := next(); ok && (s.Kind != jsonpath.Name || s.Name != "tools") {
		return nil
	}
	if s, ok := next(); ok {
		list = selectTools(list, s)
	}
	hint := ""
	s, below := next()
	if below && (s.Kind != jsonpath.Name || s.Name != "annotations") || !below && !a.isWhole() {
		return nil
	}
	if s, ok := next(); ok {
		hint = s.Name
	}
	for _, tool := range list {
		out = append(out, hintsOf(tool, hint)...)
	}
	return out
}

// selectTools are the tools that a step selects: by name, by index, or several.
func selectTools(tools []jsonv.Value, s jsonpath.Step) []jsonv.Value {
	list := jsonv.Array(tools...)
	switch {
	case s.Kind == jsonpath.Name:
		var named []jsonv.Value
		for _, t := range tools {
			if t.Lookup("name").Text() == s.Name {
				named = append(named, t)
			}
		}
		return named
	case s.Kind >= jsonpath.All:
		return s.AppendAll(nil, list)
	}
	if one, ok := s.Follow(list); ok {
		return []jsonv.Value{one}
	}
	return nil
}

// maxValues bounds the values of one argument that are kept: no enum that
// people write has more.
const maxValues = 1000

// maxValue bounds the length of a value that is kept, in bytes.
const maxValue = 200

// Use is what the tests of one server examined. It may be used by several
// goroutines.
type Use struct {
	mu     sync.Mutex
	called map[call]bool                       // whether a result of it was examined
	args   map[call]map[string]map[string]bool // values by the paths of arguments
	checks []Assertion
	known  map[Assertion]bool
}

// call is what was called: a tool, a resource or a prompt.
type call struct{ method, subject string }

// Assertion is one that examined a list of definitions.
type Assertion struct {
	Target, Matcher string
}

// Call notes a request of a test that got a response, and whether an assertion
// examined its result.
func (u *Use) Call(method string, params jsonv.Value, examined bool) {
	key := "name"
	if method == "resources/read" {
		key = "uri"
	}
	c := call{method, params.Lookup(key).Text()}
	if method != "tools/call" && method != "resources/read" && method != "prompts/get" || c.subject == "" {
		return
	}
	u.mu.Lock()
	defer u.mu.Unlock()
	if u.called == nil {
		u.called, u.args = map[call]bool{}, map[call]map[string]map[string]bool{}
	}
	u.called[c] = u.called[c] || examined
	if !examined {
		return
	}
	if u.args[c] == nil {
		u.args[c] = map[string]map[string]bool{}
	}
	keep(u.args[c], "", params.Lookup("arguments"))
}

// keep notes the values of an argument, and of the arguments in it.
func keep(args map[string]map[string]bool, path string, v jsonv.Value) {
	for name, member := range v.Members() {
		keep(args, jsonv.JoinKey(path, name), member)
	}
	for _, e := range v.Elems() {
		keep(args, path+elements, e)
	}
	if path = findOwner(path); path == "" || args[path] == nil && len(args) >= maxPaths {
		return
	}
	if args[path] == nil {
		args[path] = map[string]bool{}
	}
	text := string(v.Append(nil))
	if v.Kind() != jsonv.KindObject && v.Kind() != jsonv.KindArray && len(text) <= maxValue && len(args[path]) < maxValues {
		args[path][text] = true
	}
}

// Assert notes an assertion on the result of tools/list or on the surface of
// the server. Others are not kept.
func (u *Use) Assert(a Assertion) {
	u.mu.Lock()
	defer u.mu.Unlock()
	if !u.known[a] && (strings.Contains(a.Target, "annotations") || a.isWhole()) {
		if u.known == nil {
			u.known = map[Assertion]bool{}
		}
		u.known[a] = true
		u.checks = append(u.checks, a)
	}
}

// isWhole reports whether the matcher examines all that is below its target.
func (a Assertion) isWhole() bool {
	return a.Matcher == "exact" || a.Matcher == "lock" || a.Matcher == "snapshot"
}
