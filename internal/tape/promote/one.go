package promote

import (
	"strings"

	"mcptest/internal/base/jsonv"
	"mcptest/internal/spec/draft"
	"mcptest/internal/tape/cassette"
)

// PromoteOne returns the test of the request in a line of a cassette. why says that it cannot be a
// test; it is "" and t is nil if the line has no request.
func PromoteOne(c *cassette.Cassette, line int) (t *draft.Test, why string, err error) {
	calls, err := c.Calls()
	if err != nil {
		return nil, "", err
	}
	su := &draft.Suite{}
	f := newFiller(su, c, calls)
	for _, call := range calls {
		switch {
		case call.Request == nil:
			continue
		case call.Request.Line != line:
			if !c.Refused(call) {
				f.scripts[call.Session].noteAnnounced(call)
			}
			continue
		case c.Refused(call):
			return nil, "it was refused before it reached the server", c.Err()
		case call.ID == "":
			return nil, "it is a notification, which has no answer", c.Err()
		case isOverhead(call.Method):
			return nil, "clients send it for the session, not for its result", c.Err()
		}
		f.add(call)
		if len(su.Tests) == 0 {
			_, reason, _ := strings.Cut(su.Omitted[0], "): ")
			return nil, reason, c.Err()
		}
		t = su.Tests[0]
		t.Server = ""
		t.InvalidArgs = t.Refused() && readOffered(c, calls).isMistaken(t)
		t.Respond = f.scripts[call.Session].buildAnswers()
		return t, "", c.Err()
	}
	return nil, "", c.Err()
}

// buildAnswers returns the answers to what the server asked in the session; absent if it asked
// nothing.
func (s *script) buildAnswers() jsonv.Value {
	out := jsonv.Object()
	for name, method := range map[string]string{"sampling": "sampling/createMessage", "elicitation": "elicitation/create", "roots": "roots/list"} {
		answer := s.respond.Lookup(name)
		if _, asked := s.answers[method]; asked && !answer.IsAbsent() {
			out = out.With(name, answer)
		}
	}
	if out.Len() == 0 {
		return jsonv.Value{}
	}
	return out
}
