package secret

import "strings"

// pattern is a kind of secret that is recognized by its form. The search stops at the
// prefixes; find then examines the surrounding text.
type pattern struct {
	prefixes []string // at least one byte; any byte may follow one of fewer than three
	fold     bool     // the prefixes are in lower case, and the search ignores case
	named    bool     // recognized by a name, which may be absent elsewhere
	// find gets the offset i of the prefix and the offset j after it, and returns the
	// bounds of the secret, which are empty if there is none. It is nil for the prefixes
	// that are part of the name of a credential.
	find func(s string, i, j int) (start, end int)
	// coded is set if what find returns is base64 of a text that is searched.
	coded bool
}

// start is a prefix of a pattern.
type start struct {
	*pattern
	prefix string
}

func (p start) matchesAt(s string, i int) bool {
	if len(s)-i < len(p.prefix) {
		return false
	}
	head := s[i : i+len(p.prefix)]
	return head == p.prefix || p.fold && strings.EqualFold(head, p.prefix)
}

// patterns is the table of tokens that are recognized without a declaration, in the
// formats that their issuers document for secret scanning.
var patterns = []pattern{
	// Private keys in PEM (RFC 7468), with real or escaped line ends.
	{prefixes: []string{"BEGIN "}, find: findPrivateKey},
	{prefixes: []string{"END "}, find: findPrivateKeyEnd},
	// Amazon: access key ids; the secret half is found by its name below.
	{prefixes: []string{"AKIA", "ASIA"}, find: token{chars: upperDigit, min: 16, max: 16, bounded: true}.find},
	// Google: API keys; OAuth client secrets and access tokens.
	{prefixes: []string{"AIza"}, find: token{chars: wordDash, min: 30}.find},
	{prefixes: []string{"GOCSPX-", "ya29."}, find: token{chars: wordDash, min: 20}.find},
	// GitHub.
	{prefixes: []string{"ghp_", "gho_", "ghu_", "ghs_", "ghr_"}, find: token{chars: alnum, min: 20}.find},
	{prefixes: []string{"github_pat_"}, find: token{chars: word, min: 20}.find},
	// GitLab: personal, deploy, runner, trigger, job, OAuth, feed, agent tokens.
	{
		prefixes: []string{"glpat-", "gldt-", "glrt-", "glptt-", "glcbt-", "gloas-", "glft-", "glagent-"},
		find:     token{chars: wordDash, min: 20}.find,
	},
	// Slack: tokens and incoming webhooks.
	{prefixes: []string{"xox"}, find: findSlackToken},
	{prefixes: []string{"xapp-"}, find: token{chars: wordDash, min: 16}.find},
	{prefixes: []string{"hooks.slack.com/"}, find: token{chars: urlPath, min: 20}.find},
	// OpenAI, Anthropic and others that use "sk-"; Stripe; npm and Hugging Face;
	// PyPI.
	{prefixes: []string{"sk-"}, find: token{chars: wordDash, min: 20, bounded: true, random: true}.find},
	{prefixes: []string{"sk_live_", "sk_test_", "rk_live_"}, find: token{chars: alnum, min: 16}.find},
	{prefixes: []string{"whsec_"}, find: token{chars: base64Char, min: 24}.find},
	{prefixes: []string{"npm_", "hf_"}, find: token{chars: alnum, min: 30, bounded: true}.find},
	{prefixes: []string{"pypi-AgEI"}, find: token{chars: wordDash, min: 40}.find},
	// Azure: the key of a storage account in a connection string, 64 bytes in base64.
	{prefixes: []string{"accountkey="}, fold: true, find: findAccountKey},
	// JSON Web Tokens (RFC 7519): the start of an object in base64url.
	{prefixes: []string{"eyJ"}, find: findWebToken},
	// HTTP authorization (RFC 9110 section 11.6.2, RFC 6750, RFC 7617).
	{prefixes: []string{"bearer ", "bearer%20"}, fold: true, find: findBearer},
	{prefixes: []string{"basic "}, fold: true, find: findBasic},
	{prefixes: []string{"authorization"}, fold: true, named: true, find: findAuthorization},
	{prefixes: []string{"cookie"}, fold: true, named: true, find: findCookie},
	// URLs: userinfo, and credentials in the query or the fragment.
	{prefixes: []string{"://"}, find: findUserinfo},
	{prefixes: []string{"?", "&", "#"}, find: findQuery},
	// JSON and XML in base64, by their first bytes: {" {LF {CR {TAB {SP [{ [" [LF <?
	{prefixes: []string{"eyJ", "ewo", "ew0", "ewk", "eyA", "W3s", "WyJ", "Wwo", "PD9"}, coded: true, find: findBase64Text},
	// Members, variables and flags with names of credentials. The prefix is the part
	// of the name that is rare in prose.
	{fold: true, named: true, prefixes: []string{
		"oken", "sswor", "sswd", "phrase", "pwd", "cret", "credenti", "apikey",
		"_key", "-key", "sskey", "ekey", "gkey", "hkey", "nkey", "rkey", "_pat", "jwt", "otp", "pin", "pass", "bearer",
	}},
}

// findAccountKey finds the key that follows AccountKey= in a connection string.
func findAccountKey(s string, _, j int) (start, end int) {
	const digits = 86 // before the padding
	if end = scanSpan(s, j, base64Char); end-j < digits {
		return 0, 0
	}
	return j, scanSpan(s, end, func(c byte) bool { return c == '=' })
}
