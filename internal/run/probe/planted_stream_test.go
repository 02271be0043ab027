package probe_test

import (
	"encoding/base64"
	"fmt"
	"net/http"
	"strings"
	"time"
)

// event is one event on a stream of a session over HTTP.
type event struct {
	stream int // 0 is that of GET
	id     string
	data   string
}

func (e event) write(w http.ResponseWriter) {
	if e.id != "" {
		fmt.Fprintf(w, "retry: 10\nid: %s\n", e.id)
	}
	fmt.Fprintf(w, "data: %s\n\n", e.data)
}

// known reports whether a request belongs to a session.
func (p *planted) known(r *http.Request) bool {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.ids[r.Header.Get("Mcp-Session-Id")]
}

// stream answers a request with an event stream whose events have ids. One that polls has
// the first event only, until it is resumed.
func (l *link) stream(w http.ResponseWriter, m message, list []string) {
	w.Header().Set("Content-Type", "text/event-stream")
	l.mu.Lock()
	l.streams++
	n := l.streams
	var own []event
	for i, data := range append([]string{""}, list...) {
		e := event{n, fmt.Sprintf("%d-%d", n, i), data}
		if l.is("event-id-unique/counter") {
			e.id = fmt.Sprint(i)
		}
		own = append(own, e)
	}
	l.sent = append(l.sent, own...)
	get := l.getting
	l.mu.Unlock()
	for i, e := range own {
		last := i == len(own)-1
		switch {
		case l.is("http-stream-response/ends") && last && m.Method == "tools/call":
			return
		case l.is("get-no-response/moved") && last && m.Method == "tools/call" && get != nil:
			get <- e
			return
		case l.is("no-broadcast/all") && get != nil && i > 0:
			get <- e
		}
		if l.is("http-stream-response/ends") {
			e.id = ""
		}
		if e.write(w); l.polls && m.Method == "tools/call" {
			return
		}
	}
}

// listen opens the stream of GET, or resumes one.
func (p *planted) listen(w http.ResponseWriter, r *http.Request) {
	w.Header().Set("Content-Type", "text/event-stream")
	last := r.Header.Get("Last-Event-ID")
	if last == "" {
		p.mu.Lock()
		p.getting = make(chan event, 100)
		got := p.getting
		p.mu.Unlock()
		_ = http.NewResponseController(w).Flush()
		for {
			select {
			case e := <-got:
				e.write(w)
				_ = http.NewResponseController(w).Flush()
			case <-r.Context().Done():
				return
			case <-time.After(5 * time.Second):
				return
			}
		}
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	var from *event
	for _, e := range p.sent {
		switch {
		case from == nil && e.id == last:
			from = &e
		case from != nil && (e.stream == from.stream || p.is("replay-own-stream/all")):
			e.write(w)
		}
	}
}

// checkParam compares the header that repeats the argument region.
func (l *link) checkParam(r *http.Request, m message) *failure {
	args, _ := m.params["arguments"].(object)
	region, given := args["region"].(string)
	got := r.Header.Get("Mcp-Param-Region")
	bad := fail(-32020, "Mcp-Param-Region differs")
	if strings.ContainsFunc(got, func(r rune) bool { return r > 0x7e }) && !l.is("header-invalid-chars/served") {
		return bad
	}
	if enc, ok := strings.CutPrefix(got, "=?base64?"); ok {
		if data, err := base64.StdEncoding.DecodeString(strings.TrimSuffix(enc, "?=")); err == nil {
			got = string(data)
		}
	}
	switch {
	case m.params["name"] != "lookup":
	case !given && got == "" && l.is("header-param-absent/expected"), given && got == "" && !l.is("header-param/absent"), got != "" && got != region && !l.is("header-param/differs"):
		return bad
	}
	return nil
}

// asTask refuses a call that asks for a task, as a defect.
func (l *link) asTask(m message) *failure {
	if m.params["task"] != nil && l.is("task-ignored/refused") {
		return fail(-32602, "unknown member task")
	}
	return nil
}

// announce tells clients about changes, and has the defects of it.
func (l *link) announce(m message, name string) {
	change := `{"jsonrpc":"2.0","method":"notifications/tools/list_changed"}`
	if m.modern && (l.is("unsubscribed/sends") && l.listens == "" || l.is("stream-related/sends")) {
		l.send(change)
	}
	if _, wanted := m.meta["io.modelcontextprotocol/logLevel"]; wanted && l.is("listen-only/subscription") && l.listens != "" {
		l.notify(m, "notifications/message", `"level":"info","data":"x","_meta":{"io.modelcontextprotocol/subscriptionId":`+l.listens+`}`)
	}
	if !l.grows || name != "count" {
		return
	}
	l.mu.Lock()
	l.grown = !l.grown
	l.mu.Unlock()
	switch {
	case l.is("list-changed/silent"):
	case !m.modern:
		l.send(change)
	case l.listens != "":
		l.notify(m, "notifications/tools/list_changed", `"_meta":{"io.modelcontextprotocol/subscriptionId":`+l.listens+`}`)
	}
}

// elicit sends a request to a client of a session that declares elicitation.
func (l *link) elicit() {
	if l.client["elicitation"] == nil {
		return
	}
	l.asked++
	id, mode := fmt.Sprintf(`"e%d"`, l.asked), "form"
	switch l.defect {
	case "request-id/again":
		id = `"e"`
	case "request-id/null":
		id = "null"
	case "request-id/fraction":
		id = fmt.Sprintf("%d.5", l.asked)
	case "input-mode/url":
		mode = "url"
	case "input-sampling-tools/tools":
		l.send(`{"jsonrpc":"2.0","id":` + id + `,"method":"sampling/createMessage","params":{"messages":[],"maxTokens":1,"tools":[]}}`)
		return
	}
	for range 2 {
		l.send(`{"jsonrpc":"2.0","id":` + id + `,"method":"elicitation/create","params":{"message":"?","mode":"` + mode + `","url":"https://a.example","elicitationId":"1","requestedSchema":{"type":"object","properties":{}}}}`)
		if l.asked++; !l.is("request-id/again") && !l.is("request-id/null") {
			id = fmt.Sprint(l.asked)
		}
	}
}

// asks returns a result that asks a client of 2026-07-28 for input which it supports.
func (l *link) asks(m message) object {
	caps, _ := m.meta["io.modelcontextprotocol/clientCapabilities"].(object)
	if l.is("stateless-capabilities/remembers") {
		if len(caps) > 0 {
			l.client = caps
		}
		caps = l.client
	}
	if caps["elicitation"] == nil || m.params["inputResponses"] != nil {
		return nil
	}
	ask := object{"method": "elicitation/create", "params": object{"mode": "form", "message": "?", "requestedSchema": schema(nil, object{})}}
	switch l.defect {
	case "input-mode/url":
		ask["params"] = object{"mode": "url", "message": "?", "url": "https://a.example", "elicitationId": "1"}
	case "input-sampling-tools/tools":
		ask = object{"method": "sampling/createMessage", "params": object{"messages": []any{}, "maxTokens": 1, "tools": []any{}}}
	}
	return object{"resultType": "input_required", "inputRequests": object{"a": ask}}
}
