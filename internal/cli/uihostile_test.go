package cli_test

import (
	"encoding/json"
	"fmt"
	"net/http"
	"net/http/httptest"
	"os"
	"strings"
	"testing"
)

// hostilePayloads are texts that must stay texts in a page, wherever a server puts them.
var hostilePayloads = []string{
	`<script>window.hacked=1</script>`, `<img src=x onerror="window.hacked=1">`, `<svg onload="window.hacked=1">`,
	`<svg><script>window.hacked=1</script></svg>`, `<iframe srcdoc="<script>parent.hacked=1</script>"></iframe>`,
	`<iframe src="javascript:parent.hacked=1"></iframe>`, `<object data="javascript:window.hacked=1"></object>`,
	`<embed src="javascript:window.hacked=1">`, `<math><mtext><script>window.hacked=1</script></mtext></math>`,
	`<details open ontoggle="window.hacked=1">`, `<video><source onerror="window.hacked=1"></video>`,
	`<body onload="window.hacked=1">`, `<input autofocus onfocus="window.hacked=1">`, `<a href="javascript:window.hacked=1">x</a>`,
	`<form action="//evil.example"><button>x</button></form>`, `<base href="//evil.example/">`, `<link rel=stylesheet href="//evil.example/x">`,
	`<meta http-equiv=refresh content="0;url=//evil.example">`, `<style>@import "//evil.example/x"</style>`, `</script><script>window.hacked=1</script>`,
	`"><script>window.hacked=1</script>`, `' onmouseover='window.hacked=1`, `javascript:window.hacked=1`, "java\tscript:window.hacked=1",
	`JaVaScRiPt://x%0awindow.hacked=1`, `data:text/html,<script>parent.hacked=1</script>`, `vbscript:window.hacked=1`, `file:///etc/passwd`,
	`blob:null/x`, `[x](javascript:window.hacked=1)`, `![x](//evil.example/x.png)`, `{{constructor.constructor('window.hacked=1')()}}`,
	`${window.hacked=1}`, `__proto__`, `constructor`, "a\u202eb\u2066c", "\x1b[31mred\x1b]0;title\x07", "nul\u0000 \u200bzero\ufeff",
	"x\r\nSet-Cookie: a=b", strings.Repeat("W", 10_000),
}

// hostileTools lists a tool for each payload, with it in every text of the definition, and one with a
// name of 1 MB.
func hostileTools() string {
	var list []string
	for i, p := range append(hostilePayloads, strings.Repeat("long ", 1<<20/5)) {
		q, _ := json.Marshal(p)
		list = append(list, fmt.Sprintf(`{"name":%[1]s,"title":%[1]s,"description":%[1]s,"icons":[{"src":%[1]s,"mimeType":%[1]s}],`+
			`"annotations":{"readOnlyHint":true,"title":%[1]s},"_meta":{"n":%[2]d},"inputSchema":{"type":"object","properties":{`+
			`"value":{"type":"string","title":%[1]s,"description":%[1]s},"__proto__":{"type":"string"}}}}`, q, i))
	}
	return `{"tools":[` + strings.Join(list, ",") + `]}`
}

// hostileResult has a payload in every member of every kind of content.
func hostileResult(payload string) string {
	q, _ := json.Marshal(payload)
	return fmt.Sprintf(`{"content":[{"type":"text","text":%[1]s},{"type":"resource_link","uri":%[1]s,"name":%[1]s,"mimeType":%[1]s},`+
		`{"type":"image","mimeType":%[1]s,"data":%[1]s},{"type":"image","mimeType":"image/svg+xml","data":%[1]s},{"type":"audio","mimeType":%[1]s,"data":"AAAA"},`+
		`{"type":"resource","resource":{"uri":%[1]s,"mimeType":"text/html","text":%[1]s}},{"type":%[1]s,"text":%[1]s}],"structuredContent":{"value":%[1]s}}`, q)
}

// hostileCall answers a call: every third one is refused with the payload, another third returns it, the
// rest is a tool error.
func (s *countingServer) hostileCall(m countedMessage) {
	q, _ := json.Marshal(m.Params.Name)
	s.write(`{"jsonrpc":"2.0","method":"notifications/message","params":{"level":"error","logger":` + string(q) + `,"data":` + string(q) + `}}`)
	fmt.Fprintln(os.Stderr, m.Params.Name)
	switch len(m.Params.Name) % 3 {
	case 0:
		s.write(`{"jsonrpc":"2.0","id":` + string(m.ID) + `,"error":{"code":-32000,"message":` + string(q) + `,"data":` + string(q) + `}}`)
	case 1:
		s.result(m.ID, hostileResult(m.Params.Name))
	default:
		s.result(m.ID, `{"isError":true,"content":[{"type":"text","text":`+string(q)+`}]}`)
	}
}

// hostileProvider is an MCP server that wants a login, and whose metadata are payloads.
func hostileProvider(t *testing.T) string {
	n := 0
	srv := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		payload := hostilePayloads[n%len(hostilePayloads)]
		n++
		if strings.Contains(r.URL.Path, ".well-known") {
			send(w, 200, map[string]any{
				"resource": payload, "authorization_servers": []string{payload}, "issuer": payload, "scopes_supported": []string{payload},
				"authorization_endpoint": payload, "token_endpoint": payload, "registration_endpoint": payload,
			})
			return
		}
		w.Header().Set("WWW-Authenticate", `Bearer error="<script>window.hacked=1</script>", error_description="<img src=x onerror=window.hacked=1>", resource_metadata="http://`+r.Host+`/.well-known/oauth-protected-resource"`)
		w.WriteHeader(401)
		_, _ = w.Write([]byte(payload))
	}))
	t.Cleanup(srv.Close)
	return srv.URL
}
