package secret

import "strings"

// token is a prefix followed by characters of one class.
type token struct {
	chars    func(byte) bool
	min, max int  // how many; max 0: no limit
	bounded  bool // the prefix does not begin inside a word
	random   bool // must look random, not like a name
}

func (t token) find(s string, i, j int) (start, end int) {
	if t.bounded && !isBoundary(s, i) {
		return 0, 0
	}
	end = scanSpan(s, j, t.chars)
	n := end - j
	switch {
	case n < 4, n < t.min && !cut(s, end), t.max > 0 && n > t.max:
		return 0, 0
	case t.random && n >= t.min && !isRandom(s[j:end]):
		return 0, 0
	}
	return i, end
}

// findSlackToken finds xoxb-…, xoxp-… and similar tokens.
func findSlackToken(s string, i, j int) (start, end int) {
	if j+2 > len(s) || strings.IndexByte("abeoprs", s[j]) < 0 || s[j+1] != '-' { // also xoxe.xoxp-…, which begins later
		return 0, 0
	}
	return token{chars: wordDash, min: 10}.find(s, i, j+2)
}

// findWebToken finds a signed or encrypted JSON Web Token: two or four dots.
func findWebToken(s string, i, j int) (start, end int) {
	end = scanSpan(s, j, wordDash)
	parts := 1
	for parts < 5 && end < len(s) && s[end] == '.' {
		next := scanSpan(s, end+1, wordDash)
		if next-end < 8 && next < len(s) && parts < 2 {
			break
		}
		end = next
		parts++
	}
	if end-i < 20 || parts < 3 && !(parts == 2 && cut(s, end)) {
		return 0, 0
	}
	return i, end
}

// findBearer finds the token after the scheme. In prose ("bearer authentication is
// required") a word follows: a token has a digit, or is long.
func findBearer(s string, _, j int) (start, end int) {
	j = scanSpan(s, j, blank)
	end = scanSpan(s, j, tokenChar)
	v := strings.TrimRight(s[j:end], ".")
	if len(v) < MinLength || len(v) < 24 && !strings.ContainsAny(v, "0123456789") {
		return 0, 0
	}
	return j, j + len(v)
}

// findBasic finds base64 of "user:password" after the scheme.
func findBasic(s string, _, j int) (start, end int) {
	j = scanSpan(s, j, blank)
	end = scanSpan(s, j, func(c byte) bool { return base64Char(c) || c == '=' })
	if text, ok := decodeBase64(strings.TrimRight(s[j:end], "=")); !ok || !strings.Contains(text, ":") {
		return 0, 0
	}
	return j, end
}

// findAuthorization finds the credentials of a header line or member with that name, and
// keeps the scheme.
func findAuthorization(s string, i, j int) (start, end int) {
	start, end, _ = findValue(s, j, headerChar)
	if end-start < MinLength {
		return 0, 0
	}
	scheme, rest, ok := strings.Cut(s[start:end], " ")
	switch {
	case isReference(rest) || isReference(scheme):
		return 0, 0
	case ok && schemes[strings.ToLower(scheme)] && len(rest) >= 4 && rest != Mask:
		return start + len(scheme) + 1, end
	case !ok && (len(scheme) >= 16 || strings.ContainsAny(scheme, "0123456789")):
		return start, end
	}
	return 0, 0
}

// findCookie finds the pairs of a Cookie or Set-Cookie header; the first one begins
// immediately.
func findCookie(s string, i, j int) (start, end int) {
	start, end, quote := findValue(s, j, headerChar)
	if end <= start {
		return 0, 0
	}
	name := scanSpan(s[:end], start, cookieChar)
	if name == start || name == end || s[name] != '=' {
		return 0, 0
	}
	if quote == 0 && name+1 >= end-1 { // a="b c": the quotes belong to the cookie
		if from, to, quote := findValue(s, name, headerChar); quote > 0 && to > from {
			end = scanSpan(s, min(to+quote, len(s)), headerChar)
		}
	}
	return start, end
}

// schemes are the authentication schemes that are followed by credentials.
var schemes = set("bearer basic digest token dpop negotiate apikey aws4-hmac-sha256")

// findUserinfo finds the text before the @ of a URL's authority (RFC 3986 section 3.2.1).
// It ignores a short name without a password: git@host.
func findUserinfo(s string, _, j int) (start, end int) {
	stop := j + scanSpan(s[j:min(len(s), j+512)], 0, authorityChar)
	at := strings.LastIndexByte(s[j:stop], '@')
	if at <= 0 {
		return 0, 0
	}
	info := s[j : j+at]
	_, password, ok := strings.Cut(info, ":")
	if !ok && len(info) < MinLength || isReference(info) || isReference(password) {
		return 0, 0
	}
	return j, j + at
}

// findQuery finds the value of a parameter with the name of a credential.
func findQuery(s string, _, j int) (start, end int) {
	if strings.HasPrefix(s[j:], "amp;") {
		j += len("amp;")
	}
	k := scanSpan(s[:min(len(s), j+64)], j, nameChar)
	if k == j || k >= len(s) || s[k] != '=' {
		return 0, 0
	}
	end = scanSpan(s, k+1, queryChar)
	name, v := s[j:k], s[k+1:end]
	if v == "" || isReference(v) {
		return 0, 0
	}
	m := find(name)
	switch {
	case m.certainty == sure, m.certainty == perhaps && len(v) >= MinLength:
		return k + 1, end
	case m.certainty == unlikely && HoldsField(name) && looksGenerated(name, v):
		return k + 1, end
	}
	return 0, 0
}

// findBase64Text finds the base64 that begins at i.
func findBase64Text(s string, i, j int) (start, end int) {
	if i > 0 && base64Char(s[i-1]) {
		return 0, 0
	}
	if end = scanSpan(s, j, base64Char); end-i < 16 {
		return 0, 0
	}
	return i, end
}
