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

// sanitizeWhole replaces a value whose name denotes a credential.
func (s *sanitizer) sanitizeWhole(mask, v string) string {
	if v == "" || v == secret.Mask {
		return v
	}
	s.masked[mask]++
	s.found.Name(v)
	return secret.Mask
}

// sanitizePlain replaces the secrets recognized in a text.
func (s *sanitizer) sanitizePlain(v string) string {
	if v == "" {
		return v
	}
	out := s.secrets.Whole(v, &s.found)
	if out != v {
		s.masked[maskText]++
	}
	return out
}

// sanitizeText returns like plain for a text that may be an address, JSON or lines of JSON.
func (s *sanitizer) sanitizeText(v string) string {
	switch {
	case strings.HasPrefix(v, "http://") || strings.HasPrefix(v, "https://"):
		if !strings.ContainsAny(v, " \n\t<>\"") {
			return s.sanitizeAddress(v)
		}
	case strings.HasPrefix(strings.TrimSpace(v), "<"):
		return s.sanitizePlain(s.sanitizeMarkup(v))
	case strings.ContainsAny(v, "{["):
		return s.sanitizeLines(v)
	case strings.Contains(v, "</"):
		return s.sanitizePlain(s.sanitizeMarkup(v))
	}
	return s.sanitizePlain(v)
}

// sanitizeLines sanitizes each line that is JSON, such as those of NDJSON and of the
// events of a stream, by its members.
func (s *sanitizer) sanitizeLines(v string) string {
	if out, ok := s.sanitizeInner(v); ok {
		return s.sanitizePlain(out)
	}
	if !strings.Contains(v, "\n") && !strings.HasPrefix(v, "data:") {
		return s.sanitizePlain(v)
	}
	var b strings.Builder
	for line := range strings.Lines(v) {
		text := strings.TrimRight(line, "\r\n")
		head := ""
		if rest, ok := strings.CutPrefix(text, "data:"); ok {
			text = strings.TrimLeft(rest, " ")
			head = line[:len("data:")+len(rest)-len(text)]
		}
		if out, ok := s.sanitizeInner(text); ok {
			b.WriteString(head + out + line[len(head)+len(text):])
			continue
		}
		b.WriteString(line)
	}
	return s.sanitizePlain(b.String())
}

// sanitizeInner sanitizes a text that is one JSON object or array. Its layout is kept if
// nothing is replaced in it.
func (s *sanitizer) sanitizeInner(text string) (string, bool) {
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
	if layout, ok := detectLayout(v, []byte(text)); ok {
		out, _ := layOut(clean, layout)
		return string(out), true
	}
	return string(clean.Append(nil)), true
}

// sanitizeAddress sanitizes a URL: its user, its query and its fragment.
func (s *sanitizer) sanitizeAddress(v string) string {
	head, fragment, hasFragment := strings.Cut(v, "#")
	head, query, hasQuery := strings.Cut(head, "?")
	if hasQuery {
		head += "?" + s.sanitizeQuery(query)
	}
	if hasFragment {
		head += "#" + s.sanitizeQuery(fragment)
	}
	return s.sanitizePlain(head)
}

// sanitizeQuery sanitizes a query in its written form.
func (s *sanitizer) sanitizeQuery(query string) string {
	pairs := strings.Split(query, "&")
	for i, pair := range pairs {
		name, v, ok := strings.Cut(pair, "=")
		plain, err := url.QueryUnescape(name)
		if ok && err == nil && secret.HoldsField(plain) && v != "" {
			if value, err := url.QueryUnescape(v); err == nil {
				v = value
			}
			pairs[i] = name + "=" + s.sanitizeWhole(maskQuery, v)
		}
	}
	return strings.Join(pairs, "&")
}

