package recording_test

import (
	"bytes"
	"compress/gzip"
	"encoding/base64"
	"encoding/hex"
	"fmt"
	"mime/multipart"
	"net/http"
	"net/url"
	"strings"
	"testing"

	"mcptest/internal/base/secret"
	"mcptest/internal/server/recording"
	"mcptest/internal/server/upstream"
)

// TestSecrets puts secrets into every part of an exchange; none may be written to
// disk.
func TestSecrets(t *testing.T) {
	n := 0
	var planted []string
	plant := func() string { // it has no recognizable form
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

// base64ish returns the decoded base64 words of a text.
func base64ish(text string) (out []string) {
	for _, w := range strings.FieldsFunc(text, func(r rune) bool { return strings.ContainsRune(" \n\":,", r) }) {
		if b, err := base64.StdEncoding.DecodeString(w); err == nil && len(w) > 8 {
			out = append(out, string(b))
		}
	}
	return out
}

// Values that are not credentials stay, because the server needs them.
func TestKeptValues(t *testing.T) {
	r := recording.NewRecorder("api", "")
	const answer = `{"next_page_token":"CAUQAA1b2","key":"PROJ-12","id":"a1b2c3d4e5f6","token_type":"bearer","expires_in":3600,"cursor":"eyJhIjox","total_tokens":12,"code":"NOT_FOUND","signature_version":"4","html_url":"https://h/x?page=2"}`
	_, req, res := call("", "GET", "/x?pageToken=CAUQAA1b2&page=2&q=key", "", 200, answer)
	res.Header.Set("X-RateLimit-Remaining-Tokens", "4000")
	res.Header.Set("ETag", `"abc123def456"`)
	r.Add("", req, res)
	text, f, saved := save(t, r)
	got, ok := f.Player("", secret.NewRedactor()).Lookup(req)
	if !ok || string(got.Body) != answer || got.Header.Get("X-RateLimit-Remaining-Tokens") != "4000" || len(saved.Masked) > 0 {
		t.Errorf("%v %v in\n%s", got, saved, text)
	}
}

// A mask matches a secret of the run that replays the recording, which may have another
// value, and no other text.
func TestOtherCredentials(t *testing.T) {
	r := recording.NewRecorder("api", "")
	r.Add(call("", "POST", "/bot123:real-secret-1/getMe?api_key=real-secret-1", `{"password":"real-secret-1","x":"a real-secret-1 b"}`, 200, `{"ok":true}`))
	r.Add(call("", "GET", "/v1/real-secret-1/items", "", 200, `{"ok":true}`))
	r.Add(call("", "GET", "/real-secret-1", "", 200, `{"ok":true}`))
	_, f, _ := save(t, r, "123:real-secret-1", "real-secret-1")
	known := secret.NewRedactor()
	known.Add("9:dummy", "dummy")
	for _, c := range []struct {
		method, target, body string
		want                 bool
	}{
		{"POST", "/bot9:dummy/getMe?api_key=other", `{"x":"a dummy b","password":"dummy"}`, true},
		{"POST", "/bot9:dummy/getYou?api_key=other", `{"x":"a dummy b","password":"dummy"}`, false},
		{"POST", "/bots/getMe?api_key=other", `{"x":"a dummy b","password":"dummy"}`, false},
		{"POST", "/bot9:dummy/getMe?api_key=other", `{"x":"a thing b","password":"dummy"}`, false},
		{"GET", "/v1/dummy/items", "", true},
		{"GET", "/v1/unknown-12345/items", "", true}, // as found in a response, or read from a file
		{"GET", "/v1/users/items", "", false},
		{"GET", "/v1/unknown-12345/x/items", "", false},
		{"GET", "/dummy", "", true},
		{"GET", "/[redacted]", "", true},
		{"GET", "/unknown-12345", "", false},
		{"GET", "/delete-everything/now", "", false},
	} {
		_, req, _ := call("", c.method, c.target, c.body, 0, "")
		player := f.Player("", known)
		if _, ok := player.Lookup(req); ok != c.want {
			t.Errorf("%s %s: found: %v", c.target, c.body, ok)
		}
		if near := player.Nearest(req); c.target == "/v1/users/items" && !strings.Contains(near, "the path (the recording has a secret there") {
			t.Errorf("got %q", near)
		}
	}
}

// Words that a secret begins with stay in complete values, and are masked where a body was
// truncated.
func TestPrefixOfSecret(t *testing.T) {
	r := recording.NewRecorder("api", "")
	_, req, res := call("", "POST", "/issues?issues=issues", `{"issues":"all issues"}`, 200, `{"issues":1,"kind":"issues"}`)
	req.Header.Set("Accept", "issues")
	res.Header.Set("X-Kind", "issues")
	r.Add("", req, res)
	_, form, _ := call("", "POST", "/form", "secret_kind=my secret", 200, "")
	form.Header.Set("Content-Type", "application/x-www-form-urlencoded")
	r.Add("", form, res)
	partial := &upstream.Response{Status: 206, Header: http.Header{}, Body: []byte("RETFOO9 is the end of SECRETF")}
	_, part, _ := call("", "GET", "/part", "", 0, "")
	r.Add("", part, partial)
	_, rest, _ := call("", "GET", "/rest", "", 0, "")
	r.Add("", rest, &upstream.Response{Status: 200, Header: http.Header{}, Body: []byte("it ends with SECRETF"), Open: true})
	text, _, saved := save(t, r, "issues-bot-9f3k2m1x8", "SECRETFOO9")
	if saved.Masked["text"] != 2 || strings.Count(text, "[redacted]") != 4 { // one is in the comment
		t.Errorf("%v in\n%s", saved.Masked, text)
	}
	if strings.Contains(text, "SECRETF") || !strings.Contains(text, "[redacted] is the end") {
		t.Errorf("a truncated body keeps a part of the secret:\n%s", text)
	}
}
