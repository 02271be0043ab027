package openings_test

import (
	"bufio"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"os"
	"strings"
	"time"
)

// A reply is what an odd server does with one message.
type reply struct {
	result, err string // JSON
	status      int
	kind        string // content type
	raw         string // in place of a JSON-RPC response
	id          string // in place of the id of the request
	more        string // further members of the response
	silent      bool
	ends        bool
	before      string // lines before it (stdio)
	sse         bool
	session     string
}

// odd are the servers that the clients are compared on: by name, with what they do
// differently from a correct server of the session era.
var odd = map[string]func(method string) (reply, bool){
	"legacy":             only(nil),
	"modern":             only(map[string]reply{"initialize": {err: notFound}, "server/discover": {result: discover("2026-07-28")}, "tools/list": {result: modernList}}),
	"both":               only(map[string]reply{"server/discover": {result: discover("2026-07-28")}, "tools/list": {result: modernList}}),
	"both-old":           only(map[string]reply{"server/discover": {result: discover("2026-07-28", "2025-11-25")}, "tools/list": {result: modernList}}),
	"no-hints":           only(map[string]reply{"server/discover": {result: discover("2026-07-28")}}),
	"no-ttl":             only(map[string]reply{"server/discover": {result: discover("2026-07-28")}, "tools/list": {result: `{"tools":[],"resultType":"complete","cacheScope":"private"}`}}),
	"no-scope":           only(map[string]reply{"server/discover": {result: discover("2026-07-28")}, "tools/list": {result: `{"tools":[],"resultType":"complete","ttlMs":0}`}}),
	"bad-scope":          only(map[string]reply{"server/discover": {result: discover("2026-07-28")}, "tools/list": {result: `{"tools":[],"resultType":"complete","ttlMs":0,"cacheScope":"all"}`}}),
	"bad-ttl":            only(map[string]reply{"server/discover": {result: discover("2026-07-28")}, "tools/list": {result: `{"tools":[],"resultType":"complete","ttlMs":"0","cacheScope":"private"}`}}),
	"modern-list-error":  only(map[string]reply{"server/discover": {result: discover("2026-07-28")}, "tools/list": {err: `{"code":-32602,"message":"session required"}`}}),
	"discover-old":       only(map[string]reply{"server/discover": {result: discover("2025-11-25")}}),
	"discover-empty":     only(map[string]reply{"server/discover": {result: `{}`}}),
	"discover-text":      only(map[string]reply{"server/discover": {result: `{"supportedVersions":"2026-07-28","capabilities":{}}`}}),
	"discover-caps":      only(map[string]reply{"server/discover": {result: `{"supportedVersions":["2026-07-28"],"capabilities":{"tools":[]}}`}}),
	"unsupported-old":    only(map[string]reply{"server/discover": {err: `{"code":-32022,"message":"no","data":{"supported":["2025-11-25"]}}`}}),
	"unsupported-same":   only(map[string]reply{"server/discover": {err: `{"code":-32022,"message":"no","data":{"supported":["2026-07-28"]}}`}}),
	"unsupported-future": only(map[string]reply{"server/discover": {err: `{"code":-32022,"message":"no","data":{"supported":["2027-01-01"]}}`}}),
	"unsupported-bare":   only(map[string]reply{"server/discover": {err: `{"code":-32022,"message":"no"}`}}),
	"discover-internal":  only(map[string]reply{"server/discover": {err: internal}}),
	"discover-session":   only(map[string]reply{"server/discover": {err: `{"code":-32001,"message":"Session not found"}`}}),
	"discover-silent":    only(map[string]reply{"server/discover": {silent: true}}),
	"discover-id-null":   only(map[string]reply{"server/discover": {err: notFound, id: "null"}}),
	"discover-id-other":  only(map[string]reply{"server/discover": {err: notFound, id: "99"}}),
	"discover-ends":      only(map[string]reply{"server/discover": {ends: true}}),
	"init-version-error": only(map[string]reply{"initialize": {err: `{"code":-32602,"message":"Unsupported protocol version"}`}}),
	"init-internal":      only(map[string]reply{"initialize": {err: internal}}),
	"init-2024":          only(map[string]reply{"initialize": {result: hello("2024-11-05")}}),
	"init-2024-10":       only(map[string]reply{"initialize": {result: hello("2024-10-07")}}),
	"init-future":        only(map[string]reply{"initialize": {result: hello("2099-01-01")}}),
	"init-2026":          only(map[string]reply{"initialize": {result: hello("2026-07-28")}}),
	"init-no-info":       only(map[string]reply{"initialize": {result: `{"protocolVersion":"2025-11-25","capabilities":{"tools":{}}}`}}),
	"init-caps-list":     only(map[string]reply{"initialize": {result: `{"protocolVersion":"2025-11-25","capabilities":{"tools":[]},"serverInfo":{"name":"a","version":"1"}}`}}),
	"init-no-version":    only(map[string]reply{"initialize": {result: `{"capabilities":{},"serverInfo":{"name":"a","version":"1"}}`}}),
	"init-ends":          only(map[string]reply{"initialize": {ends: true}}),
	"init-silent":        only(map[string]reply{"initialize": {silent: true}}),
	"no-tools":           only(map[string]reply{"initialize": {result: `{"protocolVersion":"2025-11-25","capabilities":{},"serverInfo":{"name":"a","version":"1"}}`}, "tools/list": {err: notFound}}),
	"list-error":         only(map[string]reply{"tools/list": {err: internal}}),
	"list-no-schema":     only(map[string]reply{"tools/list": {result: `{"tools":[{"name":"a"}]}`}}),
	"list-object":        only(map[string]reply{"tools/list": {result: `{"tools":{}}`}}),
	"list-missing":       only(map[string]reply{"tools/list": {result: `{}`}}),
	"list-null":          only(map[string]reply{"tools/list": {result: `{"tools":null}`}}),
	"list-ends":          only(map[string]reply{"tools/list": {ends: true}}),
	"list-silent":        only(map[string]reply{"tools/list": {silent: true}}),
	"list-extra-member":  only(map[string]reply{"tools/list": {result: legacyList, more: `,"took":3`}}),
	"init-extra-member":  only(map[string]reply{"initialize": {result: hello("2025-11-25"), more: `,"took":3`}}),
	"list-both":          only(map[string]reply{"tools/list": {result: legacyList, more: `,"error":null`}}),
	"id-text":            only(map[string]reply{"initialize": {result: hello("2025-11-25"), id: "text"}, "tools/list": {result: legacyList, id: "text"}}),
	"list-id-null":       only(map[string]reply{"tools/list": {result: legacyList, id: "null"}}),
	"initialized-ends":   only(map[string]reply{"notifications/initialized": {ends: true}}),
	"list-number-result": only(map[string]reply{"tools/list": {result: `7`}}),
}

