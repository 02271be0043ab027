package secret_test

import (
	"slices"
	"strings"
	"testing"

	"mcptest/internal/base/secret"
)

// TestNamedCredentials: values under names of credentials, as languages and formats
// write them, and texts that only look similar.
func TestNamedCredentials(t *testing.T) {
	r := secret.NewRedactor()
	for _, tc := range []struct{ in, want string }{
		{`{"password":"hunter2"}`, `{"password":"[redacted]"}`},
		{`{"password": "with1 \"quotes\" \\"}`, `{"password": "[redacted]"}`},
		{`{"text":"{\"apiKey\": \"jsonApiKeyZZ12\", \"n\": 1}"}`, `{"text":"{\"apiKey\": \"[redacted]\", \"n\": 1}"}`},
		{`{"text":"{\"p\":\"{\\\"password\\\":\\\"hunter2\\\"}\"}"}`, `{"text":"{\"p\":\"{\\\"password\\\":\\\"[redacted]\\\"}\"}"}`},
		{`{'db_password': 'it\'s 1', 'b': 2}`, `{'db_password': '[redacted]', 'b': 2}`},
		{`{"token":"argTok778899","access_token":"abcdefgh"}`, `{"token":"[redacted]","access_token":"[redacted]"}`},
		{`"X-Api-Key": ["abcdef0123"]`, `"X-Api-Key": ["[redacted]"]`},
		{"DB_PASSWORD=swordfish\nPATH=/bin", "DB_PASSWORD=[redacted]\nPATH=/bin"},
		{`{"env":"A=1\nAPI_TOKEN=abcdefgh1\n"}`, `{"env":"A=1\nAPI_TOKEN=[redacted]\n"}`},
		{"password: hunter2", "password: [redacted]"},
		{"srv --api-key argvKey1 --password=argvPw --port 80", "srv --api-key [redacted] --password=[redacted] --port 80"},
		{`["srv", "--api-key", "argvKey1", "x"]`, `["srv", "--api-key", "[redacted]", "x"]`},
		{`client_secret='cs9988'`, `client_secret='[redacted]'`},
		{`"SecretAccessKey" : "a/b+c1234"`, `"SecretAccessKey" : "[redacted]"`},
		{`{"password":"cut0f`, `{"password":"[redacted]`},
	} {
		if got := r.String(tc.in); got != tc.want {
			t.Errorf("%s:\n got %s\nwant %s", tc.in, got, tc.want)
		}
	}
	for _, in := range []string{
		`{"type":"object","properties":{"password":{"type":"string"}},"required":["password","token"]}`,
		`{"password":"The user's password"}`, `{"errors":{"password":"is too short (minimum is 8 characters)"}}`, `{"password":"string","token":"required"}`, `{"password":null,"secret":true,"token":12}`,
		`{"progressToken":"abc12345def","nextPageToken":"eyJwIjoxMjM0fQ","token_type":"bearer","tokenCount":17}`,
		`{"token":"hello","logprob":-0.1}`, `{"key":"uploads/2024/a1b2c3d4.png"}`, `{"secret_name":"db-creds-1","password_file":"/run/s1"}`,
		`Unexpected token 'a', "abc123" is not valid JSON`, "password = getPassword1()", "token=None, secret=${SECRET}", "--token TOKEN --password <password1>",
		`password: want "x", got nothing`, "the secret of success: patience", "use --token-file path1 --password", "tokens: 1500, max_tokens: 4096",
		"monkey=abc123, keyboard: qwerty12", `{"algorithm":"RS256","signature":"func f(a1 int) string"}`, `{"token_endpoint":"https://as1.example/token"}`,
		"C:\\Users\\bob\\n1\\u0031", `\d+\.\w{3}\/[a-z]%20&amp;`,
	} {
		if got := r.String(in); got != in {
			t.Errorf("over-masked:\n got %s\nfrom %s", got, in)
		}
	}
}

