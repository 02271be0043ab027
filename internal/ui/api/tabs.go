package api

import (
	"sync"
	"time"
)

// Limits of the streams.
const (
	maxStreams = 8
	maxTabs    = 4
	rowsAtOnce = 400
	interval   = 100 * time.Millisecond // between two updates
	beat       = 10 * time.Second       // so that a page notices that the program has ended
)

// tabs counts the pages that follow.
type tabs struct {
	mu    sync.Mutex
	open  map[string]int
	count int
	empty time.Time // since when there is none; zero: there is one
}

func newTabs() tabs { return tabs{open: map[string]int{}, empty: time.Now()} }

// enter reports whether a tab may follow.
func (t *tabs) enter(tab string) bool {
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.count == maxStreams || t.open[tab] == 0 && len(t.open) == maxTabs {
		return false
	}
	t.open[tab]++
	t.count++
	t.empty = time.Time{}
	return true
}

func (t *tabs) leave(tab string) {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.count--
	if t.open[tab]--; t.open[tab] == 0 {
		delete(t.open, tab)
	}
	if t.count == 0 {
		t.empty = time.Now()
	}
}
