package recording

import (
	"cmp"
	"encoding/base64"
	"net/http"
	"slices"
	"strconv"
	"strings"

	"mcptest/internal/base/jsonv"
	"mcptest/internal/base/secret"
)

// StandsFor returns the recorded address.
func (f *File) StandsFor() string { return f.standsFor }

// Routes returns the exchanges as entries of `routes:` in a suite: one for each
// request, with its responses in turn. A route with more conditions comes first,
// because the first one that matches is used.
func (f *File) Routes() []jsonv.Value {
	type route struct {
		match   jsonv.Value
		replies []jsonv.Value
		weight  int
	}
	var list []*route
	byMatch := map[string]*route{}
	for i := range f.list {
		match, weight := f.list[i].match()
		r := byMatch[match.String()]
		if r == nil {
			r = &route{match: match, weight: weight}
			byMatch[match.String()] = r
			list = append(list, r)
		}
		reply := f.list[i].reply()
		if len(r.replies) == 0 || !jsonv.Equal(reply, r.replies[len(r.replies)-1]) {
			r.replies = append(r.replies, reply)
		}
	}
	slices.SortStableFunc(list, func(a, b *route) int { return cmp.Compare(b.weight, a.weight) })
	out := make([]jsonv.Value, len(list))
	for i, r := range list {
		reply := jsonv.Array(r.replies...)
		if len(r.replies) == 1 {
			reply = r.replies[0]
		}
		out[i] = jsonv.ObjectOf("match", r.match, "reply", reply)
	}
	return out
}

// match returns the conditions of a route on the request, and their weight: of two
// routes for one request, the one with more conditions weighs more. A mask becomes *.
// A body that contains a mask, or is not text, is not compared.
func (e *exchange) match() (jsonv.Value, int) {
	segments := strings.Split(e.path, "/")
	weight := 3 * len(segments)
	for i, s := range segments {
		if strings.Contains(s, secret.Mask) || strings.ContainsAny(s, "{}") || s == "*" {
			segments[i], weight = "{part"+strconv.Itoa(i)+"}", weight-2
		}
	}
	query := map[string][]string{}
	for name, values := range e.query {
		for _, v := range values {
			pattern := strings.ReplaceAll(v, secret.Mask, "*")
			query[name] = append(query[name], pattern)
			weight += 3 - min(strings.Count(pattern, "*"), 2)
		}
		slices.Sort(query[name])
	}
	body := e.request.makeComparable()
	if strings.Contains(body.String(), secret.Mask) {
		body = jsonv.Value{}
	}
	if !body.IsAbsent() {
		weight += 3
	}
	return jsonv.ObjectOf("method", e.method, "path", strings.Join(segments, "/"), "query", encodeTexts(query, false), "body", body), weight
}

// makeComparable returns the body in the form of `match.body`; absent if a route cannot
// compare it.
func (b *body) makeComparable() jsonv.Value {
	switch b.form {
	case jsonBody:
		return b.json
	case textBody:
		return jsonv.String(b.text)
	case formBody:
		return encodeTexts(b.values, false)
	}
	return jsonv.Value{}
}

// reply returns the response as an entry of `reply:`.
func (e *exchange) reply() jsonv.Value {
	key, usual, body := "", "", jsonv.Value{}
	text := string(e.response.join())
	switch {
	case e.response.form == empty:
	case e.response.form == jsonBody && !strings.Contains(text, "{{"):
		key, usual, body = "json", "application/json", e.response.json
	case e.response.form == base64Body, e.response.gzip, strings.Contains(text, "{{"): // which would be a value of the request
		key, usual, body = "base64", "application/octet-stream", jsonv.String(base64.StdEncoding.EncodeToString([]byte(text)))
	default:
		key, usual, body = "text", "text/plain; charset=utf-8", jsonv.String(text)
	}
	headers := map[string][]string{}
	for name, values := range e.resHeader {
		// A route has one value for each header, and values of the request in braces.
		value := strings.Join(values, ", ")
		if !strings.Contains(value, "{{") && (name != "Content-Type" || value != usual) {
			headers[name] = []string{value}
		}
	}
	var status jsonv.Value // absent: 200
	if e.status != http.StatusOK {
		status = jsonv.Int(int64(e.status))
	}
	return jsonv.ObjectOf("status", status, "headers", encodeTexts(headers, true), key, body)
}
