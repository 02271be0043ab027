package cli_test

import (
	"bufio"
	"context"
	"fmt"
	"io"
	"maps"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"mcptest/internal/base/jsonv"
	"mcptest/internal/base/testkit"
)

// explored is a running `mcptest ui`, and what its server counted.
type explored struct {
	t     *testing.T
	dir   string
	cmd   *exec.Cmd
	host  string // 127.0.0.1:PORT
	token string
	offer string // the number of the lists that were read
}

// countingSuite has a comment and a list in flow style.
const countingSuite = "# mine\nservers: {c: {command: [counting, log], env: {API_TOKEN: \"${API_TOKEN}\"}}}\ntools: []\n"

// explore starts `mcptest ui` with arguments; without, and with a cassette, with a suite.
func explore(t *testing.T, args ...string) *explored {
	t.Helper()
	files := map[string]string{}
	if len(args) == 0 || args[0] == "--cassette" {
		files["mcptest.yaml"] = countingSuite
	}
	return exploreFiles(t, files, args...)
}

// exploreFiles starts `mcptest ui` in a folder with files.
func exploreFiles(t *testing.T, files map[string]string, args ...string) *explored {
	t.Helper()
	e := &explored{t: t, offer: "0", dir: t.TempDir()}
	for name, text := range files {
		e.write(name, text)
	}
	e.cmd = exec.Command("mcptest", append([]string{"ui", "--no-open"}, args...)...)
	e.cmd.Dir = e.dir
	said, err := os.Create(filepath.Join(e.dir, "stderr"))
	if err != nil {
		t.Fatal(err)
	}
	defer said.Close()
	e.cmd.Stderr = said
	e.cmd.Env = append(os.Environ(), "CI=", "API_TOKEN=sk-planted-0123456789abcdef", "XDG_CACHE_HOME="+filepath.Join(e.dir, "cache"))
	out, err := e.cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := e.cmd.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		_ = e.cmd.Process.Signal(os.Interrupt)
		_ = e.cmd.Wait()
	})
	line, _ := bufio.NewReader(out).ReadString('\n')
	address, ok := strings.CutPrefix(strings.TrimSpace(line), "mcptest ui: http://")
	if !ok {
		t.Fatalf("got %q, %s", line, e.read("stderr"))
	}
	e.host, e.token, _ = strings.Cut(address, "/#token=")
	return e
}

func (e *explored) write(name, text string) {
	e.t.Helper()
	if err := os.WriteFile(filepath.Join(e.dir, name), []byte(text), 0o600); err != nil {
		e.t.Fatal(err)
	}
}

func (e *explored) read(name string) string {
	text, err := os.ReadFile(filepath.Join(e.dir, name))
	if err != nil {
		return ""
	}
	return string(text)
}

// count returns how many lines of the server's log begin with a text.
func (e *explored) count(prefix string) (n int) {
	for line := range strings.Lines(e.read("log")) {
		if strings.HasPrefix(line, prefix) {
			n++
		}
	}
	return n
}

// send sends a request as the page does, after change.
func (e *explored) send(path, body string, change func(*http.Request)) (status int, text string) {
	e.t.Helper()
	req, err := http.NewRequest(http.MethodPost, "http://"+e.host+path, strings.NewReader(body))
	if err != nil {
		e.t.Fatal(err)
	}
	req.Header.Set("Content-Type", "application/json")
	req.Header.Set("Authorization", "Bearer "+e.token)
	if change != nil {
		change(req)
	}
	resp, err := http.DefaultClient.Do(req)
	if err != nil {
		e.t.Fatal(err)
	}
	defer resp.Body.Close()
	data, err := io.ReadAll(resp.Body)
	if err != nil {
		e.t.Fatal(err)
	}
	if resp.Header.Get("Access-Control-Allow-Origin") != "" || !strings.Contains(resp.Header.Get("Content-Security-Policy"), "default-src 'none'") {
		e.t.Errorf("%s: headers %v", path, resp.Header)
	}
	return resp.StatusCode, string(data)
}

