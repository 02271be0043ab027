package secret_test

import (
	"slices"
	"strings"
	"testing"

	"mcptest/internal/base/secret"
)

// A variable that holds several credentials, and the password that a header encodes, are
// secrets each by itself.
func TestProgramSecrets(t *testing.T) {
	t.Parallel()
	const a, b = "q7hx3k9mzt4w8r2p", "n5vy6c1jbd0s7f3g"
	account := strings.Repeat(a, 5) + "q7hx3k=="
	for _, x := range []struct {
		name, value string
		want        []string
	}{
		{"API_KEYS", a + "," + b, []string{a, b}},
		{"API_KEYS", a + " " + b, []string{a, b}},
		{"TOKENS_JSON", `["` + a + `", "` + b + `"]`, []string{a, b}},
		{"STORAGE", "AccountName=a;AccountKey=" + account + ";EndpointSuffix=core.windows.net", []string{account}},
		{"HEADERS", "Authorization: Basic dXNlcjpxN2h4M2s5bXp0NHc4cjJw", []string{a}},
		{"HEADERS", `{"Proxy-Authorization": "Basic dXNlcjpxN2h4M2s5bXp0NHc4cjJw"}`, []string{a}},
	} {
		p := secret.NewProgram()
		p.AddVariable(x.name, x.value)
		for _, want := range x.want {
			if !slices.Contains(p.Secrets(), want) {
				t.Errorf("%s=%s: got %q, want %q among them", x.name, x.value, p.Secrets(), want)
			}
		}
	}
	for name, value := range map[string]string{
		"HOSTS": "db1.example1234,db2.example5678", "NOTE": "Authorization: Basic, Bearer or none", "PATHS": "/a1234567,/b1234567",
	} {
		p := secret.NewProgram()
		p.AddVariable(name, value)
		if len(p.Secrets()) > 0 {
			t.Errorf("%s=%s: got %q, want none", name, value, p.Secrets())
		}
	}
}
