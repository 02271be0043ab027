package secret_test

import (
	"testing"

	"mcptest/internal/base/secret"
)

// The credentials of a header are masked in other text, and nothing else of it is.
func TestLearnHeader(t *testing.T) {
	for _, c := range []struct{ name, value, text, want string }{
		{"Authorization", "Bearer opaque-credential-of-acme", "is opaque-credential-of-acme a Bearer", "is [redacted] a Bearer"},
		{"authorization", "opaque-credential-of-acme", "is opaque-credential-of-acme", "is [redacted]"},
		{"Authorization", "Basic YWRhOmNvcnJlY3QgaG9yc2U=", "is YWRhOmNvcnJlY3QgaG9yc2U= of ada: correct horse", "is [redacted] of ada: [redacted]"},
		{"Authorization", `Digest username="ada", nonce="q8Wc71hTz", realm="people"`, "people ada q8Wc71hTz", "people ada [redacted]"},
		{"Proxy-Authorization", "Bearer opaque-credential-of-acme", "is opaque-credential-of-acme", "is [redacted]"},
		{"X-Api-Key", "key-alpha-beta", "is key-alpha-beta", "is [redacted]"},
		{"X-Api-Key", "JBSWYEXPEHPKPXPA", "is JBSWYEXPEHPKPXPA", "is [redacted]"},
		{"X-Api-Key", "undefined", "is undefined", "is undefined"},
		{"X-Api-Key", "ping", `{"method":"ping"}`, `{"method":"ping"}`},
		{"X-Api-Key", "ab12cd", `ab12cdef {"a":"ab12cd"}`, `ab12cdef {"a":"[redacted]"}`},
		{"X-Auth-Version", "2025-11-25", "version 2025-11-25", "version 2025-11-25"},
		{"X-Token-Type", "application/json", "an application/json", "an application/json"},
		{"Cookie", `theme=darkmode; sid="q8Wc71hTz"`, "darkmode q8Wc71hTz", "darkmode [redacted]"},
		{"Cookie", "sid=s%3Aq8Wc71hTz.x", "id s:q8Wc71hTz.x", "id [redacted]"},
		{"Set-Cookie", "access_token=abcdefgh; Path=/a1b2c3d4e5", "abcdefgh /a1b2c3d4e5", "[redacted] /a1b2c3d4e5"},
		{"X-Request-Id", "q8Wc71hTzA0", "q8Wc71hTzA0", "q8Wc71hTzA0"},
		{"Authorization", secret.Mask, secret.Mask, secret.Mask},
		{"Authorization", "Bearer", "the Bearer", "the Bearer"},
	} {
		r := secret.NewRedactor()
		r.LearnHeader(c.name, c.value)
		if got := r.String(c.text); got != c.want {
			t.Errorf("%s: %s: %q was masked as %q, expected %q", c.name, c.value, c.text, got, c.want)
		}
	}
}
