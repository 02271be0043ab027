package recording_test

import (
	"bytes"
	"errors"
	"fmt"
	"net/http"
	"net/http/httptest"
	"net/url"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"mcptest/internal/base/secret"
	"mcptest/internal/server/recording"
	"mcptest/internal/server/upstream"
)

// A run of some tests replaces only the exchanges that it requested.
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
		if res, ok := f.Player("t", secret.NewRedactor()).Lookup(req); !ok || string(res.Body) != want {
			t.Errorf("%s: %v", target, res)
		}
	}
}

// A run without access to the API does not replace a recording.
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
	again(false, "1 of them from an earlier recording; nothing was masked\n  not recorded: GET /b: broke off", func(r *recording.Recorder) {
		r.Add(call("t", "GET", "/a", "", 200, "2"))
		r.Fail(recording.Failure{Request: "GET /b", Err: errors.New("broke off"), Partial: true})
	})
}

// Expired credentials do not replace exchanges that were recorded with valid ones.
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
		if saved.Wrong != c.wrong || c.wrong && !strings.Contains(saved.Unsaved, "refused 1 request with 401 or 403 that it accepted before, such as GET /me") {
			t.Errorf("%+v: got %+v", c, saved)
		}
	}
}

// A run that fails because the API fails does not replace an exchange that succeeded.
func TestNewlyFailing(t *testing.T) {
	path := filepath.Join(t.TempDir(), "api.yaml")
	record := func(failed bool, status ...int) recording.Saved {
		r := recording.NewRecorder("api", "")
		for _, s := range status {
			r.Add(call("t", "GET", "/a", "", s, ""))
		}
		saved, err := r.Save(recording.Options{Path: path, Secrets: secret.NewRedactor(), Failed: failed})
		if err != nil {
			t.Fatal(err)
		}
		return saved
	}
	for _, c := range []struct {
		failed, kept bool
		status       []int
	}{
		{true, false, []int{500}}, // there was no recording
		{true, false, []int{503}},
		{true, false, []int{200}},
		{true, true, []int{500}},
		{true, true, []int{429}},
		{true, true, []int{200, 503}},
		{true, false, []int{503, 200}}, // repeated
		{true, false, []int{404}},
		{true, true, []int{502}},
		{false, false, []int{500}}, // the tests expect it
	} {
		saved := record(c.failed, c.status...)
		if (saved.Unsaved != "") != c.kept || c.kept && (saved.Wrong || !strings.HasPrefix(saved.Note("x"), fmt.Sprintf("recording x was not written: the run failed, and the API responded with %d to a request that it answered before, GET /a", c.status[len(c.status)-1]))) {
			t.Errorf("%+v: got %+v\n%s", c, saved, saved.Note("x"))
		}
	}
}

// A symbolic link to the recording stays a link.
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

// A request that cannot be passed on is reported without the secrets of its address.
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
