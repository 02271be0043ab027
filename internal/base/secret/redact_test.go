package secret_test

import (
	"bytes"
	"encoding/base64"
	"encoding/json"
	"net/url"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"mcptest/internal/base/secret"
	"mcptest/internal/base/testkit"
)

// The secrets of these tests are invented and assembled here, so that scanners of
// repositories do not report them.
var (
	pem  = "-----BEGIN RSA " + "PRIVATE KEY-----\nMIIEowIBAAKCAQEAx7\nq0JbC2v9\n-----END RSA " + "PRIVATE KEY-----"
	aws  = "AKIA" + "Q3EGVZ5TTJXWN6KD"
	gh   = "ghp_" + "16C7e42F292c6912E7710c838347Ae178B4a"
	ghp  = "github_pat_" + "11ABCDEFG0abcdefghijkl_mnopqrstuvwxyz"
	gl   = "glpat-" + "xYz12_AbC-34dEfGhI5j"
	slk  = "xoxb-" + "123456789012-1234567890123-AbCdEfGh"
	goog = "AIza" + "SyA1234567890abcdefghijklmnopqrstuv"
	oai  = "sk-" + "proj-abc123DEF456ghi789JKL012mno345"
	anth = "sk-" + "ant-api03-Zx9Yw8Vu7Ts6Rq5Po4Nm3Lk2-Ji1Hg0_AA"
	jwt  = "eyJhbGciOiJIUzI1NiJ9." + "eyJzdWIiOiIxMjM0NTY3ODkwIn0." + "dozjgNryP4J3jVmNHl0w5N_XgL0n3I9PlFUP0THsR8U"
)

func TestPatterns(t *testing.T) {
	r := secret.NewRedactor()
	for _, tc := range []struct{ name, in, want string }{
		{"pem", "key:\n" + pem + "\nend", "key:\n[redacted]\nend"},
		{"pem in JSON", `{"k":"` + strings.ReplaceAll(pem, "\n", `\n`) + `"}`, `{"k":"[redacted]"}`},
		{"pem cut", pem[:60], "[redacted]"},
		{"certificate", "-----BEGIN CERTIFICATE-----\nMIIE\n-----END CERTIFICATE-----", ""},
		{"aws", "id=" + aws + ",", "id=[redacted],"},
		{"aws too long", aws + "X", ""},
		{"aws secret", `aws_secret_access_key = wJalrXUtnFEMI/K7MDENG/bPxRfiCYEXAMPLEKEY`, `aws_secret_access_key = [redacted]`},
		{"aws secret camel", `"SecretAccessKey":"wJalrXUtnFEMI/K7MDENG/bPxRfiCYEXAMPLEKEY"`, `"SecretAccessKey":"[redacted]"`},
		{"github", "token " + gh + ".", "token [redacted]."},
		{"github after an escaped line end", `{"t":"a\n` + gh + `"}`, `{"t":"a\n[redacted]"}`},
		{"github fine-grained", ghp, "[redacted]"},
		{"github cut", "ghp_16C7e4…", "[redacted]…"},
		{"gitlab", "<" + gl + ">", "<[redacted]>"},
		{"slack", slk + " and " + slk, "[redacted] and [redacted]"},
		{"slack hook", "https://hooks.slack.com/services/T000/B000/abcdEFGHijkl", "https://[redacted]"},
		{"google", goog, "[redacted]"},
		{"openai", oai, "[redacted]"},
		{"anthropic", anth, "[redacted]"},
		{"openai after escape", `\n` + oai, `\n[redacted]`},
		{"no sk- in a word", "disk-usage-of-partition-1234567890abc, task-1234567890123456789012", ""},
		{"no sk- of words", "sk-learn-a-very-long-name-of-a-thing-2", ""},
		{"jwt", "t=" + jwt + ";", "t=[redacted];"},
		{"cursor is no jwt", `"nextCursor":"eyJwYWdlIjoyLCJvZmZzZXQiOjEwMH0"`, ""},
		{"bearer", "Authorization: Bearer abcdef0123456789", "Authorization: Bearer [redacted]"},
		{"bearer in JSON", `{"authorization":"bearer abc.def-123"}`, `{"authorization":"bearer [redacted]"}`},
		{"bearer prose", "use bearer authentication for this, Bearer token required", ""},
		{"basic", "Basic " + base64.StdEncoding.EncodeToString([]byte("user:pass")), "Basic [redacted]"},
		{"basic prose", "Basic arithmetic is BASIC English", ""},
		{"digest", `Authorization: Digest username=x`, `Authorization: Digest [redacted]`},
		{"authorization prose", `authorization: required for this endpoint; {"authorization":{"type":"object"}}`, ""},
		{"cookie", "Cookie: a=b; c=d\nX: 1", "Cookie: [redacted]\nX: 1"},
		{"set-cookie", "set-cookie: sid=31d4d96e407aad42; Path=/", "set-cookie: [redacted]"},
		{"api key header", "X-API-Key: 0123456789abcdef", "X-API-Key: [redacted]"},
		{"oauth", `{"access_token":"2YotnFZFEjr1zCsicMWpAA","token_type":"x","refresh_token":"tGzv3JOkF0XG5Qx2TlKWIA"}`, `{"access_token":"[redacted]","token_type":"x","refresh_token":"[redacted]"}`},
		{"oauth form", "client_id=a&client_secret=s3cr3t&x=1", "client_id=a&client_secret=[redacted]&x=1"},
		{"double escaped", `{"text":"{\"access_token\":\"2YotnFZFEjr1zCsicMWpAA\"}"}`, `{"text":"{\"access_token\":\"[redacted]\"}"}`},
		{"page token stays", `{"next_page_token":"abcdefghijkl","token_count":12345678}`, ""},
		{"userinfo", "postgres://bob:hunter2@db:5432/x", "postgres://[redacted]@db:5432/x"},
		{"userinfo token", "https://0123456789abcdef@github.com/a/b", "https://[redacted]@github.com/a/b"},
		{"userinfo plain", "ssh://git@github.com/a/b and http://a.b/x@y", ""},
		{"query", "GET /x?token=abc&page=2&api_key=k#frag", "GET /x?token=[redacted]&page=2&api_key=[redacted]#frag"},
		{"query html", "?a=1&amp;password=p&amp;b=2", "?a=1&amp;password=[redacted]&amp;b=2"},
		{"query json", `http://h/?a=1\u0026sig=zzz\u0026b=2`, `http://h/?a=1\u0026sig=[redacted]\u0026b=2`},
		{"fragment", "http://h/cb#access_token=abc&state=1", "http://h/cb#access_token=[redacted]&state=1"},
		{"query key", "?key=0123456789abcdef&sort_key=name&author=bob&max_tokens=100", "?key=[redacted]&sort_key=name&author=bob&max_tokens=100"},
		{"text", "The quick brown fox: https://example.org/a?b=c&d=e#f, see section 3 -- or ask. Base64: aGVsbG8gd29ybGQ=", ""},
	} {
		want := tc.want
		if want == "" {
			want = tc.in
		}
		got := r.String(tc.in)
		if got != want {
			t.Errorf("%s: got  %q\n\twant %q", tc.name, got, want)
		}
		if again := r.String(got); again != got {
			t.Errorf("%s: not stable: %q", tc.name, again)
		}
	}
}

