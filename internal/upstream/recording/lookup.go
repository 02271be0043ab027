package recording

import (
	"fmt"
	"net/http"
	"slices"
	"strings"
	"sync"

	"mcptest/internal/upstream"
)

// Player finds the responses to the requests of one test in a recording. It is safe
// for concurrent use.
type Player struct {
	file *File
	test string

	mu   sync.Mutex
	next map[string]int // by key: number of responses given
}

// Player returns a player for one attempt of a test; "" is for requests that cannot
// be attributed to a test.
func (f *File) Player(test string) *Player {
	return &Player{file: f, test: test, next: map[string]int{}}
}

// ByTest reports whether tests got different responses to equal requests, so that a
// response depends on the test that sends the request.
func (f *File) ByTest() bool {
	return slices.ContainsFunc(f.list, func(e exchange) bool { return e.test != "" })
}

// Tests returns the names of the tests that have their own exchanges, sorted.
func (f *File) Tests() []string {
	var names []string
	for i := range f.list {
		if name := f.list[i].test; name != "" {
			names = append(names, name)
		}
	}
	slices.Sort(names)
	return slices.Compact(names)
}

// Len returns the number of exchanges.
func (f *File) Len() int { return len(f.list) }

// Lookup returns the next response to a request. The last one is repeated.
func (p *Player) Lookup(r *upstream.Request) (*upstream.Response, bool) {
	e := p.file.clean(r)
	candidates := p.file.find(e)
	if len(candidates) == 0 {
		return nil, false
	}
	candidates = p.file.of(candidates, p.test)
	key := p.file.list[candidates[0]].key()
	p.mu.Lock()
	n := p.next[key]
	p.next[key] = n + 1
	p.mu.Unlock()
	return p.file.list[candidates[min(n, len(candidates)-1)]].answer(), true
}

// clean returns a request in the form of the file.
func (f *File) clean(r *upstream.Request) *exchange {
	e, err := newSanitizer(f.secrets).request(r)
	if err != nil {
		e = exchange{method: r.Method, path: r.Path, query: r.Query}
		e.identify()
	}
	return &e
}

// find returns the exchanges with a request.
func (f *File) find(e *exchange) []int {
	if exact := f.byKey[e.key()]; len(exact) > 0 {
		return exact
	}
	var out []int
	for _, i := range f.masked {
		if (len(out) == 0 || f.list[i].key() == f.list[out[0]].key()) && f.list[i].matches(e.keys) {
			out = append(out, i)
		}
	}
	return out
}

// of returns the exchanges for a test: its own, otherwise those of no test, otherwise
// all.
func (f *File) of(candidates []int, test string) []int {
	for _, name := range []string{test, ""} {
		var own []int
		for _, i := range candidates {
			if f.list[i].test == name {
				own = append(own, i)
			}
		}
		if len(own) > 0 {
			return own
		}
	}
	return candidates
}

func (e *exchange) answer() *upstream.Response {
	return &upstream.Response{Status: e.status, Header: http.Header(e.resHeader).Clone(), Body: e.response.bytes()}
}

// Nearest describes the recorded request that differs least from a request without a
// response, and the differences; "" if no recorded request is similar.
func (f *File) Nearest(r *upstream.Request) string {
	e := f.clean(r)
	best, at := 0, -1
	for i := range f.list {
		if n := similarity(&f.list[i], e); n > best {
			best, at = n, i
		}
	}
	if at < 0 {
		return ""
	}
	near := &f.list[at]
	return fmt.Sprintf("the nearest recorded request is %s (line %d), which differs in %s", near.title(), near.line, difference(near, e))
}

func (e *exchange) title() string {
	if len(e.query) == 0 || len(e.keys) == 0 {
		return e.method + " " + e.path
	}
	return e.method + " " + e.path + "?" + strings.Join(e.keys[2:len(e.keys)-1], "&")
}

// similarity returns 0 for requests that have nothing in common.
func similarity(a, b *exchange) int {
	n := 0
	if a.path == b.path {
		n += 8
	} else {
		x, y := strings.Split(a.path, "/"), strings.Split(b.path, "/")
		if len(x) == len(y) && len(x) > 1 && x[1] == y[1] {
			n += 2
		}
	}
	if n > 0 && a.method == b.method {
		n += 3
	}
	if n > 0 && a.request.canonical() == b.request.canonical() {
		n++
	}
	if n > 0 && slices.Equal(a.keys[2:len(a.keys)-1], b.keys[2:len(b.keys)-1]) {
		n += 2
	}
	return n
}

func difference(recorded, sent *exchange) string {
	var parts []string
	if recorded.method != sent.method {
		parts = append(parts, "the method")
	}
	if recorded.path != sent.path {
		parts = append(parts, "the path")
	}
	for _, name := range sortedKeys(recorded.query) {
		if list, ok := sent.query[name]; !ok {
			parts = append(parts, fmt.Sprintf("the missing query parameter %q", name))
		} else if !slices.Equal(list, recorded.query[name]) {
			parts = append(parts, fmt.Sprintf("the query parameter %q", name))
		}
	}
	for _, name := range sortedKeys(sent.query) {
		if _, ok := recorded.query[name]; !ok {
			parts = append(parts, fmt.Sprintf("the additional query parameter %q", name))
		}
	}
	if recorded.request.canonical() != sent.request.canonical() {
		parts = append(parts, "the body")
	}
	return strings.Join(parts, " and ")
}
