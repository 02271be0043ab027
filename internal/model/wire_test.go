package model_test

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"mcptest/internal/base/jsonv"
	"mcptest/internal/model"
)

func chat(c *model.Client) (model.Message, error) {
	return c.Chat(context.Background(), "", []model.Message{{Role: "user", Text: "x"}}, nil)
}

// Waits follow Retry-After in both its forms, and never exceed 20 s.
func TestWaits(t *testing.T) {
	date := func(d time.Duration) string { return time.Now().Add(d).UTC().Format(http.TimeFormat) }
	for after, want := range map[string][2]time.Duration{
		"":                        {time.Second, time.Second},
		"3":                       {3 * time.Second, 3 * time.Second},
		"0.5":                     {500 * time.Millisecond, 500 * time.Millisecond},
		"86400":                   {20 * time.Second, 20 * time.Second},
		"99999999999999999999999": {20 * time.Second, 20 * time.Second},
		"-5":                      {time.Second, time.Second},
		"NaN":                     {time.Second, time.Second},
		"soon":                    {time.Second, time.Second},
		date(time.Hour):           {20 * time.Second, 20 * time.Second},
		date(10 * time.Second):    {time.Second, 10 * time.Second},
		date(-time.Hour):          {time.Second, time.Second},
	} {
		var waits []time.Duration
		o := model.Options{Wait: func(_ context.Context, d time.Duration) error {
			waits = append(waits, d)
			return nil
		}}
		c, _ := serve(t, o, func(n int, w http.ResponseWriter, _ jsonv.Value) {
			if n == 1 {
				w.Header().Set("Retry-After", after)
				w.WriteHeader(429)
				return
			}
			say(w, "ok")
		})
		if m, err := chat(c); err != nil || m.Text != "ok" || len(waits) != 1 || waits[0] < want[0] || waits[0] > want[1] {
			t.Errorf("Retry-After %q: waited %v, %v", after, waits, err)
		}
	}
}

// Regardless of what an endpoint does with the key, it is in no error and no answer.
func TestKeyNeverLeaves(t *testing.T) {
	const key = "sk-very-secret-1234567890"
	elsewhere := httptest.NewServer(http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) {
		t.Errorf("the redirect was followed: %v", r.Header)
	}))
	t.Cleanup(elsewhere.Close)
	for name, answer := range map[string]func(w http.ResponseWriter){
		"an error": func(w http.ResponseWriter) {
			w.WriteHeader(401)
			fmt.Fprintf(w, `{"error":{"message":"no key %s"}}`, key)
		},
		"an answer":      func(w http.ResponseWriter) { say(w, "your key is "+key) },
		"a content type": func(w http.ResponseWriter) { w.Header().Set("Content-Type", "text/html; "+key); io.WriteString(w, key) },
		"broken JSON":    func(w http.ResponseWriter) { io.WriteString(w, `{"`+key) },
		"a 200 error":    func(w http.ResponseWriter) { fmt.Fprintf(w, `{"error":"%s"}`, key) },
		"a refusal":      func(w http.ResponseWriter) { fmt.Fprintf(w, `{"choices":[{"message":{"refusal":"%s"}}]}`, key) },
		"a redirect":     func(w http.ResponseWriter) { w.Header().Set("Location", elsewhere.URL+"/"+key); w.WriteHeader(307) },
		"a hang-up":      func(w http.ResponseWriter) { panic(http.ErrAbortHandler) },
		"in a tool call": func(w http.ResponseWriter) {
			fmt.Fprintf(w, `{"choices":[{"message":{"tool_calls":[{"function":{"name":"%s","arguments":"{}"}}]}}]}`, key)
		},
		"in two pieces":   func(w http.ResponseWriter) { w.WriteHeader(500); io.WriteString(w, strings.Repeat("x", 290)+key) },
		"in another form": func(w http.ResponseWriter) { w.WriteHeader(403); io.WriteString(w, "Authorization: Bearer "+key) },
	} {
		for _, api := range []string{model.OpenAI, model.Anthropic} {
			c, _ := serve(t, model.Options{Key: key, API: api}, func(_ int, w http.ResponseWriter, _ jsonv.Value) { answer(w) })
			m, err := chat(c)
			if all := fmt.Sprintf("%v %v", m, err); strings.Contains(all, "very-secret") || strings.Contains(all, "sk-ver") {
				t.Errorf("%s, %s: %s", name, api, all)
			}
		}
	}
	c := model.New(model.Options{URL: "http://me:hunter22@127.0.0.1:1/v1?key=hunter22", MaxCalls: 1})
	if _, err := chat(c); err == nil || strings.Contains(err.Error(), "hunter22") {
		t.Errorf("the address gives something away: %v", err)
	}
}