func TestDeclared(t *testing.T) {
	r := secret.NewRedactor()
	const value = `p@ss "wörd"/1+<x>`
	r.Add(value, "short", "other-secret", "first line of a long secret\nsecond line of a long secret\n")
	js, _ := json.Marshal(value)
	js2, _ := json.Marshal(string(js))
	for _, in := range []string{
		value, string(js), string(js2), url.QueryEscape(value), url.PathEscape(value), strings.ToLower(url.QueryEscape("other-secret")),
		base64.StdEncoding.EncodeToString([]byte(value)), base64.URLEncoding.EncodeToString([]byte("x" + value)),
		base64.StdEncoding.EncodeToString([]byte("ab" + value + "cd")), "second line of a long secret", "first line of a long secret",
		"other-se…", "…other-s",
	} {
		got := r.String("<<" + in)
		if !strings.HasPrefix(got, "<<") || !strings.Contains(got, secret.Mask) {
			t.Errorf("%q: got %q", in, got)
		}
	}
	for in, want := range map[string]string{
		"short":                     "[redacted]",
		"shortbread is short":       "shortbread is short",
		`{"a":"short","short":"b"}`: `{"a":"[redacted]","short":"b"}`,
		`{\"a\":\"short\"}`:         `{\"a\":\"[redacted]\"}`,
		"another-secretary":         "an[redacted]ary",
		"other-seat":                "other-seat",
		"other-secretother-secret":  "[redacted]",
	} {
		if got := r.String(in); got != want {
			t.Errorf("%q: got %q, want %q", in, got, want)
		}
	}
}