// post sends a request of the page, which must be answered.
func (e *explored) post(path, body string) jsonv.Value {
	e.t.Helper()
	status, text := e.send("/api/"+path, body, nil)
	v, err := jsonv.Parse([]byte(text))
	if err != nil || status != http.StatusOK && status != http.StatusConflict {
		e.t.Fatalf("%s %s: %d %s", path, body, status, text)
	}
	return v
}

// connect connects to the server and waits for its lists.
func (e *explored) connect() {
	e.t.Helper()
	e.post("connect", `{"server":0,"protocol":"2025-11-25"}`)
	e.await("the lists", func(state jsonv.Value) bool {
		e.offer = state.Lookup("servers").At(0).Lookup("offers").String()
		return state.Lookup("servers").At(0).Lookup("listed").Bool()
	})
}

// await waits for a state of the page.
func (e *explored) await(what string, ok func(state jsonv.Value) bool) {
	e.t.Helper()
	var state jsonv.Value
	defer func() {
		if e.t.Failed() {
			e.t.Logf("the state: %s", state)
		}
	}()
	testkit.Wait(e.t, what, func() bool {
		state = e.post("state", "{}")
		return ok(state)
	})
}

// wanted is the body of a call of a tool.
func (e *explored) wanted(tool, args, more string) string {
	i := slices.IndexFunc(countedTools, func(t struct {
		name     string
		readOnly bool
	},
	) bool {
		return t.name == tool
	})
	return fmt.Sprintf(`{"server":0,"version":%s,"list":"tool","item":%d,"arguments":%s%s}`, e.offer, i, args, more)
}

// call makes a call and returns how it ended.
func (e *explored) call(tool, args string) (id string, result jsonv.Value) {
	e.t.Helper()
	started := e.post("call", e.wanted(tool, args, ""))
	if ask := started.Lookup("confirm").Text(); ask != "" {
		started = e.post("call", e.wanted(tool, args, `,"confirm":"`+ask+`"`))
	}
	id = started.Lookup("call").String()
	e.ended(id)
	return id, e.post("result", `{"call":`+id+`}`)
}

// ended waits for the end of a call.
func (e *explored) ended(id string) {
	e.t.Helper()
	e.await("the end of call "+id, func(state jsonv.Value) bool {
		for _, c := range state.Lookup("calls").Elems() {
			if c.Lookup("id").String() == id {
				return c.Lookup("done").Bool()
			}
		}
		return false
	})
}

