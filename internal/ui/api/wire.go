package api

import (
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"sync"
	"time"

	"mcptest/internal/base/jsonv"
	"mcptest/internal/base/shellwords"
	"mcptest/internal/client/protocol"
	"mcptest/internal/ui/live"
)

// The requests of the tab Wire, and the stream that every tab follows.

// Limits of the streams.
const (
	maxStreams = 8
	maxTabs    = 4
	rowsAtOnce = 1_000
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

// stream sends the state whenever it changes, and rows as they are added, a JSON value a
// line. A reader that is too slow misses rows, which are counted.
func (a *API) stream(w http.ResponseWriter, r *http.Request) {
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
		if _, err := w.Write(append(a.masked(v), '\n')); err != nil {
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
			list := jsonv.List(rows, a.rowView)
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

// shownText bounds a text in a row, in bytes.
const shownText = 2 << 10

// rowView is a row without its bytes.
func (a *API) rowView(r live.Row) jsonv.Value {
	text := r.Text
	if text == "" && (r.Kind == live.NoMessage || r.Method == "notifications/message") {
		text = string(r.Raw[:min(len(r.Raw), shownText)])
	}
	text = a.o.Redactor.Cut(text)
	kinds := func(list []protocol.Violation) jsonv.Value {
		if len(list) == 0 {
			return jsonv.Value{}
		}
		return jsonv.List(list, func(v protocol.Violation) jsonv.Value {
			return jsonv.ObjectOf("kind", v.Kind, "message", v.Msg, "tolerated", v.Tolerated)
		})
	}
	out := jsonv.ObjectOf(
		"seq", r.Seq, "at", r.At.UnixMilli(), "server", r.Server, "kind", string(r.Kind), "out", r.ToServer, "method", jsonv.Filled(r.Method),
		"id", jsonv.Filled(r.ID), "bytes", r.Size, "text", jsonv.Filled(text[:min(len(text), shownText)]),
		"violations", kinds(r.Violations), "withdrawn", kinds(r.Withdrawn),
	)
	if r.Took >= 0 {
		out = out.With("ms", jsonv.From(float64(r.Took.Microseconds())/1000))
	}
	if r.Status != 0 {
		out = out.With("status", jsonv.From(r.Status))
	}
	if r.Of != 0 {
		out = out.With("of", jsonv.From(r.Of))
	}
	return out
}

type ofFrame struct {
	Seq  int64 `json:"seq"`
	From int   `json:"from"`
}

// frame returns the bytes of a row, and what is wrong with it.
func (a *API) frame(_ context.Context, in ofFrame) (jsonv.Value, error) {
	r, ok := a.o.Hub.Feed.Row(in.Seq)
	if !ok {
		return jsonv.Value{}, &live.RefusedError{Reason: "this row is no longer kept"}
	}
	raw := a.texts.get(fmt.Sprintf("row %d", r.Seq), func() string {
		if r.Raw == nil {
			return a.o.Redactor.String(r.Text)
		}
		return string(a.o.Redactor.Bytes(r.Raw))
	})
	out := jsonv.ObjectOf("raw", piece(raw, in.From), "violations", jsonv.List(r.Violations, violationView))
	if v, err := jsonv.Parse([]byte(raw)); err == nil && len(raw) <= pieceSize {
		out = out.With("parsed", jsonv.String(a.pretty(v)))
	}
	if command := a.command(r); command != "" {
		out = out.With("command", jsonv.String(command))
	}
	return out, nil
}

// command returns the command line that makes the call of a row again; "" if it is none.
func (a *API) command(r live.Row) string {
	if r.Kind != live.Request || !r.ToServer || r.Method != "tools/call" {
		return ""
	}
	v, err := jsonv.Parse(r.Raw)
	usage := a.o.Usage(r.Server)
	if err != nil || usage == "" {
		return ""
	}
	args := v.Lookup("params", "arguments")
	words := []string{"mcptest", "call", v.Lookup("params", "name").Text()}
	if args.Len() > 0 {
		words = append(words, "--args-json", string(a.masked(args)))
	}
	return a.o.Redactor.String(shellwords.QuoteAll(words)) + usage
}
