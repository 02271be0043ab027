package probe_test

import (
	"bufio"
	"bytes"
	"cmp"
	"context"
	"encoding/base64"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"sync"
	"time"

	"mcptest/internal/client/wire"
	"mcptest/internal/run/connect"
	"mcptest/internal/spec/plan"
)

// dial connects to the server over an in-process stream, as a process would be.
func (p *planted) dial(context.Context, *plan.Server, connect.Options) (wire.Transport, error) {
	client, server := wire.NewPipe()
	n := p.next()
	go p.serve(server, n)
	return client, nil
}

func (p *planted) serve(stream io.ReadWriteCloser, n int) {
	defer stream.Close()
	defer func() { _ = recover() }() // the end of the process
	var mu sync.Mutex
	l := &link{planted: p, n: n, send: func(raw string) {
		mu.Lock()
		defer mu.Unlock()
		_, _ = io.WriteString(stream, raw+"\n")
	}}
	lines := make(chan []byte)
	go func() {
		defer close(lines)
		in := bufio.NewReaderSize(stream, 1<<20)
		for line, err := in.ReadBytes('\n'); err == nil; line, err = in.ReadBytes('\n') {
			lines <- line
		}
	}()
	for line := range lines {
		out := l.answer(line)
		if l.is("message-unanswered/together") && out != "" {
			select {
			case <-lines: // what comes before the response is lost
			case <-time.After(100 * time.Millisecond):
			}
		}
		if out != "" && out != listening {
			l.send(out)
		}
	}
}

// web serves Streamable HTTP.
func (p *planted) web() *httptest.Server {
	mux := http.NewServeMux()
	s := httptest.NewUnstartedServer(mux)
	if p.is("header-case/exact") {
		s.Listener = exactNames{s.Listener}
	}
	if p.wrap != nil {
		s.Config.Handler = p.wrap(mux)
	}
	s.Start()
	p.gone = func() {
		s.Listener.Close()
		s.CloseClientConnections()
	}
	state := map[string]*link{}
	var mu sync.Mutex
	mux.HandleFunc("/.well-known/oauth-protected-resource/mcp", func(w http.ResponseWriter, _ *http.Request) {
		if p.token == "" || p.is("auth-discovery/nowhere") {
			http.Error(w, "not found", http.StatusNotFound)
			return
		}
		doc := object{"resource": s.URL + "/mcp", "authorization_servers": []string{s.URL + "/as"}}
		if p.is("auth-metadata-resource/port") {
			doc["resource"] = "http://127.0.0.1:9/mcp"
		}
		if p.is("auth-metadata/no-servers") {
			delete(doc, "authorization_servers")
		}
		if p.is("auth-metadata-resource/absent") {
			delete(doc, "resource")
		}
		_ = json.NewEncoder(w).Encode(doc)
	})
	mux.HandleFunc("/.well-known/oauth-authorization-server/as", func(w http.ResponseWriter, _ *http.Request) {
		issuer := s.URL + "/as"
		if p.is("auth-as-metadata/issuer") {
			issuer = "https://id.example"
		}
		_ = json.NewEncoder(w).Encode(object{"issuer": issuer, "code_challenge_methods_supported": []string{"S256"}})
	})
	mux.HandleFunc("/", func(w http.ResponseWriter, _ *http.Request) {
		if p.is("http-error-trace/path") {
			http.Error(w, "Error: no route\n    at Layer.handle (/app/node_modules/express/lib/router.js:10:5)", http.StatusNotFound)
			return
		}
		http.Error(w, "not found", http.StatusNotFound)
	})
	mux.HandleFunc("/mcp", func(w http.ResponseWriter, r *http.Request) {
		body, _ := io.ReadAll(r.Body)
		var head message
		_ = json.Unmarshal(body, &head)
		if p.refusesOutside(w, r, s.URL, head.Method) {
			return
		}
		switch r.Method {
		case http.MethodGet:
			if p.replays && (p.known(r) || p.at("session-ended", r.Method)) {
				p.listen(w, r)
				return
			}
			if p.is("http-get/200") {
				fmt.Fprint(w, "hello")
				return
			}
			if p.is("http-modern-get/404") {
				http.NotFound(w, r)
				return
			}
			w.WriteHeader(http.StatusMethodNotAllowed)
		case http.MethodDelete:
			p.ends(w, r)
		default:
			id := r.Header.Get("Mcp-Session-Id")
			mu.Lock()
			l := state[id]
			if l == nil || id == "" {
				l = &link{planted: p, n: len(state), http: true}
			}
			mu.Unlock()
			own := *l // the sender belongs to the request
			own.post(w, r, body, id)
			mu.Lock()
			if created := w.Header().Get("Mcp-Session-Id"); created != "" {
				id = created
			}
			own.send = nil
			state[id] = &own
			mu.Unlock()
		}
	})
	return s
}

