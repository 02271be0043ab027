package recording_test

import (
	"strings"
	"testing"

	"mcptest/internal/base/jsonv"
	"mcptest/internal/base/source"
	"mcptest/internal/server/recording"
	"mcptest/internal/server/upstream"
)

// TestRoutes drafts routes of requests in every form. A suite with them compiles:
// none of them hides another one.
func TestRoutes(t *testing.T) {
	f, diags := recording.Parse(&source.File{Name: "r.yaml", Data: []byte(`mcptest_recording: 1
upstream: api
stands_for: https://api.example
masks: []
exchanges:
  - {request: {method: GET, path: /items}, response: {status: 200, json: {next: b}}}
  - {request: {method: GET, path: /items, query: {tag: [b, a]}}, response: {status: 200, text: two}}
  - {request: {method: GET, path: /items, query: {tag: a}}, response: {status: 200, text: one}}
  - {request: {method: GET, path: /items, query: {key: "[redacted]"}}, response: {status: 200, text: masked}}
  - {request: {method: GET, path: "/items/[redacted]"}, response: {status: 404}}
  - {request: {method: GET, path: /items/7}, response: {status: 200, headers: {content-type: application/problem+json}, json: {id: 7}}}
  - {request: {method: POST, path: /items, json: {a: 1}}, response: {status: 201}}
  - {request: {method: POST, path: /items, json: {a: 1}}, response: {status: 409, text: "{{x}}"}}
  - {request: {method: POST, path: /items, json: {key: "[redacted]"}}, response: {status: 202}}
  - {request: {method: POST, path: /items, form: {a: b}}, response: {status: 203}}
end: true
`)}, "api")
	if diags.HasErrors() {
		t.Fatal(diags)
	}
	var got []string
	for _, r := range f.Routes() {
		got = append(got, r.String())
	}
	want := []string{
		`{"match":{"method":"GET","path":"/items","query":{"tag":["a","b"]}},"reply":{"text":"two"}}`,
		`{"match":{"method":"GET","path":"/items","query":{"tag":"a"}},"reply":{"text":"one"}}`,
		`{"match":{"method":"GET","path":"/items/7"},"reply":{"headers":{"content-type":"application/problem+json"},"json":{"id":7}}}`,
		`{"match":{"method":"POST","path":"/items","body":{"a":1}},"reply":[{"status":201},{"status":409,"base64":"e3t4fX0="}]}`,
		`{"match":{"method":"POST","path":"/items","body":{"a":"b"}},"reply":{"status":203}}`,
		`{"match":{"method":"GET","path":"/items","query":{"key":"*"}},"reply":{"text":"masked"}}`,
		`{"match":{"method":"GET","path":"/items/{part2}"},"reply":{"status":404}}`,
		`{"match":{"method":"GET","path":"/items"},"reply":{"json":{"next":"b"}}}`,
		`{"match":{"method":"POST","path":"/items"},"reply":{"status":202}}`,
	}
	if g, w := strings.Join(got, "\n"), strings.Join(want, "\n"); g != w {
		t.Errorf("got\n%s\nexpected\n%s", g, w)
	}
	node, diags := source.Parse(&source.File{Name: "s.yaml", Data: []byte(jsonv.Array(f.Routes()...).String())})
	dec := new(source.Decoder)
	var list []*upstream.RouteDecl
	dec.Decode(node, "routes", &list)
	upstream.CompileRoutes(list, "routes", upstream.Options{}, dec)
	if diags = append(diags, dec.Diagnostics()...); len(diags) > 0 {
		t.Error(diags)
	}
}