// TestMembers: a member with the name of a credential is masked with any value, and
// the rest is valid JSON.
func TestMembers(t *testing.T) {
	r := secret.NewRedactor()
	for in, want := range map[string]string{
		`{"password":"correct horse battery"}`:                              `{"password":"[redacted]"}`,
		`{"passphrase": "two words"}`:                                       `{"passphrase": "[redacted]"}`,
		`{"password":123456,"n":1}`:                                         `{"password":"[redacted]","n":1}`,
		`{"password":-1.5e7}`:                                               `{"password":"[redacted]"}`,
		`{"text":"{\"password\": 123456}"}`:                                 `{"text":"{\"password\": \"[redacted]\"}"}`,
		`{"password":{"value":"abcdefgh1","is":true,"n":[4711]},"a":"b c"}`: `{"password":{"value":"[redacted]","is":true,"n":["[redacted]"]},"a":"b c"}`,
		`{"secrets":["a b c","swordfish"],"x":1}`:                           `{"secrets":["[redacted]","[redacted]"],"x":1}`,
		`{"t":"{\"secret\":{\"v\":\"a b\"}}","x":"y z"}`:                    `{"t":"{\"secret\":{\"v\":\"[redacted]\"}}","x":"y z"}`,
		`{"name":"password","value":"a b c"}`:                               `{"name":"password","value":"[redacted]"}`,
		`{"signingKey":"abcd","signing_key":"x y z"}`:                       `{"signingKey":"[redacted]","signing_key":"[redacted]"}`,
		`{"GITHUB_PAT":"abcdefgh1","jwt":"abcdefgh1","otp":"493021"}`:       `{"GITHUB_PAT":"[redacted]","jwt":"[redacted]","otp":"[redacted]"}`,
	} {
		got := r.String(in)
		if got != want {
			t.Errorf("%s:\n got %s\nwant %s", in, got, want)
		}
		if again := r.String(got); again != got {
			t.Errorf("not stable: %s", again)
		}
	}
	for _, in := range []string{
		`{"properties":{"password":{"type":"string","default":"a b c","minLength":8}}}`, `{"secret":{"$ref":"#/x/y","title":"abc"}}`,
		`{"password":true,"secret":null,"credentials":{},"secrets":[]}`, `{"password":""}`, `{"secrets":120}`,
		`{"credentials":{"type":"basic","expires_in":3600,"description":"how to log in"}}`,
		`{"name":"password","description":"of the user","value_type":"x y z"}`, `{"password":"Password must not be empty"}`,
		`{"bearer":{"type":"http"},"otp_length":6,"pattern":"abcdefgh1","footpath":"abcdefgh1"}`,
	} {
		if got := r.String(in); got != in {
			t.Errorf("over-masked:\n got %s\nfrom %s", got, in)
		}
	}
}

