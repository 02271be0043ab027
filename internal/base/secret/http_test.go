package secret_test

import (
	"strings"
	"testing"

	"mcptest/internal/base/secret"
)

// Values under names of HTTP are masked if they look generated; ordinary ones stay.
func TestFieldsOfHTTP(t *testing.T) {
	t.Parallel()
	r := secret.NewRedactor()
	for _, text := range []string{
		"/a?sid=k81zRt55Pl", "/a?x=1&session=k81zRt55Pl", "?code=4f8aK2p91x&state=1", "?sig=k81zRt55Pl", "/a?pin=48213", "pin=48213&a=b",
		`{"user":"ada","pin":"48213"}`, `{\"pin\":\"48213\"}`, "<login><pin>48213</pin></login>",
		"--b\r\nContent-Disposition: form-data; name=\"pin\"\r\n\r\n48213\r\n--b--",
	} {
		if got := r.String(text); strings.Contains(got, "48213") || strings.Contains(got, "k81z") || strings.Contains(got, "4f8a") || !strings.Contains(got, secret.Mask) {
			t.Errorf("%s: %s", text, got)
		}
	}
	for _, text := range []string{
		"/a?code=US", "?code=404", "?session=morning", "?sid=12", "?key=name", `{"pin":"13"}`, `{"pin":"A0"}`, `{"pin":{"id":"48213","title":"cats"}}`,
		`{"pin":48213}`, `{"code":"E48213x9"}`, `{"session_id":"k81zRt55Pl"}`, `{"signature":"add(a, b)"}`, "pin: 48213 is free", `{"pin":"https://x.example/48213"}`,
		`{"pins":"48213"}`, "shopping=48213", "spinning: 12345", "gpio --pin red",
	} {
		if got := r.String(text); got != text {
			t.Errorf("%s: %s", text, got)
		}
	}
}