// Requests that do not come from the page start, call and write nothing, and are refused in
// the order of the rules: Host, Origin, Sec-Fetch-Site, token, type, body.
func TestUIRefusesOthers(t *testing.T) {
	t.Parallel()
	e := explore(t)
	header := func(name, value string) func(*http.Request) {
		return func(r *http.Request) { r.Header.Set(name, value) }
	}
	both := func(list ...func(*http.Request)) func(*http.Request) {
		return func(r *http.Request) {
			for _, change := range list {
				change(r)
			}
		}
	}
	host := func(name string) func(*http.Request) { return func(r *http.Request) { r.Host = name } }
	noToken := func(r *http.Request) { r.Header.Del("Authorization") }
	port := e.host[strings.LastIndex(e.host, ":"):]
	const connect = `{"server":0,"protocol":"auto"}`
	for _, c := range []struct {
		name, path, body string
		change           func(*http.Request)
		status           int
	}{
		{"another name for this machine", "/api/connect", connect, host("evil.example" + port), 403},
		{"no port in the host", "/api/connect", connect, host("127.0.0.1"), 403},
		{"another port in the host", "/api/connect", connect, host("127.0.0.1:1"), 403},
		{"a name below localhost", "/api/connect", connect, host("x.localhost" + port), 403},
		{"the host comes before the token", "/api/connect", connect, both(host("evil.example"), noToken), 403},
		{"a foreign origin that knows the token", "/api/connect", connect, header("Origin", "https://evil.example"), 403},
		{"another port of this machine", "/api/connect", connect, header("Origin", "http://127.0.0.1:1"), 403},
		{"origin null", "/api/connect", connect, header("Origin", "null"), 403},
		{"an empty origin", "/api/connect", connect, header("Origin", ""), 403},
		{"the origin of another name of the page", "/api/connect", connect, header("Origin", "http://localhost"+port), 403},
		{"a cross-site request", "/api/connect", connect, header("Sec-Fetch-Site", "cross-site"), 403},
		{"a same-site request", "/api/connect", connect, header("Sec-Fetch-Site", "same-site"), 403},
		{"the origin comes before the token", "/api/connect", connect, both(header("Origin", "null"), noToken), 403},
		{"no token", "/api/connect", connect, noToken, 401},
		{"a wrong token", "/api/connect", connect, header("Authorization", "Bearer "+strings.Repeat("0", 64)), 401},
		{"a token of another case", "/api/connect", connect, header("Authorization", "Bearer "+strings.ToUpper(e.token)), 401},
		{"another scheme", "/api/connect", connect, header("Authorization", "Basic "+e.token), 401},
		{"the token in the query", "/api/connect?token=" + e.token, connect, noToken, 401},
		{"the token in a cookie", "/api/connect", connect, both(noToken, header("Cookie", "token="+e.token)), 401},
		{"GET", "/api/connect", "", func(r *http.Request) { r.Method = http.MethodGet }, 405},
		{"the token comes before the type", "/api/connect", connect, both(noToken, header("Content-Type", "text/plain")), 401},
		{"a form", "/api/connect", "server=0", header("Content-Type", "application/x-www-form-urlencoded"), 415},
		{"text", "/api/connect", connect, header("Content-Type", "text/plain"), 415},
		{"no type", "/api/connect", connect, func(r *http.Request) { r.Header.Del("Content-Type") }, 415},
		{"another parameter of the type", "/api/connect", connect, header("Content-Type", "application/json; x=1"), 415},
		{"over 8 MiB", "/api/connect", strings.Repeat(" ", 8<<20) + connect, nil, 413},
		{"over 8 MiB, without a length", "/api/connect", strings.Repeat(" ", 8<<20) + connect, func(r *http.Request) { r.ContentLength = -1 }, 413},
		{"no JSON", "/api/connect", "x", nil, 400},
		{"a list", "/api/connect", "[" + connect + "]", nil, 400},
		{"null", "/api/connect", "null", nil, 400},
		{"nothing", "/api/connect", "", nil, 400},
		{"something behind the object", "/api/connect", connect + "{}", nil, 400},
		{"a command", "/api/connect", `{"server":0,"command":["sh"]}`, nil, 400},
		{"an address", "/api/connect", `{"server":0,"url":"http://evil.example"}`, nil, 400},
		{"an environment", "/api/connect", `{"server":0,"env":{"A":"b"}}`, nil, 400},
		{"a path in place of a number", "/api/insert", `{"call":1,"file":"/etc/passwd","name":"","leave":[],"shown":""}`, nil, 400},
		{"an unknown server", "/api/connect", `{"server":7}`, nil, 409},
		{"an unknown version", "/api/connect", `{"server":0,"protocol":"x"}`, nil, 409},
		{"a call that was not made", "/api/insert", `{"call":1,"file":0,"name":"","leave":[],"shown":""}`, nil, 409},
		{"an unknown route", "/api/exec", connect, nil, 405},
	} {
		if status, text := e.send(c.path, c.body, c.change); status != c.status || strings.Count(text, "\n") > 1 {
			t.Errorf("%s: status %d %q, want %d and one line", c.name, status, text, c.status)
		}
	}
	if e.read("log") != "" || e.read("mcptest.yaml") != countingSuite {
		t.Errorf("something was started or written: %q", e.read("log"))
	}
}