// TestPass: the value of pass and bearer is masked if it looks like a credential, and
// stays if it is the result of a test.
func TestPass(t *testing.T) {
	r := secret.NewRedactor()
	for in, want := range map[string]string{
		`{"user":"bob","pass":"swordfish"}`:                              `{"user":"bob","pass":"[redacted]"}`,
		`{"dbPass": "hunter2","n":1}`:                                    `{"dbPass": "[redacted]","n":1}`,
		`{"text":"{\"smtp_pass\":\"Zx9!q\"}"}`:                           `{"text":"{\"smtp_pass\":\"[redacted]\"}"}`,
		`{"bearer":"abcdefgh1"}`:                                         `{"bearer":"[redacted]"}`,
		"DB_PASS=swordfish\nN=1":                                         "DB_PASS=[redacted]\nN=1",
		`srv --pass hunter2 --db-pass=swordfish -v`:                      `srv --pass [redacted] --db-pass=[redacted] -v`,
		`auth: { user: 'bob', pass: 'hunter2' }`:                         `auth: { user: 'bob', pass: '[redacted]' }`,
		`{"encryptionKey":"a b c","masterKey":"abcdefg","authKey":4711}`: `{"encryptionKey":"[redacted]","masterKey":"[redacted]","authKey":"[redacted]"}`,
	} {
		got := r.String(in)
		if got != want {
			t.Errorf("%s:\n got %s\nwant %s", in, got, want)
		}
		if again := r.String(got); again != got {
			t.Errorf("not stable: %s", again)
		}
	}
	for _, in := range []string{
		`{"pass": 3,"fail":0}`, `{"pass":true}`, `{"pass":"true"}`, `{"pass":"yes"}`, `{"pass":"3"}`, `{"pass":"12/14"}`, `{"pass":"85.5%"}`,
		`{"pass":"1.25s"}`, `{"pass":"passed"}`, `{"pass":"FAIL"}`, `{"pass":["TestA1","swordfish"]}`, `{"pass":{"name":"swordfish"}}`, `{"pass":"3 of 4 tests"}`,
		"--- PASS: TestLogin12 (0.00s)", "PASS=12 FAIL=0", "pass: 12", "pass=ok, bypass='abcdefgh1', compass=\"north1234\"", `{"pass_rate":"high1234","passed":"abcdefgh1"}`,
		`{"token_type":"bearer","bearerFormat":"JWT123abc","bearer":{"type":"http"},"scheme":"bearer"}`, "if x:\n    pass\n", `{"first_pass":"done"}`, "--pass 3 --pass ok",
	} {
		if got := r.String(in); got != in {
			t.Errorf("over-masked:\n got %s\nfrom %s", got, in)
		}
	}
	for path, v := range map[string]string{"structured.pass": "3", "structured.db_pass": "passed", "text": "hunter2"} {
		if secret.HoldsText(path, v) || secret.HoldsAt(path) {
			t.Errorf("%s=%s is no credential", path, v)
		}
	}
	if !secret.HoldsText("structured.pass", "hunter2") || !secret.HoldsText("a['db_pass']", "swordfish") || !secret.HoldsText("a.password", "passed") {
		t.Error("the text of pass is a credential")
	}
	if got := secret.Arguments([]string{"srv", "--pass", "hunter2", "--pass=3", "--max-pass", "ok"}); !slices.Equal(got, []string{"hunter2"}) {
		t.Errorf("got %q", got)
	}
}

func TestHolds(t *testing.T) {
	for _, path := range []string{"structured.access_token", "structured.user.password", `http.headers["Set-Cookie"]`, "http.headers.Authorization", "token", "structured['x-api-key']", "apiKeys", "a.clientSecret"} {
		if !secret.HoldsAt(path) {
			t.Errorf("%s holds a credential", path)
		}
	}
	for _, path := range []string{"text", "structured.next_page_token", "structured.token_type", "structured.keys", "access_token.expires", "tokens_used_total", "author", "", "a.token[0].x"} {
		if secret.HoldsAt(path) {
			t.Errorf("%s holds no credential", path)
		}
	}
}

func TestLines(t *testing.T) {
	const full = "aB3/aB3/aB3/aB3/aB3/aB3/aB3/aB3/aB3/aB3/aB3/aB3/aB3/aB3/aB3/aB3/"
	in := []string{"@@ -1 +1,5 @@", "-x", "+-----BEGIN PRIVATE " + "KEY-----", "+" + full, "+" + full[:40], "+AB==", "+-----END PRIVATE KEY-----", "+bye"}
	got := secret.NewRedactor().Lines(in)
	want := []string{in[0], in[1], "+[redacted]", "+[redacted]", "+[redacted]", "+[redacted]", "+[redacted]", "+bye"}
	if strings.ReplaceAll(got[2], "[redacted]", "") != "+" || !slices.Equal(got[3:], want[3:]) || !slices.Equal(got[:2], want[:2]) {
		t.Errorf("got %q", got)
	}
	if in[3] != "+"+full {
		t.Error("the lines were changed")
	}
	clean := []string{"+a", " b"}
	if got := secret.NewRedactor().Lines(clean); &got[0] != &clean[0] {
		t.Error("clean lines were copied")
	}
}

