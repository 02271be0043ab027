package api

import (
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"time"

	"mcptest/internal/base/jsonv"
)

// Alone returns since when no page follows; zero if one does.
func (a *API) Alone() time.Time {
	a.tabs.mu.Lock()
	defer a.tabs.mu.Unlock()
	return a.tabs.empty
}

type follow struct {
	Tab   string `json:"tab"`
	After int64  `json:"after"`
}

// serveStream sends the state whenever it changes, and rows as they are added, a JSON value a
// line. A reader that is too slow misses rows, which are counted.
func (a *API) serveStream(w http.ResponseWriter, r *http.Request) {
	var in follow
	body := json.NewDecoder(http.MaxBytesReader(w, r.Body, 4<<10))
	body.DisallowUnknownFields()
	if err := body.Decode(&in); err != nil || in.Tab == "" || len(in.Tab) > 64 {
		fail(w, http.StatusBadRequest, "the body is not what the page sends")
		return
	}
	if !a.tabs.enter(in.Tab) {
		fail(w, http.StatusTooManyRequests, fmt.Sprintf("%d tabs show this page already: close one of them", maxTabs))
		return
	}
	defer a.tabs.leave(in.Tab)
	w.Header().Set("Content-Type", "application/x-ndjson")
	out := http.NewResponseController(w)
	send := func(v jsonv.Value) error {
		_ = out.SetWriteDeadline(time.Now().Add(30 * time.Second))
		if _, err := w.Write(append(a.encodeMasked(v), '\n')); err != nil {
			return err
		}
		return out.Flush()
	}
	stateChanged := a.o.Hub.Changed()
	if send(jsonv.ObjectOf("state", a.stateNow())) != nil {
		return
	}
	for after := in.After; ; {
		added := a.o.Hub.Feed.Changed()
		rows, lost, last := a.o.Hub.Feed.Since(after, rowsAtOnce)
		if len(rows) > 0 || lost > 0 {
			list := jsonv.List(rows, a.viewRow)
			if send(jsonv.ObjectOf("rows", list, "lost", lost, "last", last)) != nil {
				return
			}
			after = last
		}
		if !pause(r.Context(), interval) {
			return
		}
		if len(rows) == rowsAtOnce {
			continue
		}
		v := jsonv.Value{}
		select {
		case <-added:
		case <-stateChanged:
			stateChanged = a.o.Hub.Changed()
			v = jsonv.ObjectOf("state", a.stateNow())
		case <-time.After(beat):
			v = jsonv.ObjectOf("beat", true)
		case <-r.Context().Done():
			return
		}
		if !v.IsAbsent() && send(v) != nil {
			return
		}
	}
}

// pause waits, and reports whether the reader is still there.
func pause(ctx context.Context, d time.Duration) bool {
	select {
	case <-time.After(d):
		return true
	case <-ctx.Done():
		return false
	}
}