// An endpoint that refuses a parameter it can do without is asked without
// it, from then on.
func TestRefusedParameters(t *testing.T) {
	c, e := serve(t, model.Options{}, func(_ int, w http.ResponseWriter, b jsonv.Value) {
		for _, p := range [][2]string{
			{"max_tokens", "Unsupported parameter: 'max_tokens' is not supported with this model. Use 'max_completion_tokens' instead."},
			{"temperature", "Unsupported value: 'temperature' does not support 0 with this model."},
		} {
			if !b.Lookup(p[0]).IsAbsent() {
				w.WriteHeader(400)
				fmt.Fprintf(w, `{"error":{"message":"%s","type":"invalid_request_error","param":"%s"}}`, p[1], p[0])
				return
			}
		}
		if b.Lookup("max_completion_tokens").IsAbsent() {
			t.Errorf("no bound: %s", b)
		}
		say(w, "ok")
	})
	for range 2 {
		if _, err := chat(c); err != nil {
			t.Fatal(err)
		}
	}
	if len(e.bodies) != 4 {
		t.Errorf("%d requests, want 3 to learn and 1", len(e.bodies))
	}
	c, e = serve(t, model.Options{}, func(_ int, w http.ResponseWriter, _ jsonv.Value) {
		w.WriteHeader(400)
		io.WriteString(w, "temperature seed max_tokens")
	})
	if _, err := chat(c); err == nil || len(e.bodies) != 4 {
		t.Errorf("%d requests, %v", len(e.bodies), err)
	}
}

func TestAddresses(t *testing.T) {
	for _, c := range [][3]string{
		{model.OpenAI, "/v1", "/v1/chat/completions"},
		{model.OpenAI, "/v1/?api-version=3", "/v1/chat/completions?api-version=3"},
		{model.Anthropic, "", "/v1/messages"},
		{model.Anthropic, "/v1/", "/v1/messages"},
		{model.Anthropic, "/proxy", "/proxy/v1/messages"},
	} {
		var got string
		srv := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			got = r.URL.RequestURI()
			io.WriteString(w, `{"content":[],"choices":[{"message":{}}]}`)
		}))
		if _, err := chat(model.New(model.Options{API: c[0], URL: srv.URL + c[1]})); err != nil || got != c[2] {
			t.Errorf("%s %s: %s, %v", c[0], c[1], got, err)
		}
		srv.Close()
	}
	for _, bad := range []string{"localhost:11434", "ftp://x/", "http://", "::", "/v1"} {
		if model.CheckURL(bad) == nil {
			t.Errorf("%q is taken for an address", bad)
		}
	}
}

// An endpoint that counts no tokens does not escape the cap.
func TestUncountedTokens(t *testing.T) {
	c, e := serve(t, model.Options{MaxTokens: 1000}, func(_ int, w http.ResponseWriter, _ jsonv.Value) {
		fmt.Fprintf(w, `{"choices":[{"message":{"content":"%s"}}]}`, strings.Repeat("word ", 400))
	})
	for range 10 {
		_, _ = chat(c)
	}
	if n := len(e.bodies); n < 1 || n > 3 {
		t.Errorf("%d requests of about 500 tokens within 1000", n)
	}
}

// A caller that gives up ends the waiting, and learns what it was for.
func TestGivingUp(t *testing.T) {
	ctx, cancel := context.WithCancelCause(context.Background())
	o := model.Options{Wait: func(ctx context.Context, _ time.Duration) error {
		cancel(context.DeadlineExceeded)
		return context.Cause(ctx)
	}}
	c, e := serve(t, o, func(_ int, w http.ResponseWriter, _ jsonv.Value) { w.WriteHeader(500) })
	_, err := c.Chat(ctx, "", nil, nil)
	if !errors.Is(err, context.DeadlineExceeded) || !strings.Contains(err.Error(), "500 Internal Server Error") || len(e.bodies) != 1 {
		t.Errorf("%d requests, %v", len(e.bodies), err)
	}
}
