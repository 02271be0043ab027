package target

import (
	"cmp"
	"strings"

	"mcptest/internal/assert/shown"
	"mcptest/internal/base/display"
	"mcptest/internal/base/jsonv"
	"mcptest/internal/base/lists"
)

// Root is the beginning of a target.
type Root struct {
	Name string
	Doc  string
	// Leaf describes a value that has no members: "a number".
	Leaf string
	part part
	// Lists are the lists of tests that have it: call stands for those of tests that make
	// a call.
	Lists string
	// Example is a target, and a matcher for it.
	Example [2]string
}

// part is a part of an observation.
type part uint8

const (
	partResult part = iota
	partError
	partRefusal
	partText
	partStructured
	partNotifications
	partLogs
	partProgress
	partRequests
	partDuration
	partBytes
	partHTTPStatus
	partHTTPHeaders
	partStderr
	partServer
	partSteps
	partSurface
	partUpstream
	partOwn // what only a test without a call observes, by the name of the root
)

// roots is the table of roots, in the order of the documentation.
var roots = []Root{
	{"result", "the call's JSON-RPC result; an absent result.isError reads as false, and a member that the result lacks is looked up in structuredContent, then in text that is a JSON object", "", partResult, "call http", [2]string{"result.content[0].text", "contains: rust"}},
	{"error", "the JSON-RPC error (code, message, data); null if there is none", "", partError, "call http", [2]string{"error.code", "exact: -32602"}},
	{"refusal", "how the server rejected the call: form (error for a JSON-RPC error, tool for isError: true), text, and the code of an error; null if it did not", "", partRefusal, "call http", [2]string{"refusal.text", "icontains: rate limit"}},
	{"text", "all text blocks of the result, joined by newlines", "a string", partText, "call http", [2]string{"text", "regex: '^Found \\d+'"}},
	{"structured", "the result's structuredContent", "", partStructured, "call http", [2]string{"structured.items[*].id", "contains: 7"}},
	{"notifications", "the notifications the server sent during the call; the request carries a progressToken", "", partNotifications, "call", [2]string{"notifications[*].method", "contains: notifications/tools/list_changed"}},
	{"logs", "the log messages the server sent during the call", "", partLogs, "call", [2]string{"logs[-1].data", "contains: done"}},
	{"progress", "the progress notifications of the call; the request carries a progressToken", "", partProgress, "call", [2]string{"progress", "length: {min: 1}"}},
	{"requests", "the requests the server sent during the call", "", partRequests, "call", [2]string{"requests[0].method", "exact: elicitation/create"}},
	{"duration_ms", "how long the call took, in milliseconds", "a number", partDuration, "call http start agents", [2]string{"duration_ms", "lt: 500"}},
	{"response_bytes", "the size of the response, in bytes", "a number", partBytes, "call http", [2]string{"response_bytes", "lte: 100000"}},
	{"http.status", "the response's HTTP status", "a number", partHTTPStatus, "call http", [2]string{"http.status", "exact: 200"}},
	{"http.headers", "the response's HTTP headers; names are case-insensitive", "", partHTTPHeaders, "call http", [2]string{`http.headers["content-type"]`, "starts-with: application/json"}},
	{"http.body", "of a test under http: the body of the response: parsed if it is JSON, otherwise text", "", partOwn, "http", [2]string{"http.body.error.code", "exact: -32001"}},
	{"http.events", "of a test under http: the events of a response that is an event stream, each with type, id and data (parsed if it is JSON)", "", partOwn, "http", [2]string{"http.events[0].data.result", "exists: true"}},
	{"exit", "of a test under start: how the program ended: its code, or the signal (terminated, killed, …); null if it still ran at the end of the timeout", "", partOwn, "start", [2]string{"exit.code", "exact: 0"}},
	{"stdout", "of a test under start: what the program wrote to standard output", "a string", partOwn, "start", [2]string{"stdout", "length: 0"}},
	{"leftover", "of a test under start: the commands of processes that the program left behind", "", partOwn, "start", [2]string{"leftover", "length: 0"}},
	{"calls", "of a test under agents: the calls of the model in order, each with name, tool (its name at the server), server, arguments, text, result, refused, executed, mocked and turn; calls[\"NAME\"] is the first call of that tool", "", partOwn, "agents", [2]string{"calls", "trajectory: {in_order: [search]}"}},
	{"final", "of a test under agents: the text of the model's last answer", "a string", partOwn, "agents", [2]string{"final", "contains: \"#42\""}},
	{"turns", "of a test under agents: the number of the model's answers", "a number", partOwn, "agents", [2]string{"turns", "lte: 4"}},
	{"tokens", "of a test under agents: the tokens that the endpoint counted: input, output and total", "", partOwn, "agents", [2]string{"tokens.total", "lt: 20000"}},
	{"cost_usd", "of a test under agents: what the conversation cost, by the model's price", "a number", partOwn, "agents", [2]string{"cost_usd", "lt: 0.05"}},
	{"stop", "of a test under agents: why the conversation ended: end, turns, refusal, truncated or budget", "a string", partOwn, "agents", [2]string{"stop", "exact: end"}},
	{"model", "of a test under agents: the model's name in the last answer", "a string", partOwn, "agents", [2]string{"model", "exact: small-1"}},
	{"stderr", "what the server wrote to standard error during the call", "a string", partStderr, "call start", [2]string{"stderr", "not: {contains: Traceback}"}},
	{"server", "the server's response to initialize or server/discover; server.serverInfo works for both", "", partServer, "call", [2]string{"server.serverInfo.name", "exact: shop"}},
	{"steps", "the values captured by earlier steps of a flow, by name", "", partSteps, "call", [2]string{"steps.id", "exists: true"}},
	{"surface", "what the server offers: all pages of tools, resources, resourceTemplates and prompts, and server, its response to the handshake; a test that examines nothing else needs no call", "", partSurface, "call", [2]string{`surface.tools["create_issue"].inputSchema.required`, "contains: title"}},
	{"upstream", "the requests that the server sent to an upstream until it responded: upstream.NAME.requests, each with method, path, query, headers, body and time", "", partUpstream, "call agents", [2]string{"upstream.github.requests", "length: {max: 2}"}},
}

