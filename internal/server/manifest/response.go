package manifest

import (
	"cmp"
	"fmt"
	"net/http"
	"slices"
	"strings"

	"mcptest/internal/base/jsonv"
	"mcptest/internal/base/source"
)

// Response is what a tool, a prompt, a resource or a method returns:
//
//	response: some text                     # one text block
//	response: {content: […], structured: …} # everything else
//	response:                               # the first one whose `when` fits
//	  - {when: {args: {city: London}}, text: Rain}
//	  - text: Sun
//	response: {sequence: [first, second]}   # successive calls
type Response struct {
	when     *condition
	any      []*Response // alternatives; no other field is set
	sequence []*Response
	cycle    bool
	Steps    []*Step

	text, content, messages, structured *Template
	meta, isError, Result               *Template
	Err                                 *RPCError
	Raw                                 *RawBytes
	HTTP                                *HTTPFault
}

// HTTPFault is an answer of HTTP in place of a response.
type HTTPFault struct {
	Status int
	Header [][2]string
	Body   *Template // nil: the JSON-RPC error that says what happened
	Drop   bool
	Expire bool
}

// RPCError is the error member of a response.
type RPCError struct {
	Code          int64
	Message, Data *Template
}

// responseKeys are the keys of one response.
type responseKeys struct {
	// Use this response only when the condition holds; in a list of responses.
	When *source.Node `yaml:"when" keys:"condition"`
	// What happens before the response, in order.
	Steps *source.Node `yaml:"steps" keys:"step" list:"true"`
	// One text block; a map or list is written as JSON.
	Text *source.Node `yaml:"text"`
	// Content blocks; text is short for a text block.
	Content *source.Node `yaml:"content"`
	// structuredContent; its JSON is the text block too when neither text nor content is given.
	Structured *source.Node `yaml:"structured"`
	// Messages of a prompt.
	Messages *source.Node `yaml:"messages" keys:"message" list:"true"`
	// Respond with isError: true.
	IsError *source.Node `yaml:"is_error"`
	// Respond with a JSON-RPC error.
	Error *source.Node `yaml:"error" keys:"error"`
	// The whole result, as it is.
	Result *source.Node `yaml:"result"`
	// Bytes in place of a response.
	Raw *source.Node `yaml:"raw" keys:"bytes"`
	// Over HTTP: respond with this status, such as 401, 404, 429, 502 or 503.
	Status *int `yaml:"status" range:"400-599"`
	// Over HTTP: headers of that status, such as Retry-After or WWW-Authenticate.
	Headers source.Map[string] `yaml:"headers"`
	// Over HTTP: the body of that status; a JSON-RPC error when left out.
	Body *source.Node `yaml:"body"`
	// Over HTTP: reset the connection in place of a response.
	Drop bool `yaml:"drop"`
	// Over HTTP: end the session; this request and later ones get 404.
	ExpireSession bool `yaml:"expire_session"`
	// The _meta of the result.
	Meta *source.Node `yaml:"meta"`
	// Responses of successive calls.
	Sequence *source.Node `yaml:"sequence" keys:"response" list:"true"`
	// What follows the sequence: last repeats its last response, cycle starts over.
	Then string `yaml:"then" enum:"last|cycle"`
	// Wait so long before the response; the same as a step.
	Delay *source.Node `yaml:"delay"`
}

// maxNested bounds sequences inside alternatives inside sequences.
const maxNested = 6

// Response compiles any form of a response; nested is its depth in other responses.
func (c compiler) compileResponse(n *source.Node, path string, nested int) *Response {
	r := &Response{}
	switch {
	case n.Kind == source.KindList && nested < maxNested:
		for i, item := range n.Items {
			at := source.PathIndex(path, i)
			alt := c.compileResponse(item, at, nested+1)
			if i < len(n.Items)-1 && alt.when == nil {
				c.d.Errorf(item, at, "every response of a list but the last needs a `when`: those behind it are never used").Hint = "responses of successive calls are a sequence: {sequence: […]}; several content blocks are content: […]"
			}
			r.any = append(r.any, alt)
		}
		if len(n.Items) == 0 {
			c.d.Errorf(n, path, "an empty list contains no response")
		}
	case n.Kind == source.KindMap:
		c.compileResponseMap(r, n, path, nested)
	case n.Kind == source.KindList:
		c.d.Errorf(n, path, "lists of responses are nested too deeply")
	case n.Kind == source.KindNull:
		c.d.Errorf(n, path, "a response is missing").Hint = `an empty response is written {content: []}`
	default:
		r.text = c.compile(n, path)
	}
	return r
}

