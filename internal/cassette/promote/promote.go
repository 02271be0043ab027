package promote

import (
	"fmt"
	"slices"
	"strings"

	"mcptest/internal/cassette"
	"mcptest/internal/draft"
	"mcptest/internal/jsonv"
	"mcptest/internal/mcp/protocol"
	"mcptest/internal/secret"
)

// lists are the members of results that tests can look at as lists of names.
var lists = map[string]string{
	"tools/list": "tools", "prompts/list": "prompts", "resources/list": "resources", "resources/templates/list": "resourceTemplates",
}

// Fill adds the tests of a cassette to a suite, in the order in which their
// requests were first sent.
func Fill(su *draft.Suite, c *cassette.Cassette) error {
	calls, err := c.Calls()
	if err != nil {
		return err
	}
	tests, requests := map[string]*draft.Test{}, map[*draft.Test][]string{}
	for _, call := range calls {
		if call.Request == nil || call.ID == "" || asOverhead(call.Method) || c.Refused(call) {
			continue
		}
		request, response, err := c.Exchange(call)
		if err != nil {
			return err
		}
		params := request.Lookup("params")
		if params.Kind() == jsonv.KindObject {
			params = params.Without("_meta")
		}
		t, why := test(call, params)
		if why == "" {
			why = unusable(call, params, response)
		}
		label := fmt.Sprintf("%s (line %d): ", strings.TrimSpace(call.Method+" "+call.Name), call.Request.Line)
		if why != "" {
			su.Omitted = append(su.Omitted, label+why)
			continue
		}
		key := jsonv.Array(jsonv.String(t.Block), jsonv.String(t.Subject), c.Stable(jsonv.ObjectOf("arguments", t.Args))).String()
		if tests[key] == nil {
			tests[key] = t
			su.Tests = append(su.Tests, t)
		}
		a := answer(response)
		tests[key].Answers = append(tests[key].Answers, a)
		if len(c.Volatile) > 0 { // what they select differs between two answers, and is matched loosely
			a.Result = c.Stable(a.Result)
			tests[key].Answers = append(tests[key].Answers, a)
		}
		requests[tests[key]] = append(requests[tests[key]], label)
	}
	su.Tests = slices.DeleteFunc(su.Tests, func(t *draft.Test) bool {
		if t.Mixed() {
			for _, label := range requests[t] {
				su.Omitted = append(su.Omitted, label+"it was refused only some of the time")
			}
		}
		return t.Mixed()
	})
	return nil
}

// asOverhead reports whether clients make a request for the session, not for its
// result.
func asOverhead(method string) bool {
	return method == "initialize" || method == protocol.MethodDiscover || method == "ping"
}

// test returns the test that repeats a request, without its answers.
func test(call *cassette.Call, params jsonv.Value) (t *draft.Test, why string) {
	args := params.Lookup("arguments")
	if args.Kind() != jsonv.KindObject {
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

// unusable returns why a test cannot repeat a request.
func unusable(call *cassette.Call, params, response jsonv.Value) string {
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
	for _, f := range call.Frames {
		if f.Dir == cassette.ToServer {
			return "the client cancelled it or answered a request of the server"
		}
	}
	return ""
}

func answer(response jsonv.Value) draft.Answer {
	if e := response.Lookup("error"); !e.IsAbsent() {
		return draft.Answer{Code: e.Lookup("code"), Reason: e.Lookup("message").Text()}
	}
	a := draft.Answer{Result: response.Lookup("result")}
	for _, block := range a.Result.Lookup("content").Elems() {
		if a.Reason == "" {
			a.Reason = block.Lookup("text").Text()
		}
	}
	return a
}