// Roots returns the table of roots.
func Roots() []Root { return append([]Root(nil), roots...) }

func rootNames() []string {
	return lists.Map(roots, func(r Root) string { return r.Name })
}

func rootsHint() string { return "a target starts with " + display.Alternatives(rootNames(), "or") }

// whyNone describes why a test without a call observed nothing.
var whyNone = map[string]string{
	"http.events": "the response is not an event stream", "final": "the last answer has no text", "cost_usd": "the model has no price",
}

// Names of result members in the MCP schema (CallToolResult and Result).
const (
	KeyIsError    = "isError"
	keyContent    = "content"
	keyStructured = "structuredContent"
)

// protocolKey reports whether any revision of MCP defines the key in the result of a
// tool call. Such a key is never searched for elsewhere, because a tool's own data
// could then replace what the protocol requires.
func protocolKey(name string) bool {
	switch name {
	case keyContent, KeyIsError, keyStructured, "_meta", "nextCursor", "resultType",
		"inputRequests", "requestState", "task", "ttlMs", "cacheScope", "toolResult":
		return true
	}
	return false
}

// derived caches derived values of an observation.
type derived struct {
	textDone, jsonDone bool
	text, json         jsonv.Value
	textNote           string
}

// base returns the root's value. If there is none, the value is absent and the string
// describes why.
func (o *Observation) base(r *Root) (jsonv.Value, string) {
	switch r.part {
	case partResult:
		return o.result()
	case partError:
		if !o.HasError() {
			return jsonv.Null(), ""
		}
		return o.Error, ""
	case partRefusal:
		return o.refusal()
	case partText:
		return o.Text()
	case partStructured:
		return o.structuredContent()
	case partNotifications:
		return jsonv.Array(o.Notifications...), ""
	case partLogs:
		return jsonv.Array(o.Logs...), ""
	case partProgress:
		return jsonv.Array(o.Progress...), ""
	case partRequests:
		return jsonv.Array(o.Requests...), ""
	case partDuration:
		return jsonv.Float(o.DurationMS), ""
	case partBytes:
		return jsonv.Int(int64(o.ResponseBytes)), ""
	case partStderr:
		return jsonv.String(strings.ToValidUTF8(o.Stderr, "\uFFFD")), ""
	}
	return o.outer(r)
}

// outer returns the parts that are not in the response to the call.
func (o *Observation) outer(r *Root) (jsonv.Value, string) {
	const noHTTP = "there was no HTTP response"
	switch r.part {
	case partHTTPStatus:
		if o.HTTPStatus == 0 {
			return jsonv.Value{}, noHTTP
		}
		return jsonv.Int(int64(o.HTTPStatus)), ""
	case partHTTPHeaders:
		return o.HTTPHeaders, noHTTP
	case partServer:
		return o.Server, "the server's response to initialize is not known"
	case partUpstream:
		return o.Upstream, "the suite has no upstreams"
	case partOwn:
		return o.Own.Lookup(r.Name), cmp.Or(whyNone[r.Name], "the test observed none")
	}
	return o.Steps, "the test has no earlier steps"
}

