package run

import (
	"strings"
	"testing"

	"mcptest/internal/jsonv"
)

func TestResultFaults(t *testing.T) {
	for _, tt := range []struct{ method, protocol, result, want string }{
		{"tools/call", "2025-11-25", `{"content":[]}`, ""},
		{"tools/call", "2025-11-25", `{"structuredContent":{}}`, ""},
		{"tools/call", "2025-11-25", `{"task":{"taskId":"t","status":"working"}}`, ""},
		{"tools/call", "2025-11-25", `{"task":{}}`, "the result has no content"},
		{"tools/call", "2025-11-25", `{"content":[{"type":"text","text":""},{"type":"hologram"}]}`, ""},
		{"tools/call", "2025-11-25", `{"content":[{"type":"resource_link","uri":"a:b","name":"n"}]}`, ""},
		{"tools/call", "2025-11-25", `{"content":[{"type":"resource","resource":{"uri":"a:b","blob":"aGk="}}]}`, ""},
		{"tools/call", "2026-07-28", `{"resultType":"input_required","inputRequests":{}}`, ""},
		{"tools/call", "2026-07-28", `{"structuredContent":[1],"content":[]}`, ""},
		{"tools/list", "2025-11-25", `{}`, ""},
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
		{"prompts/get", "2025-11-25", `{"messages":[{"role":"system","content":{"type":"text","text":"x"}}]}`, `messages[0].role is "system", not user or assistant`},
	} {
		v, err := jsonv.Parse([]byte(tt.result))
		if err != nil {
			t.Fatal(err)
		}
		if got := strings.Join(resultFaults(tt.method, tt.protocol, v), "; "); got != tt.want {
			t.Errorf("%s %s: %q, want %q", tt.method, tt.result, got, tt.want)
		}
	}
}
