package recording_test

import (
	"bytes"
	"compress/gzip"
	"math/rand/v2"
	"net/http"
	"net/url"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"mcptest/internal/base/secret"
	"mcptest/internal/base/source"
	"mcptest/internal/server/recording"
	"mcptest/internal/server/upstream"
)

// call is a request and its response in a short form for tests.
func call(test, method, target, body string, status int, answer string) (string, *upstream.Request, *upstream.Response) {
	u, err := url.Parse(target)
	if err != nil {
		panic(err)
	}
	req := &upstream.Request{Method: method, Path: u.EscapedPath(), Query: u.Query(), Header: http.Header{}, Body: []byte(body)}
	if strings.HasPrefix(body, "{") {
		req.Header.Set("Content-Type", "application/json")
	}
	return test, req, &upstream.Response{Status: status, Header: http.Header{"Content-Type": {"application/json"}, "Date": {"today"}}, Body: []byte(answer)}
}

func save(t *testing.T, r *recording.Recorder, secrets ...string) (text string, f *recording.File, saved recording.Saved) {
	t.Helper()
	redactor := secret.NewRedactor()
	redactor.Add(secrets...)
	path := filepath.Join(t.TempDir(), "upstream", "api.yaml")
	saved, err := r.Save(recording.Options{Path: path, Secrets: redactor})
	if err != nil {
		t.Fatal(err)
	}
	data, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	f, diags := recording.Read(path, "api.yaml", "api")
	if diags.HasErrors() {
		t.Fatalf("%v\n%s", diags, data)
	}
	return string(data), f, saved
}

func TestFile(t *testing.T) {
	r := recording.NewRecorder("api", "https://api.example.com")
	r.Add(call("b", "GET", "/users?page=2&per_page=10", "", 200, `[{"id":2,"score":1.50}]`))
	r.Add(call("a", "GET", "/users?per_page=10&page=1", "", 200, "{\n  \"id\": 1,\n  \"text\": \"one\\ntwo\\n\"\n}\n"))
	r.Add(call("a", "POST", "/users", `{"b":1,"a":[1,{"z":0,"y":null}]}`, 201, ""))
	text, f, _ := save(t, r)
	const want = `# Recording of the upstream "api". Review changes like code; mcptest run --record-upstream api writes it.
# Credentials are replaced by [redacted], which matches the credentials of a replayed request.
mcptest_recording: 1
upstream: api
stands_for: "https://api.example.com"
masks: []
exchanges:
  - request:
      method: GET
      path: "/users"
      query:
        page: "1"
        per_page: "10"
    response:
      status: 200
      headers:
        content-type: application/json
      json:
        id: 1
        text: |
          one
          two
      layout: indent-2-line
  - request:
      method: GET
      path: "/users"
      query:
        page: "2"
        per_page: "10"
    response:
      status: 200
      headers:
        content-type: application/json
      json:
        - id: 2
          score: 1.50
  - request:
      method: POST
      path: "/users"
      headers:
        content-type: application/json
      json:
        b: 1
        a:
          - 1
          - z: 0
            "y": null
    response:
      status: 201
      headers:
        content-type: application/json
end: true
`
	if text != want {
		t.Errorf("got\n%s", text)
	}
	for _, c := range []struct{ method, target, body, want string }{
		{"GET", "/users?page=1&per_page=10", "", "{\n  \"id\": 1,\n  \"text\": \"one\\ntwo\\n\"\n}\n"},
		{"GET", "/users?per_page=10&page=2", "", `[{"id":2,"score":1.50}]`},
		{"POST", "/users", `{ "a": [1, {"y": null, "z": 0}], "b": 1 }`, ""},
	} {
		_, req, _ := call("", c.method, c.target, c.body, 0, "")
		res, ok := f.Player("a", secret.NewRedactor()).Lookup(req)
		if !ok || string(res.Body) != c.want || res.Header.Get("Content-Type") != "application/json" {
			t.Errorf("%s %s: got %v %+v", c.method, c.target, ok, res)
		}
	}
	for target, want := range map[string]string{
		"/users?page=3&per_page=10":     `the nearest recorded request is GET /users?page=1&per_page=10 (line 8), which differs in the query parameter "page"`,
		"/users?page=1&per_page=10&q=x": `the nearest recorded request is GET /users?page=1&per_page=10 (line 8), which differs in the additional query parameter "q"`,
		"/elsewhere/far":                "",
	} {
		_, req, _ := call("", "GET", target, "", 0, "")
		if _, ok := f.Player("a", secret.NewRedactor()).Lookup(req); ok {
			t.Errorf("%s was found", target)
		}
		if got := f.Player("", secret.NewRedactor()).Nearest(req); got != want {
			t.Errorf("%s: got %q, want %q", target, got, want)
		}
	}
}

