package probe_test

import (
	"bytes"
	"crypto/rand"
	"encoding/base64"
	"encoding/json"
	"fmt"
	"maps"
	"net/http"
	"slices"
	"strconv"
	"strings"
	"sync"
	"time"
)

// planted is a correct server, written on raw messages, that can have one defect.
type planted struct {
	defect   string // "rule/what", "" for none
	versions []string
	sessions bool   // over HTTP
	events   bool   // over HTTP: responses are event streams
	token    string // over HTTP: required by each request
	public   bool   // … but not by initialize and lists
	busy     int    // over HTTP: every n-th request gets 429
	newest   bool   // over HTTP: a new session ends the one before it
	bare     bool   // tools only, all of them may write
	only     string // the one capability that it has; all if empty
	grows    bool   // on a stream: calls of count add a tool, or remove it, with a notification
	replays  bool   // over HTTP: streams have event ids and can be resumed, and GET opens one
	polls    bool   // … and end before the response, which comes when they are resumed

	gone func() // over HTTP: ends the server

	refuses func(r *http.Request, method string) bool // over HTTP: a gateway
	outage  int                                       // the status of its refusals, 429 if 0

	alter func(method string, res object)      // changes a result
	raw   func(method, response string) string // changes a response

	wrap func(http.Handler) http.Handler // over HTTP: what is in front of the server

	insteadOf string // a method: over HTTP, instead writes what it gets
	instead   func(w http.ResponseWriter, out string)

	mu      sync.Mutex
	grown   bool
	sent    []event // over HTTP, of all streams
	streams int
	getting chan event        // the stream of GET
	byID    map[string]string // the latest response, by the id of the request
	writes  int               // calls of tools that may write
	notes   map[string]string
	ids     map[string]bool // of sessions over HTTP
	counter int
}

type object = map[string]any

// is reports whether the server has a defect.
func (p *planted) is(defect string) bool { return p.defect == defect }

// at reports whether the server breaks a rule with one method only.
func (p *planted) at(rule, method string) bool { return p.defect == rule+"/at:"+method }

func (p *planted) modern() bool { return slices.Contains(p.versions, "2026-07-28") }
func (p *planted) legacy() (out []string) {
	for _, v := range p.versions {
		if v != "2026-07-28" {
			out = append(out, v)
		}
	}
	return out
}

func (p *planted) has(capability string) bool { return p.only == "" || p.only == capability }

func (p *planted) next() int {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.counter++
	return p.counter
}

// link is one connection: what a session of an earlier version remembers.
type link struct {
	*planted
	send    func(raw string) // sends a message that is not the response
	version string           // of a session
	level   string
	ready   bool
	n       int // of the connection
	turns   int // of tools/list
	http    bool
	client  object // its capabilities
	listens string // the id of its subscription
	asked   int    // requests of the server
}

type failure struct {
	code int
	text string
	data any
}

func fail(code int, format string, args ...any) *failure {
	return &failure{code: code, text: fmt.Sprintf(format, args...)}
}

// message is a request or notification.
type message struct {
	ID     json.RawMessage `json:"id"`
	Method string          `json:"method"`
	Params json.RawMessage `json:"params"`
	params object
	meta   object
	modern bool
}

// answer returns the response to a message as text, "" for none. 2025-03-26 has batches.
func (l *link) answer(raw []byte) string {
	var batch []json.RawMessage
	if json.Unmarshal(raw, &batch) == nil && slices.Contains(l.versions, "2025-03-26") && !l.is("message-batch/refused") {
		var parts []string
		for _, one := range batch {
			parts = append(parts, l.answer(one))
		}
		if l.is("message-batch/one") {
			parts[len(parts)-1] = parts[0]
		}
		return "[" + strings.Join(parts, ",") + "]"
	}
	var m message
	if err := json.Unmarshal(raw, &m); err != nil {
		return `{"jsonrpc":"2.0","id":null,"error":{"code":-32700,"message":"no JSON"}}`
	}
	_ = json.Unmarshal(m.Params, &m.params)
	if m.params == nil && bytes.Contains(raw, []byte(`"params":`)) && m.Method != "" { // JSON-RPC wants an object or an array
		return `{"jsonrpc":"2.0","id":null,"error":{"code":-32600,"message":"params is no object"}}`
	} else if m.params == nil {
		m.params = object{}
	}
	m.meta, _ = m.params["_meta"].(object)
	_, m.modern = m.meta["io.modelcontextprotocol/protocolVersion"]
	m.modern = m.modern || m.meta["io.modelcontextprotocol/clientCapabilities"] != nil || len(l.legacy()) == 0
	m.modern = m.modern && l.modern() && m.Method != "initialize"
	if m.Method == "" { // a response of the client
		return ""
	}
	if m.ID == nil {
		l.notified(m)
		if l.is("message-notification/answered") && m.Method != "notifications/initialized" {
			return `{"jsonrpc":"2.0","id":null,"error":{"code":-32601,"message":"unknown notification"}}`
		}
		return ""
	}
	if l.is("hostile/silent") && m.Method != "initialize" {
		return listening
	}
	if l.is("message-stdout/log") {
		l.send("handling " + m.Method)
	}
	if l.is("message-unanswered/unknown") && !l.knows(m.Method) {
		return ""
	}
	res, bad := l.handle(m)
	return l.encode(m, res, bad)
}

