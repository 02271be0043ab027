package evidence

import (
	"testing"

	"mcptest/internal/base/jsonv"
)

func TestRedactKeys(t *testing.T) {
	for _, c := range []struct{ in, want string }{
		{`{"password":"two words","n":1}`, `{"password":"[redacted]","n":1}`},
		{`[{"password":123456}]`, `[{"password":"[redacted]"}]`},
		{`{"password":{"value":"abcdefgh1","set":true,"ttl":3600}}`, `{"password":{"value":"[redacted]","set":true,"ttl":"[redacted]"}}`},
		{`{"credentials":[["alice",77123],null]}`, `{"credentials":[["[redacted]","[redacted]"],null]}`},
		{`{"pin":{"a":1}}`, `{"pin":"[redacted]"}`},
		// Not credentials.
		{`{"password":null,"secret":true,"secrets":120,"tokens":250000}`, ""},
		{`{"password":{"type":"string","description":"The password of the account"}}`, ""},
		{`{"password":{"required":true,"message":"must have 8 characters"}}`, ""},
	} {
		v, err := jsonv.Parse([]byte(c.in))
		if err != nil {
			t.Fatal(err)
		}
		if c.want == "" {
			c.want = c.in
		}
		if got := RedactKeys(v, map[string]bool{"pin": true}).String(); got != c.want {
			t.Errorf("%s: got %s, want %s", c.in, got, c.want)
		}
	}
}