// The files of the page need no token, hold nothing of the user, and are not served under
// another name of this machine. A page may ask with its own origin, a program without any.
func TestUIServesItsPage(t *testing.T) {
	t.Parallel()
	e := explore(t)
	get := func(change func(*http.Request)) int {
		status, text := e.send("/", "", func(r *http.Request) {
			r.Method, r.Header = http.MethodGet, http.Header{}
			if change != nil {
				change(r)
			}
		})
		if strings.Contains(text, "counting") {
			t.Error("the page contains the name of a server")
		}
		return status
	}
	testkit.Equal(t, "the page", get(nil), 200)
	testkit.Equal(t, "a link from another site", get(func(r *http.Request) { r.Header.Set("Sec-Fetch-Site", "cross-site") }), 200)
	testkit.Equal(t, "another host", get(func(r *http.Request) { r.Host = "evil.example" }), 403)
	testkit.Equal(t, "another file", get(func(r *http.Request) { r.URL.Path = "/../doc.go" }), 404)
	status, _ := e.send("/api/state", "{}", func(r *http.Request) {
		r.Header.Set("Origin", "http://"+e.host)
		r.Header.Set("Sec-Fetch-Site", "same-origin")
		r.Header.Set("Content-Type", "application/json; charset=utf-8")
	})
	testkit.Equal(t, "the page itself", status, 200)
}

// A tool that does not declare readOnlyHint: true is called once for each confirmation of
// exactly that call; nothing is called before Connect, and a read-only tool without a question.
func TestUIAsksBeforeCalls(t *testing.T) {
	t.Parallel()
	e := explore(t)
	if got := e.post("call", e.wanted("read", "{}", "")).Lookup("problem").Text(); !strings.Contains(got, "lists no such item") {
		t.Errorf("before Connect: %s", got)
	}
	e.connect()
	testkit.Equal(t, "starts", e.count("start"), 1)
	e.call("read", `{"text":"1"}`)
	testkit.Equal(t, "calls of a read-only tool", e.count("call read"), 1)

	ask := e.post("call", e.wanted("write", `{"n":1}`, ""))
	if !strings.Contains(ask.Lookup("why").Text(), "does not declare readOnlyHint: true") || ask.Lookup("confirm").Text() == "" {
		t.Fatalf("got %s", ask)
	}
	testkit.Equal(t, "calls before the answer", e.count("call write"), 0)
	token := `,"confirm":"` + ask.Lookup("confirm").Text() + `"`
	if v := e.post("call", e.wanted("write", `{"n":2}`, token)); v.Lookup("confirm").IsAbsent() {
		t.Errorf("a confirmation was good for other arguments: %s", v)
	}
	if v := e.post("call", e.wanted("write", `{"n":1}`, token)); v.Lookup("confirm").IsAbsent() {
		t.Errorf("a confirmation that was used for another call was good again: %s", v)
	}
	e.post("call", e.wanted("write", `{"n":1}`, `,"confirm":""`))
	e.post("call", e.wanted("write", `{"n":1}`, `,"confirm":"x"`))
	testkit.Equal(t, "calls without a good answer", e.count("call write"), 0)

	id, _ := e.call("write", `{"n":3}`)
	testkit.Equal(t, "calls after the answer", e.count(`call write {"n":3}`), 1)
	_ = id
	testkit.Equal(t, "all calls", e.count("call"), 2)
}