func (l *link) knows(method string) bool {
	return slices.Contains([]string{"initialize", "ping", "server/discover", "tools/list", "tools/call", "resources/list", "resources/templates/list", "resources/read", "prompts/list", "prompts/get", "completion/complete", "logging/setLevel", "subscriptions/listen"}, method)
}

// encode writes a response.
func (l *link) encode(m message, res object, bad *failure) string {
	out := l.form(m, res, bad)
	if l.raw != nil && out != listening {
		out = l.raw(m.Method, out)
	}
	return out
}

// form writes a response with the defects of its form.
func (l *link) form(m message, res object, bad *failure) string {
	id, head := string(m.ID), `{"jsonrpc":"2.0",`
	switch {
	case l.is("message-id/number") && strings.HasPrefix(id, `"`):
		id = "7"
	case l.is("message-id/text") && !strings.HasPrefix(id, `"`):
		id = `"` + id + `"`
	case l.is("message-id/null") && m.Method != "initialize" && m.Method != "server/discover":
		id = "null"
	case l.is("message-jsonrpc/absent") && m.Method != "initialize" && m.Method != "server/discover":
		head = "{"
	}
	if bad != nil {
		code, text := any(bad.code), any(bad.text)
		if l.is("message-error/code-text") {
			code = strconv.Itoa(bad.code)
		}
		if l.is("message-error/no-message") {
			text = nil
		}
		e := object{"code": code, "message": text}
		if bad.data != nil {
			e["data"] = bad.data
		}
		data, _ := json.Marshal(e)
		return head + `"id":` + id + `,"error":` + string(data) + "}"
	}
	if res == nil {
		return listening
	}
	if m.modern {
		l.stamp(m, res)
	}
	if l.alter != nil {
		l.alter(m.Method, res)
	}
	data, _ := json.Marshal(res)
	body := string(data)
	switch {
	case l.is("message-utf8/latin1") && m.Method == "tools/list":
		body = strings.Replace(body, "Returns the text", "Returns the t\xe9xt", 1)
	case l.is("message-stdout/pretty") && m.Method == "tools/list":
		body = strings.Replace(body, `"tools"`, "\n\"tools\"", 1)
	case l.is("message-jsonrpc/both") && m.Method == "tools/list":
		body += `,"error":{"code":1,"message":"x"}`
	}
	out := head + `"id":` + id + `,"result":` + body + "}"
	if l.is("message-duplicate/twice") && m.Method == "tools/list" {
		l.send(out)
	}
	return out
}

// stamp adds what 2026-07-28 requires of results.
func (l *link) stamp(m message, res object) {
	if res["resultType"] == nil && !(l.is("result-type/absent") && m.Method == "tools/list") {
		res["resultType"] = "complete"
	}
	if l.is("result-type/unknown") && m.Method == "tools/list" {
		res["resultType"] = "done"
	}
	if !l.is("result-server-info/absent") {
		meta, _ := res["_meta"].(object)
		res["_meta"] = object{"io.modelcontextprotocol/serverInfo": object{"name": "planted", "version": "1"}}
		maps.Copy(res["_meta"].(object), meta)
	}
	if slices.Contains([]string{"server/discover", "tools/list", "resources/list", "resources/templates/list", "prompts/list", "resources/read"}, m.Method) {
		res["ttlMs"], res["cacheScope"] = 0, "private"
		switch {
		case l.is("cache-hints/absent") && m.Method == "tools/list":
			delete(res, "ttlMs")
		case l.is("cache-hints/negative") && m.Method == "tools/list":
			res["ttlMs"] = -1
		case l.is("cache-hints/scope") && m.Method == "resources/read":
			res["cacheScope"] = "shared"
		case l.is("cache-scope-pages/differs") && m.params["cursor"] != nil:
			res["cacheScope"] = "public"
		}
	}
	if l.is("meta-key/form") {
		res["_meta"].(object)["-bad-"] = 1
	}
}