// oddLines are servers that only a process can be.
var oddLines = map[string]func(method string) (reply, bool){
	"garbage-first":   only(map[string]reply{"initialize": {result: hello("2025-11-25"), before: "Server started\n"}}),
	"garbage-probe":   only(map[string]reply{"server/discover": {err: notFound, before: "Unknown method\n"}}),
	"blank-first":     only(map[string]reply{"initialize": {result: hello("2025-11-25"), before: "\n"}}),
	"log-before-list": only(map[string]reply{"tools/list": {result: legacyList, before: `{"jsonrpc":"2.0","method":"notifications/message","params":{"level":"info","data":"x"}}` + "\n"}}),
	"not-a-message":   only(map[string]reply{"tools/list": {result: legacyList, before: `{"level":"info"}` + "\n"}}),
	"asks-roots":      only(map[string]reply{"tools/list": {result: legacyList, before: `{"jsonrpc":"2.0","id":"r","method":"roots/list"}` + "\n"}}),
	"asks-ping":       only(map[string]reply{"initialize": {result: hello("2025-11-25"), before: `{"jsonrpc":"2.0","id":5,"method":"ping"}` + "\n"}}),
}

// oddPosts are servers that only an address can be.
var oddPosts = map[string]func(method string) (reply, bool){
	"discover-500":        only(map[string]reply{"server/discover": {err: internal, status: 500}}),
	"discover-502":        only(map[string]reply{"server/discover": {raw: "<html>Bad Gateway", kind: "text/html", status: 502}}),
	"discover-501":        only(map[string]reply{"server/discover": {raw: "", status: 501}}),
	"discover-400":        only(map[string]reply{"server/discover": {raw: "Bad Request", kind: "text/plain", status: 400}}),
	"discover-400-rpc":    only(map[string]reply{"server/discover": {err: `{"code":-32000,"message":"Bad Request: Server not initialized"}`, status: 400}}),
	"discover-400-null":   only(map[string]reply{"server/discover": {err: `{"code":-32000,"message":"Bad Request"}`, status: 400, id: "null"}}),
	"discover-404":        only(map[string]reply{"server/discover": {err: notFound, status: 404}}),
	"discover-405":        only(map[string]reply{"server/discover": {raw: "", status: 405}}),
	"discover-302":        only(map[string]reply{"server/discover": {raw: "", status: 302}}),
	"discover-400-same":   only(map[string]reply{"server/discover": {err: `{"code":-32022,"message":"no","data":{"supported":["2026-07-28"]}}`, status: 400}}),
	"discover-400-future": only(map[string]reply{"server/discover": {err: `{"code":-32022,"message":"no","data":{"supported":["2027-01-01"]}}`, status: 400}}),
	"discover-html":       only(map[string]reply{"server/discover": {raw: "<html>", kind: "text/html", status: 200}}),
	"discover-200-empty":  only(map[string]reply{"server/discover": {raw: "", status: 200}}),
	"discover-204":        only(map[string]reply{"server/discover": {raw: "", status: 204}}),
	"discover-202":        only(map[string]reply{"server/discover": {raw: "", status: 202}}),
	"discover-not-json":   only(map[string]reply{"server/discover": {raw: "oops", kind: "application/json", status: 200}}),
	"discover-json":       only(map[string]reply{"server/discover": {raw: `{"detail":"Not Found"}`, kind: "application/json", status: 200}}),
	"discover-array":      only(map[string]reply{"server/discover": {raw: `[]`, kind: "application/json", status: 200}}),
	"discover-text-type":  only(map[string]reply{"server/discover": {err: notFound, kind: "text/plain"}}),
	"discover-sse":        only(map[string]reply{"server/discover": {err: notFound, sse: true}}),
	"discover-sse-empty":  only(map[string]reply{"server/discover": {raw: ": nothing\n\n", kind: "text/event-stream", status: 200}}),
	"init-400":            only(map[string]reply{"initialize": {err: `{"code":-32602,"message":"no"}`, status: 400}}),
	"init-500-result":     only(map[string]reply{"initialize": {result: hello("2025-11-25"), status: 500}}),
	"init-201":            only(map[string]reply{"initialize": {result: hello("2025-11-25"), status: 201}}),
	"init-html":           only(map[string]reply{"initialize": {raw: "<html>", kind: "text/html", status: 200}}),
	"init-text-type":      only(map[string]reply{"initialize": {result: hello("2025-11-25"), kind: "text/plain"}}),
	"init-charset":        only(map[string]reply{"initialize": {result: hello("2025-11-25"), kind: "Application/JSON; charset=utf-8"}}),
	"init-sse":            only(map[string]reply{"initialize": {result: hello("2025-11-25"), sse: true, session: "s1"}}),
	"init-array":          only(map[string]reply{"initialize": {raw: `[{"jsonrpc":"2.0","id":0,"result":` + hello("2025-11-25") + `}]`, kind: "application/json", status: 200}}),
	"initialized-200":     only(map[string]reply{"notifications/initialized": {raw: "", status: 200}}),
	"initialized-204":     only(map[string]reply{"notifications/initialized": {raw: "", status: 204}}),
	"initialized-400":     only(map[string]reply{"notifications/initialized": {raw: "", status: 400}}),
	"initialized-404":     only(map[string]reply{"notifications/initialized": {raw: "", status: 404}}),
	"initialized-500":     only(map[string]reply{"notifications/initialized": {raw: "", status: 500}}),
	"initialized-json":    only(map[string]reply{"notifications/initialized": {raw: `{}`, kind: "application/json", status: 200}}),
	"list-202":            only(map[string]reply{"tools/list": {raw: "", status: 202}}),
	"list-404":            only(map[string]reply{"tools/list": {err: notFound, status: 404}}),
	"list-sse":            only(map[string]reply{"tools/list": {result: legacyList, sse: true}}),
	"list-sse-empty":      only(map[string]reply{"tools/list": {raw: ": nothing\n\n", kind: "text/event-stream", status: 200}}),
	"modern-sse":          only(map[string]reply{"server/discover": {result: discover("2026-07-28"), sse: true}, "tools/list": {result: modernList, sse: true}}),
	"modern-list-400":     only(map[string]reply{"server/discover": {result: discover("2026-07-28")}, "tools/list": {err: `{"code":-32000,"message":"no session"}`, status: 400}}),
}

