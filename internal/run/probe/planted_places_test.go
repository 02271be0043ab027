package probe_test

import (
	"bytes"
	"fmt"
	"net"
	"net/http"
	"slices"
	"strings"
	"sync/atomic"
	"testing"

	"mcptest/internal/offer/ruleset"
	"mcptest/internal/run/probe"
	"mcptest/internal/run/probe/verdict"
)

// exactNames is the listener of a server that knows the header Mcp-Method in one case only:
// it does not see mcp-METHOD.
type exactNames struct{ net.Listener }

func (l exactNames) Accept() (net.Conn, error) {
	c, err := l.Listener.Accept()
	return exactConn{c}, err
}

type exactConn struct{ net.Conn }

func (c exactConn) Read(p []byte) (int, error) {
	n, err := c.Conn.Read(p)
	copy(p, bytes.ReplaceAll(p[:n], []byte("\nmcp-METHOD:"), []byte("\nxxx-METHOD:")))
	return n, err
}

// aside are defects in the place where one looks last.
var aside = []struct {
	rule, place string
	http        bool
	versions    string
	plant       func(*planted)
}{
	{"message-schema", "capabilities of server/discover: {tools: yes}", false, modern, altered(inCapabilities("tools", "yes"))},
	{"message-schema", "capabilities of initialize: listChanged is text", true, older, altered(inCapabilities("resources", object{"listChanged": "no"}))},
	{"message-schema", "the last entry on the last page of tools/list", false, dual, altered(onLastPage(func(tool object) { tool["description"] = 7 }))},
	{"message-schema", "nextCursor of the second page", true, modern, altered(func(method string, res object) {
		if res["nextCursor"] == "from-6" {
			res["nextCursor"] = 6
		}
	})},
	{"list-cursor-end", "nextCursor: null on the last page", false, modern, altered(func(method string, res object) {
		if list, ok := res["tools"].([]object); ok && res["nextCursor"] == nil && len(list) > 0 {
			res["nextCursor"] = nil
		}
	})},
	{"capability-served", "prompts/list is always -32603", true, modern, answered("prompts/list", -32603)},
	{"capability-served", "resources/list is always -32000", false, modern, answered("resources/list", -32000)},
	{"tool-name", "the last tool of the last page", true, older, altered(onLastPage(func(tool object) { tool["name"] = "ask it" }))},
	{"tool-schema", "outputSchema of the last tool of the last page", false, modern, altered(onLastPage(func(tool object) {
		tool["outputSchema"] = object{"type": "object", "properties": object{"a": object{"type": "strng"}}}
	}))},
	{"tool-content", "the third block of a result", false, older, altered(func(method string, res object) {
		if list, ok := res["content"].([]object); ok && method == "tools/call" {
			res["content"] = append(list, text("more"), object{"type": "image", "data": "?", "mimeType": "image/png"})
		}
	})},
	{"cache-hints", "the second page of tools/list", false, modern, altered(func(method string, res object) {
		if res["nextCursor"] == "from-6" {
			delete(res, "ttlMs")
		}
	})},
	{"result-type", "the result of completion/complete", true, modern, altered(func(method string, res object) {
		if method == "completion/complete" {
			delete(res, "resultType")
		}
	})},
	{"message-schema", "the level of a log message of the last tool", false, older, withDefect("message-schema/level")},
	{"message-schema", "total of the last progress of a call", true, modern, withDefect("message-schema/total")},
	{"message-schema", "a later server/discover without capabilities", false, modern, altered(after(2, "server/discover", func(res object) {
		delete(res, "capabilities")
	}))},
	{"discover-present", "supportedVersions lacks the version that is served", false, modern, altered(on("server/discover", "supportedVersions", []string{"2025-11-25"}))},
	{"completion-limit", "the variable of a template", true, older, altered(after(2, "completion/complete", func(res object) {
		res["completion"] = object{"values": make([]string, 101)}
	}))},
	{"resource-base64", "the last of thirty resources", false, older, altered(func(method string, res object) {
		list, _ := res["resources"].([]object)
		for i := len(list); method == "resources/list" && i < 30; i++ {
			res["resources"] = slices.Insert(res["resources"].([]object), 0, list[0])
		}
		if list, ok := res["contents"].([]object); ok && list[0]["blob"] != nil {
			list[0]["blob"] = "?"
		}
	})},
	{"message-unanswered", "one of two requests at once", false, dual, withDefect("message-unanswered/together")},
	{"message-unanswered", "HTTP 500 for prompts/get", true, dual, instead("prompts/get", 500, "text/html", "<h1>it failed</h1>")},
	{"message-jsonrpc", "the response to prompts/get has a method", false, dual, changed("prompts/get", `"jsonrpc":"2.0"`, `"jsonrpc":"2.0","method":"prompts/get"`)},
	{"message-jsonrpc", "a notification before a prompt, whose method is a number", false, older, changed("prompts/get", `{"jsonrpc"`, `{"jsonrpc":"2.0","method":5}`+"\n"+`{"jsonrpc"`)},
	{"message-id", "a text that is not in ASCII", false, dual, changed("", "\u00e9", "e")},
	{"message-code-meaning", "an unknown resource, over HTTP", true, modern, changed("resources/read", `"code":-32602`, `"code":-32020`)},
	{"progress-token", "a text of digits becomes a number", false, older, withDefect("progress-token/number")},
	{"message-jsonrpc", "the response to prompts/get", true, modern, changed("prompts/get", `"jsonrpc":"2.0"`, `"jsonrpc":"2"`)},
	{"meta-key", "_meta of a resource that is read", true, older, altered(on("resources/read", "_meta", object{"a b": 1}))},
	{"prompt-message", "the last prompt", true, older, altered(func(method string, res object) {
		if list, ok := res["messages"].([]object); ok && list[0]["content"].(object)["type"] == "image" {
			list[0]["role"] = "tool"
		}
	})},
	{"resource-base64", "the last resource, over HTTP", true, modern, withDefect("resource-base64/text")},
	{"resource-missing", "a template matches the siblings of all resources", false, dual, func(p *planted) {
		p.defect = "resource-missing/served"
		p.alter = on("resources/templates/list", "resourceTemplates", []object{{"uriTemplate": "note:///{name}", "name": "note"}})
	}},
	{"resource-traversal", "a template of files", false, modern, withDefect("resource-traversal/file")},
	{"list-changed", "a call that adds a tool on the last page, in a session", false, older, growing},
	{"list-changed", "a call that adds a tool on the last page, to a subscriber", false, modern, growing},
	{"logging-filter", "the last tool", false, older, withDefect("logging-filter/last")},
	{"input-method", "the result of completion/complete", false, modern, altered(func(method string, res object) {
		if method == "completion/complete" {
			res["resultType"], res["requestState"] = "input_required", "x"
		}
	})},
	{"message-code-meaning", "refused arguments, over stdio", false, modern, changed("", `"code":-32602`, `"code":-32020`)},
	{"capability-error-data", "an unknown resource", false, modern, changed("resources/read", `"code":-32602`, `"code":-32021`)},
	{"task-required", "the second tool", true, "2025-11-25", withDefect("task-required/served")},
	{"argument-text-json", "arguments within arguments", false, dual, withDefect("argument-text-json/crash")},
	{"header-case", "the name of Mcp-Method", true, modern, withDefect("header-case/exact")},
	{"header-mismatch", "Mcp-Name of resources/read", true, modern, withDefect("header-mismatch/name")},
	{"header-missing", "Mcp-Name", true, modern, withDefect("header-missing/name")},
	{"message-unanswered", "the status 200 and no body for prompts/get", true, dual, instead("prompts/get", 200, "application/json", "")},
	{"message-unanswered", "a page for resources/read", true, dual, instead("resources/read", 200, "text/html", "<h1>hello</h1>")},
	{"message-unanswered", "the status 202 for completion/complete", true, modern, instead("completion/complete", 202, "", "")},
	{"message-unanswered", "an event stream without a response for prompts/get", true, dual, instead("prompts/get", 200, "text/event-stream", ": nothing\n\n")},
	{"message-jsonrpc", "an event that is cut, for prompts/get", true, dual, instead("prompts/get", 200, "text/event-stream", "data: {\"jsonrpc\":\n\n")},
	{"message-jsonrpc", "two documents for completion/complete", true, older, insteadBy("completion/complete", func(out string) string { return out + "\n" + out })},
	{"message-jsonrpc", "a list with the response to prompts/get", true, modern, insteadBy("prompts/get", func(out string) string { return "[" + out + "]" })},
	{"message-jsonrpc", "an empty list before a prompt, on a stream", false, older, func(p *planted) {
		p.raw = text2("prompts/get", `{"jsonrpc"`, "[]\n"+`{"jsonrpc"`)
	}},
	{"message-schema", "a value of a completion is a number", false, dual, altered(func(method string, res object) {
		if method == "completion/complete" {
			res["completion"] = object{"values": []any{1}}
		}
	})},
	{"message-answered-again", "DELETE ends the server", true, older, withDefect("message-answered-again/at:DELETE")},
	{"http-origin", "only tools/call is served", true, older, withDefect("http-origin/at:tools/call")},
	{"http-origin", "only GET is served", true, older, func(p *planted) { p.defect, p.replays = "http-origin/at:GET", true }},
	{"http-version-header", "only prompts/get is served", true, older, withDefect("http-version-header/at:prompts/get")},
	{"http-notification", "notifications/cancelled gets 200", true, older, withDefect("http-notification/at:notifications/cancelled")},
	{"meta-required", "only completion/complete is served", false, modern, withDefect("meta-required/at:completion/complete")},
	{"version-unsupported", "only tools/call is served", true, modern, withDefect("version-unsupported/at:tools/call")},
	{"header-mismatch", "only Mcp-Method of resources/read is not compared", true, modern, withDefect("header-mismatch/at:resources/read")},
	{"header-mismatch", "only Mcp-Method of prompts/list is not compared", true, modern, withDefect("header-mismatch/at:prompts/list")},
	{"header-mismatch", "Mcp-Name is compared without case", true, modern, withDefect("header-mismatch/case")},
	{"header-mismatch", "only the beginning of Mcp-Name is compared", true, modern, withDefect("header-mismatch/begins")},
	{"message-schema", "the error -32022 has no data.requested", true, modern, changed("", `"requested"`, `"x"`)},
	{"message-error", "the body of a refusal for a header", true, modern, changed("", `"message":"Mcp-Method differs`, `"text":"x`)},
	{"message-error", "the body of 404 for an unknown method", true, modern, changed("", `"code":-32601`, `"code":"-32601"`)},
	{"message-id", "the body of a refusal for a header", true, modern, refusedAs(99)},
	{"message-batch", "both responses have the id of the first", true, "2025-03-26", withDefect("message-batch/one")},
	{"listen-only", "one message at the beginning of a subscription", true, modern, withDefect("listen-only/first")},
	{"session-ended", "only tools/call is served", true, older, withDefect("session-ended/at:tools/call")},
	{"session-ended", "only the stream of GET is open", true, older, func(p *planted) {
		p.defect, p.replays = "session-ended/at:GET", true
	}},
	{"session-ended", "only a notification is accepted", true, older, withDefect("session-ended/at:notifications/initialized")},
	{"session-ended", "503, which a living session does not get", true, older, withDefect("session-ended/503")},
	{"session-missing", "an error within the status 200", true, older, withDefect("session-missing/within")},
	{"session-fixation", "only resources/read is served", true, older, withDefect("session-fixation/at:resources/read")},
	{"isolation-data", "one map of ids for all sessions", true, dual, withDefect("isolation-data/at:tools/call")},
	{"auth-401", "the stream of GET is open", true, older, guardedStreams("auth-401/at:GET")},
	{"auth-401", "DELETE ends the session", true, older, guardedStreams("auth-401/at:DELETE")},
	{"auth-401", "only tools/call is served", true, dual, guarded("auth-401/at:tools/call")},
	{"auth-401", "an error within the status 200", true, dual, guarded("auth-401/within")},
	{"auth-anonymous", "an error within the status 200", true, older, guarded("auth-anonymous/within")},
	{"auth-metadata-resource", "another port of this machine", true, dual, guarded("auth-metadata-resource/port")},
	{"auth-as-metadata", "the issuer of another authorization server", true, older, guarded("auth-as-metadata/issuer")},
}