// A kept test is written where the page showed it, passes, and is taken out again; a file that
// changed since is left alone.
func TestUIKeepsATest(t *testing.T) {
	t.Parallel()
	e := explore(t)
	e.connect()
	id, _ := e.call("read", `{"text":"a"}`)
	choice := `"call":` + id + `,"file":0,"name":"","leave":[]`
	draft := e.post("draft", "{"+choice+"}")
	testkit.Equal(t, "the file before Insert", e.read("mcptest.yaml"), countingSuite)
	insert := func() jsonv.Value {
		return e.post("insert", "{"+choice+`,"shown":"`+draft.Lookup("shown").Text()+`"}`)
	}

	e.write("mcptest.yaml", countingSuite+"# changed\n")
	if why := insert().Lookup("problem").Text(); !strings.Contains(why, "changed") {
		t.Errorf("a file that changed: %s", why)
	}
	testkit.Equal(t, "a file that changed", e.read("mcptest.yaml"), countingSuite+"# changed\n")
	e.write("mcptest.yaml", countingSuite)

	done := insert()
	testkit.Equal(t, "place", done.Lookup("place").Text(), "mcptest.yaml:3")
	want := strings.Replace(countingSuite, "[]", "[{name: read answers, tool: read, args: {text: a}, expect: [{target: text, matcher: {exact: done read}}]}]", 1)
	testkit.Equal(t, "the file after Insert", e.read("mcptest.yaml"), want)
	verdict := e.post("run", `{"insertion":0}`)
	if !verdict.Lookup("passed").Bool() || !strings.Contains(verdict.Lookup("text").Text(), "1 passed") {
		t.Errorf("got %s", verdict)
	}
	e.post("undo", `{"insertion":0}`)
	testkit.Equal(t, "the file after Undo", e.read("mcptest.yaml"), countingSuite)
	if again := e.post("undo", `{"insertion":0}`).Lookup("problem").Text(); again == "" {
		t.Error("a second Undo did something")
	}
}

// Parts of a result that were clicked are expected; what is no part of it is said, and too many
// are refused.
func TestUIExpectsChosenParts(t *testing.T) {
	t.Parallel()
	e := explore(t)
	e.connect()
	id, _ := e.call("read", `{"text":"a"}`)
	draft := func(parts string) jsonv.Value {
		return e.post("draft", `{"call":`+id+`,"file":0,"name":"","leave":[],"parts":[`+parts+`]}`)
	}
	got := draft(`{"at":"/content/0/text","text":"read"},{"at":"/content/0/text","text":""}`)
	testkit.Equal(t, "the assertions of the parts", got.Lookup("parts").String(), "[1,0]")
	if diff := got.Lookup("diff").String(); !strings.Contains(diff, "contains: read") {
		t.Errorf("the diff lacks the part: %s", diff)
	}
	for _, at := range []string{"", "/", "content", "/content/1", "/content/-1", "/content/00", "/content/0/text/0", "/~", "/../..", "/content/9999999999999999999"} {
		got := draft(`{"at":"` + at + `","text":"x"}`)
		testkit.Equal(t, "the assertion of "+at, got.Lookup("parts").String(), "[-1]")
		testkit.Equal(t, "assertions with "+at, strconv.Itoa(got.Lookup("assertions").Len()), "1")
	}
	many := strings.Repeat(`{"at":"/content","text":""},`, 101)
	if why := draft(strings.TrimSuffix(many, ",")).Lookup("problem").Text(); !strings.Contains(why, "at most 100") {
		t.Errorf("101 parts: %q", why)
	}
	if status, text := e.send("/api/draft", `{"call":`+id+`,"file":0,"parts":[{"path":"/etc"}]}`, nil); status != http.StatusBadRequest {
		t.Errorf("an unknown member of a part: %d %s", status, text)
	}
}

// The test that is run is the one that was kept, also if others are on its line.
func TestUIRunsTheKeptTest(t *testing.T) {
	t.Parallel()
	e := explore(t)
	failing := "{name: first, tool: read, expect: [{target: text, matcher: {exact: other}}]}"
	e.write("mcptest.yaml", strings.Replace(countingSuite, "[]", "["+failing+"]", 1))
	e.connect()
	id, _ := e.call("read", `{}`)
	choice := `"call":` + id + `,"file":0,"name":"","leave":[]`
	shown := e.post("draft", "{"+choice+"}").Lookup("shown").Text()
	e.post("insert", "{"+choice+`,"shown":"`+shown+`"}`)
	if verdict := e.post("run", `{"insertion":0}`); !verdict.Lookup("passed").Bool() {
		t.Errorf("got %s", verdict)
	}
}

