package upstream_test

import (
	"net/http"
	"net/url"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"mcptest/internal/server/upstream"
)

func request(method, target, body string, header ...string) *upstream.Request {
	u, err := url.Parse(target)
	if err != nil {
		panic(err)
	}
	h := http.Header{}
	for i := 0; i < len(header); i += 2 {
		h.Add(header[i], header[i+1])
	}
	return &upstream.Request{Upstream: "api", Method: method, Path: u.EscapedPath(), Query: u.Query(), Header: h, Body: []byte(body)}
}

func TestMatching(t *testing.T) {
	for _, tt := range []struct {
		match string
		q     *upstream.Request
		want  string // "" if it matches, or a part of the message
	}{
		{`{path: /user}`, request("GET", "/user", ""), ""},
		{`{path: /user}`, request("GET", "/user/", ""), "the path differs"},
		{`{path: /user}`, request("GET", "/v1/user", ""), "the path differs: write it with /v1, as /v1/user"},
		{`{path: "/repos/{o}/*"}`, request("GET", "/api/v3/repos/a/b", ""), "the path differs: write it with /api/v3, as /api/v3/repos/{o}/*"},
		{`{method: get, path: /user}`, request("GET", "/user", ""), ""},
		{`{method: GET, path: /user}`, request("POST", "/user", ""), "the method is POST"},
		{`{path: "/repos/{o}/{r}"}`, request("GET", "/repos/ada/a%2Fb", ""), ""},
		{`{path: "/repos/{o}/{r}"}`, request("GET", "/repos/ada", ""), "the path differs"},
		{`{path: "/repos/{o}/{r}"}`, request("GET", "/repos/ada/", ""), "the path differs"},
		{`{path: "/a b"}`, request("GET", "/a%20b", ""), ""},
		{`{path: "/repos/*"}`, request("GET", "/repos/a/b/c", ""), ""},
		{`{path: "/repos/*/tags"}`, request("GET", "/repos/a/b", ""), "the path differs"},
		{`{path: "*"}`, request("DELETE", "/", ""), ""},
		{`{path: /s, query: {q: x, tag: [b, a]}}`, request("GET", "/s?tag=a&q=x&tag=b&more=1", ""), ""},
		{`{path: /s, query: {q: x}}`, request("GET", "/s?q=y", ""), `query parameter "q" is "y", expected "x"`},
		{`{path: /s, query: {page: 2}}`, request("GET", "/s?page=2", ""), ""},
		{`{path: /s, query: {q: "a*c"}}`, request("GET", "/s?q=abc", ""), ""},
		{`{path: /s, query: {q: "a*b*b"}}`, request("GET", "/s?q=ab", ""), "expected"},
		{`{path: /s, query: {cursor: null}}`, request("GET", "/s?cursor=1", ""), `is "1", expected none`},
		{`{path: /s, query: {cursor: null}}`, request("GET", "/s", ""), ""},
		{`{path: /s, headers: {authorization: "Bearer *"}}`, request("GET", "/s", "", "Authorization", "Bearer x"), ""},
		{`{path: /s, headers: {authorization: "Bearer *"}}`, request("GET", "/s", ""), `header "Authorization" is absent`},
		{`{path: /s, body: {b: [1.0], a: x}}`, request("POST", "/s", `{"a":"x","b":[1]}`), ""},
		{`{path: /s, body: {a: x}}`, request("POST", "/s", `{"a":"y"}`), `the body differs: a is "y", expected "x"`},
		{`{path: /s, body: {a: x}}`, request("POST", "/s", `{"a":"x","z":1}`), "z is not expected"},
		{`{path: /s, body: {a: x}}`, request("POST", "/s", ``), "there is none"},
		{`{path: /s, body: {a: x, b: "1"}}`, request("POST", "/s", `b=1&a=x`, "Content-Type", "application/x-www-form-urlencoded; charset=utf-8"), ""},
		{`{path: /s, body: plain}`, request("POST", "/s", `plain`), ""},
	} {
		d := double(t, "- {match: "+tt.match+", reply: {}}", nil)
		w := begin(d, nil, true)
		res, _ := d.Answer(tt.q)
		switch x := w.Seen()[0]; {
		case tt.want == "" && (x.Unmatched != "" || res.Status != 200):
			t.Errorf("%s: %s", tt.match, x.Unmatched)
		case tt.want != "" && !strings.Contains(x.Unmatched, tt.want):
			t.Errorf("%s: %q, expected %q", tt.match, x.Unmatched, tt.want)
		}
	}
}

