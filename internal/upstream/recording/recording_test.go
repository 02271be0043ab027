package recording_test

import (
	"bytes"
	"compress/gzip"
	"encoding/base64"
	"encoding/hex"
	"errors"
	"fmt"
	"math/rand/v2"
	"mime/multipart"
	"net/http"
	"net/http/httptest"
	"net/url"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"mcptest/internal/secret"
	"mcptest/internal/source"
	"mcptest/internal/upstream"
	"mcptest/internal/upstream/recording"
)

// call is a request and its response, as short as tests want to write them.
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
# Credentials are replaced by [redacted], which matches every value of a request.
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
		res, ok := f.Player("a").Lookup(req)
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
		if _, ok := f.Player("a").Lookup(req); ok {
			t.Errorf("%s was found", target)
		}
		if got := f.Nearest(req); got != want {
			t.Errorf("%s: got %q, want %q", target, got, want)
		}
	}
}

// The bytes of a body come back, in every form and layout.
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
		res, ok := f.Player("").Lookup(req)
		if !ok {
			t.Fatalf("%q: not found in\n%s", text, file)
		}
		got := string(res.Body)
		if strings.HasPrefix(text, "\x1f\x8b") { // compressed again, perhaps in another way
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

// Equal requests get their responses in order, per test, in any order of
// the tests was.
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
			player := f.Player(name)
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

// A run of some tests replaces only what it asked for.
func TestKeep(t *testing.T) {
	path := filepath.Join(t.TempDir(), "api.yaml")
	for i, targets := range [][]string{{"/a", "/b"}, {"/b", "/c"}} {
		r := recording.NewRecorder("api", "")
		for _, target := range targets {
			r.Add(call("t", "GET", target, "", 200, fmt.Sprint(i)))
		}
		saved, err := r.Save(recording.Options{Path: path, Secrets: secret.NewRedactor(), Keep: true, Random: map[string]string{"n" + fmt.Sprint(i): "v"}})
		if err != nil || saved.Kept != i {
			t.Fatal(saved, err)
		}
	}
	f, diags := recording.Read(path, "api.yaml", "api")
	if f == nil || f.Len() != 3 || len(f.Random) != 2 {
		t.Fatal(f, diags)
	}
	for target, want := range map[string]string{"/a": "0", "/b": "1", "/c": "1"} {
		_, req, _ := call("", "GET", target, "", 0, "")
		if res, ok := f.Player("t").Lookup(req); !ok || string(res.Body) != want {
			t.Errorf("%s: %v", target, res)
		}
	}
}

// A recording is not lost to a run without the API.
func TestUnsaved(t *testing.T) {
	path := filepath.Join(t.TempDir(), "api.yaml")
	again := func(wrong bool, want string, record func(*recording.Recorder)) {
		t.Helper()
		before, _ := os.ReadFile(path)
		r := recording.NewRecorder("api", "")
		record(r)
		o := recording.Options{Path: path, Secrets: secret.NewRedactor()}
		check, _ := r.Check(o)
		saved, err := r.Save(o)
		after, _ := os.ReadFile(path)
		if err != nil || check.Unsaved != saved.Unsaved || saved.Wrong != wrong || !strings.Contains(saved.Note("x"), want) || (saved.Unsaved != "") != bytes.Equal(before, after) {
			t.Errorf("%v %+v %q\n%s", err, saved, saved.Note("x"), after)
		}
	}
	again(false, "recording x was not written: no exchange was recorded", func(*recording.Recorder) {})
	again(false, "recording x: 2 exchanges", func(r *recording.Recorder) {
		r.Add(call("t", "GET", "/a", "", 200, "1"))
		r.Add(call("t", "GET", "/b", "", 200, "1"))
	})
	again(false, "no exchange was recorded", func(*recording.Recorder) {})
	again(true, "1 request could not be passed on to the API", func(r *recording.Recorder) {
		r.Add(call("t", "GET", "/a", "", 200, "2"))
		r.Fail(recording.Failure{Request: "GET /b", Err: errors.New("refused")})
	})
	again(false, "1 of them from before; nothing was masked\n  not recorded: GET /b: broke off", func(r *recording.Recorder) {
		r.Add(call("t", "GET", "/a", "", 200, "2"))
		r.Fail(recording.Failure{Request: "GET /b", Err: errors.New("broke off"), Partial: true})
	})
}

// Expired credentials do not replace what was recorded with valid ones.
func TestNewlyRefused(t *testing.T) {
	path := filepath.Join(t.TempDir(), "api.yaml")
	record := func(status map[string]int) recording.Saved {
		r := recording.NewRecorder("api", "")
		for _, test := range []string{"anonymous", "user"} {
			r.Add(call(test, "GET", "/me", "", status[test], test))
		}
		saved, err := r.Save(recording.Options{Path: path, Secrets: secret.NewRedactor()})
		if err != nil {
			t.Fatal(err)
		}
		return saved
	}
	for _, c := range []struct {
		anonymous, user int
		wrong           bool
	}{{401, 200, false}, {401, 500, false}, {401, 201, false}, {403, 403, true}, {401, 401, true}, {200, 200, false}, {200, 403, true}} {
		saved := record(map[string]int{"anonymous": c.anonymous, "user": c.user})
		if saved.Wrong != c.wrong || c.wrong && !strings.Contains(saved.Unsaved, "refused 1 request with 401 or 403 that it answered before, such as GET /me") {
			t.Errorf("%+v: got %+v", c, saved)
		}
	}
}

// A link to the recording stays a link.
func TestLink(t *testing.T) {
	dir := t.TempDir()
	link, target := filepath.Join(dir, "link.yaml"), filepath.Join(dir, "target.yaml")
	if err := os.Symlink(target, link); err != nil {
		t.Skip(err)
	}
	r := recording.NewRecorder("api", "")
	r.Add(call("t", "GET", "/", "", 200, "1"))
	o := recording.Options{Path: link, Secrets: secret.NewRedactor()}
	if _, err := r.Save(o); err == nil {
		t.Error("a link to no file was replaced")
	}
	if err := os.WriteFile(target, []byte("mcptest_recording: 1\nupstream: api\nmasks: []\nexchanges: []\nend: true\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	if _, err := r.Save(o); err != nil {
		t.Error(err)
	}
	if to, err := os.Readlink(link); to != target {
		t.Error(to, err)
	}
	if f, _ := recording.Read(target, "", "api"); f == nil || f.Len() != 1 {
		t.Error("the target was not written")
	}
}

// A damaged recording is not replaced.
func TestDamaged(t *testing.T) {
	path := filepath.Join(t.TempDir(), "api.yaml")
	if err := os.WriteFile(path, []byte("mcptest_recording: 1\nupstream: api\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	r := recording.NewRecorder("api", "")
	r.Add(call("t", "GET", "/", "", 200, "1"))
	if _, err := r.Save(recording.Options{Path: path, Secrets: secret.NewRedactor()}); err == nil || !strings.Contains(err.Error(), "truncated") {
		t.Error(err)
	}
}

// What cannot be passed on is reported without the secrets of its address.
func TestLiveFailures(t *testing.T) {
	for _, partial := range []bool{false, true} {
		srv := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
			if partial {
				w.Header().Set("Content-Length", "100")
				_, _ = w.Write([]byte("half"))
				w.(http.Flusher).Flush()
			}
			panic(http.ErrAbortHandler)
		}))
		api, _ := url.Parse(srv.URL)
		var got []recording.Failure
		answer := recording.Live(api, func(string, *upstream.Request, *upstream.Response) { t.Error("it was recorded") }, func(f recording.Failure) { got = append(got, f) })
		_, req, _ := call("t", "GET", "/a?api_key=Zq7xW7pLm4Tr9v", "", 0, "")
		res, _ := answer(req)
		srv.Close()
		if len(got) != 1 || got[0].Partial != partial || got[0].Request != "GET /a?api_key=[redacted]" || strings.Contains(got[0].Err.Error(), "Zq7x") || res.Status != 502 {
			t.Errorf("%v: got %+v", partial, got)
		}
	}
}

// TestSecrets plants secrets in every carrier; none may reach the disk.
func TestSecrets(t *testing.T) {
	n := 0
	var planted []string
	plant := func() string { // nothing in its form gives it away
		n++
		v := fmt.Sprintf("Zq%dxW7pLm%dTr9v", n, n*7)
		planted = append(planted, v)
		return v
	}
	declared := plant()
	word := "correcthorse"
	planted = append(planted, word)
	jwt := func() string {
		v := base64.RawURLEncoding.EncodeToString([]byte(`{"alg":"HS256"}`)) + "." + base64.RawURLEncoding.EncodeToString([]byte(`{"sub":"u`+plant()+`"}`)) + "." + plant()
		planted = append(planted, v)
		return v
	}
	gz := func(s string) []byte {
		var b bytes.Buffer
		w := gzip.NewWriter(&b)
		_, _ = w.Write([]byte(s))
		_ = w.Close()
		return b.Bytes()
	}
	r := recording.NewRecorder("api", "https://api.example.com")
	add := func(method, target string, header http.Header, body []byte, answerHeader http.Header, answer []byte) {
		_, req, res := call("t", method, target, "", 200, "")
		for k, v := range header {
			req.Header[k] = v
		}
		for k, v := range answerHeader {
			res.Header[k] = v
		}
		req.Body, res.Body = body, answer
		r.Add("t", req, res)
	}
	// headers and cookies of both directions
	oauth := plant()
	add("GET", "/h", http.Header{
		"Authorization": {"Bearer " + plant()}, "X-Api-Key": {plant()}, "Proxy-Authorization": {"Basic " + base64.StdEncoding.EncodeToString([]byte("u:"+plant()))},
		"Cookie": {"session=" + plant() + "; theme=dark"}, "X-Auth-Token": {plant()}, "Private-Token": {plant()}, "X-Amz-Security-Token": {plant()}, "Accept": {"text/" + declared},
	}, nil, http.Header{
		"Set-Cookie": {"sid=" + plant() + "; Path=/; HttpOnly", `csrf="` + plant() + `"`}, "X-Access-Token": {plant()}, "Location": {"https://u:" + plant() + "@api.example.com/x?access_token=" + plant() + "#id_token=" + plant()},
		"Link": {"<https://api.example.com/next?sig=" + plant() + ">; rel=next"}, "X-Note": {"key is " + declared},
	}, nil)
	// queries and paths
	add("GET", "/q/"+declared+"?access_token="+plant()+"&api_key="+plant()+"&sig="+plant()+"&code="+plant()+"&X-Amz-Signature="+plant()+"&q="+declared+"&password="+word, nil, nil, nil, nil)
	add("GET", "/q2?redirect="+url.QueryEscape("https://h/?client_secret="+plant()+"&x=1"), nil, nil, nil, nil)
	// JSON by key, nested, in text, in lists, and where the value has no name
	add("POST", "/j", http.Header{"Content-Type": {"application/json"}}, []byte(`{"password":"`+plant()+`","nested":{"client_secret":"`+plant()+`"},"list":[{"apiKey":"`+plant()+`"}],"tokens":["`+plant()+`"]}`), nil,
		[]byte(`{"access_token":"`+oauth+`","note":"later `+declared+`","b64":"`+base64.StdEncoding.EncodeToString([]byte("user:"+declared+":x"))+`","hex":"`+hex.EncodeToString([]byte(declared))+`","inner":"{\"refresh_token\": \"`+plant()+`\"}","name":"session_token","value":"`+plant()+`"}`))
	add("GET", "/j2", nil, nil, nil, []byte(`{"echo": "seen `+oauth+` again", "jwt": "`+jwt()+`", "url": "https://h/?api_key=`+plant()+`"}`))
	add("GET", "/j3", nil, nil, nil, []byte("{\"a\" :1,\n\"secret\":\""+plant()+"\"}")) // a layout that is not kept
	// forms and multipart
	add("POST", "/f", http.Header{"Content-Type": {"application/x-www-form-urlencoded"}}, []byte("grant_type=x&client_secret="+plant()+"&code_verifier="+plant()+"&assertion="+url.QueryEscape(jwt())+"&note="+declared),
		http.Header{"Content-Type": {"application/x-www-form-urlencoded"}}, []byte("access_token="+plant()+"&scope=repo"))
	var mp bytes.Buffer
	w := multipart.NewWriter(&mp)
	_ = w.WriteField("password", plant())
	_ = w.WriteField("note", "x "+declared)
	part, _ := w.CreateFormFile("file", "a.json")
	_, _ = part.Write([]byte(`{"secret": "` + plant() + `"}`))
	part, _ = w.CreateFormFile("file", "b.gz")
	_, _ = part.Write(gz(`{"api_key": "` + plant() + `"}`))
	_ = w.Close()
	add("POST", "/m", http.Header{"Content-Type": {w.FormDataContentType()}}, mp.Bytes(), nil, nil)
	// gzip, with and without its header, streams
	add("POST", "/z", http.Header{"Content-Encoding": {"gzip"}, "Content-Type": {"application/json"}}, gz(`{"token": "`+plant()+`"}`), http.Header{"Content-Encoding": {"gzip"}}, gz(`{"client_secret": "`+plant()+`", "d": "`+declared+`"}`))
	add("GET", "/z2", nil, nil, http.Header{"Content-Type": {"application/octet-stream"}}, gz("x "+declared+" and "+oauth))
	add("GET", "/s", nil, nil, http.Header{"Content-Type": {"text/event-stream"}}, []byte("event: a\ndata: {\"access_token\":\""+plant()+"\"}\n\ndata: {\"x\":\""+oauth+"\"}\n\n"))
	add("GET", "/n", nil, nil, http.Header{"Content-Type": {"application/x-ndjson"}}, []byte("{\"password\":\""+plant()+"\"}\n{\"d\":\""+declared+"\"}\n"))
	add("GET", "/xml", nil, nil, http.Header{"Content-Type": {"application/xml"}, "X-Session": {plant()}, "X-Csrf": {plant()}}, []byte(`<r><ns:password>`+plant()+`</ns:password><secret><![CDATA[`+plant()+`]]></secret><token a="1" value="`+plant()+`"/><page>2</page></r>`))
	add("GET", "/html", nil, nil, nil, []byte(`<p hidden><input required value='`+plant()+`' name="csrf_token"><meta name=csrf-token content=`+plant()+`> <b>bold</b> {}`))
	add("GET", "/object", nil, nil, nil, []byte(`{"credentials":{"name":"ci-robot","value":"`+plant()+`","list":[{"x":"`+plant()+`"}]}}`))
	add("GET", "/token/"+plant()+"/use", nil, nil, nil, nil)
	// text with the form of a credential
	gh := "ghp_" + strings.Repeat("a1B2", 9)
	planted = append(planted, gh)
	add("GET", "/t", nil, nil, http.Header{"Content-Type": {"text/plain"}}, []byte("use "+gh+" or API_KEY="+plant()+"\n-----BEGIN PRIVATE "+"KEY-----\n"+plant()+"\n-----END PRIVATE "+"KEY-----\n"))
	add("GET", "/b", nil, nil, http.Header{"Content-Type": {"application/octet-stream"}}, []byte("\xff\xfe"+declared+"\x00"))
	add("GET", "/br", nil, nil, http.Header{"Content-Encoding": {"br"}}, []byte(plant()))

	text, _, saved := save(t, r, declared)
	if len(planted) < 40 {
		t.Fatalf("only %d secrets are planted", len(planted))
	}
	all := text
	for _, m := range base64ish(text) {
		all += m
	}
	for _, v := range planted {
		for _, form := range []string{v, base64.StdEncoding.EncodeToString([]byte(v)), hex.EncodeToString([]byte(v)), url.QueryEscape(v)} {
			if strings.Contains(all, form) {
				t.Errorf("the secret %s is in the file", v)
			}
		}
	}
	if t.Failed() {
		t.Log(text)
	}
	if len(saved.Left) != 1 || !strings.Contains(saved.Left[0], `"br"`) || len(saved.Binary) != 1 {
		t.Errorf("left out: %q, binary: %q", saved.Left, saved.Binary)
	}
	for _, keep := range []string{"theme", "scope", "grant_type", "HttpOnly", "rel=next", "<page>2</page>", "<b>bold</b>", "ci-robot"} {
		if strings.Contains(text, keep) == (keep == "theme") {
			t.Errorf("%q: wrong in\n%s", keep, text)
		}
	}
}

// base64ish returns what the base64 words of a text stand for.
func base64ish(text string) (out []string) {
	for _, w := range strings.FieldsFunc(text, func(r rune) bool { return strings.ContainsRune(" \n\":,", r) }) {
		if b, err := base64.StdEncoding.DecodeString(w); err == nil && len(w) > 8 {
			out = append(out, string(b))
		}
	}
	return out
}

// What is no credential stays, because the server needs it.
func TestKeptValues(t *testing.T) {
	r := recording.NewRecorder("api", "")
	const answer = `{"next_page_token":"CAUQAA1b2","key":"PROJ-12","id":"a1b2c3d4e5f6","token_type":"bearer","expires_in":3600,"cursor":"eyJhIjox","total_tokens":12,"code":"NOT_FOUND","signature_version":"4","html_url":"https://h/x?page=2"}`
	_, req, res := call("", "GET", "/x?pageToken=CAUQAA1b2&page=2&q=key", "", 200, answer)
	res.Header.Set("X-RateLimit-Remaining-Tokens", "4000")
	res.Header.Set("ETag", `"abc123def456"`)
	r.Add("", req, res)
	text, f, saved := save(t, r)
	got, ok := f.Player("").Lookup(req)
	if !ok || string(got.Body) != answer || got.Header.Get("X-RateLimit-Remaining-Tokens") != "4000" || len(saved.Masked) > 0 {
		t.Errorf("%v %v in\n%s", got, saved, text)
	}
}

// A request with another credential gets the recorded response.
func TestOtherCredentials(t *testing.T) {
	r := recording.NewRecorder("api", "")
	for _, c := range []struct{ target, body string }{{"/bot123:real-secret-1/getMe?api_key=real-secret-1", `{"password":"real-secret-1","x":"a real-secret-1 b"}`}} {
		r.Add(call("", "POST", c.target, c.body, 200, `{"ok":true}`))
	}
	_, f, _ := save(t, r, "123:real-secret-1", "real-secret-1")
	_, req, _ := call("", "POST", "/bot9:dummy/getMe?api_key=other", `{"x":"a dummy b","password":"dummy"}`, 0, "")
	if _, ok := f.Player("").Lookup(req); !ok {
		t.Error("not found")
	}
	_, req, _ = call("", "POST", "/bot9:dummy/getYou?api_key=other", `{"x":"a dummy b","password":"dummy"}`, 0, "")
	if _, ok := f.Player("").Lookup(req); ok {
		t.Error("another method was found")
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
		"mask":          {strings.Replace(good, "masks: []", "masks: [text, quary]", 1), `api.yaml:5:15: error: masks[1]: unknown mask quary: this version of mcptest cannot tell what it stands for (did you mean "query"?)`},
		"upstream":      {strings.Replace(good, "upstream: api", "upstream: other", 1), `api.yaml:4:11: error: upstream: this is a recording of the upstream other, not of api`},
		"no masks":      {strings.Replace(good, "masks: []\n", "", 1), `api.yaml:3:1: error: the recording has no masks`},
		"another file":  {"a: 1\n", `api.yaml:1:1: error: not a recording of mcptest`},
		"status":        {strings.Replace(good, "status: 200", "status: 20", 1), `20 is no HTTP status`},
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
