package pool

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"strconv"
	"strings"

	"mcptest/internal/base/jsonv"
	"mcptest/internal/base/source"
	"mcptest/internal/client/check"
	"mcptest/internal/client/mcp"
	"mcptest/internal/run/respond"
	"mcptest/internal/spec/plan"
)

// Call is a call of a test with its outcome.
type Call struct {
	Op       *plan.Op
	Session  *mcp.Session
	Header   http.Header
	AsMethod bool           // sent as a method, because the server lists no such tool
	Passed   bool           // the test has passed so far
	Refused  bool           // by an error or by isError
	Lenient  bool           // a refusal that a mistake explains is only a warning
	Strict   bool           // strict_args
	Step     bool           // of a flow
	Others   []*plan.Server // of the suite
}

// mistakes are what a list says against a call.
type mistakes struct {
	unlisted  string   // the list does not contain the name
	near      bool     // unlisted suggests a similar name
	arguments []string // they do not match the schema
	unknown   []string // those that the schema does not declare
	unspaced  bool     // one of them is {city:Berlin}, where the tool takes city
	unread    error    // why the list is not known although the server declares it
}

// Judge compares a call with the list that should contain its name. It returns why the
// test fails because of its own mistakes, or what it warns about. A call that was
// refused because of a misspelled name or argument proves nothing, so a test that passed
// fails. A negative test may omit arguments and use other types on purpose.
//
// What a mistake does to a test; the first row that applies decides:
//
//	the mistake                                        lenient   else
//	it explains the refusal of a test that passed      warning   failure
//	{city:Berlin} in a test that passed                warning   failure
//	any, in a test that passed, with strict_args       failure   failure
//	any other                                          warning   warning
func (s *Server) Judge(ctx context.Context, c Call) (failure string, warnings []string) {
	l, hasList := listers[c.Op.Method]
	if !hasList || !c.isComparable(l) {
		return "", nil
	}
	if c.passedByRefusal() { // lists may be requested
		var cancel context.CancelFunc
		ctx, cancel = mcp.WithLimit(ctx, "connect_timeout", s.Def.ConnectTimeout)
		defer cancel()
	}
	m := s.compareWithList(ctx, &c, l)
	if m.unread != nil && l.what != "tool" { // the run has one warning about the tools
		return "", []string{fmt.Sprintf("the %s %q was refused, and the server's list of %s cannot be read, "+
			"so a misspelled name would not be noticed: %v", l.what, c.Op.Subject, l.capability, m.unread)}
	}
	if m.unlisted == "" && len(m.arguments) == 0 {
		return "", nil
	}
	misspelled := false
	if c.passedByRefusal() && m.near && !c.Lenient {
		misspelled = !s.isListedElsewhere(ctx, &c, l)
	}
	if c.AsMethod && !misspelled {
		return "", nil
	}
	return c.judgeMistakes(&m, l, misspelled)
}

// judgeMistakes decides by the table of Judge. misspelled is set if the name of the call is
// probably a slip of a name in the list.
func (c *Call) judgeMistakes(m *mistakes, l lister, misspelled bool) (failure string, warnings []string) {
	text := m.describe(c, l)
	if text == "" {
		return "", nil
	}
	advice := c.adviseIfIntended()
	explainsRefusal := misspelled || c.passedByRefusal() && len(m.unknown) > 0
	switch {
	case explainsRefusal && !c.Lenient:
		return "the refusal proves nothing: " + text + advice, nil
	case c.Passed && m.unspaced && !c.Lenient:
		return text + advice, nil
	case c.Passed && c.Strict:
		return text + " (strict_args" + advice + ")", nil
	}
	if c.passedByRefusal() || c.Passed && m.unlisted != "" {
		text += advice
	}
	return "", []string{text}
}

// passedByRefusal reports whether the test passed because the call was refused.
func (c *Call) passedByRefusal() bool { return c.Passed && c.Refused }

// isComparable reports whether a call is compared with a list. Without a refusal no list is
// requested, and only that of the tools is known.
func (c *Call) isComparable(l lister) bool {
	if c.Op.Subject == "" {
		return false
	}
	return c.passedByRefusal() || l.what == "tool" && !c.AsMethod
}

// adviseIfIntended says what to write where the mistake is the point of the test.
func (c *Call) adviseIfIntended() string {
	if c.Step {
		return "; if this is intended, set invalid_args: true on the step"
	}
	return "; if this is intended, set invalid_args: true on the test"
}

