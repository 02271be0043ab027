package probe_test

import (
	"slices"
	"strings"
	"testing"

	"mcptest/internal/base/testkit"
	"mcptest/internal/offer/ruleset"
	"mcptest/internal/run/probe"
	"mcptest/internal/run/probe/verdict"
)

// held are defects that were written from the texts of the rules, in forms that the code
// was not written for, after the code was complete.
var held = []struct {
	rule, what string
	http       bool
	versions   string
	alter      func(method string, res object)      // of a result
	raw        func(method, response string) string // of any response
}{
	{"lifecycle-result", "serverInfo is text", false, older, on("initialize", "serverInfo", "planted"), nil},
	{"lifecycle-result", "capabilities is null", false, older, on("initialize", "capabilities", nil), nil},
	{"lifecycle-result", "a capability is a list", false, older, on("initialize", "capabilities", object{"tools": []string{}}), nil},
	{"discover-present", "supportedVersions is text", false, modern, on("server/discover", "supportedVersions", "2026-07-28"), nil},
	{"message-jsonrpc", "the version is 1.0", false, dual, nil, text2("prompts/list", `"jsonrpc":"2.0"`, `"jsonrpc":"1.0"`)},
	{"message-jsonrpc", "the version is a number", false, older, nil, text2("resources/list", `"jsonrpc":"2.0"`, `"jsonrpc":2.0`)},
	{"message-error", "the code has a fraction", false, dual, nil, text2("", `"code":-32601`, `"code":-32601.5`)},
	{"message-error", "the message is an object", false, older, nil, text2("", `"message":"method not found`, `"message":{},"x":"method not found`)},
	{"message-id", "a list has an id inside a list", false, older, nil, func(method, out string) string {
		if method == "prompts/list" {
			return strings.Replace(out, `"id":`, `"id":[`, 1)[:strings.Index(out, `,"result"`)+1] + "]" + out[strings.Index(out, `,"result"`):]
		}
		return out
	}},
	{"message-utf8", "a byte that begins nothing", false, dual, nil, text2("prompts/list", `"plain"`, "\"pl\xffin\"")},
	{"message-stdout", "an empty object before each list", false, older, nil, text2("resources/list", `{"jsonrpc"`, "debug {}\n"+`{"jsonrpc"`)},
	{"meta-key", "a space in the prefix", false, dual, func(method string, res object) {
		if method == "tools/list" {
			res["_meta"] = object{"my app/key": 1}
		}
	}, nil},
	{"message-schema", "the entries are text", false, dual, on("resources/list", "resources", []string{"note:///first"}), nil},
	{"list-unique", "the last tool has the name of the first", false, dual, eachTool(func(i int, tool object) {
		if tool["name"] == "picture" {
			tool["name"] = "echo"
		}
	}), nil},
	{"tool-name", "an umlaut", false, dual, eachTool(func(i int, tool object) {
		if tool["name"] == "count" {
			tool["name"] = "zählen"
		}
	}), nil},
	{"tool-schema", "true", false, dual, eachTool(func(i int, tool object) { tool["inputSchema"] = true }), nil},
	{"tool-schema", "the type of a list", false, dual, eachTool(func(i int, tool object) { tool["inputSchema"] = object{"type": "array"} }), nil},
	{"tool-schema", "required is text", false, dual, eachTool(func(i int, tool object) {
		tool["inputSchema"] = object{"type": "object", "required": "text"}
	}), nil},
	{"tool-header-param", "on a list", false, modern, eachTool(func(i int, tool object) {
		tool["inputSchema"] = schema(nil, object{"a": object{"type": "array", "x-mcp-header": "A"}})
	}), nil},
	{"tool-output-schema", "structuredContent is a list", false, dual, func(method string, res object) {
		if res["structuredContent"] != nil {
			res["structuredContent"] = []any{1}
		}
	}, nil},
	{"tool-content", "a text block without text", false, dual, on("tools/call", "content", []object{{"type": "text"}}), nil},
	{"tool-content", "a link without an address", false, dual, on("tools/call", "content", []object{{"type": "resource_link", "name": "x"}}), nil},
	{"resource-uri", "a number", false, dual, on("resources/read", "contents", []object{{"uri": 1, "text": "x"}}), nil},
	{"resource-base64", "base64 for addresses", false, dual, on("resources/read", "contents", []object{{"uri": "note:///first", "blob": "-_-_"}}), nil},
	{"prompt-message", "the content is a list", false, dual, on("prompts/get", "messages", []object{{"role": "user", "content": []object{text("x")}}}), nil},
	{"prompt-message", "the role of a tool", false, dual, on("prompts/get", "messages", []object{{"role": "tool", "content": text("x")}}), nil},
	{"completion-limit", "a thousand values", false, older, on("completion/complete", "completion", object{"values": make([]string, 1000)}), nil},
	{"ping-empty", "a text", false, older, on("ping", "status", "ok"), nil},
	{"cache-hints", "ttlMs is text", false, dual, on("tools/list", "ttlMs", "60"), nil},
	{"cache-hints", "no cacheScope of discover", false, modern, func(method string, res object) {
		if method == "server/discover" {
			delete(res, "cacheScope")
		}
	}, nil},
	{"result-type", "a number", false, modern, on("prompts/list", "resultType", 1), nil},
	{"version-unsupported", "the versions are text", false, modern, nil, text2("", `"supported":["2026-07-28"]`, `"supported":"2026-07-28"`)},
	{"message-reserved-code", "the code of the resource that is missing", false, modern, nil, text2("", `"code":-32602`, `"code":-32002`)},
	{"resource-missing", "the code of the parser", true, dual, nil, text2("resources/read", `"code":-32602`, `"code":-32700`)},
	{"prompt-unknown", "the code of a missing method", true, older, nil, text2("prompts/get", `"code":-32602`, `"code":-32601`)},
	{"message-id", "null over HTTP", true, older, nil, text2("prompts/list", `"id":`, `"id":null,"was":`)},
}