func (o *Observation) result() (jsonv.Value, string) {
	switch {
	case !o.Result.IsAbsent():
		return o.Result, ""
	case o.HasError():
		return jsonv.Value{}, "there is no result: the call returned " + o.showError()
	}
	return jsonv.Value{}, "there is no result"
}

// unanswered is the reason if there is neither a result nor an error.
const unanswered = "the call got no response"

// refusal returns the JSON-RPC error, or the result with isError: true, in a common
// form.
func (o *Observation) refusal() (jsonv.Value, string) {
	switch {
	case o.HasError():
		r := jsonv.Object(jsonv.Member{Key: "form", Value: jsonv.String("error")})
		for _, as := range [...][2]string{{"code", "code"}, {"text", "message"}} {
			if v, ok := o.Error.Get(as[1]); ok {
				r = r.With(as[0], v)
			}
		}
		return r, ""
	case o.Flagged():
		r := jsonv.Object(jsonv.Member{Key: "form", Value: jsonv.String("tool")})
		if text, _ := o.Text(); !text.IsAbsent() {
			r = r.With("text", text)
		}
		return r, ""
	case o.Result.IsAbsent():
		return jsonv.Value{}, unanswered
	}
	return jsonv.Null(), ""
}

func (o *Observation) structuredContent() (jsonv.Value, string) {
	r, why := o.result()
	if r.IsAbsent() {
		return r, why
	}
	if v, ok := r.Get(keyStructured); ok {
		return v, ""
	}
	if text, _ := o.Text(); text.Kind() == jsonv.KindString && strings.HasPrefix(text.Text(), "{") {
		return jsonv.Value{}, "the result has no structuredContent; for the JSON in its text write result in place of structured"
	}
	return jsonv.Value{}, "the result has no structuredContent; it has " + shown.Keys(r)
}

// Text joins the result's text blocks: content of tools, contents of
// resources, messages of prompts.
func (o *Observation) Text() (jsonv.Value, string) {
	if !o.cache.textDone {
		o.cache.textDone = true
		o.cache.text, o.cache.textNote = o.joinText()
	}
	return o.cache.text, o.cache.textNote
}

func (o *Observation) joinText() (jsonv.Value, string) {
	r, why := o.result()
	if r.IsAbsent() {
		return r, why
	}
	var parts []string
	add := func(block jsonv.Value) {
		if kind := block.Lookup("type"); kind.Kind() == jsonv.KindString && kind.Text() != "text" {
			return
		}
		if t := block.Lookup("text"); t.Kind() == jsonv.KindString {
			parts = append(parts, t.Text())
		}
	}
	found, odd := false, ""
	for _, key := range []string{keyContent, "contents", "messages"} {
		list, ok := r.Get(key)
		if !ok || list.Kind() != jsonv.KindArray {
			if ok && odd == "" {
				odd = "the result's " + key + " is " + shown.Got(list) + ", not a list"
			}
			continue
		}
		found = true
		for _, block := range list.Elems() {
			if key == "messages" {
				block = block.Lookup(keyContent)
			}
			add(block)
		}
		break
	}
	if !found && odd != "" {
		return jsonv.Value{}, odd
	}
	if !found {
		return jsonv.Value{}, "the result has no content; it has " + shown.Keys(r)
	}
	if len(parts) == 0 {
		return jsonv.Value{}, "the result has no text block"
	}
	return jsonv.String(strings.Join(parts, "\n")), ""
}

// textJSON returns the JSON object in the result's only content block, if that is a
// text block. Otherwise it is absent.
func (o *Observation) textJSON() jsonv.Value {
	if o.cache.jsonDone {
		return o.cache.json
	}
	o.cache.jsonDone = true
	content := o.Result.Lookup(keyContent)
	block := content.At(0)
	if content.Kind() != jsonv.KindArray || content.Len() != 1 || block.Lookup("type").Text() != "text" {
		return jsonv.Value{}
	}
	text := strings.TrimLeft(block.Lookup("text").Text(), " \t\r\n")
	if !strings.HasPrefix(text, "{") {
		return jsonv.Value{}
	}
	if v, err := jsonv.Parse([]byte(text)); err == nil && v.Kind() == jsonv.KindObject {
		o.cache.json = v
	}
	return o.cache.json
}
