package promote

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"mcptest/internal/base/jsonv"
	"mcptest/internal/base/secret"
	"mcptest/internal/client/protocol"
	"mcptest/internal/spec/draft"
	"mcptest/internal/tape/cassette"
)

// Fill adds the tests of a cassette to a suite, in the order in which their
// requests were first sent, and returns how many requests were merged with equal ones.
func Fill(su *draft.Suite, c *cassette.Cassette) (merged int, err error) {
	calls, err := c.Calls()
	if err != nil {
		return 0, err
	}
	f := newFiller(su, c, calls)
	for _, call := range calls {
		if call.Request == nil || c.Refused(call) {
			continue
		}
		if call.ID != "" && !isOverhead(call.Method) {
			f.add(call)
		}
		f.scripts[call.Session].noteAnnounced(call)
	}
	o := readOffered(c, calls)
	su.Tests = slices.DeleteFunc(su.Tests, func(t *draft.Test) bool {
		if t.Mixed() {
			for _, label := range f.requests[t] {
				su.Omitted = append(su.Omitted, label+"it was refused only some of the time")
			}
		}
		return t.Mixed()
	})
	for _, t := range su.Tests {
		t.InvalidArgs = t.Refused() && o.isMistaken(t)
		for _, label := range f.requests[t][1:] {
			merged++
			su.Omitted = append(su.Omitted, label+"the test of the previous identical request covers it")
		}
	}
	sortTests(su.Tests)
	return merged, c.Err()
}

// sortTests moves the tests between calls of tools to the block of tools, and those after
// them whose own block comes first: a call may change what they return.
func sortTests(tests []*draft.Test) {
	isCall := func(t *draft.Test) bool { return t.Block == "tools" }
	first := slices.IndexFunc(tests, isCall)
	if first < 0 {
		return
	}
	opened := map[string]bool{}
	for i, t := range tests {
		if i < first {
			opened[t.Block] = true
		} else {
			t.Among = !isCall(t) && (opened[t.Block] || slices.ContainsFunc(tests[i:], isCall))
		}
	}
}

// filler adds tests to a suite.
type filler struct {
	su       *draft.Suite
	c        *cassette.Cassette
	scripts  map[int]*script // by session
	tests    map[string]*draft.Test
	requests map[*draft.Test][]string
	latest   map[int]string // tool call of each session
	round    map[string]int // how often other calls of tools came before a call
	servers  map[int]string // by session
}

func newFiller(su *draft.Suite, c *cassette.Cassette, calls []*cassette.Call) *filler {
	f := &filler{
		su:       su,
		c:        c,
		scripts:  map[int]*script{},
		tests:    map[string]*draft.Test{},
		requests: map[*draft.Test][]string{},
		latest:   map[int]string{},
		round:    map[string]int{},
		servers:  map[int]string{},
	}
	for n, client := range c.ListClients(calls) {
		f.scripts[n] = scriptOf(client)
	}
	return f
}

// add adds the test of a call. Equal calls of a tool are one test if no other call of
// a tool came between them, because it may change what the tool responds.
func (f *filler) add(call *cassette.Call) {
	request, response := f.c.Exchange(call)
	params := request.Lookup("params")
	if params.Kind() == jsonv.KindObject {
		params = params.Without("_meta")
	}
	t, why := test(call, params, answer(response))
	script := f.scripts[call.Session]
	why = cmp.Or(why, explainUnusable(call, params, response), script.depends(params, response),
		script.cannot(f.c, call))
	arguments := f.c.Stable(jsonv.ObjectOf("arguments", params.Lookup("arguments"))).String()
	key := fmt.Sprint(call.Session) + call.Method + call.Name + arguments
	if call.Method == "tools/call" {
		if f.latest[call.Session] != key {
			f.round[key]++
			f.latest[call.Session] = key
		}
		key += fmt.Sprint(f.round[key])
	}
	label := fmt.Sprintf("%s (line %d): ", strings.TrimSpace(call.Method+" "+call.Name), call.Request.Line)
	if why != "" {
		f.su.Omitted = append(f.su.Omitted, label+why)
		return
	}
	if f.tests[key] == nil {
		f.tests[key] = t
		t.Server = f.nameServer(call.Session)
		f.su.Tests = append(f.su.Tests, t)
	}
	t = f.tests[key]
	a := answer(response)
	t.Answers = append(t.Answers, a)
	if len(f.c.Volatile) > 0 { // what they select differs between two answers, and is matched loosely
		a.Result = f.c.Stable(a.Result)
		t.Answers = append(t.Answers, a)
	}
	f.requests[t] = append(f.requests[t], label)
}

