package secret

import (
	"encoding/base64"
	"net/url"
	"strings"
	"unicode"
)

// LearnHeader adds the credentials in a header of HTTP whose name is that of one. Of
// an Authorization header these are the text after the scheme and the password of
// Basic, of a cookie its value. A value that could be ordinary text is left out.
func (r *Redactor) LearnHeader(name, value string) {
	switch strings.ToLower(name) {
	case "authorization", "proxy-authorization":
		r.addAuthorization(value)
	case "cookie":
		for pair := range strings.SplitSeq(value, ";") {
			r.addCookie(pair)
		}
	case "set-cookie":
		pair, _, _ := strings.Cut(value, ";")
		r.addCookie(pair)
	default:
		r.addCredential(name, value)
	}
}

func (r *Redactor) addAuthorization(value string) {
	scheme, credentials, ok := strings.Cut(strings.TrimSpace(value), " ")
	if !ok {
		credentials = scheme
	}
	credentials = strings.TrimSpace(credentials)
	if strings.EqualFold(scheme, "basic") {
		r.addCredential("password", basicPassword(credentials))
	}
	if strings.Contains(credentials, "=") && strings.Contains(credentials, ",") { // parameters, as of Digest
		r.Learn(appendPieces(nil, credentials, " =,\"")...)
	}
	r.addCredential("authorization", credentials)
}

// basicPassword returns the password in the credentials of the scheme Basic; "" if they are none.
func basicPassword(credentials string) string {
	b, err := base64.StdEncoding.DecodeString(credentials)
	if err != nil {
		return ""
	}
	_, password, _ := strings.Cut(string(b), ":")
	return password
}

func (r *Redactor) addCookie(pair string) {
	name, value, _ := strings.Cut(strings.TrimSpace(pair), "=")
	value = strings.Trim(value, `"`)
	r.addCredential(name, value)
	r.Learn(value)
	if plain, err := url.PathUnescape(value); err == nil && plain != value {
		r.addCredential(name, plain)
		r.Learn(plain)
	}
}

// addCredential adds a value with the name of a credential; if the name has other
// meanings, only one that looks random.
func (r *Redactor) addCredential(name, v string) {
	v = strings.TrimSpace(v)
	switch {
	case !Name(name) || descriptions[strings.ToLower(v)] || strings.Contains(v, Mask):
	case !Holds(name):
		r.Learn(v)
	case len(v) >= MinLength, len(v) >= 4 && strings.ContainsAny(v, "0123456789") && strings.ContainsFunc(v, unicode.IsLetter):
		r.learn(v)
	}
}
