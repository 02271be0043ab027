package check

import (
	"strings"
	"testing"

	"mcptest/internal/base/jsonv"
	"mcptest/internal/base/testkit"
	"mcptest/internal/client/mcp"
	"mcptest/internal/client/protocol"
	"mcptest/internal/client/wire"
)

func TestResultViolations(t *testing.T) {
	const call, read, now = "tools/call", "resources/read", "2025-11-25"
	block := func(members string) string {
		return `{"content":[{"type":"text","text":"x",` + members + `}]}`
	}
	for _, tt := range []struct{ method, protocol, result, want string }{
		{"tools/call", "2025-11-25", `{"content":[]}`, ""},
		{"tools/call", "2025-11-25", `{"structuredContent":{}}`, "the result has no content"},
		{"tools/call", "2026-07-28", `{"resultType":"complete","structuredContent":{}}`, "the result has no content"},
		{"tools/call", "2025-11-25", `{"task":{"taskId":"t","status":"working"}}`, "the result has no content"},
		{"tools/call as a task", "2025-11-25", `{"task":{"taskId":"t","status":"working"}}`, ""},
		{"tools/call as a task", "2025-11-25", `{"content":[]}`, ""},
		{"tools/call", "2025-11-25", `{"task":{}}`, "the result has no content"},
		{"tools/call", "2025-11-25", `{"content":[{"type":"text","text":""},{"type":"hologram"}]}`, ""},
		{"tools/call", "2025-11-25", `{"content":[{"type":"resource_link","uri":"a:b","name":"n"}]}`, ""},
		{"tools/call", "2025-11-25", `{"content":[{"type":"resource","resource":{"uri":"a:b","blob":"aGk="}}]}`, ""},
		{"tools/call", "2026-07-28", `{"resultType":"input_required","inputRequests":{}}`, ""},
		{"tools/call", "2026-07-28", `{"structuredContent":[1],"content":[]}`, ""},
		{"tools/list", "2025-11-25", `{}`, "the result has no tools"},
		{"tools/call", "2025-11-25", `{}`, "the result has no content"},
		{"tools/call", "2025-11-25", `{"content":"nope"}`, "content is a string, not an array"},
		{"tools/call", "2025-11-25", `{"content":[3]}`, "content[0] is a number, not an object"},
		{"tools/call", "2025-11-25", `{"content":[{"text":"x"}]}`, "content[0].type is absent, not a string"},
		{"tools/call", "2025-11-25", `{"content":[{"type":"text"}]}`, "content[0].text is absent, not a string"},
		{"tools/call", "2025-11-25", `{"content":[],"isError":"yes"}`, `isError is "yes", not a boolean`},
		{"tools/call", "2025-11-25", `{"content":[{"type":"image","data":"%%","mimeType":"image/png"}]}`, "content[0].data is not base64"},
		{"tools/call", "2025-11-25", `{"structuredContent":[1],"content":[]}`, "structuredContent is an array, not an object"},
		{"resources/read", "2025-11-25", `{"contents":[{"uri":"a:b","text":"x"}]}`, ""},
		{"resources/read", "2025-11-25", `{"contents":[{"text":"x"}]}`, "contents[0].uri is absent, not a string"},
		{"prompts/get", "2025-11-25", `{"messages":[{"role":"user","content":{"type":"text","text":"x"}}]}`, ""},
		{call, now, `{"content":[{"type":"audio","data":"","mimeType":"a/b"},{"type":"resource_link","uri":"a:b","name":"n"}],"_meta":{}}`, ""},
		{call, now, `{"content":[],"_meta":"x"}`, "_meta is a string, not an object"},
		{"tools/list", now, `{"tools":[],"_meta":7}`, "_meta is a number, not an object"},
		{call, now, block(`"_meta":null`), "content[0]._meta is null, not an object"},
		{call, "2025-03-26", block(`"_meta":null`), ""},
		{call, now, block(`"annotations":"high"`), "content[0].annotations is a string, not an object"},
		{call, now, block(`"annotations":{"priority":7}`), "content[0].annotations.priority is 7, not a number from 0 to 1"},
		{call, now, block(`"annotations":{"priority":"0.5"}`), `content[0].annotations.priority is "0.5", not a number from 0 to 1`},
		{call, now, block(`"annotations":{"audience":["user","assistant"],"priority":1,"lastModified":"2025-01-12T15:00:58Z","own":7}`), ""},
		{call, now, block(`"annotations":{"audience":"user"}`), "content[0].annotations.audience is a string, not an array"},
		{call, now, block(`"annotations":{"audience":["me"]}`), `content[0].annotations.audience[0] is "me", not user or assistant`},
		{call, now, block(`"annotations":{"lastModified":5}`), "content[0].annotations.lastModified is a number, not a string"},
		{call, "2024-11-05", block(`"annotations":{"lastModified":5}`), ""},
		{read, now, `{"contents":[{"uri":"a:b","text":"x","_meta":[]}]}`, "contents[0]._meta is an array, not an object"},
		{call, now, `{"content":[{"type":"resource_link","uri":"a:b"}]}`, "content[0].name is absent, not a string"},
		{call, now, `{"content":[{"type":"resource_link","uri":"a:b","name":"n","title":5,"mimeType":null}]}`, "content[0].title is a number, not a string; content[0].mimeType is null, not a string"},
		{read, now, `{"contents":[{"uri":"a:b","text":"x","mimeType":5}]}`, "contents[0].mimeType is a number, not a string"},
		{"prompts/get", now, `{"description":5,"messages":[]}`, "description is a number, not a string"},
		{"prompts/list", now, `{"prompts":[{"name":"p"},{"name":"q","arguments":{}}]}`, `prompt "q": arguments is an object, not an array`},
		{"resources/list", now, `{"resources":[{"uri":"a:b"}],"nextCursor":null}`, "nextCursor is null, not a string; resources[0]: name is absent, not a string"},
		{"resources/templates/list", now, `{"resourceTemplates":[{"uriTemplate":"a:{b}","name":"n","description":5}]}`, `resourceTemplate "n": description is a number, not a string`},
		{"tools/list", now, `{"tools":[{"name":"a","inputSchema":{}}]}`, `tool "a": inputSchema.type is missing, not "object"`},
		{"prompts/get", "2025-11-25", `{"messages":[{"role":"system","content":{"type":"text","text":"x"}}]}`, `messages[0].role is "system", not user or assistant`},
	} {
		v, err := jsonv.Parse([]byte(tt.result))
		if err != nil {
			t.Fatal(err)
		}
		method, task := strings.CutSuffix(tt.method, " as a task")
		var got []string
		for _, found := range Result(Request{Version: tt.protocol, Method: method, AllowsTask: task}, v).Violations {
			got = append(got, found.Msg)
			testkit.Equal(t, tt.method+": the kind and the excerpt", []string{found.Kind, found.Excerpt}, []string{protocol.BadResult, v.Short(200)})
		}
		if got := strings.Join(got, "; "); got != tt.want {
			t.Errorf("%s %s: %q, want %q", tt.method, tt.result, got, tt.want)
		}
	}
}