func TestName(t *testing.T) {
	for _, n := range []string{"TOKEN", "GITHUB_TOKEN", "apiKey", "X-API-Key", "client_secret", "Authorization", "AUTH", "proxyAuth", "DB_PASSWORD", "accessToken", "SSHKey", "set-cookie", "AWS_SECRET_ACCESS_KEY", "key", "APIKey"} {
		if !secret.Name(n) {
			t.Errorf("%s is the name of a secret", n)
		}
	}
	for _, n := range []string{"AUTHOR", "author_name", "MONKEY", "keyboard", "tokenizer", "PATH", "secretary", "mcp-session-id", "", "PASSENGER", "content-type", "keystone", "TOKENS_PER_SECOND"} {
		if secret.Name(n) {
			t.Errorf("%s is not the name of a secret", n)
		}
	}
}

// TestDeclaredNeverSurvives: with any text around it, and in any form, a declared
// secret is masked, and redacting again changes nothing.
func TestDeclaredNeverSurvives(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		value := rapid.StringMatching(`[A-Za-z0-9!"#$%&'()*+,/:;<=>?@\\^_{|}~é-]{8,20}`).Draw(t, "secret")
		if strings.Contains(secret.Mask, value) {
			t.Skip()
		}
		r := secret.NewRedactor()
		r.Add(value)
		before, after := rapid.String().Draw(t, "before"), rapid.String().Draw(t, "after")
		js, _ := json.Marshal(value)
		encode := base64.StdEncoding.EncodeToString
		for _, in := range []string{
			before + value + after,
			before + string(js[1:len(js)-1]) + after,
			before + url.QueryEscape(value) + after,
		} {
			if got := r.String(in); strings.Contains(got, value) || len(got) == len(in) && got == in {
				t.Fatalf("%q: still there: %q", in, got)
			}
		}
		in := encode([]byte(before + value + after))
		if got := r.String(in); got == in {
			t.Fatalf("base64 %q of %q: nothing masked", in, before+value+after)
		}
		once := r.String(before + value + after)
		if twice := r.String(once); twice != once {
			t.Fatalf("not stable: %q, then %q", once, twice)
		}
	})
}

// FuzzRedactor plants a key of each kind at the boundary of two texts: it is masked
// wherever it is, a declared secret is masked, and masked text stays as it is.
func FuzzRedactor(f *testing.F) {
	for _, s := range []string{pem, aws, gh, slk, oai, jwt, "Bearer abcdef0123456789", "https://a:b@c/?token=x&y=\\u0026sig=1", "-----BEGIN ", "Cookie: a", "xox", "&amp;", "eyJ...", `x-api-key":"['abcdefgh`, `--token "`, `"password":`} {
		f.Add(s, "", uint8(0))
		f.Add("a", s, uint8(1))
	}
	keys := []string{pem, aws, gh, ghp, gl, slk, goog, oai, anth, jwt, "declared-secret"}
	r := secret.NewRedactor()
	r.Add("declared-secret", "tiny")
	f.Fuzz(func(t *testing.T, before, after string, n uint8) {
		around := " \n\"',;()<>[]{}|"[int(n)%15:][:1]
		for _, key := range append(keys, "") {
			text := before + around + key + around + after
			got := r.String(text)
			if key != "" && strings.Contains(got, key) || strings.Contains(got, "declared-secret") {
				t.Errorf("%q is still in %q, from %q", key, got, text)
			}
			again := r.String(got)
			if third := r.String(again); third != again {
				t.Errorf("%q, masked again, is %q, and then %q", got, again, third)
			}
			// Whether the value after a name is a sentence depends on the words in it, so on masks.
			if again != got && !strings.ContainsAny(text, "\"'`:=\\%&") {
				t.Errorf("%q, masked again, is %q", got, again)
			}
		}
	})
}

// What is found by its form, and what is declared, is masked under any name.
func TestSecretsInCredentials(t *testing.T) {
	r := secret.NewRedactor()
	r.Add("declared-secret")
	for text, want := range map[string]string{
		`{"credentials":{"url":"https://x/declared-secret"}}`:          `{"credentials":{"url":"https://x/[redacted]"}}`,
		`{"password":{"hint":"the password must be ` + gh + `"}}`:      `{"password":{"hint":"the password must be [redacted]"}}`,
		`{"apikey":{"type":"` + gh + `","n":1}}`:                       `{"apikey":{"type":"[redacted]","n":1}}`,
		`"pwd":{declared-secret}`:                                      `"pwd":{[redacted]}`,
		`PWD=/home/ada`:                                                `PWD=/home/ada`,
		`UID=sa;PWD=hunter22`:                                          `UID=sa;PWD=[redacted]`,
		`{"secrets":[{"name":"declared-secret","value":"abc"}],"a":1}`: `{"secrets":[{"name":"[redacted]","value":"[redacted]"}],"a":1}`,
	} {
		testkit.Equal(t, text, r.String(text), want)
	}
}

