package toolresult

import (
	"cmp"
	"slices"
	"sync"
)

// Seen is a note about a result, and where that result was seen.
type Seen struct {
	Note
	Server string
	Tool   string
	Test   string // that called the tool; "" if no test did
	At     int    // the number of the test or of the line; the lowest decides among equal notes
}

// Worst holds the worst result of each tool by each rule. Its zero value is empty; calls may
// be made at the same time.
type Worst struct {
	mu    sync.Mutex
	worst map[seenKey]Seen
}

type seenKey struct{ server, tool, rule string }

// Add remembers notes about one result.
func (w *Worst) Add(at Seen, notes []Note) {
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.worst == nil {
		w.worst = map[seenKey]Seen{}
	}
	for _, n := range notes {
		key := seenKey{server: at.Server, tool: at.Tool, rule: n.Rule}
		had, seen := w.worst[key]
		if !seen || n.Size > had.Size || n.Size == had.Size && at.At < had.At {
			at.Note = n
			w.worst[key] = at
		}
	}
}

// All returns what was seen, by server, tool and rule.
func (w *Worst) All() (out []Seen) {
	w.mu.Lock()
	defer w.mu.Unlock()
	for _, s := range w.worst {
		out = append(out, s)
	}
	slices.SortFunc(out, func(a, b Seen) int {
		return cmp.Or(cmp.Compare(a.Server, b.Server), cmp.Compare(a.Tool, b.Tool), cmp.Compare(a.Rule, b.Rule))
	})
	return out
}