// A body keeps its bytes in every form and layout.
func TestBodies(t *testing.T) {
	gz := func(s string) string {
		var b bytes.Buffer
		w := gzip.NewWriter(&b)
		_, _ = w.Write([]byte(s))
		_ = w.Close()
		return b.String()
	}
	for _, text := range []string{
		"", `{}`, `null`, "[]\n", `{"a": [1, 2], "b": {}}`, `{"a": 1}` + "\n", "{\n\t\"a\": [\n\t\t1\n\t]\n}", `{"a":1,"a":2}`, `{"a" :1}`, `{"a":"\u00e9\/"}`, "plain", "data: {\"a\":1}\n\ndata: [DONE]\n\n",
		"\x00\xff\xfe", "a=1&b=2", "{broken", "  {\"a\":1}", "\x1b[31m\x00 text", gz(`{"a":1}`), "line\r\nline\r\n", strings.Repeat("long ", 1000), `"text"`, "12", "<a>\n <b/></a>", "{\"t\":\"[redacted]\"}",
	} {
		r := recording.NewRecorder("api", "")
		r.Add(call("", "GET", "/", "", 200, text))
		file, f, saved := save(t, r)
		_, req, _ := call("", "GET", "/", "", 0, "")
		res, ok := f.Player("", secret.NewRedactor()).Lookup(req)
		if !ok {
			t.Fatalf("%q: not found in\n%s", text, file)
		}
		got := string(res.Body)
		if strings.HasPrefix(text, "\x1f\x8b") { // compressed again, possibly with different bytes
			z, err := gzip.NewReader(strings.NewReader(got))
			if err != nil {
				t.Fatal(err)
			}
			var b bytes.Buffer
			_, _ = b.ReadFrom(z)
			got, text = b.String(), `{"a":1}`
		}
		if got != text || len(saved.Masked) > 0 {
			t.Errorf("%q came back as %q from\n%s", text, got, file)
		}
	}
}

// Equal requests get their responses in order, per test, regardless of the order of
// the tests.
func TestOrder(t *testing.T) {
	type step struct{ test, target, answer string }
	tests := map[string][]step{
		"rename":  {{"rename", "/user", `"ada"`}, {"rename", "/user", `"bob"`}, {"rename", "/user", `"bob"`}},
		"read":    {{"read", "/user", `"ada"`}, {"read", "/time", `1`}},
		"poll":    {{"poll", "/job", `"pending"`}, {"poll", "/job", `"pending"`}, {"poll", "/job", `"done"`}},
		"poll-2":  {{"poll-2", "/job", `"pending"`}, {"poll-2", "/job", `"pending"`}, {"poll-2", "/job", `"done"`}},
		"started": {{"", "/version", `"1"`}},
	}
	first := ""
	for range 50 {
		r := recording.NewRecorder("api", "")
		names := []string{"rename", "read", "poll", "poll-2", "started"}
		rand.Shuffle(len(names), func(i, j int) { names[i], names[j] = names[j], names[i] })
		for _, name := range names {
			for _, s := range tests[name] {
				r.Add(call(s.test, "GET", s.target, "", 200, s.answer))
			}
		}
		text, f, _ := save(t, r)
		if first == "" {
			first = text
		}
		if text != first {
			t.Fatalf("the order of tests changes the file:\n%s\n%s", first, text)
		}
		rand.Shuffle(len(names), func(i, j int) { names[i], names[j] = names[j], names[i] })
		for _, name := range names {
			player := f.Player(name, secret.NewRedactor())
			for _, s := range tests[name] {
				_, req, _ := call("", "GET", s.target, "", 0, "")
				if res, ok := player.Lookup(req); !ok || string(res.Body) != s.answer {
					t.Fatalf("%s %s: expected %s, got %v", name, s.target, s.answer, res)
				}
			}
		}
	}
	if n := strings.Count(first, "test:"); n != 3 {
		t.Errorf("%d entries name their test, expected those of /user:\n%s", n, first)
	}
}