// describe describes the mistakes of a call that are worth telling, or returns "". Of a test
// that failed, the name is no news. Of a call that was refused, only arguments that the schema
// does not declare are: the others may be why the test expects the refusal.
func (m *mistakes) describe(c *Call, l lister) string {
	if c.Passed && m.unlisted != "" {
		return m.unlisted
	}
	wrong := m.arguments
	if c.passedByRefusal() {
		wrong = m.unknown
	}
	if len(wrong) == 0 {
		return ""
	}
	return l.formatWrong(c.Op.Subject, wrong)
}

// compareWithList compares a call with the list that is known. Before it makes use of a
// mistake that explains a refusal, it reads the list again, as the user of the call: a
// server may offer other names by now, and to other users.
func (s *Server) compareWithList(ctx context.Context, c *Call, l lister) mistakes {
	known := s.getKnown(ctx, c.Session, l)
	m := known.findMistakes(c.Op, l)
	if !c.passedByRefusal() {
		if len(c.Header) > 0 || c.Session.ListChanged(0) {
			m.unlisted = ""
		}
		return m
	}
	if known != nil && m.unlisted == "" && len(m.unknown) == 0 {
		return m
	}
	again, err := s.read(ctx, c.Session, l, c.Header)
	if ctx.Err() == context.DeadlineExceeded { // no other test waits for it
		s.update(func(st *state) { st.silent = append(st.silent, l.capability) })
	}
	if err != nil {
		if known == nil && !errors.Is(err, errUndeclared) {
			m.unread = err
		}
		return m
	}
	now := again.findMistakes(c.Op, l)
	if known != nil && m.unlisted == "" && now.unlisted != "" { // no longer listed
		return m
	}
	return now
}

// isListedElsewhere reports whether another server of the suite, or a variant, lists
// the name of a call: then its absence is likely the point of the test.
func (s *Server) isListedElsewhere(ctx context.Context, c *Call, l lister) bool {
	for _, def := range c.Others {
		if def == s.Def {
			continue
		}
		other := s.pool.Server(def, respond.CapabilitiesOn(def), s.file)
		var sess *mcp.Session
		if l.what != "tool" || other.countStarts() == 0 {
			var err error
			if sess, err = other.First().Session(ctx); err != nil {
				continue
			}
		}
		if list := other.getKnown(ctx, sess, l); list != nil && list.has(c.Op.Subject) {
			return true
		}
	}
	return false
}

// countStarts returns how often the server was started.
func (s *Server) countStarts() int { return s.getState().starts }

// Arguments returns what is wrong with the arguments of a tools/call according to the
// tool's inputSchema, or "".
func (s *Server) Arguments(ctx context.Context, op *plan.Op) string {
	l := listers["tools/call"]
	inputs := s.Tools().complete(ctx).inputs
	own := &list{schemas: map[string]jsonv.Value{op.Subject: inputs[op.Subject]}}
	return l.formatWrong(op.Subject, own.findMistakes(op, l).arguments)
}

// findMistakes compares a call with a list; nil means that the list is not known.
func (l *list) findMistakes(op *plan.Op, of lister) (m mistakes) {
	if l == nil {
		return m
	}
	schema := l.schemas[op.Subject]
	if !l.has(op.Subject) {
		near := source.FindNearest(op.Subject, sortedKeys(l.schemas))
		m.near = near != ""
		if m.near || of.what != "resource" { // resources need not be listed
			m.unlisted = of.formatUnlisted(op.Subject, near)
		}
	}
	if v, err := jsonv.Parse(op.Params); err == nil && schema.Kind() == jsonv.KindObject {
		m.arguments, m.unknown = check.Arguments(schema, v.Lookup("arguments"))
		if slip := describeUnspaced(schema, v.Lookup("arguments")); slip != "" {
			m.arguments, m.unknown, m.unspaced = []string{slip}, []string{slip}, true
		}
	}
	return m
}

// describeUnspaced describes an argument like {city:Berlin}, of a tool that takes city.
func describeUnspaced(schema, arguments jsonv.Value) string {
	properties := schema.Lookup("properties")
	for key, value := range arguments.Members() {
		name, rest, found := strings.Cut(key, ":")
		if !found || value.Kind() != jsonv.KindNull {
			continue
		}
		if !properties.Lookup(key).IsAbsent() || properties.Lookup(name).IsAbsent() {
			continue
		}
		return strconv.Quote(key) + " is one argument, without a value: " + source.SpacedHint(name, rest)
	}
	return ""
}
