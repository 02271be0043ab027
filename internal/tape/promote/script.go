package promote

import (
	"cmp"
	"net/url"
	"slices"
	"strings"

	"mcptest/internal/base/jsonv"
	"mcptest/internal/base/secret"
	"mcptest/internal/tape/cassette"
)

// script is the `respond:` of the server in a session: for each capability that the
// recorded client declared, one answer.
type script struct {
	client  *cassette.RecordedClient
	respond jsonv.Value            // absent if no capability was declared
	answers map[string]jsonv.Value // result by method of the server's request
	changed string                 // what the client announced that no suite can
	roots   []string               // announced between calls: URIs and paths
}

// scriptOf returns the first recorded answers.
func scriptOf(client *cassette.RecordedClient) *script {
	s := &script{client: client, answers: map[string]jsonv.Value{}}
	for _, asked := range client.Asked {
		if _, known := s.answers[asked.Method]; !known && isUsable(asked) {
			s.answers[asked.Method] = asked.Result
			if asked.Params.Lookup("mode").Text() == "url" {
				s.answers[asked.Method] = asked.Result.With("mode", jsonv.String("url"))
			}
		}
	}
	add := func(name, method, member string, otherwise jsonv.Value) {
		if client.Capabilities.Lookup(name).IsAbsent() {
			return
		}
		v := otherwise
		if result, ok := s.answers[method]; ok {
			v = result
			if member != "" {
				v = v.Lookup(member)
			}
		}
		if s.respond.IsAbsent() {
			s.respond = jsonv.Object()
		}
		s.respond = s.respond.With(name, v)
	}
	add("sampling", "sampling/createMessage", "", jsonv.ObjectOf("text", "not recorded"))
	add("elicitation", "elicitation/create", "", jsonv.ObjectOf("action", "decline"))
	add("roots", "roots/list", "roots", jsonv.Array())
	return s
}

// isUsable reports whether a suite can have the answer.
func isUsable(asked cassette.Asked) bool {
	r := asked.Result
	if strings.Contains(r.String(), secret.Mask) {
		return false
	}
	switch asked.Method {
	case "sampling/createMessage":
		return r.Lookup("content").Kind() == jsonv.KindObject && r.Lookup("text").IsAbsent()
	case "elicitation/create":
		for name := range r.Members() {
			if name != "action" && name != "content" {
				return false
			}
		}
		return r.Lookup("action").Text() == "accept" || r.Lookup("content").IsAbsent() && r.Lookup("action").Text() != ""
	case "roots/list":
		return r.Lookup("roots").Kind() == jsonv.KindArray
	}
	return false
}

// noteAnnounced notes what the client announced with a notification, or between a call and
// the next one.
func (s *script) noteAnnounced(call *cassette.Call) {
	if call.ID == "" && call.Method != "" && !slices.Contains([]string{"notifications/initialized", "notifications/cancelled", "notifications/progress"}, call.Method) {
		s.changed = call.Method
	}
	for _, asked := range s.client.Asked {
		switch {
		case asked.Call != call || !asked.Idle:
		case asked.Method != "roots/list" || !jsonv.Equal(s.answers[asked.Method], asked.Result):
			s.changed = "its answer to " + asked.Method
		default:
			for _, root := range asked.Result.Lookup("roots").Elems() {
				uri := root.Lookup("uri").Text()
				s.roots = append(s.roots, uri)
				if u, err := url.Parse(uri); err == nil && u.Scheme == "file" {
					s.roots = append(s.roots, cmp.Or(strings.TrimRight(u.Path, "/"), "/"))
				}
			}
		}
	}
}

// depends returns why a test cannot expect the response, if it may depend on what the
// client announced: a run does not wait until the server knows it.
func (s *script) depends(params, response jsonv.Value) string {
	if s.changed != "" {
		return "the client sent " + s.changed + " before it, which a suite cannot repeat"
	}
	text := params.String() + response.String()
	for _, root := range s.roots {
		if root != "" && strings.Contains(text, root) {
			return "it depends on the roots of the client, and a suite cannot wait until the server has asked for them"
		}
	}
	return ""
}

// cannot returns why a test cannot repeat what the client did during a call.
func (s *script) cannot(c *cassette.Cassette, call *cassette.Call) string {
	asked := map[string]string{} // method by id
	for _, f := range call.Frames {
		v := c.Value(f)
		method, id := v.Lookup("method").Text(), v.Lookup("id").String()
		switch {
		case f.Dir != cassette.ToServer:
			if method != "" {
				asked[id] = method
			}
		case method != "" || asked[id] == "":
			return "the client canceled it"
		case !jsonv.Equal(s.answers[asked[id]], v.Lookup("result")) || v.Lookup("result").IsAbsent():
			return "the client answered " + asked[id] + " in a way that the suite cannot repeat, or differently from another time"
		}
	}
	return ""
}