// value sanitizes JSON; name is the key that it is under.
func (s *sanitizer) value(name string, v jsonv.Value) jsonv.Value {
	switch v.Kind() {
	case jsonv.KindString:
		if secret.HoldsMember(name) {
			return jsonv.String(s.sanitizeWhole(maskMember, v.Text()))
		}
		return jsonv.String(s.sanitizeText(v.Text()))
	case jsonv.KindNumber:
		if secret.HoldsMember(name) && secret.CertainName(name) && len(v.Literal()) >= 4 {
			s.sanitizeWhole(maskMember, v.Literal())
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
			return s.sanitizePlain(k), s.value(under, e)
		})
	}
	return v
}

// sanitizeValues sanitizes a query or a form.
func (s *sanitizer) sanitizeValues(mask string, in url.Values) url.Values {
	out := make(url.Values, len(in))
	for name, list := range in {
		for _, v := range list {
			if secret.HoldsField(name) {
				v = s.sanitizeWhole(mask, v)
			} else {
				v = s.sanitizeText(v)
			}
			clean := s.sanitizePlain(name)
			out[clean] = append(out[clean], v)
		}
	}
	return out
}

// sanitizeHeader sanitizes one value of a header.
func (s *sanitizer) sanitizeHeader(name, v string) string {
	switch http.CanonicalHeaderKey(name) {
	case "Cookie":
		return s.sanitizeWhole(maskCookie, v)
	case "Set-Cookie":
		pair, rest, attributes := strings.Cut(v, ";")
		name, value, _ := strings.Cut(pair, "=")
		v = name + "=" + s.sanitizeWhole(maskCookie, strings.Trim(strings.TrimSpace(value), `"`))
		if attributes {
			v += ";" + rest
		}
		return s.sanitizePlain(v)
	case "Authorization", "Proxy-Authorization":
		scheme, credentials, ok := strings.Cut(v, " ")
		if !ok {
			return s.sanitizeWhole(maskHeader, v)
		}
		return scheme + " " + s.sanitizeWhole(maskHeader, credentials)
	case "Www-Authenticate", "Proxy-Authenticate":
		return s.sanitizePlain(v)
	case "Location", "Content-Location", "Referer", "Refresh", "Link":
		return s.sanitizeLinks(v)
	}
	if secret.CertainName(name) || secret.HoldsHeader(name) && !number(v) {
		return s.sanitizeWhole(maskHeader, v)
	}
	return s.sanitizeText(v)
}

// sanitizeLinks sanitizes the addresses in a header: "<https://…>; rel=next" and an
// address alone.
func (s *sanitizer) sanitizeLinks(v string) string {
	var b strings.Builder
	for {
		head, rest, ok := strings.Cut(v, "<")
		if !ok {
			if b.Len() == 0 {
				return s.sanitizeAddress(v)
			}
			b.WriteString(v)
			return s.sanitizePlain(b.String())
		}
		link, tail, _ := strings.Cut(rest, ">")
		b.WriteString(head + "<" + s.sanitizeAddress(link) + ">")
		v = tail
	}
}

func number(v string) bool { return strings.Trim(v, "0123456789.,") == "" }

// sanitizeBody sanitizes a body in its form.
func (s *sanitizer) sanitizeBody(b body) body {
	switch b.form {
	case jsonBody:
		clean := s.value("", b.json)
		if b.layout == layoutOther && (!jsonv.Equal(clean, b.json) || s.sanitizePlain(b.text) != b.text) {
			b.layout, b.text = "", "" // the text cannot be sanitized in place
		}
		b.json = clean
	case textBody:
		b.text = s.sanitizeText(b.text)
	case formBody:
		b.values = s.sanitizeValues(maskField, b.values)
	case base64Body:
		b.text = s.sanitizePlain(b.text)
	case multipartBody:
		parts := make([]part, len(b.parts))
		for i, p := range b.parts {
			content := s.sanitizeBody(p.body)
			if secret.HoldsField(p.name) && p.filename == "" {
				content = body{form: textBody, text: s.sanitizeWhole(maskField, string(p.body.join()))}
			}
			parts[i] = part{s.sanitizePlain(p.name), s.sanitizePlain(p.filename), p.mediaType, content}
		}
		b.parts = parts
	}
	return b
}
