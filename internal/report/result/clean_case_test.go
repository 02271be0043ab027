package result_test

import (
	"encoding/json"
	"strings"
	"testing"

	"mcptest/internal/base/secret"
	"mcptest/internal/report/result"
)

// cleaned returns a case as it is recorded, and its recorder.
func cleaned(t *testing.T, c *result.Case, r *secret.Redactor) string {
	t.Helper()
	rec := result.NewRecorder(result.RecorderOptions{Redactor: r})
	t.Cleanup(func() { _ = rec.Close() })
	rec.Send(result.CaseFinished{Case: c})
	b, err := json.Marshal(c)
	if err != nil {
		t.Fatal(err)
	}
	return string(b)
}

// TestSecretsOfResponses: a value that is recognized in a response, by its
// name or its form, is masked in the rest of the case, where it is alone.
func TestSecretsOfResponses(t *testing.T) {
	const key = "MIIEvQIBADANBgkqhkiG9w0BAQEFAASCBKcwggSjAgEAAoIBAQC0"
	for _, tc := range []struct{ name, response, value string }{
		{"oauth", `{"access_token":"2YotnFZFEjr1zCsicMWpAA"}`, "2YotnFZFEjr1zCsicMWpAA"},
		{"nested", `{"text":"{\"refreshToken\": \"refresh\\u0076al445566\"}"}`, "refreshval445566"},
		{"password", `{"password":"jsonPassw0rdZZ"}`, "jsonPassw0rdZZ"},
		{"api key", `{"X-Api-Key": "abcdef0123456789"}`, "abcdef0123456789"},
		{"aws", `{"SecretAccessKey":"wJalrXUtnFEMI/K7MDENG/bPxRfiCYEXAMPLEKEY"}`, "wJalrXUtnFEMI/K7MDENG/bPxRfiCYEXAMPLEKEY"},
		{"digest", `{"Authorization":"Digest digestval5544332211"}`, "digestval5544332211"},
		{"cookie", `{"Set-Cookie":"sid=serverCookie998877; Path=/"}`, "serverCookie998877"},
		{"quoted cookie", `{"text":"Set-Cookie: sid=\"serverCookie998877\"; Path=/"}`, "serverCookie998877"},
		{"key", `{"text":"-----BEGIN PRIVATE ` + `KEY-----\n` + key + `\nAB==\n-----END PRIVATE KEY-----"}`, key},
		{"python", `{"text":"{'client_secret': 'cs9988776655aa'}"}`, "cs9988776655aa"},
		{"environment", `{"text":"HOME=/root\nDB_PASSWORD=envPassw0rdWW\n"}`, "envPassw0rdWW"},
		{"url", `{"text":"postgres://bob:pgPassw0rd77@db/x"}`, "pgPassw0rd77"},
	} {
		r := secret.NewRedactor()
		got := cleaned(t, &result.Case{
			Status:  result.Fail,
			Message: `text: want "x", got "` + tc.value + `"`,
			Repro:   "mcptest run s.yaml --filter " + tc.value,
			Assertions: []result.Assertion{{
				Target: "text", Message: "not " + tc.value, Actual: `"` + tc.value + `"`, Diff: []string{"-x", "+" + tc.value}, Notes: []string{"found " + tc.value},
			}},
			Exchanges: []result.Exchange{{Request: `{"q":1}`, Response: tc.response}, {Request: `{"session":"` + tc.value + `"}`}},
			Attempts:  []result.Attempt{{Status: result.Fail, Exchanges: []result.Exchange{{Request: "{}", Response: tc.response, Error: "no " + tc.value}}}, {}},
			Stderr:    "no session " + tc.value,
		}, r)
		if strings.Contains(got, tc.value) {
			t.Errorf("%s: %q is still there:\n%s", tc.name, tc.value, got)
		}
	}
}

// TestCredentialsJoinTheRun: values found by their name are masked in later events too.
func TestCredentialsJoinTheRun(t *testing.T) {
	r := secret.NewRedactor()
	cleaned(t, &result.Case{Status: result.Pass, Exchanges: []result.Exchange{{
		Response: `{"access_token":"2YotnFZFEjr1zCsicMWpAA","password":"password","token":"2026-01-01","token_type":"bearer"}`,
		HTTP:     &result.HTTPExchange{Headers: map[string]string{"X-Auth-Token": "headerTok3n99"}},
	}}}, r)
	const innocent = "password of 2026-01-01, bearer"
	if got := r.String("2YotnFZFEjr1zCsicMWpAA headerTok3n99 " + innocent); got != "[redacted] [redacted] "+innocent {
		t.Errorf("got %q", got)
	}
}

