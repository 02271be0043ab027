//go:build linux

package faults_test

import (
	"bytes"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"time"
)

// messageRows are JSON-RPC messages that are wrong: ids, members, requests of
// the server.
func messageRows() []row {
	noise := func(id, what, say, kind string, says ...string) row {
		return row{id: "message/" + id, what: what, stdio: talk{say: say}, exit: 1, tests: "pass pass", says: append(says, kind)}
	}
	own := func(id, what, say, kind string, says ...string) row {
		return row{id: "message/" + id, what: what, stdio: talk{say: say}, exit: 1, tests: "fail pass", says: append(says, kind)}
	}
	odd := func(id, what, say string) row {
		return row{id: "message/odd-" + id, what: "odd: " + what, stdio: talk{say: say}, tests: "pass pass"}
	}
	rest := `,"result":` + goodResult + "}\n"
	asks := func(id, method string) string {
		return `{"jsonrpc":"2.0","id":` + id + `,"method":"` + method + `"}` + "\n"
	}
	return []row{
		own("id-text", "the id comes back as text", `{"jsonrpc":"2.0","id":"$ID"`+rest, "id-type"),
		own("id-float", "the id comes back as 3.0", `{"jsonrpc":"2.0","id":$ID.0`+rest, "id-type"),
		own("id-list", "the id comes back in a list", `{"jsonrpc":"2.0","id":[$ID]`+rest, "id-type"),
		noise("duplicate-key-notification", "a key twice inside a notification", `{"jsonrpc":"2.0","method":"notifications/message","params":{"level":"info","data":{"a":1,"a":2}}}`+"\n$OK", "duplicate-key", "/params/data/a"),
		noise("lone-surrogate-notification", "half of a surrogate pair in a notification", `{"jsonrpc":"2.0","method":"notifications/message","params":{"level":"info","data":"\ud800"}}`+"\n$OK", "lone-surrogate", "/params/data"),
		noise("duplicate-key-request", "a key twice inside a request of the server", `{"jsonrpc":"2.0","id":"s1","method":"ping","params":{"a":1,"a":2}}`+"\n$OK", "duplicate-key", "/params/a"),
		{id: "message/duplicate-key-hello", what: "a key twice inside the response to initialize", stdio: talk{hello: `{"protocolVersion":"2025-11-25","capabilities":{"tools":{},"tools":{}},"serverInfo":{"name":"faulty","version":"1"}}`}, exit: 1, tests: "pass pass", says: []string{"duplicate-key", "/result/capabilities/tools"}},
		{id: "message/lone-surrogate-hello", what: "half of a surrogate pair in the response to initialize", stdio: talk{hello: `{"protocolVersion":"2025-11-25","capabilities":{"tools":{}},"serverInfo":{"name":"\ud800","version":"1"}}`}, exit: 1, tests: "pass pass", says: []string{"lone-surrogate", "/result/serverInfo/name"}},
		{id: "message/duplicate-key-discover", what: "a key twice inside the response to server/discover", stdio: talk{found: strings.Replace(goodFound, `"tools":{}`, `"tools":{},"tools":{}`, 1)}, exit: 1, tests: "pass pass", says: []string{"duplicate-key", "/result/capabilities/tools"}},
		{id: "message/duplicate-key-list", what: "an outputSchema twice in the list of tools", stdio: talk{tools: strings.Replace(goodTools, `"inputSchema"`, `"outputSchema":{"type":"object"},"outputSchema":{"type":"object","properties":{}},"inputSchema"`, 1), say: `{"jsonrpc":"2.0","id":$ID,"result":{"content":[{"type":"text","text":"ok"}],"structuredContent":{}}}` + "\n"}, exit: 1, tests: "pass fail", says: []string{"duplicate-key", "/result/tools/0/outputSchema"}},
		noise("id-null", "an additional answer with the id null", `{"jsonrpc":"2.0","id":null,"error":{"code":-32700,"message":"x"}}`+"\n$OK", "null-id"),
		{id: "message/id-null-only", what: "the only response has the id null", stdio: talk{act: later(`{"jsonrpc":"2.0","id":null` + rest)}, exit: 1, tests: "pass pass", says: []string{"null-id"}},
		{id: "message/id-missing", what: "the only response has no id", stdio: talk{act: later(`{"jsonrpc":"2.0"` + rest)}, exit: 1, tests: "pass pass", says: []string{"missing-id"}},
		noise("id-unknown", "a response to an id that was never sent", `{"jsonrpc":"2.0","id":999`+rest+"$OK", "unknown-id", "999"),
		noise("id-huge", "a response to an id of 40 digits", `{"jsonrpc":"2.0","id":1234567890123456789012345678901234567890`+rest+"$OK", "unknown-id"),
		noise("id-old", "a second answer to an old request", `{"jsonrpc":"2.0","id":$OLD`+rest+"$OK", "duplicate-id"),
		own("answered-twice", "the call is answered twice", "$OK$OK", "duplicate-id"),
		{id: "message/wrong-id-only", what: "the only response has an id that was never sent", stdio: talk{say: `{"jsonrpc":"2.0","id":4711` + rest}, test: "timeout: 500ms", exit: 1, tests: "error pass", says: []string{"unknown-id", "(limit: timeout 500ms)"}},
		{id: "message/counts-for-itself", what: "the server ignores request ids and numbers its responses itself", stdio: talk{say: `{"jsonrpc":"2.0","id":3` + rest}, test: "timeout: 500ms", exit: 1, tests: "error pass", says: []string{"unknown-id", "response to id 3"}},
		{id: "message/answered-ahead", what: "the server answers the next request, too, before it was sent", stdio: talk{act: func(s *stdio) {
			n, _ := strconv.Atoi(s.id)
			s.write(answer(s.id, goodResult) + answer(strconv.Itoa(n+1), goodResult))
		}}, exit: 1, tests: "pass pass", says: []string{"unknown-id"}},
		{id: "message/answered-early", what: "a response before its request", stdio: talk{at: "start", say: `{"jsonrpc":"2.0","id":3` + rest}, exit: 1, tests: "pass pass", says: []string{"response to id 3"}},
		own("no-version", "a response without \"jsonrpc\"", `{"id":$ID`+rest, "bad-jsonrpc"),
		own("version-1", "a response with \"jsonrpc\": \"1.0\"", `{"jsonrpc":"1.0","id":$ID`+rest, "bad-jsonrpc"),
		own("result-and-error", "a response with a result and an error", `{"jsonrpc":"2.0","id":$ID,"error":{"code":1,"message":"m"}`+rest, "result-and-error"),
		own("result-and-null-error", "a response with a result and the error null", `{"jsonrpc":"2.0","id":$ID,"error":null`+rest, "result-and-error"),
		own("neither", "a response with neither", `{"jsonrpc":"2.0","id":$ID}`+"\n", "no-result", "neither a result nor an error"),
		own("error-null", "an error that is null", `{"jsonrpc":"2.0","id":$ID,"error":null}`+"\n", "bad-error", "error is null"),
		own("error-text", "an error that is a text", `{"jsonrpc":"2.0","id":$ID,"error":"boom"}`+"\n", "bad-error", "boom"),
		own("error-no-code", "an error without a code", `{"jsonrpc":"2.0","id":$ID,"error":{"message":"m"}}`+"\n", "bad-error"),
		own("error-text-code", "an error whose code is a text", `{"jsonrpc":"2.0","id":$ID,"error":{"code":"E1","message":"m"}}`+"\n", "bad-error"),
		own("error-no-message", "an error without a message", `{"jsonrpc":"2.0","id":$ID,"error":{"code":1}}`+"\n", "bad-error"),
		{id: "message/error", what: "a correct error", stdio: talk{say: `{"jsonrpc":"2.0","id":$ID,"error":{"code":-32602,"message":"no such thing"}}` + "\n"}, exit: 1, tests: "fail pass", says: []string{"-32602", "no such thing"}},
		{
			id: "message/error-unlooked-at", what: "an error that no assertion examines", stdio: talk{say: `{"jsonrpc":"2.0","id":$ID,"error":{"code":-32602,"message":"no such thing"}}` + "\n"}, test: "expect: [{target: duration_ms, matcher: {lt: 60000}}]",
			exit: 1, tests: "fail pass", says: []string{"no such thing"},
		},
		own("with-method", "a response that is a request, too", `{"jsonrpc":"2.0","id":$ID,"method":"tools/call"`+rest, "bad-message"),
		{id: "message/echo", what: "the server sends our request back", stdio: talk{act: func(s *stdio) { s.write(string(s.line)) }}, exit: 1, tests: "fail pass", says: []string{"sent the request itself back"}},
		noise("method-number", "a notification whose method is a number", `{"jsonrpc":"2.0","method":7}`+"\n$OK", "bad-message"),
		noise("params-list", "a notification whose params are a list", `{"jsonrpc":"2.0","method":"notifications/message","params":[1]}`+"\n$OK", "bad-message"),
		noise("progress-of-no-request", "progress for a request that does not exist", `{"jsonrpc":"2.0","method":"notifications/progress","params":{"progressToken":"zz","progress":1}}`+"\n$OK", "progress-token"),
		noise("request-null-id", "a request of the server with the id null", asks("null", "ping")+"$OK", "bad-message"),
		{id: "message/odd-ping", what: "odd: the server pings during a call, and waits for the response", stdio: talk{act: askAndGoOn("ping")}, server: "validate_output: false", tests: "pass pass"},
		odd("logs", "the server logs during a call", `{"jsonrpc":"2.0","method":"notifications/message","params":{"level":"info","data":"x"}}`+"\n$OK"),
		odd("list-changed", "the server says that its tools changed", `{"jsonrpc":"2.0","method":"notifications/tools/list_changed"}`+"\n$OK"),
		odd("unknown-notification", "an unknown notification", `{"jsonrpc":"2.0","method":"notifications/vendor/x","params":{}}`+"\n$OK"),
		odd("own-ids", "a request of the server with our own id", asks("$ID", "ping")+"$OK"),
		{id: "message/odd-out-of-order", what: "odd: two calls in flight are answered in the other order", stdio: talk{at: "tools/call", act: func(s *stdio) {
			first, method := s.id, "" // of either test: both are sent at once
			for method != "tools/call" && s.next() {
				var m struct {
					ID     json.RawMessage
					Method string
				}
				_ = json.Unmarshal(s.line, &m)
				s.id, method = string(m.ID), m.Method
				s.behave(method)
			}
			s.write(answer(first, goodResult))
		}}, server: "validate_output: false", more: "run_options: {parallel: 2}\n", tests: "pass pass"},
		{id: "message/asks-unscripted", what: "the server requests sampling that the suite does not script, and continues without it", stdio: talk{act: askAndGoOn("sampling/createMessage")}, server: "validate_output: false", exit: 1, tests: "pass pass", says: []string{"though the client did not declare sampling"}, after: recorded("sampling/createMessage", "-32601")},
		{id: "message/asks-unknown", what: "the server sends an unknown request and continues without a response", stdio: talk{act: askAndGoOn("vendor/secret")}, server: "validate_output: false", tests: "pass pass", after: recorded("vendor/secret", "-32601")},
		{id: "message/endless-asking", what: "the server sends 20,000 requests during a call", stdio: talk{act: func(s *stdio) {
			id := s.id
			for i := range 20000 { // and reads no response
				s.write(asks(fmt.Sprintf("\"q%d\"", i), "roots/list"))
			}
			s.write(answer(id, goodResult))
		}}, exit: 1, tests: "pass pass", says: []string{"flood", "concurrent requests of the server"}, within: 8 * time.Second},
	}
}

// askAndGoOn sends a request, waits for its response, and responds to the call.
func askAndGoOn(method string) func(*stdio) {
	return func(s *stdio) {
		id := s.id
		s.write(`{"jsonrpc":"2.0","id":"q1","method":"` + method + `","params":{}}` + "\n")
		for s.next() {
			if bytes.Contains(s.line, []byte(`"q1"`)) {
				s.write(answer(id, goodResult))
				return
			}
		}
	}
}

// later sends something while the call is the only one in flight: the list of tools is
// requested together with the first call.
func later(say string) func(*stdio) {
	return func(s *stdio) {
		go func() {
			delay(300 * time.Millisecond)
			s.write(say)
		}()
	}
}

// recorded checks that the record contains texts.
func recorded(texts ...string) func(*trial) {
	return func(t *trial) {
		raw, err := os.ReadFile(filepath.Join(t.dir, "run.json"))
		if err != nil {
			t.tb.Error(err)
		}
		for _, text := range texts {
			if !bytes.Contains(raw, []byte(text)) {
				t.tb.Errorf("the record lacks %q", text)
			}
		}
	}
}
