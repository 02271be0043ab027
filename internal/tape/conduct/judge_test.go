package conduct_test

import (
	"strings"
	"testing"

	"mcptest/internal/tape/cassette"
	"mcptest/internal/tape/conduct"
)

const (
	hello = `{"session":1,"at_ms":1,"dir":"to-server","message":{"jsonrpc":"2.0","id":0,"method":"initialize","params":{"protocolVersion":"2025-11-25","capabilities":{},"clientInfo":{"name":"c","version":"1"}}}}`
	agree = `{"session":1,"at_ms":2,"dir":"from-server","message":{"jsonrpc":"2.0","id":0,"result":{"protocolVersion":"2025-11-25","capabilities":{},"serverInfo":{"name":"s","version":"1"}}}}`
	ready = `{"session":1,"at_ms":3,"dir":"to-server","message":{"jsonrpc":"2.0","method":"notifications/initialized"}}`

	webHello = `{"session":1,"at_ms":1,"dir":"to-server","stream":1,"http":{"method":"POST","header":{"Accept":["application/json, text/event-stream"]}},"message":{"jsonrpc":"2.0","id":0,"method":"initialize","params":{"protocolVersion":"2025-11-25","capabilities":{},"clientInfo":{"name":"c","version":"1"}}}}`
	webAgree = `{"session":1,"at_ms":2,"dir":"from-server","stream":1,"http":{"status":200},"message":{"jsonrpc":"2.0","id":0,"result":{"protocolVersion":"2025-11-25","capabilities":{},"serverInfo":{"name":"s","version":"1"}}}}`
	webReady = `{"session":1,"at_ms":3,"dir":"to-server","stream":2,"http":{"method":"POST","header":{"Accept":["application/json, text/event-stream"],"Mcp-Protocol-Version":["2025-11-25"]}},"message":{"jsonrpc":"2.0","method":"notifications/initialized"}}`
)

// message is a line of a client on stdio.
func message(text string) string {
	return `{"session":1,"at_ms":4,"dir":"to-server","message":` + text + `}`
}

// post is a request of a client over HTTP.
func post(header, text string) string {
	return `{"session":1,"at_ms":4,"dir":"to-server","stream":3,"http":{"method":"POST","header":{` + header +
		`}},"message":` + text + `}`
}

func TestJudge(t *testing.T) {
	t.Parallel()
	const (
		list    = `{"jsonrpc":"2.0","id":1,"method":"tools/list"}`
		accept  = `"Accept":["application/json, text/event-stream"]`
		version = `,"Mcp-Protocol-Version":["2025-11-25"]`
	)
	for name, c := range map[string]struct {
		transport string
		lines     []string
		want      string // part of the message; "" for a client that is right
	}{
		"right": {"stdio", []string{hello, agree, ready, message(list)}, ""},
		"ping before initialized": {"stdio", []string{
			hello, agree, message(`{"jsonrpc":"2.0","id":9,"method":"ping"}`), ready, message(list),
		}, ""},
		"id used again for initialize": {"stdio", []string{hello, hello, agree, ready, message(list)}, ""},
		"only a handshake":             {"stdio", []string{hello, agree}, ""},
		"id null":                      {"stdio", []string{hello, agree, ready, message(`{"jsonrpc":"2.0","id":null,"method":"tools/list"}`)}, "id null"},
		"id fraction":                  {"stdio", []string{hello, agree, ready, message(`{"jsonrpc":"2.0","id":1.5,"method":"tools/list"}`)}, "id 1.5"},
		"id used again":                {"stdio", []string{hello, agree, ready, message(list), message(`{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"a"}}`)}, "earlier request"},
		"never ready":                  {"stdio", []string{hello, agree, message(list)}, "no notifications/initialized"},
		"no JSON":                      {"stdio", []string{hello, agree, ready, `{"session":1,"at_ms":4,"dir":"to-server","text":"hello"}`}, "not JSON"},
		"ids begin again":              {"stdio", []string{hello, agree, ready, message(list), hello, agree, ready, message(`{"jsonrpc":"2.0","id":1,"method":"prompts/list"}`)}, ""},
		"a blank line":                 {"stdio", []string{hello, agree, ready, `{"session":1,"at_ms":4,"dir":"to-server","text":"  "}`, `{"session":1,"at_ms":4,"dir":"to-server","text":""}`}, ""},
		"right over HTTP":              {"streamable-http", []string{webHello, webAgree, webReady, post(accept+version, list)}, ""},
		"repeated over HTTP":           {"streamable-http", []string{webHello, webAgree, webReady, post(accept+version, list), post(accept+version, list)}, ""},
		"anything is accepted":         {"streamable-http", []string{webHello, webAgree, webReady, post(`"Accept":["*/*"]`+version, list)}, ""},
		"JSON only":                    {"streamable-http", []string{webHello, webAgree, webReady, post(`"Accept":["application/json"]`+version, list)}, "Accept: application/json"},
		"HTTP+SSE has no such headers": {"sse", []string{webHello, webAgree, webReady, post(`"X-A":["b"]`, list)}, ""},
		"no version":                   {"streamable-http", []string{webHello, webAgree, webReady, post(accept, list)}, "without MCP-Protocol-Version"},
		"a batch":                      {"streamable-http", []string{webHello, webAgree, webReady, post(accept+version, "["+list+"]")}, "several messages"},
		"another id for the same":      {"streamable-http", []string{webHello, webAgree, webReady, post(accept+version, list), post(accept+version, `{"jsonrpc":"2.0","id":1,"method":"prompts/list"}`)}, "earlier request"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			header := `{"mcptest_cassette":1,"program":"p","server":{},"transport":"` + c.transport + `","masks":[]}`
			text := header + "\n" + strings.Join(c.lines, "\n") + "\n"
			recorded, err := cassette.Read("c", strings.NewReader(text), int64(len(text)))
			if err != nil {
				t.Fatal(err)
			}
			got, err := conduct.Judge(recorded)
			switch {
			case err != nil:
				t.Fatal(err)
			case c.want == "" && len(got) > 0:
				t.Errorf("a client that is right is accused: %+v", got)
			case c.want != "" && (len(got) != 1 || !strings.Contains(got[0].Message, c.want)):
				t.Errorf("got %+v, want one about %q", got, c.want)
			}
		})
	}
}
