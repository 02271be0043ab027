package aqlcli_test

import (
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"path/filepath"
	"strings"
	"sync/atomic"
	"testing"

	"mcptest/internal/mcpaql/verdict"
)

// The semantic options reach the model and the judge, verdicts are kept, and
// the bundle gives the same report without either.
func TestLiveAsksAModel(t *testing.T) {
	var asked atomic.Int64
	srv := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		data, _ := io.ReadAll(r.Body)
		asked.Add(1)
		if got := r.Header.Get("x-api-key"); got != "key-1" {
			t.Errorf("the key is %q", got)
		}
		text := "an idea"
		if strings.Contains(string(data), "You judge whether") {
			text = `{\"verdict\":\"understood\",\"reason\":\"so be it\",\"quote\":\"an idea\"}`
		}
		fmt.Fprintf(w, `{"content":[{"type":"text","text":"%s"}],"usage":{"input_tokens":1,"output_tokens":1}}`, text)
	}))
	defer srv.Close()
	prog, dir := conformance(t), t.TempDir()
	bundle := filepath.Join(dir, "out.json")
	args := []string{
		"live", "--stdio", prog + " demo-adapter", "--level", "2", "--journal", dir, "--bundle", bundle,
		"--model", "m", "--model-url", srv.URL, "--model-api", "anthropic", "--model-key-env", "SOME_KEY", "--judge", "model", "--judge-votes", "3",
	}
	t.Setenv("SOME_KEY", "key-1")
	out, errs, _ := runProgram(t, prog, args...)
	if !strings.Contains(out, "Error understanding: ") || !strings.Contains(out, "tier 2 (semantic): PASS") {
		t.Fatalf("%s\n%s", out, errs)
	}
	first := asked.Load()
	again, _, _ := runProgram(t, prog, "test", bundle, "--level", "2")
	if again != out || asked.Load() != first {
		t.Errorf("the bundle gives another report, or the model was asked again:\n%s", again)
	}
	if _, _, _ = runProgram(t, prog, args...); asked.Load() != first+4 {
		t.Errorf("%d requests the second time, want the four questions", asked.Load()-first)
	}
	if r := runAQL(t, "", "live", "--stdio", "x", "--judge", "model"); r.code != verdict.ExitConfig || !strings.Contains(r.err, "needs --model") {
		t.Errorf("exit %d, %q", r.code, r.err)
	}
}