func altered(alter func(string, object)) func(*planted) {
	return func(p *planted) { p.alter = alter }
}

// after changes the results of a method from the one after n on.
func after(n int64, method string, change func(object)) func(string, object) {
	var seen atomic.Int64
	return func(m string, res object) {
		if m == method && seen.Add(1) > n {
			change(res)
		}
	}
}

func changed(method, old, now string) func(*planted) {
	return func(p *planted) { p.raw = text2(method, old, now) }
}

func withDefect(defect string) func(*planted) { return func(p *planted) { p.defect = defect } }

// guarded is a server that requires a token, with a defect.
func guarded(defect string) func(*planted) {
	return func(p *planted) { p.defect, p.token, p.sessions = defect, "good", false }
}

// guardedStreams is a server with sessions and streams that requires a token, with a defect.
func guardedStreams(defect string) func(*planted) {
	return func(p *planted) { p.defect, p.token, p.replays = defect, "good", true }
}

// refusedAs is a server whose refusals for a header have the id of another request.
func refusedAs(id int) func(*planted) {
	return func(p *planted) {
		p.raw = func(_, out string) string {
			before, after, _ := strings.Cut(out, `"id":`)
			if _, rest, ok := strings.Cut(after, `,"error":{"code":-32020`); ok {
				return before + fmt.Sprintf(`"id":%d,"error":{"code":-32020`, id) + rest
			}
			return out
		}
	}
}

