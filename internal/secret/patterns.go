package secret

// pattern is a kind of secret that its form gives away. The prefix is where
// the search stops; find then looks at the text around it.
type pattern struct {
	prefix string // at least one byte; what follows a shorter one than three is free
	fold   bool   // the prefix is in lower case, and upper case is the same
	named  bool   // found by a name, which is absent where the value is shown alone
	// find gets the offset i of the prefix and the offset j after it, and returns the
	// bounds of the secret, which are empty if there is none.
	find func(s string, i, j int) (start, end int)
}

func (p *pattern) at(s string, i int) bool {
	if len(s)-i < len(p.prefix) {
		return false
	}
	head := s[i : i+len(p.prefix)]
	if !p.fold {
		return head == p.prefix
	}
	for k := len(head) - 1; k >= 0; k-- { // from the end, where prose differs
		if c := head[k]; c != p.prefix[k] && (c-'A' >= 26 || c|0x20 != p.prefix[k]) {
			return false
		}
	}
	return true
}

// patterns is the table of tokens that are recognized without a declaration, in the
// formats that their issuers document for secret scanning.
var patterns = []pattern{
	// Private keys in PEM (RFC 7468), with real or escaped line ends.
	{prefix: "BEGIN ", find: privateKey},
	{prefix: "END ", find: privateKeyEnd},
	// Amazon: access key ids; the secret half is found by its name below.
	{prefix: "AKIA", find: token{chars: upperDigit, min: 16, max: 16, bounded: true}.find},
	{prefix: "ASIA", find: token{chars: upperDigit, min: 16, max: 16, bounded: true}.find},
	// Google: API keys, OAuth access tokens, OAuth client secrets.
	{prefix: "AIza", find: token{chars: wordDash, min: 30}.find},
	{prefix: "GOCSPX-", find: token{chars: wordDash, min: 20}.find},
	{prefix: "ya29.", find: token{chars: wordDash, min: 20}.find},
	// GitHub.
	{prefix: "ghp_", find: token{chars: alnum, min: 20}.find},
	{prefix: "gho_", find: token{chars: alnum, min: 20}.find},
	{prefix: "ghu_", find: token{chars: alnum, min: 20}.find},
	{prefix: "ghs_", find: token{chars: alnum, min: 20}.find},
	{prefix: "ghr_", find: token{chars: alnum, min: 20}.find},
	{prefix: "github_pat_", find: token{chars: word, min: 20}.find},
	// GitLab: personal, deploy, runner, trigger, job, OAuth, feed, agent tokens.
	{prefix: "glpat-", find: token{chars: wordDash, min: 20}.find},
	{prefix: "gldt-", find: token{chars: wordDash, min: 20}.find},
	{prefix: "glrt-", find: token{chars: wordDash, min: 20}.find},
	{prefix: "glptt-", find: token{chars: wordDash, min: 20}.find},
	{prefix: "glcbt-", find: token{chars: wordDash, min: 20}.find},
	{prefix: "gloas-", find: token{chars: wordDash, min: 20}.find},
	{prefix: "glft-", find: token{chars: wordDash, min: 20}.find},
	{prefix: "glagent-", find: token{chars: wordDash, min: 20}.find},
	// Slack: tokens and incoming webhooks.
	{prefix: "xox", find: slackToken},
	{prefix: "xapp-", find: token{chars: wordDash, min: 16}.find},
	{prefix: "hooks.slack.com/", find: token{chars: urlPath, min: 20}.find},
	// OpenAI, Anthropic and others that took up "sk-"; Stripe; npm; PyPI;
	// Hugging Face.
	{prefix: "sk-", find: token{chars: wordDash, min: 20, bounded: true, random: true}.find},
	{prefix: "sk_live_", find: token{chars: alnum, min: 16}.find},
	{prefix: "sk_test_", find: token{chars: alnum, min: 16}.find},
	{prefix: "rk_live_", find: token{chars: alnum, min: 16}.find},
	{prefix: "whsec_", find: token{chars: base64Char, min: 24}.find},
	{prefix: "npm_", find: token{chars: alnum, min: 30, bounded: true}.find},
	{prefix: "pypi-AgEI", find: token{chars: wordDash, min: 40}.find},
	{prefix: "hf_", find: token{chars: alnum, min: 30, bounded: true}.find},
	// JSON Web Tokens (RFC 7519): an object in base64url starts like this.
	{prefix: "eyJ", find: webToken},
	// HTTP authorization (RFC 9110 section 11.6.2, RFC 6750, RFC 7617).
	{prefix: "bearer ", fold: true, find: bearer},
	{prefix: "bearer%20", fold: true, find: bearer},
	{prefix: "basic ", fold: true, find: basic},
	{prefix: "authorization", fold: true, named: true, find: authorization},
	{prefix: "cookie", fold: true, named: true, find: cookie},
	// URLs: userinfo, and credentials in the query or the fragment.
	{prefix: "://", find: userinfo},
	{prefix: "?", find: query},
	{prefix: "&", find: query},
	{prefix: "#", find: query},
	// Members, variables and flags that are named like credentials. The prefix
	// is the part of the name that is rare in prose.
	{prefix: "oken", fold: true, named: true, find: named},
	{prefix: "sswor", fold: true, named: true, find: named},
	{prefix: "sswd", fold: true, named: true, find: named},
	{prefix: "phrase", fold: true, named: true, find: named},
	{prefix: "pwd", fold: true, named: true, find: named},
	{prefix: "cret", fold: true, named: true, find: named},
	{prefix: "credenti", fold: true, named: true, find: named},
	{prefix: "apikey", fold: true, named: true, find: named},
	{prefix: "_key", fold: true, named: true, find: named},
	{prefix: "-key", fold: true, named: true, find: named},
	{prefix: "sskey", fold: true, named: true, find: named},
	{prefix: "ekey", fold: true, named: true, find: named},
	{prefix: "gkey", fold: true, named: true, find: named},
	{prefix: "_pat", fold: true, named: true, find: named},
	{prefix: "jwt", fold: true, named: true, find: named},
	{prefix: "otp", fold: true, named: true, find: named},
}
