package verify

import (
	"slices"
	"strings"

	"mcptest/internal/base/jsonv"
	"mcptest/internal/base/secret"
	"mcptest/internal/offer/diff"
	"mcptest/internal/tape/cassette"
)

// asked is a request of the server to the client.
type asked struct {
	call   *cassette.Call // during which it was made; nil: between calls
	method string
	params jsonv.Value
}

// questions compares the requests of the server to the client. Overlapping calls and
// timing decide which call a request is filed with, so one that came during another call,
// or between calls, is not lost.
type questions struct{ was, now []asked }

// compareDuring adds the requests during one call.
func (q *questions) compareDuring(call *cassette.Call, recorded, now []asked, mask func(string) string) {
	for _, a := range recorded {
		q.was = append(q.was, asked{call, a.method, a.params})
	}
	for _, a := range now {
		q.now = append(q.now, asked{call, a.method, maskTexts(a.params, mask)})
	}
}

// listChanges returns the differences. stable returns what is compared of parameters.
func (q *questions) listChanges(stable func(jsonv.Value) jsonv.Value) (out []diff.Change) {
	rootsNow := slices.ContainsFunc(q.now, func(a asked) bool { return a.method == methodRoots })
	differ := func(was, now asked) []jsonv.Change {
		return diffParams(stable(dropMeta(was.params)), stable(dropMeta(now.params)))
	}
	q.removePair(func(was, now asked) bool { return was.call == now.call && len(differ(was, now)) == 0 })
	q.removePair(func(was, now asked) bool { return len(differ(was, now)) == 0 })
	changed := func(was, now asked) {
		for _, ch := range differ(was, now) {
			out = append(out, newChange(was.call, diff.Review, ch.Path, "the value in the server's %s request is %s (recorded: %s)",
				was.method, ch.Got.Short(80), ch.Want.Short(80)))
		}
	}
	for _, same := range []bool{true, false} {
		q.removePair(func(was, now asked) bool {
			if was.call == nil || now.call == nil || same && was.call != now.call {
				return false
			}
			changed(was, now)
			return true
		})
	}
	for _, a := range q.was {
		if a.call != nil && (a.method != methodRoots || !rootsNow) {
			out = append(out, newChange(a.call, diff.Review, "", "the server sends one %s request fewer during the call than recorded", a.method))
		}
	}
	for _, a := range q.now {
		if a.call != nil && a.method != methodRoots {
			out = append(out, newChange(a.call, diff.Review, "", "the server sends one %s request more during the call than recorded", a.method))
		}
	}
	return out
}

// methodRoots is the method of requests that many servers send at times of their own, and
// whose number therefore varies.
const methodRoots = "roots/list"

// removePair removes pairs of a recorded request and one of now with the same method.
func (q *questions) removePair(is func(was, now asked) bool) {
	q.was = slices.DeleteFunc(q.was, func(was asked) bool {
		i := slices.IndexFunc(q.now, func(now asked) bool { return was.method == now.method && is(was, now) })
		if i >= 0 {
			q.now = slices.Delete(q.now, i, i+1)
		}
		return i >= 0
	})
}

// diffParams returns what differs in parameters, except for masked texts and the id of an
// elicitation, which is another one each time.
func diffParams(was, now jsonv.Value) []jsonv.Change {
	return slices.DeleteFunc(jsonv.Diff(dropID(was), dropID(now)), func(ch jsonv.Change) bool {
		return strings.Contains(ch.Want.Text(), secret.Mask)
	})
}

func dropID(params jsonv.Value) jsonv.Value {
	id := params.Lookup("elicitationId").Text()
	if id == "" {
		return params
	}
	out, _ := jsonv.Parse([]byte(strings.ReplaceAll(string(params.Append(nil)), id, "")))
	return out
}

// isQuestion reports whether requests with a method are compared.
func isQuestion(method string) bool {
	return method == "sampling/createMessage" || method == "elicitation/create" || method == methodRoots
}

// listRequired returns the requests of the server in a result that requires input.
func listRequired(call *cassette.Call, response jsonv.Value) (out []asked) {
	for _, v := range response.Lookup("result", "inputRequests").Members() {
		if method := v.Lookup("method").Text(); isQuestion(method) {
			out = append(out, asked{call, method, v.Lookup("params")})
		}
	}
	return out
}

// dropMeta returns parameters without what differs each time.
func dropMeta(params jsonv.Value) jsonv.Value {
	if params.Kind() != jsonv.KindObject {
		return jsonv.Object()
	}
	return params.Without("_meta")
}

// maskTexts hides secrets in every text of a value.
func maskTexts(v jsonv.Value, mask func(string) string) jsonv.Value {
	out, err := jsonv.Parse([]byte(mask(string(v.Append(nil)))))
	if v.IsAbsent() || err != nil {
		return v
	}
	return out
}
