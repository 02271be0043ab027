package secret_test

import (
	"testing"

	"mcptest/internal/base/secret"
)

func TestInherited(t *testing.T) {
	for _, c := range []struct {
		name, value string
		want        bool
	}{
		{"API_TOKEN", "Zx9-canary-77q", true},
		{"api_token", "onlyletters", true},
		{"MY_SECRET", "correct horse battery staple 9", true},
		{"OPENAI_KEY", "Zx9-canary-77q", true},
		{"AWS_SECRET_ACCESS_KEY", "/JalrXUtnFEMI/K7MDENG/bPxRfiCYEXAMPLE", true},
		{"DB_PASSWORD", "hunterhunter", true},
		{"PGPASSWORD", "hunterhunter", true},
		{"DB_PASSWORD", "12345678", true},
		{"DB_PASS", "hunterhunter", true},
		{"API_BEARER", "hunterhunter", true},
		{"HTTP_AUTH", "basic:*:me:Zx9canary", true},
		{"SECRET_URL", "https://me:canary77@example.com/", true},
		{"SECRET_HOOK", "https://hooks.example.com/T000/Zx9canary77qZx9canary77q", true},
		{"NPM_TOKEN", "npm_Zx9canary77qZx9canary77q", true},

		{"PATH", "Zx9-canary-77q", false},
		{"PWD", "Zx9-canary-77q", false},
		{"TESTS_PASS", "succeeded", false},
		{"TESTS_PASS", "12345678", false},
		{"PASS_RATE", "Zx9-canary-77q", false},
		{"SSH_ASKPASS", "Zx9-canary-77q", false},
		{"AUTHOR", "Zx9-canary-77q", false},
		{"KEYBOARD", "Zx9-canary-77q", false},
		{"DB_PASSWORD", "postgres", false},
		{"DB_PASSWORD", "Changeme", false},
		{"API_TOKEN", "short7x", false},
		{"API_TOKEN", "1234567", false},
		{"API_TOKEN", "true", false},
		{"API_TOKEN", "", false},
		{"API_TOKEN", "   a7   ", false},
		{"API_TOKEN", "undefined", false},
		{"API_TOKEN", "${OTHER_TOKEN}", false},
		{"API_TOKEN", "API_TOKEN_NAME", false},
		{"API_TOKEN_FILE", "secrets-and-more", false},
		{"SSH_KEY", "~/.ssh/id_ed25519", false},
		{"SSH_KEY", `C:\Users\me\id_ed25519`, false},
		{"AUTH_URL", "https://login.example.com/oauth2/v2", false},
		{"TOKEN_REQUEST_URL", "https://run.example.com/id?api-version=2.0", false},
		{"SORT_KEY", "created-at", false},
		{"AUTH_METHOD", "client-secret-post", false},
		{"SECRET_HINT", "must have eight letters", false},
	} {
		if got := secret.IsInherited(c.name, c.value); got != c.want {
			t.Errorf("%s=%s: secret %v, want %v", c.name, c.value, got, c.want)
		}
	}
}
