package mock

import (
	"sync"

	"mcptest/internal/jsonv"
)

// world is the state that changes while a server runs and that all its sessions
// share.
type world struct {
	mu     sync.Mutex
	vars   jsonv.Value // the state, an object
	calls  map[any]int // by tool, resource, template or prompt
	turns  map[*response]int
	failed int // calls refused by recover-after
}

func newWorld(state jsonv.Value) *world {
	if state.IsAbsent() {
		state = jsonv.Object()
	}
	return &world{vars: state, calls: map[any]int{}, turns: map[*response]int{}}
}

func (w *world) state() jsonv.Value {
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.vars
}

// called counts a use and returns its number, from 1.
func (w *world) called(what any) int {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.calls[what]++
	return w.calls[what]
}

// turn returns the index of the next element of a sequence, from 0.
func (w *world) turn(r *response) int {
	w.mu.Lock()
	defer w.mu.Unlock()
	n := w.turns[r]
	w.turns[r]++
	return n
}

// failing counts the first n calls and reports whether this is one of them.
func (w *world) failing(n int) (nth int, yes bool) {
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.failed >= n {
		return 0, false
	}
	w.failed++
	return w.failed, true
}

// change atomically replaces the state with the result of fn, so that simultaneous
// requests do not lose each other's changes. fn must not read the state from the
// world.
func (w *world) change(fn func(jsonv.Value) jsonv.Value) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.vars = fn(w.vars)
}

// put sets the member at keys, creating objects as needed. An absent value removes
// the member.
func put(v jsonv.Value, keys []string, to jsonv.Value) jsonv.Value {
	if len(keys) == 0 {
		return to
	}
	if v.Kind() != jsonv.KindObject {
		v = jsonv.Object()
	}
	next := put(v.Lookup(keys[0]), keys[1:], to)
	if next.IsAbsent() {
		return v.Without(keys[0])
	}
	return v.With(keys[0], next)
}