// Without a suite, the first kept test creates mcptest.yaml, and Undo removes it.
func TestUICreatesASuite(t *testing.T) {
	t.Parallel()
	e := explore(t, "--", "counting", "log")
	if !strings.Contains(e.read("stderr"), "creates mcptest.yaml") {
		t.Errorf("it does not say which file it may create: %s", e.read("stderr"))
	}
	e.connect()
	id, _ := e.call("read", `{}`)
	choice := `"call":` + id + `,"file":0,"name":"mine","leave":[]`
	draft := e.post("draft", "{"+choice+"}")
	for i, line := range draft.Lookup("diff").Texts() {
		if i > 0 && !strings.HasPrefix(line, "+ ") {
			t.Errorf("a line of a new file is not marked as added: %q", line)
		}
	}
	testkit.Equal(t, "in words", draft.Lookup("assertions").At(0).Lookup("sentence").Text(), `text is exactly "done read"`)
	shown := draft.Lookup("shown").Text()
	if place := e.post("insert", "{"+choice+`,"shown":"`+shown+`"}`).Lookup("place").Text(); place != "mcptest.yaml:6" {
		t.Errorf("place %s\n%s", place, e.read("mcptest.yaml"))
	}
	if verdict := e.post("run", `{"insertion":0}`); !verdict.Lookup("passed").Bool() {
		t.Errorf("got %s\n%s", verdict, e.read("mcptest.yaml"))
	}
	version := e.awaitTests("mine")
	if ask := e.post("tests-run", `{"version":"`+version+`","all":true}`); !ask.Lookup("confirm").IsAbsent() {
		t.Errorf("the read-only tool of the connected server is asked about: %s", ask)
	}
	second := strings.ReplaceAll(choice, "mine", "yours")
	shown = e.post("draft", "{"+second+"}").Lookup("shown").Text()
	e.post("insert", "{"+second+`,"shown":"`+shown+`"}`)
	e.awaitTests("yours")
	e.post("undo", `{"insertion":1}`)
	e.post("undo", `{"insertion":0}`)
	if _, err := os.Stat(filepath.Join(e.dir, "mcptest.yaml")); !os.IsNotExist(err) {
		t.Errorf("after Undo: %v", err)
	}
}

// No secret of the server leaves the program, in a result, in a frame, or in a test.
func TestUIMasksSecrets(t *testing.T) {
	t.Parallel()
	e := explore(t)
	e.connect()
	id, result := e.call("secret", `{"text":"sk-planted-0123456789abcdef"}`)
	draft := e.post("draft", `{"call":`+id+`,"file":0,"name":"","leave":[]}`)
	all := result.String() + draft.String()
	for seq := 1; seq < 20; seq++ {
		_, text := e.send("/api/frame", fmt.Sprintf(`{"seq":%d,"from":0}`, seq), nil)
		all += text
	}
	if strings.Contains(all, "planted-0123456789") || !strings.Contains(all, "[redacted]") {
		t.Errorf("the token is there: %s", all)
	}
	if diff := draft.Lookup("diff").String(); !strings.Contains(diff, "${API_TOKEN}") {
		t.Errorf("the argument is not a placeholder: %s", draft)
	}
}

