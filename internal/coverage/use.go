package coverage

import (
	"strings"
	"sync"

	"mcptest/internal/jsonv"
)

// maxValues bounds the values of one argument that are kept: no enum that
// people write has more.
const maxValues = 1000

// maxValue bounds the length of a value that is kept, in bytes.
const maxValue = 200

// Use is what the tests of one server examined. It may be used by several
// goroutines.
type Use struct {
	mu     sync.Mutex
	called map[call]bool // whether a result of it was examined
	args   map[call]map[string]map[string]bool
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
	for name, v := range params.Lookup("arguments").Members() {
		values := u.args[c][name]
		if values == nil {
			values = map[string]bool{}
			u.args[c][name] = values
		}
		keep(values, v)
		for _, e := range v.Elems() {
			keep(values, e)
		}
	}
}

func keep(values map[string]bool, v jsonv.Value) {
	if text := string(v.Append(nil)); v.Kind() != jsonv.KindObject && v.Kind() != jsonv.KindArray && len(text) <= maxValue && len(values) < maxValues {
		values[text] = true
	}
}

// Assert notes an assertion on the result of tools/list or on the surface of
// the server. Others are not kept.
func (u *Use) Assert(a Assertion) {
	u.mu.Lock()
	defer u.mu.Unlock()
	if !u.known[a] && (strings.Contains(a.Target, "annotations") || a.whole()) {
		if u.known == nil {
			u.known = map[Assertion]bool{}
		}
		u.known[a] = true
		u.checks = append(u.checks, a)
	}
}

// whole reports whether the matcher examines all that is below its target.
func (a Assertion) whole() bool {
	return a.Matcher == "exact" || a.Matcher == "lock" || a.Matcher == "snapshot"
}
