package mock

import (
	"sync"

	"mcptest/internal/jsonv"
)

// world is what changes while a server runs and all its sessions share.
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

// called counts a use and returns which one it is, from 1.
func (w *world) called(what any) int {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.calls[what]++
	return w.calls[what]
}

// turn returns which element of a sequence is next, from 0.
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

// change replaces the state by what fn makes of it, in one go: changes of two
// requests at the same time do not lose each other. fn must not ask the world
// for its state.
func (w *world) change(fn func(jsonv.Value) jsonv.Value) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.vars = fn(w.vars)
}

// put sets the member that keys lead to, making objects on the way. What is
// absent is removed.
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