// refusesOutside checks what comes before any message.
func (p *planted) refusesOutside(w http.ResponseWriter, r *http.Request, own, method string) bool {
	if p.busy > 0 && p.next()%p.busy == 0 || p.gated(r, method) {
		w.Header().Set("Retry-After", "0")
		http.Error(w, "slow down", cmp.Or(p.outage, http.StatusTooManyRequests))
		return true
	}
	origin := r.Header.Get("Origin")
	switch {
	case origin != "" && origin != own && !p.is("http-origin/served") && !p.at("http-origin", method) && !(method == "" && p.at("http-origin", r.Method)):
		status := http.StatusForbidden
		if p.is("http-origin-status/404") {
			status = http.StatusNotFound
		}
		http.Error(w, "foreign origin", status)
		return true
	case origin == own && p.is("http-origin-own/refused"):
		http.Error(w, "no browsers", http.StatusForbidden)
		return true
	case !strings.HasPrefix(r.Host, "127.0.0.1") && !p.is("http-host/served"):
		http.Error(w, "foreign host", http.StatusForbidden)
		return true
	}
	got := r.Header.Get("Authorization")
	if p.token == "" || got == "Bearer "+p.token || got == "" && p.public {
		return false
	}
	if got == "" && p.is("auth-anonymous/within") || got != "" && p.is("auth-401/within") {
		w.Header().Set("Content-Type", "application/json")
		fmt.Fprint(w, `{"jsonrpc":"2.0","id":7301,"error":{"code":-32001,"message":"no access"}}`)
		return true
	}
	status := http.StatusUnauthorized
	if got == "" && p.is("auth-anonymous/500") || got != "" && p.is("auth-401/404") {
		status = map[bool]int{true: 500, false: 404}[got == ""]
	}
	if got != "" && (p.is("auth-401/served") || p.at("auth-401", cmp.Or(method, r.Method))) {
		return false
	}
	if !p.is("auth-challenge/absent") {
		w.Header().Set("WWW-Authenticate", `Bearer realm="planted"`)
	}
	http.Error(w, "a token is required", status)
	return true
}

// gated reports whether a gateway refuses a request.
func (p *planted) gated(r *http.Request, method string) bool {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.refuses != nil && p.refuses(r, method)
}

