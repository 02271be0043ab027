//go:build linux

package faults_test

import (
	"strconv"
	"strings"
	"time"
)

// sseRows are event streams: odd ones, broken ones, endless ones.
func sseRows() []row {
	lost := func(id, what string, call func(*visit), says ...string) row {
		return row{id: "sse/" + id, what: what, http: &web{call: call}, exit: 1, tests: "error pass", says: says}
	}
	// As much of a line is kept as a message may have, and a buffer that grows holds it twice.
	large := func(r row) row { r.memory = 256; return r }
	late := func(r row) row {
		r.test = "timeout: 700ms"
		r.says = []string{"(limit: timeout 700ms)"}
		return r
	}
	odd := func(id, what string, text func(good string) string) row {
		return row{id: "sse/odd-" + id, what: "odd: " + what, http: &web{call: func(v *visit) { v.sse(text(strings.TrimSpace(v.good()))) }}, tests: "pass pass"}
	}
	log := `{"jsonrpc":"2.0","method":"notifications/message","params":{"level":"info","data":1}}`
	return []row{
		odd("cr", "lines end with CR", func(g string) string { return ":x\r\revent:message\rid:1\rdata:" + g + "\r\r" }),
		odd("crlf", "lines end with CR LF", func(g string) string { return "event: message\r\ndata: " + g + "\r\n\r\n" }),
		odd("bom", "a byte order mark before the stream", func(g string) string { return "\ufeffdata: " + g + "\n\n" }),
		odd("comments", "comments and empty events", func(g string) string { return ": hello\n\n:\n\ndata: " + g + "\n\n" }),
		odd("many-data-lines", "the response is split over several data lines", func(g string) string {
			return "data: " + strings.ReplaceAll(g, `"result"`, "\ndata: \"result\"") + "\n\n"
		}),
		odd("no-space", "no space behind the colon", func(g string) string { return "data:" + g + "\n\n" }),
		odd("unknown-fields", "unknown fields", func(g string) string { return "color: red\nretry: soon\ndata: " + g + "\n\n" }),
		odd("log-first", "a notification before the response", func(g string) string { return event(log) + event(g) }),
		odd("retry", "a time to come back, and an id", func(g string) string { return "id: 5\nretry: 10\ndata: " + g + "\n\n" }),
		{id: "sse/odd-bytes", what: "odd: the stream comes byte by byte", http: &web{call: func(v *visit) {
			for _, b := range []byte(event(v.good())) {
				v.sse(string(b))
			}
		}}, tests: "pass pass"},
		{id: "sse/odd-stays-open", what: "odd: the stream stays open after the response", http: &web{call: func(v *visit) { v.sse(event(v.good())); v.hang() }}, tests: "pass pass"},
		{id: "sse/odd-resumed", what: "odd: the stream breaks after an event with an id and is resumed", http: &web{call: func(v *visit) {
			id, _ := strconv.ParseInt(v.id, 10, 64)
			v.seen.Store(id)
			v.sse("id: a1\nretry: 50\ndata:\n\n")
		}, any: func(v *visit) bool {
			if v.method != "GET" || v.r.Header.Get("Last-Event-Id") != "a1" {
				return false
			}
			v.sse(event(answer(strconv.FormatInt(v.seen.Load(), 10), goodResult)))
			return true
		}}, exit: 0, tests: "pass pass"},
		lost("no-answer", "the stream ends without a response", func(v *visit) { v.sse(event(log)) }, "no response on the stream: it ended after 1 event"),
		lost("empty", "the stream ends at once", func(v *visit) { v.sse("") }, "no response on the stream"),
		lost("no-last-line", "the last empty line is missing", func(v *visit) { v.sse("data: " + v.good()) }, "no response on the stream: it ended after 0 events"),
		lost("broken", "the stream breaks", func(v *visit) {
			v.raw("HTTP/1.1 200 OK\r\nContent-Type: text/event-stream\r\nTransfer-Encoding: chunked\r\n\r\n5\r\ndata:\r\nzz\r\n", true)
		}, "no response on the stream: it broke"),
		lost("other-event", "the response comes as an event of another type", func(v *visit) { v.sse("event: ping\ndata: " + v.good() + "\n") }, "no response on the stream"),
		{id: "sse/not-json", what: "an event that is not JSON", http: &web{call: func(v *visit) { v.sse(event("hello") + event(v.good())) }}, exit: 1, tests: "pass pass", says: []string{"stray-output", "hello"}},
		{id: "sse/answered-twice", what: "the call is answered twice on the stream", http: &web{call: func(v *visit) { v.sse(event(v.good()) + event(v.good())) }}, exit: 1, tests: "fail pass", says: []string{"duplicate-id"}},
		{id: "sse/utf8", what: "an event that is not UTF-8", http: &web{call: func(v *visit) { v.sse("data: \xff\xfe\n\n" + event(v.good())) }}, exit: 1, tests: "pass pass", says: []string{"invalid-utf8"}},
		{id: "sse/plain-type", what: "an event stream that says it is JSON", http: &web{call: func(v *visit) { v.json(200, event(v.good())) }}, exit: 1, tests: "error pass", says: []string{"application/json", "is not a response to the request"}},
		{id: "sse/json-as-stream", what: "JSON that says it is an event stream", http: &web{call: func(v *visit) { v.sse(v.good()) }}, exit: 1, tests: "error pass", says: []string{"no response on the stream"}},
		late(lost("hangs", "the stream opens and says nothing", func(v *visit) { v.sse(": wait\n\n"); v.hang() })),
		late(large(lost("endless-line", "one line without an end", func(v *visit) { v.sse("data: \"x"); v.flood("x", 1<<40) }))),
		late(lost("endless-comments", "comments without an end", func(v *visit) { v.sse(": x\n"); v.flood(": "+strings.Repeat("x", 1000)+"\n", 1<<40) })),
		late(lost("endless-events", "notifications without an end", func(v *visit) { v.sse(event(log)); v.flood(event(log), 1<<40) })),
		{id: "sse/long-line", what: "one line of 64 MB", http: &web{call: func(v *visit) { v.sse("data: \"x"); v.flood("x", 64<<20) }}, exit: 1, tests: "fail pass", says: []string{"over the limit"}, memory: 256, within: 6 * time.Second},
		{id: "sse/long-event", what: "one event of 64 MB of data lines", http: &web{call: func(v *visit) { v.sse("data: x\n"); v.flood("data: x\n", 64<<20) }}, exit: 1, tests: "fail pass", says: []string{"over the limit"}, memory: 256, within: 6 * time.Second},
		lost("resume-refused", "the stream breaks and resuming is refused", func(v *visit) { v.sse("id: a1\nretry: 10\ndata:\n\n") }, "no response on the stream"),
		{id: "sse/resume-again-and-again", what: "the stream breaks each time it is resumed", http: &web{call: func(v *visit) { v.sse("id: a1\nretry: 10\ndata:\n\n") }, any: func(v *visit) bool {
			if v.method != "GET" || v.r.Header.Get("Last-Event-Id") == "" {
				return false
			}
			v.sse("id: a2\nretry: 10\ndata:\n\n")
			return true
		}}, test: "timeout: 2s", exit: 1, tests: "error pass", within: 5 * time.Second, says: []string{"stream"}},
		{id: "sse/retry-far", what: "the stream breaks and its retry time is a year", http: &web{call: func(v *visit) { v.sse("id: a1\nretry: 31536000000\ndata:\n\n") }}, test: "timeout: 1s", exit: 1, tests: "error pass", says: []string{"timeout 1s"}, within: 5 * time.Second},
	}
}