// A warning names a member that a client can ignore.
func TestResultWarnings(t *testing.T) {
	const call, read, now = "tools/call", "resources/read", "2025-11-25"
	for _, tt := range []struct{ method, protocol, result, want string }{
		{call, now, `{"content":[{"type":"text","text":""},{"type":"hologram"}]}`, `content[1].type is "hologram", which no version of the protocol defines`},
		{read, now, `{"contents":[]}`, ""},
		{read, "2026-07-28", `{"contents":[],"ttlMs":0,"cacheScope":"private"}`, ""},
		{read, "2026-07-28", `{"contents":[]}`, "ttlMs is missing, not a number of milliseconds; cacheScope is missing, not public or private"},
		{"tools/list", "2026-07-28", `{"ttlMs":-1,"cacheScope":"all"}`, `ttlMs is -1, not a number of milliseconds; cacheScope is "all", not public or private`},
		{call, "2026-07-28", `{"content":[]}`, ""},
	} {
		v, err := jsonv.Parse([]byte(tt.result))
		if err != nil {
			t.Fatal(err)
		}
		if got := strings.Join(Result(Request{Version: tt.protocol, Method: tt.method}, v).Warnings, "; "); got != tt.want {
			t.Errorf("%s %s: %q, want %q", tt.method, tt.result, got, tt.want)
		}
	}
}

func TestStatus(t *testing.T) {
	for code, want := range map[int]string{200: "", 404: "", 201: "the response came with HTTP 201 Created, expected 200 OK", 206: "the response came with HTTP 206 Partial Content, expected 200 OK"} {
		x := &mcp.Exchange{Response: []byte("{}"), HTTP: &wire.HTTPInfo{Status: code}}
		if got := describeStatus(x); got != want {
			t.Errorf("%d: %q, want %q", code, got, want)
		}
	}
	if describeStatus(&mcp.Exchange{Response: []byte("{}")}) != "" || describeStatus(&mcp.Exchange{HTTP: &wire.HTTPInfo{Status: 202}}) != "" {
		t.Error("expected no violation without HTTP or without a response")
	}
}