// on sets a member of the results of a method.
func on(method, member string, value any) func(string, object) {
	return func(m string, res object) {
		if m == method {
			res[member] = value
		}
	}
}

func eachTool(change func(i int, tool object)) func(string, object) {
	return func(method string, res object) {
		if list, ok := res["tools"].([]object); ok && method == "tools/list" {
			for i, tool := range list {
				change(i, tool)
			}
		}
	}
}

// text2 replaces text in the responses of a method, or of all.
func text2(method, old, now string) func(string, string) string {
	return func(m, out string) string {
		if method != "" && m != method {
			return out
		}
		return strings.Replace(out, old, now, 1)
	}
}

// The defects that were held back fail their rules, but for those that are not found.
func TestHeldBackDefects(t *testing.T) {
	t.Parallel()
	rules, err := ruleset.Builtin()
	if err != nil {
		t.Fatal(err)
	}
	for _, h := range held {
		t.Run(h.rule+"/"+h.what, func(t *testing.T) {
			t.Parallel()
			r, ok := rules.Rule(h.rule)
			if !ok {
				t.Fatal("there is no such rule")
			}
			p := &planted{versions: strings.Fields(h.versions), sessions: h.http, alter: h.alter, raw: h.raw}
			rep := examine(t, p, h.http, func(o *probe.Options) {
				if !testkit.Deep() && h.rule != "message-reserved-code" { // seen in refusals of all families
					o.Only = []string{r.Family}
				}
			})
			if !slices.ContainsFunc(rep.Results, func(x verdict.Result) bool { return x.Verdict == verdict.Fail && x.Rule == h.rule }) {
				t.Errorf("not found; failed: %q", failed(rep, true))
				for _, x := range rep.Results {
					if x.Rule == h.rule {
						t.Errorf("%s: %s %s", x.Revision, x.Verdict, x.Reason)
					}
				}
			}
		})
	}
}
