package secret_test

import (
	"encoding/base64"
	"encoding/json"
	"strings"
	"testing"

	"mcptest/internal/base/secret"
)

// Passwords in XML, HTML, multipart bodies, and base64 of JSON and XML are masked, also within JSON.
func TestDocuments(t *testing.T) {
	const pw = "swordfish"
	b64 := func(s string) string { return base64.StdEncoding.EncodeToString([]byte(s)) }
	part := func(end, head, v string) string {
		return "--b7" + end + "Content-Disposition: form-data; " + head + end + end + v + end + "--b7--" + end
	}
	for _, text := range []string{
		"<login><password>swordfish</password></login>",
		`<ns:Password type="text">swordfish</ns:Password>`,
		"<secret>\n  <api_key><![CDATA[swordfish]]></api_key></secret>",
		`<input type="password" name="password" class="a" value="swordfish">`,
		`<user password="swordfish"/>`,
		part("\r\n", `name="password"`, pw),
		part("\n", `name="password"`, pw),
		part("\r\n", "name=\"password\"\r\nContent-Type: text/plain", pw),
		part("\r\n", `name="file"; filename="a.json"`, `{"password":"swordfish"}`),
		b64(`{"password":"swordfish"}`), b64("{\n  \"user\": \"ada\",\n  \"password\": \"swordfish\"\n}"), b64(`[{"password":"swordfish"}]`), b64(`["a",{"password":"swordfish"}]`),
		strings.TrimRight(b64(`{"user":"ada","password":"swordfish"}`), "="), b64("<?xml version='1.0'?><a><password>swordfish</password></a>"),
		base64.RawURLEncoding.EncodeToString([]byte(`{"a":"ÿÿÿ","password":"swordfish"}`)), b64(`{"in":"{\"password\":\"swordfish\"}"}`),
	} {
		once, _ := json.Marshal(map[string]string{"text": text})
		twice, _ := json.Marshal(string(once))
		for level, s := range []string{text, string(once), string(twice)} {
			got := secret.NewRedactor().String(s)
			if strings.Contains(got, pw) || !strings.Contains(got, secret.Mask) {
				t.Errorf("%d: %s\n   %s", level, s, got)
			}
			for _, run := range strings.FieldsFunc(got, func(r rune) bool { return r == '"' || r == '\\' }) {
				for n := range 4 {
					plain, _ := base64.RawStdEncoding.DecodeString(strings.TrimRight(run[:max(0, len(run)-n)], "="))
					if strings.Contains(string(plain), "fish") {
						t.Errorf("%s still has the password", got)
					}
				}
			}
			if level > 0 && !json.Valid([]byte(got)) {
				t.Errorf("not JSON: %s", got)
			}
		}
	}
	for _, text := range []string{
		"<password>string</password>", "<password></password>", "<password><b>new</b></password>", "<token>page</token>", "<passwordless>swordfish</passwordless>",
		"a <password> is required", `<label for="password" id="password">Enter</label> value="blue sky"`, `{"type":"password","name":"a"}`,
		part("\r\n", `name="title"`, pw), b64(`{"title":"swordfish","n":1}`), "eyJhbGciOiJIUzI1NiJ9", "--b\r\nname=\"password\"; filename=\"a\"\r\n\r\nhello there\r\n--b--",
		"<max_password_length>128</max_password_length>",
	} {
		if got := secret.NewRedactor().String(text); got != text {
			t.Errorf("%q: %q", text, got)
		}
	}
}
