package suite

import (
	"fmt"
	"net/url"
	"slices"
	"strings"

	"mcptest/internal/base/source"
	"mcptest/internal/base/web"
)

// oauthKeys lists the required and the allowed keys of each grant.
var oauthKeys = map[string]struct{ needs, knows []string }{
	"client_credentials": {
		needs: []string{"client_id", "client_secret_env"},
		knows: []string{"token_endpoint", "issuer", "scope"},
	},
	"authorization_code": {
		knows: []string{"issuer", "client_id", "client_secret_env", "client_metadata_url", "scope", "redirect_port", "headless"},
	},
	"device_code": {
		knows: []string{"issuer", "client_id", "client_secret_env", "scope"},
	},
}

func (l *loader) checkOAuth(o *OAuth, n *source.Node, path string) {
	l.addSecretFromEnv(o.ClientSecretEnv, o.Pos, path+".client_secret_env")
	rules, ok := oauthKeys[o.Grant]
	if !ok || n == nil {
		return // reported by the decoder
	}
	for _, key := range rules.needs {
		if n.Get(key) == nil {
			l.dec.ErrorAt(o.Pos, path, fmt.Sprintf("the grant %s needs %s:", o.Grant, key), "")
		}
	}
	if o.Grant == "client_credentials" && o.TokenEndpoint == "" && o.Issuer == "" {
		l.dec.ErrorAt(o.Pos, path, "the grant client_credentials needs token_endpoint: or issuer:",
			"the server under test must not choose where the secret is sent")
	}
	for _, f := range n.Fields {
		key := f.Key.Text
		if key != "grant" && !slices.Contains(rules.needs, key) && !slices.Contains(rules.knows, key) && isOAuthKey(key) {
			l.dec.ErrorAt(f.Key.Pos, path, fmt.Sprintf("%s: cannot be used with the grant %s", key, o.Grant), "")
		}
	}
	l.checkOAuthClient(o, n, path)
	l.checkOAuthAddresses(o, n, path)
}

// checkOAuthClient checks combinations of the client's keys, for grants that discover
// the authorization server through the server under test.
func (l *loader) checkOAuthClient(o *OAuth, n *source.Node, path string) {
	if o.Grant == "client_credentials" {
		return
	}
	at := func(key string) source.Pos { return n.Get(key).Pos }
	secret, issuer, client := n.Get("client_secret_env") != nil, n.Get("issuer") != nil, n.Get("client_id") != nil
	switch {
	case secret && !client:
		l.dec.ErrorAt(at("client_secret_env"), path+".client_secret_env", "a secret needs client_id:", "a client that registers itself receives its own")
	case secret && !issuer:
		l.dec.ErrorAt(at("client_secret_env"), path+".client_secret_env", "a secret needs issuer:",
			"the server under test must not choose where the secret is sent")
	case issuer && !client && o.Headless:
		l.dec.ErrorAt(at("issuer"), path+".issuer", "issuer: with headless: true needs client_id:", "a client that registers itself is not yet known to the issuer")
	}
}

// checkOAuthAddresses checks the addresses that receive secrets, codes and tokens.
func (l *loader) checkOAuthAddresses(o *OAuth, n *source.Node, path string) {
	for _, a := range []struct{ key, noun, value string }{
		{"issuer", "an issuer", o.Issuer}, {"token_endpoint", "a token endpoint", o.TokenEndpoint}, {"client_metadata_url", "", o.ClientMetadataURL},
	} {
		if a.value == "" || n.Get(a.key) == nil {
			continue
		}
		u, err := url.Parse(a.value)
		switch {
		case err != nil || u.Host == "" || u.Scheme != "https" && u.Scheme != "http":
			l.dec.ErrorAt(n.Get(a.key).Pos, path+"."+a.key, fmt.Sprintf("%q is not an http or https address", a.value), "")
		case a.key == "client_metadata_url" && (u.Scheme != "https" || strings.Trim(u.Path, "/") == ""):
			l.dec.ErrorAt(n.Get(a.key).Pos, path+"."+a.key, "the address must be https and have a path", "such as https://example.com/client.json")
		case u.Scheme == "http" && !web.IsLoopback(u.Hostname()):
			l.dec.ErrorAt(n.Get(a.key).Pos, path+"."+a.key, a.noun+" that is not on this machine must be reached by https", "")
		}
	}
}

// isOAuthKey reports whether key belongs to any grant. The decoder reports the
// others.
func isOAuthKey(key string) bool {
	return key == "redirect_port" || key == "headless" || key == "client_metadata_url" || key == "token_endpoint" ||
		key == "issuer" || key == "client_id" || key == "client_secret_env" || key == "scope"
}
