package upstream

import (
	"context"
	"slices"
	"time"
)

type doubleState struct {
	watches []*Watch
	used    map[*Route]int // number of requests for which each route was used
	// busy is the number of starts, hooks and fixture steps that may send requests;
	// begun is set when the first test begins.
	busy  int
	begun bool
	// last is the test that made the latest call. Requests while no test waits for a
	// response belong to it, and are late.
	last *Watch
	// active is the time of its response, or of the latest late request.
	active time.Time
	// started is set when the first server starts, requested by the first request.
	started, requested bool
}

// update is the only access to the state.
func (d *Double) update(fn func(*doubleState)) {
	d.mu.Lock()
	defer d.mu.Unlock()
	fn(&d.state)
}

// Starting marks the start of a server: until done is called, requests belong to that
// start.
func (d *Double) Starting() (done func()) {
	d.update(func(s *doubleState) { s.started = true })
	return d.Busy()
}

// Busy marks a hook or a fixture step: until done is called, requests belong to no test.
func (d *Double) Busy() (done func()) {
	d.update(func(s *doubleState) { s.busy++ })
	return func() { d.update(func(s *doubleState) { s.busy-- }) }
}

// maxSettle is the longest wait for late requests of a server that keeps sending them,
// as a multiple of the normal one.
const maxSettle = 10

// Settle waits for late requests of the latest test, until none came for a while.
func (d *Double) Settle(ctx context.Context) {
	end := time.Now().Add(maxSettle * d.Upstream.Settle)
	for {
		left := time.Until(end)
		d.update(func(s *doubleState) {
			if s.last == nil || s.last.asking {
				left = 0
			}
			left = min(left, d.Upstream.Settle-time.Since(s.active))
		})
		if left <= 0 {
			return
		}
		select {
		case <-ctx.Done():
			return
		case <-time.After(left):
		}
	}
}

// Used reports whether a test ran against a server that has the address, and whether
// there was a request.
func (d *Double) Used() (tested, requested bool) {
	d.update(func(s *doubleState) { tested, requested = s.started && s.begun, s.requested })
	return tested, requested
}

// Watch collects the requests during one test.
type Watch struct {
	double   *Double
	alone    bool
	examines bool
	routes   []*Route
	scope    *Scope

	// Guarded by the double's lock:
	seen   []*Exchange // the requests of the test
	shared []*Exchange // those of this or another test
	asking bool        // the test waits for a response
}

// Begin starts collecting the requests of a test. A test that runs alone has its own
// routes, and all routes count from zero. examines says that the test examines requests.
func (d *Double) Begin(test string, routes []*Route, alone, examines bool) *Watch {
	w := &Watch{double: d, alone: alone, examines: examines, routes: routes, scope: &Scope{Test: test}}
	d.update(func(s *doubleState) {
		s.watches, s.begun = append(s.watches, w), true
		if alone {
			clear(s.used)
		}
	})
	return w
}

// Answered sets whether the test has its response: other requests are late.
func (w *Watch) Answered(yes bool) {
	w.double.update(func(s *doubleState) { w.asking, s.last, s.active = !yes, w, time.Now() })
}

// Seen returns the requests so far.
func (w *Watch) Seen() (list []Exchange) {
	w.double.update(func(*doubleState) {
		for _, x := range w.seen {
			list = append(list, *x)
		}
	})
	return list
}

// Open returns the requests, possibly of other tests, without a complete response at
// a time.
func (w *Watch) Open(at time.Time) (list []Exchange) {
	w.double.update(func(*doubleState) {
		for _, x := range slices.Concat(w.seen, w.shared) {
			if x.Request.Time.Before(at) && (x.Done.IsZero() || x.Done.After(at)) {
				list = append(list, *x)
			}
		}
	})
	return list
}

// End stops collecting.
func (w *Watch) End() {
	w.double.update(func(s *doubleState) {
		s.watches = slices.DeleteFunc(s.watches, func(other *Watch) bool { return other == w })
	})
}

// attribute assigns a request to the test that it belongs to, and returns that test; nil if
// there is none, or more than one.
func (s *doubleState) attribute(x *Exchange) *Watch {
	var asking []*Watch
	for _, w := range s.watches {
		x.Tests = append(x.Tests, w.scope.Test)
		if w.asking {
			asking = append(asking, w)
		}
	}
	switch {
	case s.busy > 0:
		return nil
	case len(asking) == 0 && s.last != nil:
		s.active = time.Now()
		x.Late = true
		if len(s.watches) > 1 {
			return nil
		}
		x.Examined, x.Tests = s.last.examines, []string{s.last.scope.Test}
		s.last.seen = append(s.last.seen, x)
		return s.last
	case len(s.watches) == 1 && len(asking) == 1:
		asking[0].seen = append(asking[0].seen, x)
		return asking[0]
	}
	for _, w := range s.watches {
		w.shared = append(w.shared, x)
	}
	return nil
}
