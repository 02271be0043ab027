package aqlcli_test

import (
	"fmt"
	"io"
	"io/fs"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"sync"
	"testing"

	"mcptest/internal/base/jsonv"
	"mcptest/internal/mcpaql/verdict"
)

// endpoint speaks OpenAI's form: as "m" it answers questions, as "j" it
// judges, and it repeats the key wherever it can. "gone" is not there.
type endpoint struct {
	url string

	mu    sync.Mutex
	asked map[string]int
	keys  map[string]bool
}

func newEndpoint(t *testing.T) *endpoint {
	e := &endpoint{asked: map[string]int{}, keys: map[string]bool{}}
	srv := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		data, _ := io.ReadAll(r.Body)
		body, err := jsonv.Parse(data)
		if err != nil {
			t.Errorf("not JSON: %s", data)
		}
		model, key := body.Lookup("model").Text(), strings.TrimPrefix(r.Header.Get("Authorization"), "Bearer ")
		e.mu.Lock()
		e.asked[model]++
		e.keys[model+" "+key] = true
		e.mu.Unlock()
		text := "an idea, and your key is " + key
		switch model {
		case "j":
			text = `{"verdict":"understood","reason":"the key is ` + key + `","quote":"an idea"}`
		case "gone":
			w.WriteHeader(http.StatusUnauthorized)
			fmt.Fprintf(w, `{"error":{"message":"bad key %s"}}`, key)
			return
		}
		w.Header().Set("Content-Type", "application/json")
		fmt.Fprintf(w, `{"id":"c","object":"chat.completion","choices":[{"index":0,"finish_reason":"stop","message":{"role":"assistant","content":%s}}],"usage":{"prompt_tokens":9,"completion_tokens":3,"total_tokens":12}}`, jsonv.String(text))
	}))
	t.Cleanup(srv.Close)
	e.url = srv.URL + "/v1"
	return e
}

func (e *endpoint) times(model string) int {
	e.mu.Lock()
	defer e.mu.Unlock()
	return e.asked[model]
}

// A judge that cannot be asked leaves the rows undecided, costs no exit code
// unless it was required, and the key is in nothing that is written.
func TestLiveJudgeOutOfReach(t *testing.T) {
	const key = "sk-live-0123456789abcdef"
	t.Setenv("SOME_KEY", key)
	t.Setenv("XDG_CACHE_HOME", t.TempDir())
	e, prog, dir := newEndpoint(t), conformance(t), t.TempDir()
	bundle := filepath.Join(dir, "out.json")
	args := func(more ...string) []string {
		return append([]string{
			"live", "--stdio", prog + " demo-adapter", "--level", "2", "--journal", dir, "--bundle", bundle,
			"--model", "m", "--model-url", e.url, "--model-key-env", "SOME_KEY", "--judge", "model", "--fail-on", "fail",
		}, more...)
	}
	out, errs, code := runProgram(t, prog, args("--judge-model", "gone")...)
	if code != verdict.ExitPassed || !strings.Contains(errs, "--judge: none of the 4 answers was judged: ") || !strings.Contains(out, "Not judged: the model's endpoint responded with 401 Unauthorized: bad key [key]") || !strings.Contains(out, "incomplete: 4 answers were not judged") {
		t.Errorf("exit %d\n%s\n%s", code, out, errs)
	}
	if n := e.times("gone"); n != 2 {
		t.Errorf("asked %d times, want 2 failures in a row to be enough", n)
	}
	written := out + errs
	out, errs, code = runProgram(t, prog, args("--judge-model", "gone", "--require-judge")...)
	if code != verdict.ExitConfig || !strings.Contains(errs, "4 of the semantic rows were not decided") {
		t.Errorf("exit %d\n%s", code, errs)
	}
	written += out + errs
	// The answers are in the bundle: another judge can still be asked, at an
	// address of its own, which the key is not for.
	judged := filepath.Join(dir, "judged.json")
	out, errs, code = runProgram(t, prog, "test", bundle, "--level", "2", "--judge", "model", "--judge-model", "j", "--judge-url", e.url, "--bundle", judged)
	if !strings.Contains(out, "tier 2 is judged by model j") || e.times("j") != 4 {
		t.Errorf("exit %d, asked %d times\n%s\n%s", code, e.times("j"), out, errs)
	}
	written += out + errs
	lines := regexp.MustCompile(`\(line \d+\)`) // they are those of the file that was read
	if again, _, _ := runProgram(t, prog, "test", judged, "--level", "2"); lines.ReplaceAllString(again, "") != lines.ReplaceAllString(out, "") {
		t.Errorf("the judged bundle gives another report:\n%s\nwant\n%s", again, out)
	}
	out, errs, _ = runProgram(t, prog, args("--judge-model", "j")...)
	written += out + errs
	for _, k := range []string{"m " + key, "gone " + key, "j ", "j " + key} {
		if !e.keys[k] {
			t.Errorf("never sent: %q of %v", k, e.keys)
		}
	}
	if err := filepath.WalkDir(dir, func(path string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() {
			return err
		}
		data, err := os.ReadFile(path)
		written += string(data)
		return err
	}); err != nil {
		t.Fatal(err)
	}
	if !strings.Contains(written, "your key is [key]") || strings.Contains(written, "0123456789") {
		t.Error("the key was written down, or the test looks in the wrong place")
	}
}