func TestRedactingWriter(t *testing.T) {
	r := secret.NewRedactor()
	r.Add("declared-secret")
	var b bytes.Buffer
	w := r.Writer(&b)
	for _, part := range []string{"a decl", "ared-secret b\n", "x\n" + pem[:50], pem[50:] + "\nafter\n", "last decla", "red-secret"} {
		if n, err := w.Write([]byte(part)); n != len(part) || err != nil {
			t.Fatal(n, err)
		}
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	if got, want := b.String(), "a [redacted] b\nx\n[redacted]\nafter\nlast [redacted]"; got != want {
		t.Errorf("got %q, want %q", got, want)
	}
}

// TestSecretsMayJoin: a text that was clean before a secret was declared is masked
// afterwards.
func TestSecretsMayJoin(t *testing.T) {
	r := secret.NewRedactor()
	const text = "session 0123abcd4567"
	if got := r.String(text); got != text {
		t.Fatalf("got %q", got)
	}
	r.Add("0123abcd4567")
	if got := r.String(text); got != "session [redacted]" {
		t.Errorf("got %q", got)
	}
}

var cleanText = strings.Repeat(`{"jsonrpc":"2.0","id":12,"result":{"content":[{"type":"text","text":"The quick brown fox jumps over the lazy dog; because of the second author, basic cookies are based on reality."}],"isError":false}}`+"\n", 5000)

func BenchmarkRedactClean(b *testing.B) {
	for _, n := range []int{0, 20} {
		b.Run(map[int]string{0: "patterns", 20: "20declared"}[n], func(b *testing.B) {
			r := secret.NewRedactor()
			for i := range n {
				r.Add(strings.Repeat(string(rune('a'+i)), 4) + "-secret-value-" + string(rune('z'-i)))
			}
			b.SetBytes(int64(len(cleanText)))
			for b.Loop() {
				if r.String(cleanText) != cleanText {
					b.Fatal("changed")
				}
			}
		})
	}
}

// TestPrefix: a word that a secret begins with is not masked in a complete value. At the
// end of a text, which may be truncated, only a short leading word is not.
func TestPrefix(t *testing.T) {
	r := secret.NewRedactor()
	r.Add("issues-bot-9f3k2m1x8", "SECRETFOO9", "CorrectHorseBatteryStaple!")
	for in, want := range map[string]string{
		"/issues": "", "lists issues": "", "issues": "", "loading issues...": "", "client_secret": "", "/issues-bot": "", `{"secret":1}`: "", "%69ssues": "",
		"issues-bo…": "[redacted]…", "see secret...": "see [redacted]...", "/t/issues-bot-9f3k2m1x8": "/t/[redacted]", "secretfoo9": "[redacted]",
	} {
		if want == "" {
			want = in
		}
		if got := r.Whole(in, nil); got != want {
			t.Errorf("%s: got %s, want %s", in, got, want)
		}
	}
	for in, want := range map[string]string{
		"/issues": "/issues", "lists issues": "lists issues", "the token issues-bot-9f3": "the token [redacted]", "body CorrectHorseBatteryStaple": "body [redacted]",
	} {
		if got := r.String(in); got != want {
			t.Errorf("%s: got %s, want %s", in, got, want)
		}
	}
	for in, want := range map[string]string{
		"token issues-bot-9": "token [redacted]", "foo9 and secret": "foo9 and [redacted]", "/issues": "/issues", "bot-9f3k2m1x8 x issues-b": "[redacted] x [redacted]",
	} {
		if got := r.Cut(in); got != want {
			t.Errorf("cut %s: got %s, want %s", in, got, want)
		}
	}
}

// TestLongLine: a line that is written in parts is masked across them.
func TestLongLine(t *testing.T) {
	r := secret.NewRedactor()
	r.Add("declared-0123456789-last")
	var b bytes.Buffer
	w := r.Writer(&b)
	for _, part := range []string{strings.Repeat("x", 1<<20) + "declared-01234", "56789-last\n"} {
		if _, err := w.Write([]byte(part)); err != nil {
			t.Fatal(err)
		}
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	if got := strings.TrimLeft(b.String(), "x"); got != "[redacted][redacted]\n" {
		t.Errorf("got %q", got)
	}
}
