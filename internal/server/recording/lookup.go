package recording

import (
	"fmt"
	"net/http"
	"slices"
	"strings"
	"sync"

	"mcptest/internal/base/jsonv"
	"mcptest/internal/base/secret"
	"mcptest/internal/server/upstream"
)

// Player finds the responses to the requests of one test in a recording. It is safe
// for concurrent use.
type Player struct {
	file    *File
	test    string
	secrets *secret.Redactor

	mu   sync.Mutex
	next map[string]int // by key: number of responses given
}

// Player returns a player for one attempt of a test; "" is for requests that cannot
// be attributed to a test. secrets are masked in requests as they were in the recording.
func (f *File) Player(test string, secrets *secret.Redactor) *Player {
	return &Player{file: f, test: test, secrets: secrets, next: map[string]int{}}
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

// Lookup returns the next response to a request. The last one is repeated, but that of a
// model is not.
func (p *Player) Lookup(r *upstream.Request) (*upstream.Response, bool) {
	e := p.clean(r)
	candidates := p.find(e)
	if len(candidates) == 0 {
		return nil, false
	}
	key := p.file.list[candidates[0]].joinKeys()
	candidates = p.file.selectTest(candidates, p.test)
	p.mu.Lock()
	n := p.next[key]
	p.next[key] = n + 1
	p.mu.Unlock()
	if p.file.Trials.areOfModel() && n >= len(candidates) {
		return nil, false
	}
	return p.file.list[candidates[min(n, len(candidates)-1)]].answer(), true
}

// clean returns a request in the form of the file. Its credentials are also masked in
// later requests, as they were when the file was written.
func (p *Player) clean(r *upstream.Request) *exchange {
	first := newSanitizer(p.secrets)
	_, _ = first.request(r) // reported by the second pass
	p.secrets.Learn(first.found.All()...)
	e, err := first.withLearned().request(r)
	if err != nil {
		e = exchange{method: r.Method, path: r.Path, query: r.Query}
		e.identify()
	}
	return &e
}

// find returns the exchanges with a request.
func (p *Player) find(e *exchange) []int {
	f := p.file
	if exact := f.byKey[e.joinKeys()]; len(exact) > 0 {
		return exact
	}
	var out []int
	for _, i := range f.masked {
		isAlike := len(out) == 0 || f.list[i].joinKeys() == f.list[out[0]].joinKeys()
		if isAlike && f.list[i].matches(e.keys, p.secrets) {
			out = append(out, i)
		}
	}
	return out
}

// selectTest returns the exchanges for a test: its own, otherwise those of no test, otherwise
// all, except in a recording of a model.
func (f *File) selectTest(candidates []int, test string) []int {
	for _, name := range []string{test, ""} {
		var own []int
		for _, i := range candidates {
			if f.list[i].test == name {
				own = append(own, i)
			}
		}
		if len(own) > 0 || name == "" && f.Trials.areOfModel() {
			return own
		}
	}
	return candidates
}

// Bodies returns the body of a request in the form of the file, and those of the recorded
// requests, as far as they are JSON.
func (p *Player) Bodies(r *upstream.Request) (sent jsonv.Value, recorded []jsonv.Value) {
	for i := range p.file.list {
		recorded = append(recorded, p.file.list[i].request.json)
	}
	return p.clean(r).request.json, recorded
}

func (e *exchange) answer() *upstream.Response {
	return &upstream.Response{Status: e.status, Header: http.Header(e.resHeader).Clone(), Body: e.response.join()}
}

// Nearest describes the recorded request that differs least from a request without a
// response, and the differences; "" if no recorded request is similar.
func (p *Player) Nearest(r *upstream.Request) string {
	e, f := p.clean(r), p.file
	best, at := 0, -1
	for i := range f.list {
		if n := measureSimilarity(&f.list[i], e); n > best {
			best, at = n, i
		}
	}
	if at < 0 {
		return ""
	}
	near := &f.list[at]
	return fmt.Sprintf("the nearest recorded request is %s (line %d), which differs in %s", near.describe(), near.line, describeDifference(near, e))
}

func (e *exchange) describe() string {
	if len(e.query) == 0 || len(e.keys) == 0 {
		return e.method + " " + e.path
	}
	return e.method + " " + e.path + "?" + strings.Join(e.keys[2:len(e.keys)-1], "&")
}

// measureSimilarity returns 0 for requests that have nothing in common.
func measureSimilarity(a, b *exchange) int {
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
	if n > 0 && a.request.makeCanonical() == b.request.makeCanonical() {
		n++
	}
	if n > 0 && slices.Equal(a.keys[2:len(a.keys)-1], b.keys[2:len(b.keys)-1]) {
		n += 2
	}
	return n
}

func describeDifference(recorded, sent *exchange) string {
	var parts []string
	if recorded.method != sent.method {
		parts = append(parts, "the method")
	}
	if recorded.path != sent.path {
		parts = append(parts, "the path"+explainUnknownSecret(recorded.path))
	}
	for _, name := range sortKeys(recorded.query) {
		if list, ok := sent.query[name]; !ok {
			parts = append(parts, fmt.Sprintf("the missing query parameter %q", name))
		} else if !slices.Equal(list, recorded.query[name]) {
			parts = append(parts, fmt.Sprintf("the query parameter %q", name)+explainUnknownSecret(strings.Join(recorded.query[name], "")))
		}
	}
	for _, name := range sortKeys(sent.query) {
		if _, ok := recorded.query[name]; !ok {
			parts = append(parts, fmt.Sprintf("the additional query parameter %q", name))
		}
	}
	if recorded.request.makeCanonical() != sent.request.makeCanonical() {
		parts = append(parts, "the body"+explainUnknownSecret(recorded.request.makeCanonical()))
	}
	return strings.Join(parts, " and ")
}

// explainUnknownSecret explains a difference in a text with a mask.
func explainUnknownSecret(recorded string) string {
	if !strings.Contains(recorded, secret.Mask) {
		return ""
	}
	return " (the recording has a secret there, and this run knows no secret with the value that was sent)"
}
