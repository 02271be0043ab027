//go:build linux

package faults_test

import "strings"

// sessionRows are sessions over HTTP that are lost, refused or odd, and
// requests of revision 2026-07-28 that are answered wrongly.
func sessionRows() []row {
	odd := func(id, what string, any func(*visit) bool) row {
		return row{id: "session/odd-" + id, what: "odd: " + what, http: &web{any: any}, tests: "pass pass"}
	}
	on := func(method string, do func(*visit)) func(*visit) bool {
		return func(v *visit) bool {
			if v.method != method {
				return false
			}
			do(v)
			return true
		}
	}
	modern := func(id, what, result, tests string, says ...string) row {
		return row{id: "session/modern-" + id, what: what, http: &web{modern: true, call: func(v *visit) { v.json(200, answer(v.id, result)) }}, exit: 1, tests: tests, says: says}
	}
	return []row{
		{id: "session/lost", what: "the session is gone (404) at a call", http: &web{call: func(v *visit) { v.send(404, "text/plain", "no such session") }}, exit: 1, tests: "error pass", says: []string{"404", "session"}},
		{id: "session/lost-for-good", what: "the session is gone, and no new one can be started", http: &web{call: func(v *visit) { v.seen.Store(1); v.send(404, "text/plain", "no such session") }, any: func(v *visit) bool {
			if v.seen.Load() == 0 {
				return false
			}
			v.send(503, "text/plain", "shutting down")
			return true
		}}, exit: 1, tests: "error error", says: []string{"404", "503"}},
		{id: "session/bad-id", what: "a session id with a space in it", http: &web{any: on("initialize", func(v *visit) { v.Header().Set("Mcp-Session-Id", "a b"); v.json(200, answer(v.id, goodHello)) })}, exit: 1, tests: "pass pass", says: []string{"session-id"}},
		odd("none", "a server without sessions", on("initialize", func(v *visit) { v.json(200, answer(v.id, goodHello)) })),
		odd("delete-405", "DELETE is refused", on("DELETE", func(v *visit) { v.WriteHeader(405) })),
		odd("delete-500", "DELETE fails", on("DELETE", func(v *visit) { v.send(500, "text/html", "oops") })),
		odd("delete-hangs", "DELETE gets no response", on("DELETE", (*visit).hang)),
		odd("get-hangs", "GET gets no response", on("GET", (*visit).hang)),
		odd("get-html", "GET shows a page", on("GET", func(v *visit) { v.send(200, "text/html", "<p>hello</p>") })),
		odd("get-500", "GET fails", on("GET", func(v *visit) { v.WriteHeader(500) })),
		odd("get-breaks", "the stream of the session breaks again and again", on("GET", func(v *visit) { v.sse("retry: 10\n\n") })),
		odd("initialized-200", "a notification gets 200 and an empty object", on("notifications/initialized", func(v *visit) { v.json(200, "{}") })),
		odd("hello-as-stream", "the handshake is answered in a stream", on("initialize", func(v *visit) { v.sse(event(answer(v.id, goodHello))) })),
		odd("probe-500", "server/discover fails with HTTP 500", on("server/discover", func(v *visit) { v.send(500, "text/html", "oops") })),
		odd("probe-200-error", "server/discover is refused with HTTP 200", on("server/discover", func(v *visit) { v.json(200, refusal(v.id, -32601, "Method not found")) })),
		odd("probe-text", "server/discover is refused with a line of text", on("server/discover", func(v *visit) { v.send(400, "text/plain", "Invalid request") })),
		odd("probe-401-id", "server/discover is refused with an error of id \"server-error\"", on("server/discover", func(v *visit) { v.json(400, refusal(`"server-error"`, -32600, "Bad Request: Missing session ID")) })),
		{id: "session/hello-401", what: "the handshake requires a login", http: &web{any: func(v *visit) bool {
			v.Header().Set("WWW-Authenticate", `Bearer realm="x"`)
			v.WriteHeader(401)
			return true
		}}, exit: 1, tests: "error error", says: []string{"401"}},
		{id: "session/hello-500", what: "the handshake fails with HTTP 500", http: &web{any: func(v *visit) bool { v.send(500, "text/plain", "database is down"); return true }}, exit: 1, tests: "error error", says: []string{"500", "database is down"}},
		{id: "session/hello-hangs", what: "the handshake gets no response", http: &web{any: func(v *visit) bool { v.hang(); return true }}, server: "connect_timeout: 1s", exit: 1, tests: "error error", says: []string{"no response to server/discover within 1s"}},
		{
			id: "session/cross-origin-secret", what: "a redirect to another origin, with a secret in the headers", http: &web{call: func(v *visit) { v.Header().Set("Location", "http://localhost:9/steal"); v.WriteHeader(307) }},
			server: "headers: {Authorization: {env: SECRET_OF_TEST}}", env: []string{"SECRET_OF_TEST=Bearer canary-4711-canary"}, exit: 1, tests: "error pass", says: []string{"another origin"}, never: []string{"canary-4711"},
		},

		modern("unknown-type", "an unknown resultType (2026-07-28)", `{"resultType":"hologram","content":[{"type":"text","text":"ok"}]}`, "fail pass", "result-type"),
		modern("asks-for-ever", "every round asks for more input (2026-07-28)", `{"resultType":"input_required","requestState":"s","inputRequests":{}}`, "fail pass", "input"),
		modern("asks-unscripted", "the result asks for an input that no suite scripts (2026-07-28)", `{"resultType":"input_required","inputRequests":{"a":{"method":"elicitation/create","params":{"mode":"form","message":"name?","requestedSchema":{"type":"object","properties":{}}}}}}`, "fail pass", "elicitation/create"),
		{id: "session/modern-404", what: "an unknown method at revision 2026-07-28: HTTP 404 and -32601", http: &web{modern: true, call: func(v *visit) { v.json(404, refusal(v.id, -32601, "Method not found")) }}, exit: 1, tests: "fail pass", says: []string{"-32601"}},
		{id: "session/modern-header-mismatch", what: "the headers are refused (-32020, 2026-07-28)", http: &web{modern: true, call: func(v *visit) { v.json(400, refusal(v.id, -32020, "Header mismatch")) }}, exit: 1, tests: "fail pass", says: []string{"-32020", "Header mismatch"}},
		{id: "session/modern-version", what: "the revision is refused at a call (-32022, 2026-07-28)", http: &web{modern: true, call: func(v *visit) {
			v.json(400, strings.Replace(refusal(v.id, -32022, "Unsupported"), `"code"`, `"data":{"supported":["2031-01-01"]},"code"`, 1))
		}}, exit: 1, tests: "fail pass", says: []string{"-32022"}},
	}
}