// instead is a server that writes something else over HTTP than the response to a method.
func instead(method string, status int, kind, body string) func(*planted) {
	return func(p *planted) {
		p.insteadOf, p.instead = method, func(w http.ResponseWriter, _ string) {
			w.Header().Set("Content-Type", kind)
			w.WriteHeader(status)
			fmt.Fprint(w, body)
		}
	}
}

// insteadBy is a server that changes the body with the response to a method.
func insteadBy(method string, change func(string) string) func(*planted) {
	return func(p *planted) {
		p.insteadOf, p.instead = method, func(w http.ResponseWriter, out string) {
			w.Header().Set("Content-Type", "application/json")
			fmt.Fprint(w, change(out))
		}
	}
}

func growing(p *planted) { p.defect, p.grows = "list-changed/silent", true }

// inCapabilities changes a capability in the handshake.
func inCapabilities(name string, value any) func(string, object) {
	return func(method string, res object) {
		if caps, ok := res["capabilities"].(object); ok {
			caps[name] = value
		}
	}
}

// onLastPage changes the last tool.
func onLastPage(change func(tool object)) func(string, object) {
	return func(method string, res object) {
		if list, ok := res["tools"].([]object); ok && res["nextCursor"] == nil && len(list) > 0 {
			change(list[len(list)-1])
		}
	}
}