func (c compiler) compileResponseMap(r *Response, n *source.Node, path string, nested int) {
	n = spellInSnake(n, path, c.d)
	var k responseKeys
	c.d.Decode(n, path, &k)
	r.when = compileOptional(k.When, path+".when", c.compileCondition)
	if k.Steps != nil {
		c = c.with(askNames(k.Steps))
		r.Steps = c.compileSteps(k.Steps, path+".steps")
	}
	if k.Delay != nil {
		r.Steps = append(r.Steps, &Step{Delay: c.compileDuration(k.Delay, path+".delay")})
	}
	c.checkExclusiveKeys(n, path, k)
	if k.Sequence != nil {
		c.compileSequence(r, k, path, nested)
		return
	}
	if k.Then != "" {
		c.d.Errorf(n.Get("then"), path+".then", "then: requires sequence:")
	}
	r.text = compileOptional(k.Text, path+".text", c.compile)
	r.structured = compileOptional(k.Structured, path+".structured", c.compile)
	r.meta = compileOptional(k.Meta, path+".meta", c.compile)
	r.Result = compileOptional(k.Result, path+".result", c.compile)
	r.isError = compileOptional(k.IsError, path+".is_error", c.compile)
	r.content = compileOptional(k.Content, path+".content", c.compileContent)
	r.messages = compileOptional(k.Messages, path+".messages", c.compileMessages)
	r.Err = compileOptional(k.Error, path+".error", c.compileRPCError)
	r.Raw = compileOptional(k.Raw, path+".raw", c.compileRawBytes)
	r.HTTP = c.compileHTTPFault(n, path, k)
}

// compileHTTPFault compiles an answer of HTTP; nil if the response is none.
func (c compiler) compileHTTPFault(n *source.Node, path string, k responseKeys) *HTTPFault {
	f := &HTTPFault{Drop: k.Drop, Expire: k.ExpireSession, Body: compileOptional(k.Body, path+".body", c.compile)}
	switch {
	case k.Status != nil:
		f.Status = *k.Status
	case k.ExpireSession:
		f.Status = http.StatusNotFound
	}
	for _, e := range k.Headers.Entries {
		f.Header = append(f.Header, [2]string{e.Key, e.Value})
	}
	if f.Status == 0 && !f.Drop {
		if extra := cmp.Or(n.Get("headers"), n.Get("body")); extra != nil {
			c.d.Errorf(extra, path, "headers and body belong to a status").Hint = "status: 503"
		}
		return nil
	}
	return f
}

// checkExclusiveKeys reports keys that exclude each other.
func (c compiler) checkExclusiveKeys(n *source.Node, path string, k responseKeys) {
	groups := []struct {
		name  string
		nodes []*source.Node
	}{
		{"text, content, messages or structured", []*source.Node{k.Text, k.Content, k.Messages, k.Structured, k.IsError, k.Meta}},
		{"error", []*source.Node{k.Error}},
		{"result", []*source.Node{k.Result}},
		{"raw", []*source.Node{k.Raw}},
		{"status", []*source.Node{n.Get("status")}},
		{"drop", []*source.Node{n.Get("drop")}},
		{"expire_session", []*source.Node{n.Get("expire_session")}},
		{"sequence", []*source.Node{k.Sequence}},
	}
	var used []string
	for _, g := range groups {
		if slices.ContainsFunc(g.nodes, func(n *source.Node) bool { return n != nil }) {
			used = append(used, g.name)
		}
	}
	if len(used) > 1 {
		c.d.Errorf(n, path, "a response is one of: %s", strings.Join(used, "; "))
	}
	if k.Text != nil && k.Content != nil {
		c.d.Errorf(k.Text, path+".text", "text and content exclude each other: text is short for one text block")
	}
	if k.Messages != nil && (k.Text != nil || k.Content != nil || k.Structured != nil) {
		c.d.Errorf(k.Messages, path+".messages", "messages is a prompt's result; text is short for one message")
	}
}

func (c compiler) compileSequence(r *Response, k responseKeys, path string, nested int) {
	at := path + ".sequence"
	r.cycle = k.Then == "cycle"
	if r.Steps != nil {
		c.d.Errorf(k.Sequence, at, "steps and delay go into the responses of the sequence")
	}
	switch {
	case k.Sequence.Kind != source.KindList:
		c.d.ReportWrongType(k.Sequence, at, "a list of responses")
	case len(k.Sequence.Items) == 0:
		c.d.Errorf(k.Sequence, at, "an empty sequence contains no response")
	case nested >= maxNested:
		c.d.Errorf(k.Sequence, at, "sequences are nested too deeply")
	default:
		for i, item := range k.Sequence.Items {
			r.sequence = append(r.sequence, c.compileResponse(item, source.PathIndex(at, i), nested+1))
		}
	}
}