// nameServer returns the server of the tests of a session: each session has its own.
func (f *filler) nameServer(session int) string {
	name, known := f.servers[session]
	if !known {
		name = f.su.Server.Name
		respond := f.scripts[session].respond
		if n := len(f.servers); n > 0 {
			name = fmt.Sprintf("%s-%d", name, n+1)
			f.su.Server.Copies = append(f.su.Server.Copies, draft.Copy{Name: name, Respond: respond})
		} else {
			f.su.Server.Respond = respond
		}
		f.servers[session] = name
	}
	return name
}

// isOverhead reports whether clients make a request for the session, not for its
// result.
func isOverhead(method string) bool {
	return method == "initialize" || method == protocol.MethodDiscover || method == "ping"
}

// test returns the test that repeats a request, without its answers. Tests of tools and
// prompts always send an object as arguments: other ones, or their absence if that was
// refused, are repeated as they were.
func test(call *cassette.Call, params jsonv.Value, a draft.Answer) (t *draft.Test, why string) {
	args := params.Lookup("arguments")
	if args.Kind() != jsonv.KindObject {
		absent := args.IsAbsent() || args.Kind() == jsonv.KindNull
		if (call.Method == "tools/call" || call.Method == "prompts/get") && (!absent || a.Refused()) {
			return &draft.Test{Block: "protocol", Subject: call.Method, Args: params}, ""
		}
		args = jsonv.Object()
	}
	member, isList := lists[call.Method]
	switch {
	case call.Method == "tools/call":
		return &draft.Test{Block: "tools", Subject: call.Name, Args: args}, ""
	case call.Method == "resources/read":
		return &draft.Test{Block: "resources", Subject: call.Name, Args: jsonv.Object()}, ""
	case call.Method == "prompts/get":
		return &draft.Test{Block: "prompts", Subject: call.Name, Args: args}, ""
	case isList && params.Lookup("cursor").IsAbsent():
		return &draft.Test{Block: "protocol", Subject: call.Method, List: member, Args: jsonv.Object()}, ""
	case isList:
		return nil, "a cursor is not valid in another session"
	}
	return nil, "requests with this method are not converted to tests"
}

// explainUnusable returns why a test cannot repeat a request.
func explainUnusable(call *cassette.Call, params, response jsonv.Value) string {
	result := response.Lookup("result")
	kind := result.Lookup("resultType").Text()
	switch {
	case call.Name == "" && lists[call.Method] == "":
		return "it has no name"
	case response.IsAbsent():
		return "no response is recorded"
	case call.Response.Omitted > 0:
		return "the response is too large to be in the cassette"
	case strings.Contains(string(params.Append(nil)), secret.Mask):
		return "a secret in it is masked"
	case kind != "" && kind != "complete", !params.Lookup("requestState").IsAbsent(), !params.Lookup("inputResponses").IsAbsent():
		return "the server requires more input"
	case !params.Lookup("task").IsAbsent():
		return "it begins a task"
	}
	return ""
}

func answer(response jsonv.Value) draft.Answer {
	if e := response.Lookup("error"); !e.IsAbsent() {
		return draft.Answer{Code: e.Lookup("code"), Reason: e.Lookup("message").Text()}
	}
	a := draft.Answer{Result: response.Lookup("result")}
	for _, block := range a.Result.Lookup("content").Elems() {
		a.Reason = cmp.Or(a.Reason, block.Lookup("text").Text())
	}
	return a
}