const (
	notFound   = `{"code":-32601,"message":"Method not found"}`
	internal   = `{"code":-32603,"message":"Internal error"}`
	legacyList = `{"tools":[{"name":"add","inputSchema":{"type":"object"}}]}`
	modernList = `{"tools":[{"name":"add","inputSchema":{"type":"object"}}],"resultType":"complete","ttlMs":0,"cacheScope":"private"}`
)

func hello(version string) string {
	return `{"protocolVersion":"` + version + `","capabilities":{"tools":{}},"serverInfo":{"name":"a","version":"1"}}`
}

func discover(versions ...string) string {
	list, _ := json.Marshal(versions)
	return `{"supportedVersions":` + string(list) + `,"capabilities":{"tools":{}},"resultType":"complete","ttlMs":0,"cacheScope":"private"}`
}

// only returns a server that is correct but for some methods.
func only(replies map[string]reply) func(string) (reply, bool) {
	return func(method string) (reply, bool) {
		if r, ok := replies[method]; ok {
			return r, true
		}
		switch {
		case method == "initialize":
			return reply{result: hello("2025-11-25")}, true
		case method == "tools/list":
			return reply{result: legacyList}, true
		case strings.HasPrefix(method, "notifications/"):
			return reply{}, false
		}
		return reply{err: notFound}, true
	}
}

