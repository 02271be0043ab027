package recording

import (
	"fmt"
	"maps"
	"net/http"
	"net/url"
	"slices"
	"strings"

	"mcptest/internal/base/jsonv"
	"mcptest/internal/base/secret"
	"mcptest/internal/server/upstream"
)

// exchange is one request and its response, in the form of the file.
type exchange struct {
	// test is the test that sent the request, if other tests got other responses.
	test string

	method, path string
	query        url.Values
	reqHeader    http.Header
	request      body

	status    int
	resHeader http.Header
	response  body

	line int
	keys []string // they identify the request
}

// requestHeaders are the headers of requests that the file keeps for a reader,
// in addition to credentials. They do not identify a request.
var requestHeaders = []string{"Accept", "Content-Type"}

// dropped are headers of responses that belong to the connection, or differ
// from response to response without a meaning for the server.
var dropped = []string{
	"Connection", "Keep-Alive", "Transfer-Encoding", "Trailer", "Upgrade", "Content-Length", "Content-Encoding", "Date", "Age", "Alt-Svc", "Nel", "Report-To",
	"Strict-Transport-Security", "Server-Timing", "X-Timer",
}

// clean converts a received exchange to its form in the file.
func (s *sanitizer) clean(r raw) (exchange, error) {
	e, err := s.request(&r.request)
	if err != nil {
		return e, fmt.Errorf("request: %w", err)
	}
	data, err := decodeBody(r.response.Header, r.response.Body)
	if err != nil {
		return e, fmt.Errorf("response: %w", err)
	}
	e.test, e.status = r.test, r.response.Status
	e.response = s.sanitizeBody(parseBody(r.response.Header.Get("Content-Type"), data, 0))
	b := &e.response
	if (r.response.Open || e.status == http.StatusPartialContent) && (b.form == textBody || b.form == base64Body) {
		if cut := s.secrets.Cut(b.text); cut != b.text { // within a secret
			s.masked[maskText]++
			b.text = cut
		}
	}
	if e.response.form == multipartBody { // its boundary is in a header
		e.response = s.sanitizeBody(body{form: textBody, text: strings.ToValidUTF8(string(data), "\uFFFD")})
	}
	e.resHeader = http.Header{}
	for name, list := range r.response.Header {
		if slices.Contains(dropped, http.CanonicalHeaderKey(name)) {
			continue
		}
		for _, v := range list {
			e.resHeader.Add(name, s.sanitizeHeader(name, v))
		}
	}
	return e, nil
}

// request is the part of clean that identifies an exchange.
func (s *sanitizer) request(r *upstream.Request) (exchange, error) {
	e := exchange{method: r.Method, reqHeader: http.Header{}}
	e.path = s.sanitizePath(r.Path)
	e.query = s.sanitizeValues(maskQuery, r.Query)
	for name, list := range r.Header {
		for _, v := range list {
			credential := s.sanitizeHeader(name, v)
			if slices.Contains(requestHeaders, http.CanonicalHeaderKey(name)) || credential != v && strings.Contains(credential, secret.Mask) {
				e.reqHeader.Add(name, credential)
			}
		}
	}
	data, err := decodeBody(r.Header, r.Body)
	if err != nil {
		return e, err
	}
	kind := r.Header.Get("Content-Type")
	e.request = s.sanitizeBody(parseBody(kind, data, 0))
	if e.request.form == multipartBody {
		e.reqHeader.Set("Content-Type", "multipart/form-data") // its boundary is random
	}
	e.identify()
	return e, nil
}

// identify sets the keys that identify the request: method, path, the query as a set,
// the body in a canonical form.
func (e *exchange) identify() {
	e.keys = []string{e.method, e.path}
	var pairs []string
	for name, list := range e.query {
		for _, v := range list {
			pairs = append(pairs, name+"="+v)
		}
	}
	slices.Sort(pairs)
	e.keys = append(e.keys, pairs...)
	e.keys = append(e.keys, e.request.makeCanonical())
}

// joinKeys returns the keys as one text.
func (e *exchange) joinKeys() string { return strings.Join(e.keys, "\x00") }

// makeCanonical returns a text that is the same for equivalent bodies.
func (b *body) makeCanonical() string {
	switch b.form {
	case empty:
		return ""
	case jsonBody:
		return "json " + jsonv.From(b.json.Interface()).String() // with sorted members
	case formBody:
		return "form " + b.values.Encode()
	case multipartBody:
		var out strings.Builder
		for _, p := range b.parts {
			fmt.Fprintf(&out, "part %q %q %s\n", p.name, p.filename, p.body.makeCanonical())
		}
		return out.String()
	}
	return "text " + b.text
}

// matches reports whether a request equals the recorded one, whose masks match as in
// [secret.Matcher].
func (e *exchange) matches(keys []string, secrets *secret.Redactor) bool {
	return slices.EqualFunc(e.keys, keys, secrets.Matcher().Matches)
}

// isSameResponse reports whether two exchanges have equal responses.
func isSameResponse(a, b *exchange) bool {
	if a.status != b.status || a.response.form != b.response.form {
		return false
	}
	if string(a.response.join()) != string(b.response.join()) {
		return false
	}
	return maps.EqualFunc(a.resHeader, b.resHeader, slices.Equal)
}
