package recording

import (
	"net/http"
	"net/url"
	"strings"

	"mcptest/internal/base/jsonv"
	"mcptest/internal/base/secret"
)

// The masks are the reasons for which a value is replaced by [secret.Mask]. The file
// lists those that were applied; a file with an unknown mask was written by a version
// that sanitizes more than this one supports.
const (
	maskHeader = "header" // the value of a header with the name of a credential
	maskCookie = "cookie"
	maskQuery  = "query"
	maskMember = "member" // of JSON
	maskField  = "field"  // of a form or of a multipart body
	maskText   = "text"   // a declared secret, or a text with the form of one
)

// maskNames are all masks, sorted.
var maskNames = []string{maskCookie, maskField, maskHeader, maskMember, maskQuery, maskText}

// sanitizer replaces secrets. Values recognized by a name are collected, so that a
// second pass finds them where they have no name.
type sanitizer struct {
	secrets *secret.Redactor
	masked  map[string]int
	found   secret.Found
}

func newSanitizer(secrets *secret.Redactor) *sanitizer {
	return &sanitizer{secrets: secrets, masked: map[string]int{}}
}

// withLearned returns a sanitizer that also replaces what s has found.
func (s *sanitizer) withLearned() *sanitizer { return newSanitizer(s.secrets.With(s.found.All()...)) }

// whole replaces a value whose name denotes a credential.
func (s *sanitizer) whole(mask, v string) string {
	if v == "" || v == secret.Mask {
		return v
	}
	s.masked[mask]++
	s.found.Name(v)
	return secret.Mask
}

// plain replaces the secrets recognized in a text.
func (s *sanitizer) plain(v string) string {
	if v == "" {
		return v
	}
	out := s.secrets.Whole(v, &s.found)
	if out != v {
		s.masked[maskText]++
	}
	return out
}

// text is like plain for a text that may be an address, JSON or lines of JSON.
func (s *sanitizer) text(v string) string {
	switch {
	case strings.HasPrefix(v, "http://") || strings.HasPrefix(v, "https://"):
		if !strings.ContainsAny(v, " \n\t<>\"") {
			return s.address(v)
		}
	case strings.HasPrefix(strings.TrimSpace(v), "<"):
		return s.plain(s.markup(v))
	case strings.ContainsAny(v, "{["):
		return s.lines(v)
	case strings.Contains(v, "</"):
		return s.plain(s.markup(v))
	}
	return s.plain(v)
}

// lines sanitizes each line that is JSON, such as those of NDJSON and of the
// events of a stream, by its members.
func (s *sanitizer) lines(v string) string {
	if out, ok := s.inner(v); ok {
		return s.plain(out)
	}
	if !strings.Contains(v, "\n") && !strings.HasPrefix(v, "data:") {
		return s.plain(v)
	}
	var b strings.Builder
	for line := range strings.Lines(v) {
		text := strings.TrimRight(line, "\r\n")
		head := ""
		if rest, ok := strings.CutPrefix(text, "data:"); ok {
			text = strings.TrimLeft(rest, " ")
			head = line[:len("data:")+len(rest)-len(text)]
		}
		if out, ok := s.inner(text); ok {
			b.WriteString(head + out + line[len(head)+len(text):])
			continue
		}
		b.WriteString(line)
	}
	return s.plain(b.String())
}

// inner sanitizes a text that is one JSON object or array. Its layout is kept if
// nothing is replaced in it.
func (s *sanitizer) inner(text string) (string, bool) {
	t := strings.TrimSpace(text)
	if t == "" || t[0] != '{' && t[0] != '[' {
		return "", false
	}
	v, err := jsonv.Parse([]byte(t))
	if err != nil {
		return "", false
	}
	clean := s.value("", v)
	if jsonv.Equal(clean, v) {
		return text, true
	}
	if layout, ok := layoutOf(v, []byte(text)); ok {
		out, _ := laidOut(clean, layout)
		return string(out), true
	}
	return string(clean.Append(nil)), true
}

// address sanitizes a URL: its user, its query and its fragment.
func (s *sanitizer) address(v string) string {
	head, fragment, hasFragment := strings.Cut(v, "#")
	head, query, hasQuery := strings.Cut(head, "?")
	if hasQuery {
		head += "?" + s.rawQuery(query)
	}
	if hasFragment {
		head += "#" + s.rawQuery(fragment)
	}
	return s.plain(head)
}

// rawQuery sanitizes a query in its written form.
func (s *sanitizer) rawQuery(query string) string {
	pairs := strings.Split(query, "&")
	for i, pair := range pairs {
		name, v, ok := strings.Cut(pair, "=")
		plain, err := url.QueryUnescape(name)
		if ok && err == nil && secret.HoldsField(plain) && v != "" {
			if value, err := url.QueryUnescape(v); err == nil {
				v = value
			}
			pairs[i] = name + "=" + s.whole(maskQuery, v)
		}
	}
	return strings.Join(pairs, "&")
}