// text is the response of a reply to a request.
func (r reply) text(id string) string {
	switch r.id {
	case "":
	case "text":
		id = `"` + strings.Trim(id, `"`) + `"`
	default:
		id = r.id
	}
	if r.err != "" {
		return fmt.Sprintf(`{"jsonrpc":"2.0","id":%s,"error":%s%s}`, id, r.err, r.more)
	}
	return fmt.Sprintf(`{"jsonrpc":"2.0","id":%s,"result":%s%s}`, id, r.result, r.more)
}

type message struct {
	ID     json.RawMessage `json:"id"`
	Method string          `json:"method"`
}

// serveLines is an odd server as a process.
func serveLines(answer func(string) (reply, bool)) {
	in := bufio.NewScanner(os.Stdin)
	in.Buffer(nil, 1<<20)
	for in.Scan() {
		var m message
		if json.Unmarshal(in.Bytes(), &m) != nil || m.Method == "" {
			continue
		}
		r, _ := answer(m.Method)
		switch {
		case r.ends:
			os.Exit(1)
		case r.silent || m.ID == nil:
			continue
		}
		fmt.Print(r.before + r.text(string(m.ID)) + "\n")
	}
}

// address is an odd server over HTTP.
type address struct {
	answer func(string) (reply, bool)
}

func (a *address) ServeHTTP(w http.ResponseWriter, req *http.Request) {
	if req.Method != http.MethodPost {
		w.WriteHeader(http.StatusMethodNotAllowed)
		return
	}
	body, _ := io.ReadAll(req.Body)
	var m message
	_ = json.Unmarshal(body, &m)
	r, _ := a.answer(m.Method)
	switch {
	case r.ends:
		panic(http.ErrAbortHandler)
	case r.silent:
		select {
		case <-req.Context().Done():
		case <-time.After(10 * time.Second):
		}
		return
	}
	if r.session != "" {
		w.Header().Set("Mcp-Session-Id", r.session)
	}
	status := r.status
	switch {
	case r.result == "" && r.err == "":
		if status == 0 {
			status = http.StatusAccepted
		}
		if r.kind != "" {
			w.Header().Set("Content-Type", r.kind)
		} else {
			w.Header()["Content-Type"] = nil
		}
		w.WriteHeader(status)
		_, _ = io.WriteString(w, r.raw)
		return
	case status == 0:
		status = http.StatusOK
	}
	text := r.text(string(m.ID))
	w.Header().Set("Content-Type", "application/json")
	if r.kind != "" {
		w.Header().Set("Content-Type", r.kind)
	}
	if r.sse {
		w.Header().Set("Content-Type", "text/event-stream")
		text = "data: " + text + "\n\n"
	}
	w.WriteHeader(status)
	_, _ = io.WriteString(w, text)
}
