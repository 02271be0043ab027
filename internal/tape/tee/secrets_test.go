package tee_test

import (
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"net/url"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"mcptest/internal/base/secret"
	"mcptest/internal/tape/cassette"
	"mcptest/internal/tape/tee"
)

// The credentials in headers are masked in all messages, from the first request on.
func TestCredentialsOfHeadersAreNotRecorded(t *testing.T) {
	t.Parallel()
	planted := map[string]string{
		"Authorization": "PLANTopaque-credential-of-acme", "X-Api-Key": "plant-key-alpha-beta", "Cookie": "PLANTed-cookie-Zq8vK3", "Set-Cookie": "PLANTed-answer-Zq8vK3",
	}
	all := planted["Authorization"] + " " + planted["X-Api-Key"] + " " + planted["Cookie"]
	upstream := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		_, _ = io.ReadAll(r.Body)
		w.Header().Set("Set-Cookie", "sid="+planted["Set-Cookie"]+"; Path=/")
		w.Header().Set("A-Copy", all)
		text, _ := json.Marshal("you sent " + all + "; keep " + planted["Set-Cookie"])
		message := fmt.Sprintf(`{"jsonrpc":"2.0","id":1,"result":{"protocolVersion":"2025-11-25","serverInfo":{"name":%s},"instructions":%s}}`, text, text)
		if r.URL.Path == "/mcp/" {
			w.Header().Set("Content-Type", "text/event-stream")
			message = "id: " + planted["Authorization"] + "\ndata: " + message + "\n\n"
		}
		fmt.Fprint(w, message)
	}))
	defer upstream.Close()
	path := filepath.Join(t.TempDir(), "a"+cassette.Suffix)
	w, err := cassette.Create(path, cassette.Header{Transport: cassette.StreamableHTTP}, secret.NewRedactor())
	if err != nil {
		t.Fatal(err)
	}
	tap := tee.NewTap(w.Write)
	target, _ := url.Parse(upstream.URL + "/mcp")
	front := httptest.NewServer(tee.NewProxy(target, false, tap, func(err error) { t.Error(err) }))
	defer front.Close()
	for _, address := range []string{"/mcp", "/mcp/"} {
		body := fmt.Sprintf(`{"jsonrpc":"2.0","id":1,"method":"initialize","params":{"a":"Invalid %s"}}`, all)
		req, _ := http.NewRequestWithContext(t.Context(), http.MethodPost, front.URL+address, strings.NewReader(body))
		req.Header.Set("Authorization", "Bearer "+planted["Authorization"])
		req.Header.Set("X-Api-Key", planted["X-Api-Key"])
		req.Header.Set("Cookie", "theme=dark; sid="+planted["Cookie"])
		res, err := http.DefaultClient.Do(req)
		if err != nil {
			t.Fatal(err)
		}
		if got, err := io.ReadAll(res.Body); err != nil || !strings.Contains(string(got), all) {
			t.Errorf("%q, %v", got, err)
		}
		res.Body.Close()
	}
	front.Close()
	if lost, err := tap.Close(); lost > 0 || err != nil {
		t.Fatal(lost, err)
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	recorded, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	if n := strings.Count(string(recorded), "Invalid [redacted]"); n != 2 {
		t.Errorf("%d requests in the recording, expected 2", n)
	}
	for name, v := range planted {
		for line := range strings.Lines(string(recorded)) {
			if strings.Contains(line, v) {
				t.Errorf("the value of %s is in %s", name, line)
			}
		}
	}
}