// A model that cannot be asked is reported, and does not change the exit code.
func TestLiveModelOutOfReach(t *testing.T) {
	t.Parallel()
	e, prog, dir := newEndpoint(t), conformance(t), t.TempDir()
	for adapter, want := range map[string]int{" demo-adapter": verdict.ExitPassed, " demo-adapter --defect leaks-stack": verdict.ExitFailed} {
		_, errs, code := runProgram(t, prog, "live", "--stdio", prog+adapter, "--level", "2", "--journal", dir, "--model", "gone", "--model-url", e.url, "--fail-on", "fail")
		if code != want || !strings.Contains(errs, "--model: none of the 4 questions was answered: ") {
			t.Errorf("%s: exit %d\n%s", adapter, code, errs)
		}
	}
}

// With an address of its own the judge does not get the model's key, and
// --rejudge asks it although its verdicts are kept.
func TestLiveJudgeOfItsOwn(t *testing.T) {
	t.Setenv("SOME_KEY", "sk-live-0123456789abcdef")
	asks, judges, prog, dir := newEndpoint(t), newEndpoint(t), conformance(t), t.TempDir()
	args := []string{
		"live", "--stdio", prog + " demo-adapter", "--level", "2", "--journal", dir,
		"--model", "m", "--model-url", asks.url, "--model-key-env", "SOME_KEY", "--judge", "model", "--judge-model", "j", "--judge-url", judges.url,
	}
	for i, want := range []int{4, 4, 8} {
		if i == 2 {
			args = append(args, "--rejudge")
		}
		out, errs, _ := runProgram(t, prog, args...)
		if judges.times("j") != want || !strings.Contains(out, "tier 2 is judged by model j") {
			t.Errorf("run %d: asked %d times, want %d\n%s\n%s", i, judges.times("j"), want, out, errs)
		}
	}
	if len(judges.keys) != 1 || !judges.keys["j "] {
		t.Errorf("the judge got %v", judges.keys)
	}
	if asks.times("j") != 0 || judges.times("m") != 0 {
		t.Error("the endpoints were mixed up")
	}
}

// A program judges what a model answers to a running adapter.
func TestLiveJudgeProgram(t *testing.T) {
	t.Parallel()
	e, prog, dir := newEndpoint(t), conformance(t), t.TempDir()
	script := filepath.Join(dir, "judge.sh")
	if err := os.WriteFile(script, []byte("cat >>\"$0.log\"\necho '{\"verdict\":\"unsure\",\"reason\":\"as ever\"}'\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	live := []string{"live", "--stdio", prog + " demo-adapter", "--journal", dir, "--model", "m", "--model-url", e.url, "--judge", "exec:sh " + script}
	out, errs, code := runProgram(t, prog, append(live, "--level", "2")...)
	if code != verdict.ExitWarned || !strings.Contains(out, "unsure: as ever") || !strings.Contains(out, "tier 2 is judged by program sh "+script) {
		t.Errorf("exit %d\n%s\n%s", code, out, errs)
	}
	log, err := os.ReadFile(script + ".log")
	if err != nil || strings.Count(string(log), "\n") != 4 || !strings.Contains(string(log), `"facts":"The CREATE operations are `) {
		t.Errorf("%s, %v", log, err)
	}
	_, errs, code = runProgram(t, prog, live...)
	if code != verdict.ExitConfig || !strings.Contains(errs, "level 1 has no semantic rows: add --level 2") {
		t.Errorf("exit %d\n%s", code, errs)
	}
}