// TestParts: an excerpt of a long text in a message may begin and end within a
// declared secret.
func TestParts(t *testing.T) {
	r := secret.NewRedactor()
	r.Add("first-0123456789-last")
	for in, want := range map[string]string{
		`got "…0123456789-last or"`:                  `got "…[redacted] or"`,
		`got "…0123456789…"`:                         `got "…[redacted]…"`,
		`got "…0123456789 or"`:                       `got "…0123456789 or"`,
		`got "…first-0123456789-last"`:               `got "…[redacted]"`,
		"FIRST-0123456789-LAST":                      "[redacted]",
		"66697273742d303132333435363738392d6c617374": "[redacted]",
	} {
		if got := r.String(in); got != want {
			t.Errorf("%s: got %s, want %s", in, got, want)
		}
	}
	if got := r.Cut("89-last x"); got != "[redacted] x" {
		t.Errorf("got %q", got)
	}
}

// TestHostileTexts: no text makes the search for secrets slow.
func TestHostileTexts(t *testing.T) {
	r := secret.NewRedactor()
	r.Add("declared-secret-value")
	for _, unit := range []string{`\`, `\\u00`, "&", "%", "%2", "&#", "token=", `password:"`, "-----BEGIN PRIVATE KEY-----", "-----END PRIVATE KEY-----\nab", "…", "oken", `\"token\":\"`, "--api-key ", "Cookie: a=\"", "AAAAAAAAAAAAAAAAEND "} {
		in := strings.Repeat(unit, 1<<19/len(unit)) // a quadratic search would not end
		got := r.String(in + "declared-secret-value")
		if strings.Contains(got, "declared") {
			t.Errorf("after many %q, a secret is still there", unit)
		}
	}
}

// A complete PEM block is a key of any length; two lines that are only mentioned in a
// text are not.
func TestShortKey(t *testing.T) {
	const begin, end = "-----BEGIN PRIVATE " + "KEY-----", "-----END PRIVATE " + "KEY-----"
	r := secret.NewRedactor()
	for in, want := range map[string]string{
		"a " + begin + "\nMIIEvQIBADANBg\n" + end + " b":   "a [redacted] b",
		"a " + begin + "\r\nMIIE\r\nvQ==\r\n" + end + " b": "a [redacted] b",
		`{"k":"` + begin + `\nMIIEvQIB\n` + end + `"}`:     `{"k":"[redacted]"}`,
	} {
		if got := r.String(in); got != want {
			t.Errorf("%q: got %q, want %q", in, got, want)
		}
	}
	spoken := "it goes from " + begin + " to " + end + " in the file"
	if got := r.String(spoken); !strings.Contains(got, " to ") || !strings.Contains(got, "in the file") {
		t.Errorf("got %q", got)
	}
}

// The name of a variable is no secret, wherever a secret could be; its default can be one.
func TestReferences(t *testing.T) {
	r := secret.NewRedactor()
	for _, in := range []string{
		"Authorization: Bearer ${API_KEY2}", `{Authorization: "Bearer ${API_KEY2}", X-Api-Key: {env: API_KEY2}}`, `{Authorization: "${MCPTEST_SECRET_1}"}`,
		`url: "http://localhost/mcp?api_key=${API_KEY2}&token=${env.S3_TOKEN}"`, `url: "http://bob:${PASSWORD_1}@localhost/"`,
		"headers.X-Api-Key: the environment variable S3_SECRET_ACCESS_KEY is not set", "variables.password: the environment variable MCPTEST_SECRET_1 is not set",
	} {
		if got := r.String(in); got != in {
			t.Errorf("over-masked:\n got %s\nfrom %s", got, in)
		}
	}
	for _, in := range []string{
		"Authorization: Bearer ${API_KEY:-s3cretvalue}", "http://localhost/mcp?api_key=${A}s3cretvalue", "http://bob:${P:-s3cretvalue}@localhost/",
	} {
		if got := r.String(in); strings.Contains(got, "s3cret") {
			t.Errorf("%s shows the default", got)
		}
	}
}