// TestAssertionOnACredential: if a target names a credential, the actual value is not
// shown, regardless of its form; the expected one is.
func TestAssertionOnACredential(t *testing.T) {
	got := cleaned(t, &result.Case{
		Status: result.Fail, Message: `structured.user.password: want "x", got "admin"`,
		Assertions: []result.Assertion{
			{Target: "structured.user.password", Message: `structured.user.password: want "x", got "admin"`, Expected: `"x"`, Actual: `"admin"`},
			{Target: "structured", Diff: []string{`user.password: want "x", got "admin"`, `Set-Cookie: not expected, got "a=admin"`, `note: want "x", got "fine"`}},
			{Target: "structured.token_count", Message: "want 3, got 4", Actual: "4"},
		},
	}, secret.NewRedactor())
	for _, want := range []string{`want \"x\", got \"[redacted]\"`, `Set-Cookie: not expected, got \"[redacted]\"`, `note: want \"x\", got \"fine\"`, "want 3, got 4"} {
		if !strings.Contains(got, want) {
			t.Errorf("%s is missing", want)
		}
	}
	if strings.Contains(got, "admin") {
		t.Errorf("the value is still there: %s", got)
	}
}

// TestKeyLineByLine: a private key that is printed by a server is an excerpt a
// line, in the case and outside.
func TestKeyLineByLine(t *testing.T) {
	lines := []string{"-----BEGIN PRIVATE " + "KEY-----", "MIIEvQIBADANBgkqhkiG9w0BAQEFAASCBKcwggSjAgEAAoIBAQC0", "Zm9vYmFyMTIzNDU2Nzg5", "AB12", "-----END PRIVATE KEY-----", "Listening on port 8080"}
	c := &result.Case{Status: result.Pass, Server: "s"}
	for _, l := range lines {
		c.Violations = append(c.Violations, result.Violation{Kind: "stray-output", Excerpt: l})
	}
	got := cleaned(t, c, nil)
	for _, l := range lines[1:4] {
		if strings.Contains(got, l) {
			t.Errorf("%q of a case is still there", l)
		}
	}
	if !strings.Contains(got, lines[5]) {
		t.Error("the line after the key is gone")
	}
	rec := result.NewRecorder(result.RecorderOptions{})
	defer rec.Close()
	for _, l := range lines {
		rec.Send(result.FindingSeen{Finding: result.Finding{Kind: "stray-output", Server: "s", Excerpt: l}})
	}
	for i, f := range rec.Run().Findings {
		if masked := f.Excerpt == secret.Mask; masked == (i == 5) {
			t.Errorf("finding %d: %q", i, f.Excerpt)
		}
	}
}

// TestCutOutput: a truncated output may begin and end anywhere within a secret.
func TestCutOutput(t *testing.T) {
	r := secret.NewRedactor()
	r.Add("declared-secret-value")
	line := strings.Repeat("aB3/", 16) + "\n"
	for in, want := range map[string]string{
		"d-secret-value end": "[redacted] end",
		"begin declared-s\n[12 bytes left out]\nt-value x":                                                                                   "begin [redacted]\n[12 bytes left out]\n[redacted] x",
		strings.Repeat(line, 50) + "-----END PRIVATE KEY-----\nbye":                                                                          "[redacted]\nbye",
		"hello\n-----BEGIN PRIVATE " + "KEY-----\n" + line + "aB3/aB\n[12 bytes left out]\n" + line + "AB==\n-----END PRIVATE KEY-----\nbye": "hello\n[redacted]\n[12 bytes left out]\n[redacted]\nbye",
		"plain [3 bytes left out]\nvalue":                                                                                                    "plain [3 bytes left out]\nvalue",
	} {
		c := &result.Case{Status: result.Fail, Stderr: in}
		cleaned(t, c, r)
		if c.Stderr != want {
			t.Errorf("%q:\n got %q\nwant %q", in, c.Stderr, want)
		}
	}
}

// TestSecretsOfConversations: what a model read is masked in the conversation of each
// attempt, and where another attempt repeats it.
func TestSecretsOfConversations(t *testing.T) {
	const named, declared = "2YotnFZFEjr1zCsicMWpAA", "declared-secret-value"
	said := func(text string) *result.Conversation {
		return &result.Conversation{System: declared, Messages: []result.ModelMessage{{Role: "assistant", Text: text, Calls: []result.ModelCall{{Name: "get", Arguments: text, Text: text}}}}}
	}
	r := secret.NewRedactor()
	r.Add(declared)
	got := cleaned(t, &result.Case{
		Status: result.Fail, Conversation: said("the token is " + named),
		Attempts: []result.Attempt{{Status: result.Fail, Conversation: said(`{"access_token":"` + named + `"}`)}, {Status: result.Fail}},
	}, r)
	if strings.Contains(got, named) || strings.Contains(got, declared) || strings.Count(got, secret.Mask) < 8 {
		t.Errorf("a secret is left: %s", got)
	}
}
