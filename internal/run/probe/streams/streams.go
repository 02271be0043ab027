package streams

import (
	"bytes"
	"context"
	"fmt"
	"net/http"
	"slices"
	"time"

	"mcptest/internal/base/jsonv"
	"mcptest/internal/client/protocol"
	"mcptest/internal/run/boundary"
	"mcptest/internal/spec/plan"
	"mcptest/internal/spec/suite"
)

const (
	perRequest = 2 * time.Second       // for a response; what comes later is not examined
	allEvents  = 1000                  // of one stream
	pause      = 50 * time.Millisecond // before each request: the server may be that of others
)

// A message is one that came on a stream.
type message struct {
	stream int    // 0 is that of GET
	event  string // the id of its event
	jsonv.Value
}

// A Session is what came on the streams of one session.
type Session struct {
	gets          bool // GET opened a stream
	posts         int  // responses that are event streams
	ids           bool // their events have ids
	all, replayed []message
	unanswered    string // the request whose stream ended without the response
}

// Capture listens with GET, and sends requests one after the other, in the session of the
// headers. Then it resumes the first stream.
func Capture(ctx context.Context, env boundary.Env, server *plan.Server, requests []jsonv.Value) (s Session) {
	listening, stop := context.WithCancel(ctx)
	got := make(chan []message, 1)
	go func() {
		list, raw, _ := open(listening, env, server, nil, 0)
		s.gets = raw != nil
		got <- list
	}()
	time.Sleep(200 * time.Millisecond) // messages before the stream is open are lost
	first := ""
	for _, request := range requests {
		list, raw, ended := open(ctx, env, server, request.Append(nil), s.posts+1)
		if raw == nil {
			continue
		}
		s.posts++
		s.all = append(s.all, list...)
		// An event without data may have an id, too: the stream may be resumed then.
		ids := bytes.HasPrefix(raw, []byte("id:")) || bytes.Contains(raw, []byte("\nid:"))
		s.ids = s.ids || ids
		if ended && !ids && !slices.ContainsFunc(list, isResponse) {
			s.unanswered = request.String()
		}
		if s.posts == 1 && len(list) > 0 {
			first = list[0].event
		}
	}
	if first != "" {
		again := env
		again.Headers = env.Headers.Clone()
		again.Headers.Set("Last-Event-ID", first)
		s.replayed, _, _ = open(ctx, again, server, nil, 1)
	}
	stop()
	s.all = append(s.all, <-got...)
	return s
}

// open returns what comes on an event stream until it or the time ends; raw is nil for a
// response of another kind.
func open(
	ctx context.Context, env boundary.Env, server *plan.Server, body []byte, number int,
) (list []message, raw []byte, ended bool) {
	action := suite.Request{Method: http.MethodGet, Events: allEvents, Follow: true}
	if body != nil || number > 0 {
		var cancel context.CancelFunc
		ctx, cancel = context.WithTimeout(ctx, perRequest)
		defer cancel()
	}
	if body != nil {
		action.Method, action.JSON, action.Body = http.MethodPost, true, body
	}
	time.Sleep(pause)
	o, x, err := env.Request(ctx, server, action)
	if x.HTTP == nil || x.HTTP.Status != http.StatusOK || !protocol.IsEventStream(x.HTTP.ContentType) {
		return nil, nil, false
	}
	for _, e := range o.Own.Lookup("http.events").Elems() {
		list = append(list, message{number, e.Lookup("id").Text(), e.Lookup("data")})
	}
	return list, append([]byte{}, x.Response...), err == nil && ctx.Err() == nil && len(list) < allEvents
}

// Judge returns how a session broke a rule and with which message; seen is false if
// nothing could have broken it.
func (s Session) Judge(rule string) (broken string, at jsonv.Value, seen bool) {
	switch rule {
	case "get-no-response":
		broken, at = s.findResponseOnGet()
	case "no-broadcast":
		broken, at = s.findOnTwoStreams(identify)
	case "event-id-unique":
		broken, at = s.findOnTwoStreams(func(m message) string { return m.event })
	case "replay-own-stream":
		broken, at = s.findReplayedElsewhere()
	case "http-stream-response":
		if s.unanswered != "" {
			broken, at = "the event stream ended without the response", jsonv.String(s.unanswered)
		}
	}
	return broken, at, broken != "" || s.showsRule(rule)
}

// findResponseOnGet returns a response that came on the stream of GET.
func (s Session) findResponseOnGet() (broken string, at jsonv.Value) {
	for _, m := range s.all {
		if m.stream == 0 && isResponse(m) {
			return "a response came on the stream of GET", m.Value
		}
	}
	return "", at
}

// findOnTwoStreams returns a message whose key an earlier one of another stream has.
func (s Session) findOnTwoStreams(keyOf func(message) string) (broken string, at jsonv.Value) {
	streams := map[string]int{}
	for _, m := range s.all {
		key := keyOf(m)
		if key == "" {
			continue
		}
		if stream, known := streams[key]; known && stream != m.stream {
			return "two streams have " + key, m.Value
		}
		streams[key] = m.stream
	}
	return "", at
}

// findReplayedElsewhere returns a message that was replayed and had come on another stream than
// the first of POST.
func (s Session) findReplayedElsewhere() (broken string, at jsonv.Value) {
	streams := map[string]int{}
	for _, m := range s.all {
		streams[identify(m)] = m.stream
	}
	for _, m := range s.replayed {
		key := identify(m)
		if key != "" && streams[key] > 1 {
			return "a message of another stream was replayed", m.Value
		}
	}
	return "", at
}

// showsRule reports whether the session had what could break a rule.
func (s Session) showsRule(rule string) bool {
	switch rule {
	case "get-no-response", "no-broadcast":
		return s.gets && s.posts > 0
	case "event-id-unique":
		return s.posts > 1 && s.ids
	case "replay-own-stream":
		return len(s.replayed) > 0
	case "http-stream-response":
		return s.posts > 0
	}
	return false
}

func isResponse(m message) bool {
	return m.Lookup("method").IsAbsent() && (!m.Lookup("result").IsAbsent() || !m.Lookup("error").IsAbsent())
}

// identify names a message that exists once in a session, "" for one of which there may
// be equal ones.
func identify(m message) string {
	id, params := m.Lookup("id"), m.Lookup("params")
	known := id.Kind() == jsonv.KindNumber || id.Kind() == jsonv.KindString
	switch {
	case known && isResponse(m):
		return "the response " + id.String()
	case known:
		return "the request " + m.Short(200)
	case m.Lookup("method").Text() == "notifications/progress" && !params.Lookup("progressToken").IsAbsent():
		return fmt.Sprintf("the progress %s of %s", params.Lookup("progress"), params.Lookup("progressToken"))
	}
	return ""
}