func (l *link) notified(m message) {
	if m.Method == "notifications/initialized" {
		l.ready = true
	}
	if l.is("cancel-unknown/answered") && m.Method == "notifications/cancelled" {
		l.send(`{"jsonrpc":"2.0","id":null,"error":{"code":-32602,"message":"no such request"}}`)
	}
}

func (l *link) capabilities() object {
	caps := object{}
	for _, name := range []string{"tools", "resources", "prompts", "completions", "logging"} {
		if l.has(name) && !l.is("capability-"+name+"/undeclared") && !(l.bare && name != "tools") {
			caps[name] = object{}
		}
	}
	if l.is("logging-undeclared/sends") {
		delete(caps, "logging")
	}
	if l.is("extension-key/bare") {
		caps["extensions"] = object{"ui": object{}}
	}
	if l.is("task-unknown/result") || l.is("task-required/served") {
		caps["tasks"] = object{"requests": object{"tools": object{"call": object{}}}}
	}
	if caps["tools"] != nil && (l.modern() || l.grows) && !l.bare {
		caps["tools"] = object{"listChanged": true}
	}
	return caps
}

func (l *link) handle(m message) (object, *failure) {
	if m.modern {
		if bad := l.checkMeta(m); bad != nil {
			return nil, bad
		}
	}
	switch m.Method {
	case "initialize":
		return l.initialize(m)
	case "server/discover":
		return l.discover()
	case "ping":
		if m.modern || l.is("ping/unknown") {
			break
		}
		if l.is("ping-empty/member") {
			return object{"pong": true}, nil
		}
		return object{}, nil
	case "tools/list", "resources/list", "resources/templates/list", "prompts/list":
		if l.is("capability-served/" + m.Method) {
			break
		}
		return l.list(m)
	case "tools/call":
		if !l.has("tools") {
			break
		}
		return l.callTool(m)
	case "resources/read":
		if !l.has("resources") || l.bare {
			break
		}
		return l.readResource(m)
	case "prompts/get":
		if !l.has("prompts") || l.bare {
			break
		}
		return l.getPrompt(m)
	case "completion/complete":
		if !l.has("completions") || l.bare || l.is("capability-completions/unserved") {
			break
		}
		return l.completeArgument(m)
	case "logging/setLevel":
		if m.modern || !l.has("logging") || l.bare || l.is("capability-logging/unserved") {
			break
		}
		level, _ := m.params["level"].(string)
		if !slices.Contains(levels, level) && !l.is("logging-level/accepted") {
			return nil, fail(-32602, "unknown level %q", level)
		}
		l.level = level
		return object{}, nil
	case "subscriptions/listen":
		if !m.modern || l.is("capability-listen/unserved") {
			break
		}
		l.subscribe(m)
		return nil, nil
	case "tasks/get":
		if l.is("task-unknown/result") {
			return object{"taskId": "x", "status": "working"}, nil
		}
	}
	switch {
	case l.is("message-unknown-method/params"):
		return nil, fail(-32602, "invalid request parameters")
	case l.is("message-unknown-method/result"):
		return object{}, nil
	case l.is("message-reserved-code/used") && m.modern:
		return nil, fail(-32050, "unknown")
	}
	return nil, fail(-32601, "method not found: %s", m.Method)
}

var levels = []string{"debug", "info", "notice", "warning", "error", "critical", "alert", "emergency"}

// checkMeta is what every request of 2026-07-28 must have.
func (l *link) checkMeta(m message) *failure {
	version, _ := m.meta["io.modelcontextprotocol/protocolVersion"].(string)
	switch {
	case version == "" && !l.is("meta-required/version"):
		return fail(-32602, "_meta has no protocolVersion")
	case version != "" && version < "2026-07-28" && len(l.legacy()) > 0: // an early version is that of a session
		return fail(-32600, "no session")
	case version != "" && version != "2026-07-28":
		if l.is("version-unsupported/code") {
			return fail(-32602, "unsupported version")
		}
		data := object{"supported": []string{"2026-07-28"}, "requested": version}
		if l.is("version-unsupported/no-list") {
			data = object{}
		}
		if !l.is("version-unsupported/served") && !l.at("version-unsupported", m.Method) {
			return &failure{-32022, "unsupported protocol version", data}
		}
	case m.meta["io.modelcontextprotocol/clientCapabilities"] == nil && !l.is("meta-required/capabilities") && !l.at("meta-required", m.Method):
		return fail(-32602, "_meta has no clientCapabilities")
	case m.meta["io.modelcontextprotocol/clientInfo"] == nil && l.is("client-info-optional/required"):
		return fail(-32602, "_meta has no clientInfo")
	case l.is("stateless-first-request/discover") && m.Method != "server/discover" && !l.ready && !l.http:
		return fail(-32600, "not initialized")
	}
	if m.Method == "server/discover" {
		l.ready = true
	}
	return nil
}