// A server that crashes or hangs leaves the page usable, and its process ends with the page.
func TestUISurvivesServers(t *testing.T) {
	t.Parallel()
	e := explore(t)
	e.connect()
	_, result := e.call("crash", `{}`)
	if text := result.String(); !strings.Contains(text, "exit") || !strings.Contains(text, "the database is gone") {
		t.Errorf("a crash: %s", text)
	}
	e.await("the end of the session", func(state jsonv.Value) bool {
		return state.Lookup("servers").At(0).Lookup("status").Text() == "ended"
	})
	e.connect()
	hanging := e.post("call", e.wanted("hang", "{}", "")).Lookup("call").String()
	if why := e.post("call", e.wanted("read", "{}", "")).Lookup("problem").Text(); !strings.Contains(why, "under way") {
		t.Errorf("a second call: %s", why)
	}
	e.post("cancel", `{"call":`+hanging+`}`)
	e.ended(hanging)
	if text := e.post("result", `{"call":`+hanging+`}`).Lookup("cause").Text(); !strings.Contains(text, "canceled in the page") {
		t.Errorf("a call that was canceled: %s", text)
	}
	_, result = e.call("big", `{}`)
	if size := result.Lookup("json", "size").String(); len(size) != 8 {
		t.Errorf("a result of 10 MB has the size %s", size)
	}
	testkit.Equal(t, "starts", e.count("start"), 2)
	if err := e.cmd.Process.Signal(os.Interrupt); err != nil {
		t.Fatal(err)
	}
	testkit.Equal(t, "the exit code after Ctrl-C", e.cmd.Wait() == nil, true)
	testkit.Wait(t, "the end of the server", func() bool { return e.count("end") == 1 })
}

// The same call with a protocol version that was chosen, in a session of its own: asked about like every
// call, compared with the masks of same_as, and gone afterwards.
// A list that is too large is a state with a reason, not a list that is still being read; reading
// it again says the same once.
func TestUIOversizeList(t *testing.T) {
	e := exploreFiles(t, map[string]string{"mcptest.yaml": "servers: {c: {command: [counting, log, oversize]}}\n"})
	e.post("connect", `{"server":0,"protocol":""}`)
	for again := range 2 {
		if again > 0 {
			e.post("refresh", `{"server":0}`)
		}
		var server jsonv.Value
		e.await("unreadable lists", func(state jsonv.Value) bool {
			server = state.Lookup("servers").At(0)
			return server.Lookup("unreadable").Text() != ""
		})
		if server.Lookup("status").Text() != "connected" || server.Lookup("listed").Bool() {
			t.Errorf("the server is %s", server)
		}
		if n := strings.Count(server.String(), "over the limit of 16 MiB"); n != 1 {
			t.Errorf("the reason is there %d times: %s", n, server)
		}
	}
}

func TestUICallsAlsoOn(t *testing.T) {
	t.Parallel()
	e := explore(t)
	e.connect()
	id, _ := e.call("read", `{"text":"a"}`)
	other := e.post("also-on", `{"call":`+id+`,"server":0,"protocol":"2025-11-25"}`).Lookup("call").String()
	e.ended(other)
	starts := e.count("start")
	testkit.Equal(t, "starts, calls", fmt.Sprint(starts, e.count("call read")), "2 2")
	same := e.post("differences", `{"first":`+id+`,"other":`+other+`}`)
	testkit.Equal(t, "differences of equal results", same.Lookup("lines").String(), "[]")
	testkit.Wait(t, "the end of the second session", func() bool { return e.count("end") == 1 })

	third, _ := e.call("write", "{}")
	changed := e.post("differences", `{"first":`+id+`,"other":`+third+`}`).Lookup("lines").String()
	if !strings.Contains(changed, "done read") || !strings.Contains(changed, "done write") {
		t.Errorf("differences of others: %s", changed)
	}
	ask := e.post("also-on", `{"call":`+third+`,"server":0,"protocol":"2025-06-18"}`)
	if ask.Lookup("confirm").Text() == "" || e.count("call write") != 1 {
		t.Errorf("a tool that may change something was called again without a question: %s", ask)
	}
	// The answer is good for this version only.
	again := e.post("also-on", `{"call":`+third+`,"server":0,"protocol":"2025-03-26","confirm":"`+ask.Lookup("confirm").Text()+`"}`)
	if again.Lookup("confirm").Text() == "" {
		t.Errorf("got %s", again)
	}
	// A version that the server does not speak is a call without a response.
	elsewhere := `{"call":` + id + `,"server":0,"protocol":"2026-07-28"`
	token := e.post("also-on", elsewhere+"}").Lookup("confirm").Text() // the tools there are not known
	lost := e.post("also-on", elsewhere+`,"confirm":"`+token+`"}`).Lookup("call").String()
	e.ended(lost)
	if why := e.post("result", `{"call":`+lost+`}`).Lookup("cause").Text(); !strings.HasPrefix(why, "there is no session: ") {
		t.Errorf("got %q", why)
	}
	if why := e.post("differences", `{"first":`+id+`,"other":`+lost+`}`).Lookup("problem").Text(); why == "" {
		t.Error("a call without a response was compared")
	}
}

