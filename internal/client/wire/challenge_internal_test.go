package wire

import (
	"net/http"
	"testing"
)

func TestChallenge(t *testing.T) {
	for _, c := range []struct {
		status int
		values []string
		want   string
	}{
		{403, []string{`Bearer error="insufficient_scope", scope="a b", error_description="Writing needs b"`}, ": the token lacks a scope: the server asks for a b (Writing needs b)"},
		{403, []string{`Bearer error=insufficient_scope,scope=a`}, ": the token lacks a scope: the server asks for a"},
		{403, []string{`Bearer scope="a"`}, ": the server asks for a"},
		{401, []string{`Bearer realm="x", error="invalid_token", error_description="It \"expired\""`}, `: invalid_token (It "expired")`},
		{401, []string{`Basic realm="x"`, `bearer Error="invalid_request"`}, ": invalid_request"},
		{401, []string{`Bearer realm="error here, scope there"`}, ""},
		{401, []string{`Bearer resource_metadata="https://a/b"`}, ""},
		{401, nil, ""},
		{500, []string{`Bearer error="insufficient_scope"`}, ": the token lacks a scope"},
		{302, []string{`Bearer error="insufficient_scope"`}, ""},
		{403, []string{`Bearer error="", scope=""`}, ""},
	} {
		info := &HTTPInfo{Status: c.status, Header: http.Header{"Www-Authenticate": c.values}}
		if got := describeChallenge(info); got != c.want {
			t.Errorf("%d %q: got %q, want %q", c.status, c.values, got, c.want)
		}
	}
}