func TestMistakes(t *testing.T) {
	r := recording.NewRecorder("api", "")
	r.Add(call("", "GET", "/", "", 200, `{"a":1}`))
	good, _, _ := save(t, r)
	for name, c := range map[string]struct{ text, want string }{
		"truncated":     {strings.TrimSuffix(good, "end: true\n"), `api.yaml:3:1: error: the recording is truncated: its last line must be "end: true"`},
		"truncated map": {good[:strings.Index(good, "headers")+4], `api.yaml:11:1: error: the recording is truncated`},
		"version":       {strings.Replace(good, "recording: 1", "recording: 2", 1), `api.yaml:3:20: error: mcptest_recording: the recording has format 2, this version of mcptest reads 1`},
		"no version":    {strings.Replace(good, "recording: 1", "recording: x", 1), `api.yaml:3:20: error: mcptest_recording: unknown format x, expected 1`},
		"mask":          {strings.Replace(good, "masks: []", "masks: [text, quary]", 1), `api.yaml:5:15: error: masks[1]: unknown mask quary: this version of mcptest does not know what it replaces (did you mean "query"?)`},
		"upstream":      {strings.Replace(good, "upstream: api", "upstream: other", 1), `api.yaml:4:11: error: upstream: this is a recording of the upstream other, not of api`},
		"no masks":      {strings.Replace(good, "masks: []\n", "", 1), `api.yaml:3:1: error: the recording has no masks`},
		"another file":  {"a: 1\n", `api.yaml:1:1: error: not a recording of mcptest`},
		"status":        {strings.Replace(good, "status: 200", "status: 20", 1), `20 is not an HTTP status`},
		"layout":        {strings.Replace(good, "end: true", "", 1) + "      layout: odd\nend: true\n", ""},
		"base64":        {strings.Replace(good, "json:\n        a: 1", "base64: '!'", 1), `api.yaml:14:15: error: exchanges[0].response.base64: invalid base64`},
		"key":           {strings.Replace(good, "status: 200", "statos: 200", 1), `unknown key "statos"`},
		"conflict":      {strings.Replace(good, "masks", "<<<<<<< HEAD\nmasks", 1), `unresolved merge conflict`},
	} {
		f, diags := recording.Parse(&source.File{Name: "api.yaml", Data: []byte(c.text)}, "api")
		got := ""
		for _, d := range diags {
			got += d.String() + "\n"
		}
		if !strings.Contains(got, c.want) || (f != nil) == diags.HasErrors() {
			t.Errorf("%s: got %s", name, got)
		}
	}
}

func TestOf(t *testing.T) {
	for _, c := range []struct {
		recorded, now string
		wrong         bool
	}{
		{"https://api.example.com", "https://API.example.com/v1", false},
		{"https://api.example.com", "https://api.staging.example.com", true},
		{"http://127.0.0.1:81", "http://localhost:9", false},
		{"http://127.0.0.1:81", "https://api.example.com", true},
		{"", "https://api.example.com", false},
	} {
		r := recording.NewRecorder("api", c.recorded)
		r.Add(call("", "GET", "/", "", 200, `1`))
		_, f, _ := save(t, r)
		if d, wrong := f.Of(c.now); wrong != c.wrong || wrong && !strings.HasPrefix(d.String(), "api.yaml:5:13: error: stands_for: this is a recording of ") {
			t.Errorf("%+v: got %v", c, d)
		}
	}
}