// errorKeys are the keys of the long form of error.
type errorKeys struct {
	// The code of the error.
	Code *int `yaml:"code" default:"-32603"`
	// The message of the error.
	Message *source.Node `yaml:"message,required"`
	// The data of the error.
	Data *source.Node `yaml:"data"`
}

// compileRPCError compiles a message or {code?, message, data?}.
func (c compiler) compileRPCError(n *source.Node, path string) *RPCError {
	e := &RPCError{Code: -32603}
	if n.Kind == source.KindString {
		e.Message = c.compile(n, path)
		return e
	}
	var m errorKeys
	c.d.Decode(n, path, &m)
	if m.Code != nil {
		e.Code = int64(*m.Code)
	}
	e.Message = c.compile(m.Message, path+".message")
	e.Data = compileOptional(m.Data, path+".data", c.compile)
	return e
}

// condition decides when a response is used: all its parts must hold.
type condition struct {
	args, state jsonv.Value // the members these must have
	has, hasNot []expr
	client      []string // capabilities
}

// conditionKeys are the keys of when.
type conditionKeys struct {
	// Arguments the call must have; others are ignored.
	Args *source.Node `yaml:"args"`
	// State the server must be in.
	State *source.Node `yaml:"state"`
	// Paths that must have a value.
	Exists *source.Node `yaml:"exists"`
	// Paths that must have none.
	Missing *source.Node `yaml:"missing"`
	// Capabilities the client must have declared.
	Client []string `yaml:"client"`
}

func (c compiler) compileCondition(n *source.Node, path string) *condition {
	var m conditionKeys
	c.d.Decode(n, path, &m)
	out := &condition{client: m.Client}
	if m.Args != nil {
		out.args = m.Args.JSON()
		if m.Args.Kind != source.KindMap {
			c.d.ReportWrongType(m.Args, path+".args", "a map of arguments")
		}
		for _, f := range m.Args.Fields {
			if c.args != nil && !slices.Contains(c.args, f.Key.Text) {
				c.d.ReportUnknownKey(f.Key, path+".args", c.args)
			}
		}
	}
	if m.State != nil {
		out.state = m.State.JSON()
		if m.State.Kind != source.KindMap {
			c.d.ReportWrongType(m.State, path+".state", "a map")
		}
	}
	out.has, out.hasNot = c.compileExpressions(m.Exists, path+".exists"), c.compileExpressions(m.Missing, path+".missing")
	return out
}

func (c compiler) compileExpressions(n *source.Node, path string) []expr {
	if n == nil {
		return nil
	}
	items := n.Items
	if n.Kind != source.KindList {
		items = []*source.Node{n}
	}
	var out []expr
	for i, item := range items {
		if e := c.compileExpression(item, fmt.Sprintf("%s[%d]", path, i)); e != nil {
			out = append(out, e)
		}
	}
	return out
}

func (w *condition) holds(values Values) bool {
	if w == nil {
		return true
	}
	for _, e := range w.has {
		if e.eval(values).IsAbsent() {
			return false
		}
	}
	for _, e := range w.hasNot {
		if !e.eval(values).IsAbsent() {
			return false
		}
	}
	for _, name := range w.client {
		if values("client").Lookup("capabilities", name).IsAbsent() {
			return false
		}
	}
	return isWithin(w.args, values("args")) && isWithin(w.state, values("state"))
}

// isWithin reports whether got contains all of want. Objects may have more members; all
// other values must be equal.
func isWithin(want, got jsonv.Value) bool {
	switch {
	case want.IsAbsent():
		return true
	case want.Kind() != jsonv.KindObject:
		return jsonv.Equal(want, got)
	case got.Kind() != jsonv.KindObject && want.Len() > 0:
		return false
	}
	for key, v := range want.Members() {
		if g, ok := got.Get(key); !ok || !isWithin(v, g) {
			return false
		}
	}
	return true
}

// Choose follows alternatives and sequences to the response of this call, or returns
// nil when none matches. turn returns how often a sequence was used before.
func (r *Response) Choose(values Values, turn func(sequence *Response) int) *Response {
	for r != nil && (r.any != nil || r.sequence != nil) {
		if r.sequence != nil {
			n := turn(r)
			if r.cycle {
				n %= len(r.sequence)
			}
			r = r.sequence[min(n, len(r.sequence)-1)]
			continue
		}
		at := slices.IndexFunc(r.any, func(alt *Response) bool { return alt.when.holds(values) })
		if at < 0 {
			return nil
		}
		r = r.any[at]
	}
	if r == nil || !r.when.holds(values) {
		return nil
	}
	return r
}
