package cli_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"mcptest/internal/base/jsonv"
	"mcptest/internal/base/testkit"
)

// faultyCassette is a recording with three violations, a call without an answer, and secrets
// that were not masked.
func faultyCassette(t *testing.T) string {
	t.Helper()
	path, err := filepath.Abs("testdata/faulty.cassette.ndjson")
	if err != nil {
		t.Fatal(err)
	}
	return path
}

// The rows of a cassette have the violations of its server, its bytes without secrets, and
// nothing is started to show them.
func TestUIShowsACassette(t *testing.T) {
	t.Parallel()
	e := explore(t, "--cassette", faultyCassette(t))
	shown := e.post("cassette", `{"cassette":0,"after":0}`)
	var got []string
	for _, r := range shown.Lookup("rows").Elems() {
		line := strings.TrimSpace(r.Lookup("kind").Text() + " " + r.Lookup("method").Text())
		for _, v := range r.Lookup("violations").Elems() {
			line += " !" + v.Lookup("kind").Text()
		}
		if r.Lookup("keep").Bool() {
			line += " keep"
		}
		got = append(got, line)
	}
	want := []string{
		"request initialize", "stderr", "no message !stray-output", "response initialize", "notification notifications/initialized",
		"request tools/list", "response tools/list", "request tools/call keep", "response tools/call",
		"request tools/call keep", "response !unknown-id", "response tools/call !bad-jsonrpc",
		"request tools/call", "end",
	}
	testkit.Equal(t, "rows", strings.Join(got, "\n"), strings.Join(want, "\n"))
	frame := e.post("recorded", `{"cassette":0,"seq":12,"from":0}`)
	all := shown.String() + frame.String()
	if strings.Contains(all, "sk-planted") || strings.Contains(all, "sk-in-the-command") {
		t.Errorf("a secret reached the page: %s", all)
	}
	if raw := frame.Lookup("raw", "text").Text(); !strings.HasPrefix(raw, `{"id":3,`) {
		t.Errorf("the bytes are %s", raw)
	}
	for _, body := range []string{`{"cassette":1,"after":0}`, `{"cassette":-1,"after":0}`} {
		if why := e.post("cassette", body).Lookup("problem").Text(); why == "" {
			t.Errorf("%s was answered", body)
		}
	}
	if why := e.post("recorded", `{"cassette":0,"seq":15,"from":0}`).Lookup("problem").Text(); why == "" {
		t.Error("a row that the cassette does not have")
	}
	testkit.Equal(t, "the log of the server", e.read("log"), "")
}

// A recorded call becomes a test, which is not run by itself: it is not known to be read-only.
func TestUIKeepsARecordedCall(t *testing.T) {
	t.Parallel()
	e := explore(t, "--cassette", faultyCassette(t))
	keep := func(line string) jsonv.Value {
		choice := `"call":0,"recorded":{"cassette":0,"line":` + line + `},"file":0,"name":"","leave":[]`
		draft := e.post("draft", "{"+choice+"}")
		if why := draft.Lookup("problem"); !why.IsAbsent() {
			return draft
		}
		return e.post("insert", "{"+choice+`,"shown":"`+draft.Lookup("shown").Text()+`"}`)
	}
	done := keep("8")
	if done.Lookup("runs").Bool() || done.Lookup("tool").Text() != "read" {
		t.Errorf("got %s", done)
	}
	testkit.Equal(t, "the log of the server", e.read("log"), "")
	if verdict := e.post("run", `{"insertion":0}`); !verdict.Lookup("passed").Bool() {
		t.Errorf("got %s\n%s", verdict, e.read("mcptest.yaml"))
	}
	for line, want := range map[string]string{"2": "not for its result", "13": "line 13", "3": "is not a request", "999": "is not a request"} {
		if why := keep(line).Lookup("problem").Text(); !strings.Contains(why, want) {
			t.Errorf("line %s: %q, want %q", line, why, want)
		}
	}
}

