//go:build linux

package faults_test

import "strings"

// resultRows are results that are wrong, or that only look correct.
func resultRows() []row {
	result := func(id, what, result, tests string, says ...string) row {
		return row{id: "result/" + id, what: what, stdio: talk{say: `{"jsonrpc":"2.0","id":$ID,"result":` + result + "}\n"}, exit: 1, tests: tests, says: says}
	}
	schema := func(id, what, schema, result, tests string, says ...string) row {
		r := row{id: "result/" + id, what: what, stdio: talk{
			tools: strings.Replace(goodTools, `"inputSchema"`, `"outputSchema":`+schema+`,"inputSchema"`, 1),
			say:   `{"jsonrpc":"2.0","id":$ID,"result":` + result + "}\n",
		}, exit: 1, tests: tests, says: says}
		r.suite = "servers: {s: {command: [\"$EXE\", --fault, \"$ID\"]}}\ntools: [{name: one, tool: t, args: {fault: true}}]\n"
		return r
	}
	list := func(id, what, tools string, exit int, says ...string) row {
		return row{id: "result/list-" + id, what: what, stdio: talk{tools: tools}, exit: exit, tests: "pass pass", says: says}
	}
	unusable := func(id, what, tools string, says ...string) row {
		r := list(id, what, tools, 1, says...)
		r.tests = "fail fail"
		return r
	}
	both := `{"content":[{"type":"text","text":"{\"n\":1}"}],"structuredContent":{"n":1}}`
	return []row{
		result("null", "the result is null", `null`, "fail pass", "bad-result", "null"),
		result("list", "the result is a list", `[1]`, "fail pass", "bad-result"),
		result("text", "the result is a text", `"ok"`, "fail pass", "bad-result"),
		result("empty", "the result is empty", `{}`, "fail pass", "content"),
		result("content-null", "content is null", `{"content":null}`, "fail pass", "content"),
		result("content-text", "content is a text", `{"content":"ok"}`, "fail pass", "content"),
		result("content-empty", "content is an empty list", `{"content":[]}`, "fail pass", "ok"),
		result("block-without-text", "a text block without a text", `{"content":[{"type":"text"}]}`, "fail pass", "text"),
		result("block-of-numbers", "a block that is a number", `{"content":[7]}`, "fail pass", "content"),
		result("text-is-number", "a text block whose text is a number", `{"content":[{"type":"text","text":5}]}`, "fail pass", "text"),
		result("is-error", "the tool failed", `{"content":[{"type":"text","text":"disk full"}],"isError":true}`, "fail pass", "disk full"),
		result("is-error-text", "isError is a text", `{"content":[{"type":"text","text":"ok"}],"isError":"yes"}`, "fail pass", "isError"),
		result("unknown-type", "an unknown resultType", `{"resultType":"hologram","content":[{"type":"text","text":"ok"}]}`, "fail pass", "result-type", "hologram"),
		result("almost", "a text that differs from the expected one", `{"content":[{"type":"text","text":"ok "}]}`, "fail pass", "exact"),
		{id: "result/is-error-unlooked-at", what: "the tool failed and no assertion examines that", stdio: talk{say: `{"jsonrpc":"2.0","id":$ID,"result":{"content":[{"type":"text","text":"ok"}],"isError":true}}` + "\n"}, exit: 1, tests: "fail pass", says: []string{"isError"}},
		{id: "result/is-error-no-expect", what: "the tool failed and the test expects nothing", stdio: talk{say: `{"jsonrpc":"2.0","id":$ID,"result":{"content":[{"type":"text","text":"boom"}],"isError":true}}` + "\n"}, test: "tags: [x]", exit: 1, tests: "fail pass", says: []string{"boom"}},

		schema("schema-broken", "structured content that does not fit the tool's schema", `{"type":"object","properties":{"n":{"type":"string"}}}`, both, "fail", "output-schema", "n"),
		schema("schema-missing", "no structured content although the tool declares an output schema", `{"type":"object"}`, goodResult, "fail", "output-schema"),
		{
			id: "result/schema-invalid", what: "the tool's output schema is invalid", stdio: talk{tools: strings.Replace(goodTools, `"inputSchema"`, `"outputSchema":{"type":"object","properties":{"n":{"type":"nonsense"}}},"inputSchema"`, 1), say: `{"jsonrpc":"2.0","id":$ID,"result":` + both + "}\n"},
			test: "tags: [x]", exit: 0, tests: "pass pass", says: []string{"schema"},
		},
		{
			id: "result/schema-network-ref", what: "the tool's output schema refers to an address on the network", stdio: talk{tools: strings.Replace(goodTools, `"inputSchema"`, `"outputSchema":{"type":"object","$ref":"http://127.0.0.1:9/schema.json"},"inputSchema"`, 1), say: `{"jsonrpc":"2.0","id":$ID,"result":` + both + "}\n"},
			test: "tags: [x]", exit: 0, tests: "pass pass", says: []string{"127.0.0.1:9"}, never: []string{"connection refused"},
		},
		{
			id: "result/schema-slow", what: "the tool's output schema takes exponential time to check", stdio: talk{
				tools: strings.Replace(goodTools, `"inputSchema"`, `"outputSchema":{"type":"object","properties":{"s":{"type":"string","pattern":"^(a+)+$"}}},"inputSchema"`, 1),
				say:   `{"jsonrpc":"2.0","id":$ID,"result":{"content":[],"structuredContent":{"s":"` + strings.Repeat("a", 40) + `!"}}}` + "\n",
			},
			suite: "servers: {s: {command: [\"$EXE\", --fault, \"$ID\"]}}\ntools: [{name: one, tool: t, args: {fault: true}}]\n", exit: 1, tests: "fail", says: []string{"output-schema"},
		},

		list("refused", "tools/list gets an error", ``, 0),
		list("no-tools", "the result of tools/list has no tools", `{}`, 1, "tool-list", "no tools"),
		list("text", "tools is a text", `{"tools":"none"}`, 1, "tool-list", "not an array"),
		list("same-cursor", "tools/list gives the same cursor again and again", strings.TrimSuffix(goodTools, "}")+`,"nextCursor":"x"}`, 0, "incomplete", "cursor", "twice"),
		unusable("hint-text", "an annotation of a tool is a text", strings.Replace(goodTools, `"inputSchema"`, `"annotations":{"readOnlyHint":"yes"},"inputSchema"`, 1), "bad-result", "readOnlyHint is a string"),
		unusable("schema-untyped", "an inputSchema without a type", strings.Replace(goodTools, `{"type":"object"}`, `{}`, 1), "bad-result", "inputSchema.type is missing"),
		list("nameless", "a tool without a name", `{"tools":[{"inputSchema":{}},{"name":"t","inputSchema":{"type":"object"}}]}`, 1, "bad-result", "name"),
		list("result-null", "the result of tools/list is null", `null`, 1, "bad-result"),
	}
}