func TestNearestRoute(t *testing.T) {
	d := double(t, `
- {match: {method: GET, path: /user}, reply: {}, times: 1}
- {match: {method: GET, path: "/users/{id}"}, reply: {}}
- {match: {method: POST, path: /users, body: {name: Ada}}, reply: {}}`, nil)
	for _, tt := range []struct {
		q    *upstream.Request
		want string
	}{
		{request("GET", "/user", ""), ""},
		{request("GET", "/user", ""), `no route of upstream "api" matches GET /user; GET /user (upstreams.api.routes[0]) has been used up after 1 time`},
		{request("PUT", "/users/7?x=1", ""), `no route of upstream "api" matches PUT /users/7?x=1; nearest: GET /users/{id} (upstreams.api.routes[1]): the method is PUT`},
		{request("POST", "/users", `{"name":"Bob"}`), `nearest: POST /users (upstreams.api.routes[2]): the body differs: name is "Bob", expected "Ada"`},
	} {
		w := begin(d, nil, false)
		d.Answer(tt.q)
		if got := w.Seen()[0].Unmatched; tt.want == "" && got != "" || !strings.Contains(got, tt.want) {
			t.Errorf("%q, expected %q", got, tt.want)
		}
		w.End()
	}
}

func TestRouteMistakes(t *testing.T) {
	dir := t.TempDir()
	outside := filepath.Join(t.TempDir(), "secret.json")
	for name, text := range map[string]string{filepath.Join(dir, "body.json"): "{}", outside: "{}"} {
		if err := os.WriteFile(name, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	if err := os.Symlink(outside, filepath.Join(dir, "link.json")); err != nil {
		t.Fatal(err)
	}
	for _, tt := range []struct{ routes, want string }{
		{`[{match: {method: FETCH, path: /a}}]`, `"FETCH" is not an HTTP method`},
		{`[{match: {path: /a}, reply: {text: abc, truncate: 4}}]`, "the body has only 3 bytes"},
		{`[{match: {path: /a}, reply: {chunks: [a, b], truncate: 3}}]`, "the body has only 2 bytes"},
		{`- {match: {path: /a}, reply: {file: body.json}}`, ""},
		{"- {match: {path: '*'}}\n- {match: {path: /a}}", "suite.yaml:5:5: error: upstreams.api.routes[1]: this route can never match: * (upstreams.api.routes[0]) matches all its requests"},
		{"- {match: {path: /a, query: {q: '*'}}}\n- {match: {path: /a, query: {q: x, r: y}}}", "can never match"},
		{"- {match: {path: '/a/{b}'}}\n- {match: {path: /a/c, method: GET}}", "can never match"},
		{"- {match: {path: '/a/c'}}\n- {match: {path: '/a/{b}'}}", ""},
		{"- {match: {path: '/a/*'}}\n- {match: {path: '/a/{b}/c'}}", "can never match"},
		{"- {match: {path: /a, body: {x: 1}}}\n- {match: {path: /a, body: {x: 1.0}}}", "two routes match the same requests"},
		{"- {match: {path: /a}, times: 1}\n- {match: {path: /a}}", ""},
		{"- {match: {path: /a, query: {q: null}}}\n- {match: {path: /a, query: {q: x}}}", ""},
		{"- {match: {path: '/a/{id}'}, reply: {text: 'x {{path.no}}'}}", "the path of the route has no variable {no}"},
		{"- {match: {path: '/a/{id}'}, reply: {json: [{v: '{{path.no}}'}]}}", "suite.yaml:4:51: error: upstreams.api.routes[0].reply.json: the path of the route has no variable {no}"},
		{"- {match: {path: '/a/{id}'}, reply: {headers: {x: '{{nope}}'}}}", "{{nope}} is not a value of a request"},
		{"- {match: {path: /a, query: {q: null}}, reply: {text: '{{query.q}}'}}", "suite.yaml:4:50: error: upstreams.api.routes[0].reply.text: the route is for requests without {{query.q}}"},
		{"- {match: {path: /a, body: {b: {c: 1}}}, reply: {text: '{{body.b.c}} {{body.b.d}}'}}", "the route is for requests without {{body.b.d}}"},
		{"- {match: {path: /a, query: {q: x}}, reply: {text: '{{query.q}} {{query.r}}'}}", ""},
		{"- {match: {path: '/a/{id}/{id}'}}", "the variable {id} twice"},
		{"- {match: {path: 'a'}}", "a path begins with a slash"},
		{"- {match: {path: '/a?b=1'}}", "a path must not have a query or a fragment"},
		{"- {match: {path: '/a/{b'}}", "a variable is a whole segment"},
		{"- {match: {path: /a}, reply: {file: no.json}}", "can't read no.json: no such file"},
		{"- {match: {path: /a}, reply: {file: ../x.json}}", "../x.json is outside the suite's directory"},
		{"- {match: {path: /a}, reply: {file: link.json}}", "can't read link.json"},
		{"- {match: {path: /a}, reply: {json: {}, text: x}}", "has json: and text:; expected one body"},
		{"- {match: {path: /a}, reply: {status: 99}}", "expected a status from 200 to 599, got 99"},
		{"- {match: {path: /a}, reply: {base64: '*'}}", "it is not base64"},
		{"- {match: {path: /a}, reply: {drop: true, reset: true}}", "exclude each other"},
		{"- {match: {path: /a}, reply: {interval: 1s}}", "interval: requires chunks: or sse:"},
		{"- {match: {path: /a}, times: 0}", "must be greater than zero"},
		{"- {match: {path: /a}, reply: []}", "got an empty list"},
		{"- {match: {path: /a}, replay: {}}", "unknown key \"replay\""},
		{"- {match: {paht: /a}}", "unknown key \"paht\""},
		{"- {reply: {}}", "missing key \"match\""},
	} {
		_, diags := compile(t, dir, "stands_for: https://api.example.com\ninto: {env: API}\nroutes:\n"+indent(tt.routes))
		got := ""
		for _, d := range diags {
			got += d.String() + "\n"
		}
		if tt.want == "" && got != "" || !strings.Contains(got, tt.want) {
			t.Errorf("%s\n%s\nexpected %s", tt.routes, got, tt.want)
		}
	}
	for text, want := range map[string]string{
		"into: {env: API}": "missing key \"stands_for\"",
		"stands_for: api.example.com\ninto: {env: A}":                      "expected the address of an API",
		"stands_for: https://x.example":                                    "no server receives the address of the double",
		"stands_for: https://x.example\ninto: {value: x}":                  "expected env, arg or header",
		"stands_for: https://x.example\ninto: {env: A=B}":                  "can't be the name of an environment variable",
		"stands_for: https://x.example\nunmatched: 500":                    "expected fail or 404, got 500",
		"stands_for: https://x.example\nvia: http":                         "via",
		"stands_for: https://x.example\ninto: {env: A, file: x, value: y}": "exclude each other",
	} {
		if _, diags := compile(t, dir, text); !strings.Contains(diags.Error(), want) {
			t.Errorf("%s: %v, expected %s", text, diags, want)
		}
	}
}