func (l *link) initialize(m message) (object, *failure) {
	asked, _ := m.params["protocolVersion"].(string)
	legacy := l.legacy()
	if len(legacy) == 0 {
		text := "only 2026-07-28 is supported"
		if l.is("lifecycle-modern-initialize/unnamed") {
			text = "method not found"
		}
		return nil, fail(-32601, "%s", text)
	}
	version := legacy[0]
	switch {
	case slices.Contains(legacy, asked) && !l.is("lifecycle-version-echo/newest"):
		version = asked
	case l.is("lifecycle-version-offer/confirmed"):
		version = asked
	case l.is("lifecycle-version-error/unnamed") && !slices.Contains(legacy, asked):
		return nil, fail(-32602, "bad version")
	}
	l.version = version
	l.client, _ = m.params["capabilities"].(object)
	res := object{"protocolVersion": version, "capabilities": l.capabilities(), "serverInfo": object{"name": "planted", "version": "1"}}
	switch l.defect {
	case "lifecycle-result/no-server-info":
		delete(res, "serverInfo")
	case "lifecycle-result/no-version-of-server":
		res["serverInfo"] = object{"name": "planted"}
	case "lifecycle-result/no-protocol":
		delete(res, "protocolVersion")
	case "lifecycle-result/capabilities":
		res["capabilities"] = []any{}
	case "lifecycle-early-request/roots":
		go func() {
			time.Sleep(50 * time.Millisecond)
			l.send(`{"jsonrpc":"2.0","id":"r1","method":"roots/list"}`)
		}()
	}
	return res, nil
}

func (l *link) discover() (object, *failure) {
	if !l.modern() || l.is("discover-present/absent") {
		return nil, fail(-32601, "method not found")
	}
	res := object{"supportedVersions": l.versions, "capabilities": l.capabilities()}
	if l.is("discover-present/no-versions") {
		delete(res, "supportedVersions")
	}
	if l.is("discover-present/no-capabilities") {
		delete(res, "capabilities")
	}
	return res, nil
}

// subscribe acknowledges a subscription, and keeps it open.
func (l *link) subscribe(m message) {
	tag := `,"_meta":{"io.modelcontextprotocol/subscriptionId":` + string(m.ID) + `}`
	if l.is("listen-tag/absent") {
		tag = ""
	}
	l.listens = string(m.ID)
	ack := `{"jsonrpc":"2.0","method":"notifications/subscriptions/acknowledged","params":{"notifications":{"toolsListChanged":true}` + tag + `}}`
	change := func(kind string) string {
		return `{"jsonrpc":"2.0","method":"notifications/` + kind + `/list_changed","params":{"x":1` + tag + `}}`
	}
	if l.is("listen-ack/late") {
		l.send(change("tools"))
	}
	if !l.is("listen-ack/never") {
		l.send(ack)
	}
	if l.is("listen-only/first") {
		l.send(`{"jsonrpc":"2.0","method":"notifications/message","params":{"level":"info","data":"x"` + tag + `}}`)
	}
	if l.is("listen-filter/prompts") {
		l.send(change("prompts"))
	}
}

// newSession returns the id of a session over HTTP.
func (p *planted) newSession(asked string) string {
	id := rand.Text()
	p.mu.Lock()
	defer p.mu.Unlock()
	switch {
	case p.is("session-random/counter"):
		p.counter++
		id = strconv.Itoa(1000 + p.counter)
	case p.is("session-random/same"):
		id = "the-session"
	case p.is("session-ascii/umlaut"):
		id = "sitzung-ü-" + id
	case p.is("session-fixation/adopted") && asked != "":
		id = asked
	}
	if p.ids == nil || p.newest {
		p.ids = map[string]bool{}
	}
	p.ids[id] = true
	return id
}

// listening stands for the response to subscriptions/listen, which does not come.
const listening = "\x00"

var pixel = base64.StdEncoding.EncodeToString([]byte("\x89PNG not really"))
