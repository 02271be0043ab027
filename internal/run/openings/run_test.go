package openings_test

import (
	"context"
	"errors"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"mcptest/internal/offer/opening"
	"mcptest/internal/run/openings"
	"mcptest/internal/spec/plan"
)

// What a server does to later sessions is no fault of a client's opening: nothing is said
// about it if mcptest itself no longer gets in.
func TestLostOnlyIfControlGetsIn(t *testing.T) {
	t.Parallel()
	server := httptest.NewServer(&address{answer: oddPosts["discover-500"]})
	t.Cleanup(server.Close)
	scripts, err := opening.Builtin()
	if err != nil {
		t.Fatal(err)
	}
	for name, control := range map[string]error{"gets in": nil, "does not": errors.New("session refused")} {
		result := openings.Run(t.Context(), openings.Options{
			Server: &plan.Server{URL: server.URL, Timeout: patience}, Scripts: scripts,
			Control: func(context.Context) error { return control },
		})
		for _, v := range result.Verdicts {
			wanted := v.Script.Client != "claude-code"
			judged := wanted || control == nil
			if v.Connected != wanted || (v.Unjudged == "") != judged {
				t.Errorf("mcptest %s, %s: connected %t, not judged: %q", name, v.Script.Client, v.Connected, v.Unjudged)
			}
		}
	}
}

// A client that gets an answer which it can't read does not wait for one.
func TestDoubtIsAboutSilenceOnly(t *testing.T) {
	t.Parallel()
	scripts, err := opening.Builtin()
	if err != nil {
		t.Fatal(err)
	}
	for name, waits := range map[string]bool{"discover-html": false, "discover-200-empty": false, "discover-id-other": true} {
		answer := oddPosts[name]
		if answer == nil {
			answer = odd[name]
		}
		server := httptest.NewServer(&address{answer: answer})
		t.Cleanup(server.Close)
		result := openings.Run(t.Context(), openings.Options{
			Server: &plan.Server{URL: server.URL, Timeout: patience}, Scripts: scripts,
		})
		for _, v := range result.Verdicts {
			says := strings.Contains(v.Doubt, "has waited for an answer")
			if v.Script.Client == "chatgpt" && (!v.Connected || says != waits) {
				t.Errorf("%s: connected %t, %q", name, v.Connected, v.Doubt)
			}
		}
	}
}

// A server that wants credentials, or is busy, is not judged.
func TestNotJudged(t *testing.T) {
	t.Parallel()
	for _, status := range []int{401, 403, 429, 503} {
		server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) { w.WriteHeader(status) }))
		t.Cleanup(server.Close)
		scripts, err := opening.Builtin()
		if err != nil {
			t.Fatal(err)
		}
		result := openings.Run(t.Context(), openings.Options{
			Server: &plan.Server{URL: server.URL, Timeout: patience}, Scripts: scripts,
		})
		for _, v := range result.Verdicts {
			if v.Unjudged == "" || v.NeedsCredentials != (status < 429) {
				t.Errorf("HTTP %d, %s: %+v", status, v.Script.Client, v)
			}
		}
	}
}

// A script counts as long as its lifetime.
func TestScriptExpires(t *testing.T) {
	t.Parallel()
	s := opening.Script{Seen: "2026-06-01"}
	last := time.Date(2026, 11, 28, 12, 0, 0, 0, time.UTC)
	if s.Expires() != last.Format(time.DateOnly) || s.Expired(last) || !s.Expired(last.AddDate(0, 0, 1)) {
		t.Errorf("expires %s, expired then: %t, a day later: %t", s.Expires(), s.Expired(last), s.Expired(last.AddDate(0, 0, 1)))
	}
	if !strings.HasPrefix((&opening.Script{Client: "codex", Transport: "http"}).Rule(), "opening-codex-") {
		t.Error("the name of the rule")
	}
}