func (p *planted) ends(w http.ResponseWriter, r *http.Request) {
	id := r.Header.Get("Mcp-Session-Id")
	if !p.sessions || len(p.legacy()) == 0 {
		w.WriteHeader(http.StatusMethodNotAllowed)
		return
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	if !p.is("session-ended/served") {
		delete(p.ids, id)
	}
	w.WriteHeader(http.StatusOK)
	if p.at("message-answered-again", http.MethodDelete) {
		p.gone()
	}
}

// post answers a message over HTTP.
func (l *link) post(w http.ResponseWriter, r *http.Request, body []byte, id string) {
	var m message
	if bytes.HasPrefix(body, []byte("[")) && slices.Contains(l.versions, "2025-03-26") {
		w.Header().Set("Content-Type", "application/json")
		l.version = "2025-03-26"
		fmt.Fprint(w, l.answer(body))
		return
	}
	if err := json.Unmarshal(body, &m); err != nil {
		if l.is("http-error-trace/json") {
			http.Error(w, "SyntaxError: Unexpected end\n    at JSON.parse (<anonymous>)\n    at parse (/app/body-parser/json.js:92:19)", 400)
			return
		}
		http.Error(w, "no JSON", http.StatusBadRequest)
		return
	}
	_ = json.Unmarshal(m.Params, &m.params)
	meta, _ := m.params["_meta"].(object)
	version := r.Header.Get("Mcp-Protocol-Version")
	modern := l.modern() && (meta["io.modelcontextprotocol/protocolVersion"] != nil || len(l.legacy()) == 0 || version == "2026-07-28") && m.Method != "initialize"
	if modern && m.ID != nil {
		if bad := l.checkHeaders(r, m, meta); bad != nil {
			w.Header().Set("Content-Type", "application/json")
			w.WriteHeader(http.StatusBadRequest)
			fmt.Fprint(w, l.encode(m, nil, bad))
			return
		}
	}
	if !modern && !l.inSession(w, m, version, id) {
		return
	}
	l.respond(w, r, m, body, modern)
}

// inSession checks the headers of a session, and creates it.
func (l *link) inSession(w http.ResponseWriter, m message, version, id string) bool {
	l.mu.Lock()
	known := l.ids[id]
	l.mu.Unlock()
	switch {
	case m.Method == "initialize":
		if l.sessions && len(l.legacy()) > 0 {
			w.Header().Set("Mcp-Session-Id", l.newSession(id))
		}
		return true
	case version != "" && !slices.Contains(l.legacy(), version) && !l.is("http-version-header/served") && !l.at("http-version-header", m.Method):
		http.Error(w, "unsupported protocol version", http.StatusBadRequest)
		return false
	case l.sessions && id == "" && !l.is("session-missing/404") && !l.is("session-missing/within"):
		http.Error(w, "no session id", http.StatusBadRequest)
		return false
	case l.sessions && !known && (l.at("session-ended", m.Method) || l.at("session-fixation", m.Method)):
	case l.sessions && !known && l.is("session-missing/within"):
		w.Header().Set("Content-Type", "application/json")
		fmt.Fprint(w, `{"jsonrpc":"2.0","id":`+string(m.ID)+`,"error":{"code":-32001,"message":"no such session"}}`)
		return false
	case l.sessions && !known && !(l.is("session-fixation/served") && id != ""):
		status := http.StatusNotFound
		if l.is("session-ended/400") {
			status = http.StatusBadRequest
		}
		if l.is("session-ended/503") {
			status = http.StatusServiceUnavailable
		}
		http.Error(w, "no such session", status)
		return false
	}
	return true
}

// latest waits a moment, and returns the latest response to a request with an id, whoever
// sent it.
func (p *planted) latest(id, out string) string {
	p.mu.Lock()
	if p.byID == nil {
		p.byID = map[string]string{}
	}
	p.byID[id] = out
	p.mu.Unlock()
	time.Sleep(50 * time.Millisecond)
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.byID[id]
}

func (l *link) checkHeaders(r *http.Request, m message, meta object) *failure {
	name, _ := m.params["name"].(string)
	if uri, ok := m.params["uri"].(string); ok && m.Method == "resources/read" {
		name = uri
	}
	needs := slices.Contains([]string{"tools/call", "prompts/get", "resources/read"}, m.Method)
	got := r.Header.Get("Mcp-Name")
	if enc, ok := strings.CutPrefix(got, "=?base64?"); ok && !l.is("header-base64/compared") {
		if data, err := base64.StdEncoding.DecodeString(strings.TrimSuffix(enc, "?=")); err == nil {
			got = string(data)
		}
	}
	code := -32020
	if l.is("header-code/params") {
		code = -32602
	}
	version, _ := meta["io.modelcontextprotocol/protocolVersion"].(string)
	_, exact := r.Header["Mcp-Method"]
	switch {
	case r.Header.Get("Mcp-Method") == "" && !l.is("header-missing/method"):
		return fail(code, "Mcp-Method is missing")
	case r.Header.Get("Mcp-Method") != m.Method && r.Header.Get("Mcp-Method") != "" && !l.is("header-mismatch/method") && !l.at("header-mismatch", m.Method):
		return fail(code, "Mcp-Method differs")
	case exact && r.Header.Get("Mcp-Protocol-Version") == "" && len(l.legacy()) == 0 && !l.is("header-missing/version"):
		return fail(code, "MCP-Protocol-Version is missing")
	case version != "" && r.Header.Get("Mcp-Protocol-Version") != "" && r.Header.Get("Mcp-Protocol-Version") != version && !l.is("header-mismatch/version"):
		return fail(code, "MCP-Protocol-Version differs")
	case needs && got == "" && l.is("header-missing/name"), needs && got != "" && m.Method == "resources/read" && l.is("header-mismatch/name"):
	case l.is("header-mismatch/case") && strings.EqualFold(got, name), l.is("header-mismatch/begins") && strings.HasPrefix(got, name):
	case needs && got != name:
		return fail(code, "Mcp-Name differs")
	}
	return l.checkParam(r, m)
}

// respond writes the response as JSON or as an event stream.
func (l *link) respond(w http.ResponseWriter, r *http.Request, m message, body []byte, modern bool) {
	var early []string
	var mu sync.Mutex
	l.send = func(raw string) {
		mu.Lock()
		defer mu.Unlock()
		early = append(early, raw)
	}
	out := l.answer(body)
	if modern && l.is("header-no-session/minted") {
		w.Header().Set("Mcp-Session-Id", "minted")
	}
	if m.ID == nil || m.Method == "" {
		switch {
		case l.is("http-notification/200"), l.at("http-notification", m.Method):
			w.WriteHeader(http.StatusOK)
		case l.is("http-notification/body"):
			w.WriteHeader(http.StatusAccepted)
			fmt.Fprint(w, `{}`)
		case modern && len(l.legacy()) == 0:
			http.Error(w, "no notifications", http.StatusBadRequest)
		default:
			w.WriteHeader(http.StatusAccepted)
		}
		return
	}
	if l.instead != nil && m.Method == l.insteadOf {
		l.instead(w, out)
		return
	}
	if l.at("isolation-data", m.Method) {
		out = l.latest(string(m.ID), out)
	}
	status := http.StatusOK
	if modern {
		switch {
		case strings.Contains(out, `"code":-32601`) && !l.is("header-method-404/200"):
			status = http.StatusNotFound
		case (strings.Contains(out, `"code":-32022`) || strings.Contains(out, `_meta has no`)) && !l.is("meta-required/200") && !l.is("version-unsupported/200"):
			status = http.StatusBadRequest
		}
	}
	mu.Lock()
	defer mu.Unlock()
	listens := out == listening
	if l.replays && !modern && m.Method != "initialize" {
		l.stream(w, m, append(early, out))
		return
	}
	if l.events || len(early) > 0 || listens {
		w.Header().Set("Content-Type", "text/event-stream")
		w.WriteHeader(status)
		for _, raw := range early {
			fmt.Fprintf(w, "data: %s\n\n", raw)
		}
		if listens {
			_ = http.NewResponseController(w).Flush()
			select {
			case <-r.Context().Done():
			case <-time.After(5 * time.Second):
			}
			return
		}
		fmt.Fprintf(w, "data: %s\n\n", out)
		return
	}
	kind := "application/json"
	if l.is("http-content-type/html") && m.Method != "initialize" {
		kind = "text/html"
	}
	w.Header().Set("Content-Type", kind)
	w.WriteHeader(status)
	fmt.Fprint(w, out)
}