// answered replaces each response to a method by an error.
func answered(method string, code int) func(*planted) {
	return func(p *planted) {
		p.raw = func(m, out string) string {
			head, _, ok := strings.Cut(out, `"result":`)
			if m != method || !ok {
				return out
			}
			return head + fmt.Sprintf(`"error":{"code":%d,"message":"it failed"}}`, code)
		}
	}
}

// Each defect fails its rule, wherever it is.
func TestDefectsInUnlikelyPlacesAreFlagged(t *testing.T) {
	t.Parallel()
	rules, err := ruleset.Builtin()
	if err != nil {
		t.Fatal(err)
	}
	for _, d := range aside {
		t.Run(d.rule+"/"+d.place, func(t *testing.T) {
			t.Parallel()
			r, ok := rules.Rule(d.rule)
			if !ok {
				t.Fatal("there is no such rule")
			}
			p := &planted{versions: strings.Fields(d.versions), sessions: d.http}
			d.plant(p)
			rep := examine(t, p, d.http, func(o *probe.Options) {
				o.Only = []string{r.Family, "tools", "resources"} // whose calls show it
				if r.Traffic {
					o.Only = append(o.Only, "capabilities", "lists", "prompts", "utilities")
				}
				if r.Traffic && d.http && d.versions == modern {
					o.Only = append(o.Only, "stateless")
				}
			})
			for _, x := range rep.Results {
				if x.Rule == d.rule && x.Verdict == verdict.Fail {
					return
				}
			}
			t.Errorf("not found; failed: %q", failed(rep, true))
			for _, x := range rep.Results {
				if x.Rule == d.rule {
					t.Errorf("%s: %s %s", x.Revision, x.Verdict, x.Reason)
				}
			}
		})
	}
}

// A correct server may return fewer blocks in a later call, and end a list of 2026-07-28
// with null; one that asks for input sends no request.
func TestWhatIsNoViolation(t *testing.T) {
	t.Parallel()
	var calls atomic.Int64
	fewer := func(method string, res object) {
		if list, ok := res["content"].([]object); ok && calls.Add(1)%2 == 1 {
			res["content"] = append(list, text("more"))
		}
	}
	null := func(method string, res object) {
		if res["tools"] != nil && res["nextCursor"] == nil {
			res["nextCursor"] = nil
		}
	}
	for _, c := range []struct {
		p    *planted
		rule string // that must not fail
	}{
		{&planted{versions: strings.Fields(dual), alter: fewer}, "tool-content"},
		{&planted{versions: strings.Fields(modern), alter: null}, "message-schema"},
		{&planted{versions: strings.Fields(modern), defect: "input-declared/elicitation"}, "server-request"},
	} {
		rep := examine(t, c.p, false, func(o *probe.Options) { o.Only = []string{c.rule, "tools", "lists"} })
		if i := slices.IndexFunc(rep.Results, func(x verdict.Result) bool { return x.Rule == c.rule && x.Verdict == verdict.Fail }); i >= 0 {
			t.Errorf("%s: %+v", c.rule, rep.Results[i].Failures)
		}
	}
}