// Every violation is on the row that has it, no other row has one, and `mcptest run` finds the
// same.
func TestUIBadges(t *testing.T) {
	t.Parallel()
	e := explore(t)
	e.connect()
	e.call("faulty", "{}")
	var got, want []string
	for _, r := range e.rows().Elems() {
		for _, v := range r.Lookup("violations").Elems() {
			_, frame := e.send("/api/frame", `{"seq":`+r.Lookup("seq").Literal()+`,"from":0}`, nil)
			raw, err := jsonv.Parse([]byte(frame))
			if err != nil {
				t.Fatal(err)
			}
			got = append(got, v.Lookup("kind").Text()+" "+raw.Lookup("raw", "text").Text())
		}
	}
	kinds := map[string]int{}
	for _, f := range faultyLines {
		want = append(want, f.kind+" "+strings.ToValidUTF8(f.line, "\uFFFD"))
		kinds[f.kind]++
	}
	testkit.Equal(t, "the rows with violations", strings.Join(got, "\n"), strings.Join(want, "\n"))

	e.write("run.yaml", "servers: {c: {command: [counting, log], protocol: 2025-11-25}}\n"+
		"tools: [{name: a, tool: faulty, expect: [{target: text, matcher: {exact: done faulty}}]}]\n")
	cmd := exec.Command("mcptest", "run", "run.yaml", "-q", "-r", "json")
	cmd.Dir, cmd.Env = e.dir, append(os.Environ(), "CI=")
	out, _ := cmd.Output() // it fails because of the violations
	record, err := jsonv.Parse(out)
	if err != nil {
		t.Fatalf("%v: %s", err, out)
	}
	run := map[string]int{}
	for _, v := range record.Lookup("tests").At(0).Lookup("violations").Elems() {
		run[v.Lookup("kind").Text()]++
	}
	for _, f := range record.Lookup("findings").Elems() {
		run[f.Lookup("kind").Text()]++
	}
	testkit.Equal(t, "the kinds in a run", fmt.Sprint(slices.Sorted(maps.Keys(run))), fmt.Sprint(slices.Sorted(maps.Keys(kinds))))
}

// rows returns the timeline as a page gets it first.
func (e *explored) rows() jsonv.Value {
	e.t.Helper()
	ctx, cancel := context.WithTimeout(e.t.Context(), 30*time.Second)
	defer cancel()
	req, err := http.NewRequestWithContext(ctx, http.MethodPost, "http://"+e.host+"/api/feed", strings.NewReader(`{"tab":"test","after":0}`))
	if err != nil {
		e.t.Fatal(err)
	}
	req.Header.Set("Content-Type", "application/json")
	req.Header.Set("Authorization", "Bearer "+e.token)
	resp, err := http.DefaultClient.Do(req)
	if err != nil {
		e.t.Fatal(err)
	}
	defer resp.Body.Close()
	lines := bufio.NewScanner(resp.Body)
	lines.Buffer(nil, 16<<20)
	for lines.Scan() {
		if v, err := jsonv.Parse(lines.Bytes()); err == nil && !v.Lookup("rows").IsAbsent() {
			return v.Lookup("rows")
		}
	}
	e.t.Fatalf("no rows: %v", lines.Err())
	return jsonv.Value{}
}