// Without a suite, a cassette is shown, and a test has no file.
func TestUIOfACassetteAlone(t *testing.T) {
	t.Parallel()
	e := explore(t, "--no-open", "--cassette", faultyCassette(t))
	state := e.post("state", "{}")
	testkit.Equal(t, "problem", state.Lookup("problem").Text(), "")
	choice := `{"call":0,"recorded":{"cassette":0,"line":8},"file":0,"name":"","leave":[]}`
	if why := e.post("draft", choice).Lookup("problem").Text(); !strings.Contains(why, "mcptest cassette promote") {
		t.Errorf("got %q", why)
	}
}

// Sessions are recorded in the folder of --record and nowhere else, without secrets; what has passed so
// far is saved on a click, and is a cassette of the page. Nothing that exists is replaced.
func TestUIRecords(t *testing.T) {
	t.Parallel()
	e := exploreFiles(t, map[string]string{"mcptest.yaml": countingSuite}, "--record", "rec", "mcptest.yaml")
	e.write("rec/c.cassette.ndjson", "mine\n")
	if why := e.post("save", `{"server":0}`).Lookup("problem").Text(); !strings.Contains(why, "no session") {
		t.Errorf("before a session: %q", why)
	}
	e.connect()
	e.call("secret", `{"text":"sk-planted-0123456789abcdef"}`)
	for _, body := range []string{`{"server":0,"path":"/tmp/x"}`, `{"server":0,"file":"x"}`, `{"server":"../x"}`} {
		if status, text := e.send("/api/save", body, nil); status != 400 {
			t.Errorf("%s: %d %s", body, status, text)
		}
	}
	if why := e.post("save", `{"server":7}`).Lookup("problem").Text(); why == "" {
		t.Error("the traffic of an unknown server was saved")
	}
	saved := e.post("save", `{"server":0}`).Lookup("file").Text()
	testkit.Equal(t, "the name", saved, "rec/c-3.cassette.ndjson") // c-2 is being recorded
	shown := e.post("cassette", `{"cassette":0,"after":0}`)
	if n := shown.Lookup("rows").Len(); n < 6 || !strings.Contains(shown.String(), `"keep":true`) {
		t.Errorf("%d rows: %s", n, shown)
	}
	e.call("read", `{}`)
	if err := e.cmd.Process.Signal(os.Interrupt); err != nil {
		t.Fatal(err)
	}
	_ = e.cmd.Wait()
	if said := e.read("stderr"); !strings.Contains(said, "recorded in rec/c-2.cassette.ndjson") {
		t.Errorf("standard error: %s", said)
	}
	for name, calls := range map[string]int{"c-2": 2, "c-3": 1} {
		path := "rec/" + name + ".cassette.ndjson"
		text := e.read(path)
		if strings.Contains(text, "planted-0123456789") || !strings.Contains(text, "[redacted]") {
			t.Errorf("%s has a secret: %s", path, text)
		}
		testkit.Equal(t, "calls in "+path, strings.Count(text, `"method":"tools/call"`), calls)
		if info, err := os.Stat(filepath.Join(e.dir, path)); err != nil || info.Mode().Perm() != 0o600 {
			t.Errorf("%s: %v %v", path, info.Mode(), err)
		}
	}
	testkit.Equal(t, "what was there", e.read("rec/c.cassette.ndjson"), "mine\n")
}

// Without --record, nothing is recorded and nothing saved.
func TestUIRecordsNothingUnasked(t *testing.T) {
	t.Parallel()
	e := explore(t)
	e.connect()
	e.call("read", "{}")
	if why := e.post("save", `{"server":0}`).Lookup("problem").Text(); !strings.Contains(why, "--record FOLDER") {
		t.Errorf("got %q", why)
	}
	if found, _ := filepath.Glob(filepath.Join(e.dir, "*.ndjson*")); len(found) > 0 {
		t.Errorf("written: %s", found)
	}
}