// value sanitizes JSON; name is the key that it is under.
func (s *sanitizer) value(name string, v jsonv.Value) jsonv.Value {
	switch v.Kind() {
	case jsonv.KindString:
		if secret.HoldsMember(name) {
			return jsonv.String(s.whole(maskMember, v.Text()))
		}
		return jsonv.String(s.text(v.Text()))
	case jsonv.KindNumber:
		if secret.HoldsMember(name) && secret.CertainName(name) && len(v.Literal()) >= 4 {
			s.whole(maskMember, v.Literal())
			return jsonv.Int(0)
		}
	case jsonv.KindArray:
		return v.Map(func(_ string, e jsonv.Value) (string, jsonv.Value) { return "", s.value(name, e) })
	case jsonv.KindObject:
		named, _ := v.Get("name") // {"name": "password", "value": …}
		return v.Map(func(k string, e jsonv.Value) (string, jsonv.Value) {
			under := k
			if secret.HoldsMember(name) && e.Kind() != jsonv.KindNumber && !secret.Holds(k) && !secret.Describes(k) {
				under = name // {"credentials": {"value": …}}
			}
			if strings.EqualFold(k, "value") && secret.HoldsMember(named.Text()) {
				under = named.Text()
			}
			return s.plain(k), s.value(under, e)
		})
	}
	return v
}

// values sanitizes a query or a form.
func (s *sanitizer) values(mask string, in url.Values) url.Values {
	out := make(url.Values, len(in))
	for name, list := range in {
		for _, v := range list {
			if secret.HoldsField(name) {
				v = s.whole(mask, v)
			} else {
				v = s.text(v)
			}
			clean := s.plain(name)
			out[clean] = append(out[clean], v)
		}
	}
	return out
}

// header sanitizes one value of a header.
func (s *sanitizer) header(name, v string) string {
	switch http.CanonicalHeaderKey(name) {
	case "Cookie":
		return s.whole(maskCookie, v)
	case "Set-Cookie":
		pair, rest, attributes := strings.Cut(v, ";")
		name, value, _ := strings.Cut(pair, "=")
		v = name + "=" + s.whole(maskCookie, strings.Trim(strings.TrimSpace(value), `"`))
		if attributes {
			v += ";" + rest
		}
		return s.plain(v)
	case "Authorization", "Proxy-Authorization":
		scheme, credentials, ok := strings.Cut(v, " ")
		if !ok {
			return s.whole(maskHeader, v)
		}
		return scheme + " " + s.whole(maskHeader, credentials)
	case "Www-Authenticate", "Proxy-Authenticate":
		return s.plain(v)
	case "Location", "Content-Location", "Referer", "Refresh", "Link":
		return s.links(v)
	}
	if secret.CertainName(name) || secret.HoldsHeader(name) && !number(v) {
		return s.whole(maskHeader, v)
	}
	return s.text(v)
}

// links sanitizes the addresses in a header: "<https://…>; rel=next" and an
// address alone.
func (s *sanitizer) links(v string) string {
	var b strings.Builder
	for {
		head, rest, ok := strings.Cut(v, "<")
		if !ok {
			if b.Len() == 0 {
				return s.address(v)
			}
			b.WriteString(v)
			return s.plain(b.String())
		}
		link, tail, _ := strings.Cut(rest, ">")
		b.WriteString(head + "<" + s.address(link) + ">")
		v = tail
	}
}

func number(v string) bool { return strings.Trim(v, "0123456789.,") == "" }

// body sanitizes a body in its form.
func (s *sanitizer) body(b body) body {
	switch b.form {
	case jsonBody:
		clean := s.value("", b.json)
		if b.layout == layoutOther && (!jsonv.Equal(clean, b.json) || s.plain(b.text) != b.text) {
			b.layout, b.text = "", "" // the text cannot be sanitized in place
		}
		b.json = clean
	case textBody:
		b.text = s.text(b.text)
	case formBody:
		b.values = s.values(maskField, b.values)
	case base64Body:
		b.text = s.plain(b.text)
	case multipartBody:
		parts := make([]part, len(b.parts))
		for i, p := range b.parts {
			content := s.body(p.body)
			if secret.HoldsField(p.name) && p.filename == "" {
				content = body{form: textBody, text: s.whole(maskField, string(p.body.bytes()))}
			}
			parts[i] = part{s.plain(p.name), s.plain(p.filename), p.mediaType, content}
		}
		b.parts = parts
	}
	return b
}
