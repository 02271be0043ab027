package exam

import (
	"context"
	"fmt"
	"maps"
	"net/http"
	"slices"
	"strings"
	"syscall"
	"time"

	"mcptest/internal/base/jsonv"
	"mcptest/internal/base/lazy"
	"mcptest/internal/base/syserr"
	"mcptest/internal/client/check"
	"mcptest/internal/client/conn"
	"mcptest/internal/client/handshake"
	"mcptest/internal/client/mcp"
	"mcptest/internal/client/protocol"
	"mcptest/internal/client/wire"
	"mcptest/internal/process/proc"
	"mcptest/internal/run/probe/verdict"
)

// The examiner holds everything that comes from the server against every rule that it
// concerns, whoever asked for it: exchanges, what comes between them, and the handshakes of
// all sessions. A message that breaks a rule is its own proof, so it need not come twice.

// methodCall is the method that calls a tool.
const methodCall = "tools/call"

// examineSession examines the handshake of a session, for a client with capabilities.
func (v *Visit) examineSession(sess *mcp.Session, declared jsonv.Value) {
	v.declared[sess] = declared
	if !v.Version.Known() { // the first session: it sets the revision, and is examined then
		return
	}
	v.examine(sess.Handshake(), sess)
}

// examineEnd examines what a session got outside of its exchanges, and what its process left.
func (v *Visit) examineEnd(sess *mcp.Session, stopped proc.Stopped) {
	v.examineLeftovers(stopped)
	found := findings{}
	outside := &mcp.Exchange{}
	v.addViolations(found, outside, sess.TakeViolations())
	for _, m := range sess.Messages(0) {
		v.examineDuring(found, outside, m, v.declared[sess])
	}
	if m, why := v.WrongID(sess.Messages(0)); why != "" && !v.Modern() {
		out := verdict.Evidence{Received: verdict.Excerpt(string(m.Raw), 1000)}
		found.addBy("request-id", out, "%s", why)
	}
	v.findLateProgress(found, sess)
	v.enterFindings(outside, found)
	delete(v.declared, sess)
	delete(v.finished, sess)
}

// finish notes that a call whose progress was asked for has its response.
func (v *Visit) finish(x *mcp.Exchange, sess *mcp.Session) {
	token := parseValue(x.Request).Lookup("params", "_meta", "progressToken")
	if token.IsAbsent() || x.Response == nil {
		return
	}
	if v.finished[sess] == nil {
		v.finished[sess] = map[string]time.Time{}
	}
	v.finished[sess][token.String()] = time.Now()
}

// findLateProgress finds progress of a call that came after its response, however late. Over
// HTTP the order of two streams is not certain.
func (v *Visit) findLateProgress(out findings, sess *mcp.Session) {
	if !v.Stdio() {
		return
	}
	for _, m := range sess.Messages(0) {
		if m.Method != "notifications/progress" || m.Kind != mcp.KindNotification {
			continue
		}
		over, known := v.finished[sess][parseValue(m.Params).Lookup("progressToken").String()]
		if known && m.At.After(over) {
			e := verdict.Evidence{Received: verdict.Excerpt(string(m.Raw), 1000)}
			out.addBy("progress-after", e, "progress of a call came %.1f s after its response", m.At.Sub(over).Seconds())
		}
	}
}

// examineLeftovers examines the processes that remained after a process had ended by itself
// or when its input was closed. One that had to be killed had no time to end them.
func (v *Visit) examineLeftovers(stopped proc.Stopped) {
	if len(stopped.Leftovers) == 0 || stopped.How != proc.ByEOF {
		return
	}
	v.enterAbout("shutdown-children", "", BrokenBy(verdict.Evidence{
		Sent:     "the end of standard input",
		Received: fmt.Sprintf("ended after %.1f s (%s, %s)\n%s", stopped.Took.Seconds(), stopped.How, stopped.Exit, Remaining(stopped.Leftovers)),
	}, "processes of the server remained after it had ended: %s", verdict.Excerpt(Remaining(stopped.Leftovers), 200)))
}

// Remaining lists processes, one a line.
func Remaining(left []proc.Leftover) string {
	var lines []string
	for _, l := range left {
		lines = append(lines, fmt.Sprintf("%d %s", l.Pid, l.Command))
	}
	return strings.Join(lines, "\n")
}

// examineLoose examines violations that belong to no exchange.
func (v *Visit) examineLoose(all []protocol.Violation) {
	found := findings{}
	v.addViolations(found, &mcp.Exchange{}, all)
	v.enterFindings(&mcp.Exchange{}, found)
}

// examineBare examines what came on a connection without a handshake of a session. Its
// client may have declared anything, and the revision may be another one: only the form of
// the messages is judged.
func (v *Visit) examineBare(c *conn.Conn, x *mcp.Exchange) {
	found := findings{}
	v.addViolations(found, x, slices.Concat(x.Violations, c.TakeViolations()))
	v.enterFindings(x, found)
}

// examineRaw examines the response to a message that deviates on purpose: its id and its
// error may be answered in ways that those of a valid request may not.
func (v *Visit) examineRaw(x *mcp.Exchange) {
	found := findings{}
	v.addViolations(found, x, x.Violations)
	delete(found, "message-id")
	delete(found, "message-duplicate")
	v.checkRawForm(found, x)
	v.checkVersionError(found, x)
	v.enterFindings(x, found)
	v.examineResult(x)
}

// examine examines one exchange of a session.
func (v *Visit) examine(x *mcp.Exchange, sess *mcp.Session) {
	v.enterExercised(x)
	v.finish(x, sess)
	found := findings{}
	v.addViolations(found, x, x.Violations)
	for _, m := range x.During {
		v.examineDuring(found, x, m, v.declared[sess])
	}
	if Status(x) >= http.StatusBadRequest { // whose body the session does not examine
		v.checkRawForm(found, x)
	}
	v.checkVersionError(found, x)
	v.enterFindings(x, found)
	v.examineResult(x)
}

// enterFindings enters how rules were broken by an exchange.
func (v *Visit) enterFindings(x *mcp.Exchange, found findings) {
	for _, rule := range slices.Sorted(maps.Keys(found)) {
		v.enterAbout(rule, v.requestOf(x), found[rule])
	}
}

// enterExercised enters the rules that an exchange could have broken as held; a failure of the
// same rule decides.
func (v *Visit) enterExercised(x *mcp.Exchange) {
	held := func(could bool, rules ...string) {
		if could && x.Response != nil {
			v.Enter(Held(), rules...)
		}
	}
	held(true, "message-jsonrpc", "message-id", "message-stdout", "message-utf8", "message-duplicate", "message-schema", "message-unanswered",
		"meta-key", "undeclared-request", "server-request", "cancel-by-server")
	held(x.Error != nil, "message-error")
	held(x.Result != nil, "result-type", "input-content", "input-kind", "input-declared", "input-method")
	held(x.Result != nil && isCached(x.Method), "cache-hints")
	held(x.Method == "tools/call", "logging-unasked")
	held(x.HTTP != nil, "session-ascii", "http-content-type")
	held(x.HTTP != nil && protocol.IsEventStream(x.HTTP.ContentType), "stream-related")
}

// findViolatedRule returns the rule that a kind of violation breaks, "" for a kind that forbids
// nothing or is a limit of mcptest.
func findViolatedRule(kind string) string {
	switch kind {
	case protocol.StrayOutput, protocol.BadJSON, protocol.PrettyJSON, protocol.BOM, protocol.NULByte:
		return "message-stdout"
	case protocol.InvalidUTF8:
		return "message-utf8"
	case protocol.BadJSONRPC, protocol.ResultAndError, protocol.NoResult, protocol.Batch:
		return "message-jsonrpc"
	case protocol.MissingID, protocol.NullID, protocol.UnknownID, protocol.EarlyResponse:
		return "message-id"
	case protocol.DuplicateID:
		return "message-duplicate"
	case protocol.BadError:
		return "message-error"
	case protocol.BadResult:
		return "message-schema"
	case protocol.ResultType:
		return "result-type"
	case protocol.ProgressToken:
		return "progress-token"
	case protocol.SessionID:
		return "session-ascii"
	}
	return ""
}

// isCached reports whether results of a method have hints for caches.
func isCached(method string) bool {
	return slices.Contains([]string{protocol.MethodDiscover, "tools/list", "resources/list", "resources/templates/list", "prompts/list", "resources/read"}, method)
}

// Changes reports whether a message announces a change to those who subscribed to it.
func Changes(m mcp.Message) bool {
	return m.Kind == mcp.KindNotification && (strings.HasSuffix(m.Method, "/list_changed") || m.Method == "notifications/resources/updated")
}

// errorForm examines the code of an error to a valid request of a stateless revision.
func (v *Visit) errorForm(x *mcp.Exchange) {
	e := RPCError(x)
	if e == nil || !v.Modern() {
		return
	}
	isReserved := e.Code <= -32023 && e.Code >= -32099 || e.Code == -32002
	v.Enter(BrokenIf(isReserved, x, "%s got the reserved code %d", x.Method, e.Code), "message-reserved-code")
	meaning := Held()
	switch {
	case e.Code == protocol.CodeHeaderMismatch && v.Stdio():
		meaning = Broken(x, "%s got -32020 (headers differ), but stdio has no headers", x.Method)
	case e.Code == protocol.CodeHeaderMismatch && x.Method != methodCall: // whose arguments may have headers, too
		meaning = Broken(x, "%s got -32020 (headers differ), but the headers are those of the request", x.Method)
	case e.Code == protocol.CodeUnsupportedVersion && v.info.Lookup("supportedVersions").Kind() == jsonv.KindArray:
		meaning = Broken(x, "%s got -32022 (unsupported version) for a version that the server lists", x.Method)
	case e.Code == protocol.CodeMissingCapability && ErrorData(x).Lookup("requiredCapabilities").IsAbsent():
		v.Enter(Broken(x, "the error -32021 has no data.requiredCapabilities"), "capability-error-data")
	case e.Code == protocol.CodeMissingCapability:
		v.Enter(BrokenIf(OtherStatus(x, http.StatusBadRequest), x, "the error -32021 has the status %d, expected 400", Status(x)), "capability-error-data")
	}
	v.Enter(meaning, "message-code-meaning")
}

// findings are the rules that an exchange breaks, and how.
type findings map[string]Outcome

// add adds how a rule is broken, unless this is known.
func (f findings) add(rule string, x *mcp.Exchange, format string, args ...any) {
	f.addBy(rule, Shown(x), format, args...)
}

func (f findings) addBy(rule string, e verdict.Evidence, format string, args ...any) {
	if _, ok := f[rule]; !ok {
		f[rule] = BrokenBy(e, format, args...)
	}
}

// MetaKey is the form of a key in _meta.
var MetaKey = lazy.Regexp(`^([A-Za-z]([A-Za-z0-9-]*[A-Za-z0-9])?(\.[A-Za-z]([A-Za-z0-9-]*[A-Za-z0-9])?)*/)?([A-Za-z0-9]([A-Za-z0-9._-]*[A-Za-z0-9])?)?$`)

// addViolations adds the rules that violations break, which a session has found in the
// form of messages.
func (v *Visit) addViolations(out findings, x *mcp.Exchange, all []protocol.Violation) {
	for _, found := range all {
		rule := findViolatedRule(found.Kind)
		switch {
		case found.Kind == protocol.IDType && hasOtherID(x): // 3.0 is the number 3
			rule = "message-id"
		case found.Kind == protocol.ContentType && Served(x):
			rule = "http-content-type"
		case found.Kind == protocol.BadJSON && !v.Stdio(): // a body or an event, not a line
			rule = "message-jsonrpc"
		case found.Kind == protocol.BadMessage && isNeither(found):
			rule = "message-jsonrpc"
		case found.Kind == protocol.NullID && v.memory.malformed && refusesForm(found):
			continue
		}
		if rule == "" {
			continue
		}
		if len(x.Request) == 0 {
			out.addBy(rule, verdict.Evidence{Received: found.Excerpt}, "%s", found.Msg)
		} else {
			out.add(rule, x, "%s", found.Msg)
		}
	}
}

// isNeither reports whether a message is neither a request nor a response: its method is no
// text, or stands next to a result. The other faults of a server's messages have rules of their own.
func isNeither(found protocol.Violation) bool {
	return strings.HasPrefix(found.Msg, `"method" is `) || strings.HasPrefix(found.Msg, `a response with a "method"`) ||
		strings.HasPrefix(found.Msg, "a message with both a method")
}

// refusesForm reports whether a response says that a request was malformed: then its id need
// not have been read.
func refusesForm(found protocol.Violation) bool {
	return strings.Contains(found.Excerpt, "-32600") || strings.Contains(found.Excerpt, "-32700")
}

// checkRawForm adds what is wrong with the form of a response over HTTP that no session read. The
// body of a refusal may be any document; one that says that it is JSON-RPC is held to it.
func (v *Visit) checkRawForm(out findings, x *mcp.Exchange) {
	body := x.Response
	if body == nil && x.HTTP != nil {
		body = x.HTTP.Body
	}
	message, err := jsonv.Parse(body)
	if err != nil || message.Kind() != jsonv.KindObject || Status(x) == 0 || !message.Lookup("method").IsAbsent() {
		return
	}
	failed, result := message.Lookup("error"), message.Lookup("result")
	if failed.IsAbsent() && result.IsAbsent() || len(x.Request) == 0 {
		return // another document, such as the metadata of a resource
	}
	if !Served(x) && (message.Lookup("jsonrpc").Text() != "2.0" || failed.IsAbsent()) {
		return
	}
	if asked, got := parseValue(x.Request).Lookup("id"), message.Lookup("id"); isOtherNumber(asked, got) {
		out.add("message-id", x, "the response to the request %s has the id %s", asked, got.Short(40))
	}
	if message.Lookup("jsonrpc").Text() != "2.0" || failed.IsAbsent() == result.IsAbsent() {
		out.add("message-jsonrpc", x, "the response has no \"jsonrpc\": \"2.0\", or not exactly one of result and error")
	}
	if failed.IsAbsent() {
		return
	}
	_, whole := failed.Lookup("code").Int64()
	if !whole || failed.Lookup("message").Kind() != jsonv.KindString {
		out.add("message-error", x, "the error has the code %s and the message %s, expected an integer and text",
			failed.Lookup("code").OrNull().Short(40), failed.Lookup("message").OrNull().Short(40))
	}
}

// isOtherNumber reports whether a response has the number of another request. A text, or null, may stand
// for an id that was not read.
func isOtherNumber(asked, got jsonv.Value) bool {
	return asked.Kind() == jsonv.KindNumber && got.Kind() == jsonv.KindNumber && asked.Float64() != got.Float64()
}

// checkVersionError adds what the error to an unsupported version lacks; its list of versions has a
// rule of its own.
func (v *Visit) checkVersionError(out findings, x *mcp.Exchange) {
	isModern := v.Modern() && parseValue(x.Request).Lookup("method").Text() != "initialize"
	if !isModern || !GotCode(x, protocol.CodeUnsupportedVersion) {
		return
	}
	if requested := ErrorData(x).Lookup("requested"); requested.Kind() != jsonv.KindString {
		const wrong = "data.requested of the error -32022 is %s, expected the requested version"
		out.add("message-schema", x, wrong, requested.OrNull().Short(40))
	}
}

// examineResult holds a result against what its method promises.
func (v *Visit) examineResult(x *mcp.Exchange) {
	res := Result(x)
	if !v.Version.Known() || res.IsAbsent() {
		return
	}
	found, method := findings{}, parseValue(x.Request).Lookup("method").Text()
	v.addViolations(found, x, check.Response(v.Version.Name, method, x, res).Violations)
	if method == protocol.MethodDiscover || method == "initialize" && !v.Modern() {
		for _, fault := range handshake.Faults(res, v.Modern()) {
			found.add("message-schema", x, "%s", fault)
		}
	}
	v.checkMetaKeys(found, x, res)
	if v.Modern() && res.Kind() == jsonv.KindObject && method != "initialize" {
		v.checkModernResult(found, x, res, method)
	}
	v.enterFindings(x, found)
	v.examineContents(x, res)
}

// checkMetaKeys examines the keys of every _meta in a value, but not in data of the server's own.
func (v *Visit) checkMetaKeys(out findings, x *mcp.Exchange, value jsonv.Value) {
	for _, e := range value.Elems() {
		v.checkMetaKeys(out, x, e)
	}
	for key, e := range value.Members() {
		switch key {
		case "structuredContent", "inputSchema", "outputSchema", "arguments", "data":
			continue
		case "_meta":
			for name := range e.Members() {
				if !MetaKey().MatchString(name) {
					out.add("meta-key", x, "the key %q of _meta has no valid form", name)
				}
			}
			continue
		}
		v.checkMetaKeys(out, x, e)
	}
}

func hasOtherID(x *mcp.Exchange) bool {
	message, err := jsonv.Parse(x.Response)
	return err == nil && message.Lookup("id").Kind() != jsonv.KindNumber
}

// examineDuring examines a message that came with a call, or outside of all calls with an empty
// exchange, to a client that declared capabilities.
func (v *Visit) examineDuring(out findings, x *mcp.Exchange, m mcp.Message, declared jsonv.Value) {
	if m.Dir == wire.ToServer || isInput(x, m) {
		return
	}
	e := verdict.Evidence{Sent: verdict.Excerpt(string(x.Request), 1000), Received: verdict.Excerpt(string(m.Raw), 1000)}
	if why := describeWrongNotice(m); why != "" {
		out.addBy("message-schema", e, "%s", why)
	}
	switch {
	case m.Kind == mcp.KindRequest && v.Modern():
		out.addBy("server-request", e, "the server sent the request %s", m.Method)
	case m.Kind == mcp.KindRequest && protocol.CapabilityOf(m.Method) != "" && declared.Lookup(protocol.CapabilityOf(m.Method)).IsAbsent():
		out.addBy("undeclared-request", e, "the server sent %s to a client that does not declare it", m.Method)
	case v.Modern() && x.ID != "" && m.Stream == x.ID && Changes(m) && x.Method != protocol.MethodListen:
		out.addBy("stream-related", e, "%s came on the response stream of %s", m.Method, x.Method)
	case m.Method == "notifications/cancelled" && v.Modern():
		out.addBy("cancel-by-server", e, "the server sent notifications/cancelled for a request")
	case m.Method == "notifications/message" && m.Kind == mcp.KindNotification:
		if !v.Declares("logging") {
			out.addBy("logging-undeclared", e, "the server sent a log message, but does not declare logging")
		}
		if v.Modern() && len(x.Request) > 0 && !asksLogs(x) {
			out.addBy("logging-unasked", e, "a log message came for a request without logLevel")
		}
	}
}

// isInput reports whether a message is an entry of inputRequests in a result, which the
// exchange lists as if the server had sent it.
func isInput(x *mcp.Exchange, m mcp.Message) bool {
	return m.Kind == mcp.KindRequest && m.ID == "" && len(x.Request) > 0
}

// asksLogs reports whether a request asked for log messages.
func asksLogs(x *mcp.Exchange) bool {
	return !parseValue(x.Request).Lookup("params", "_meta", protocol.MetaLogLevel).IsAbsent()
}

// checkModernResult examines what 2026-07-28 requires of every result.
func (v *Visit) checkModernResult(out findings, x *mcp.Exchange, res jsonv.Value, method string) {
	kind := res.Lookup("resultType")
	asks := kind.Text() == "input_required"
	switch {
	case kind.Kind() != jsonv.KindString:
		out.add("result-type", x, "the result of %s has no resultType", method)
	case kind.Text() != "complete" && !asks && v.Caps.Lookup("extensions").Len() == 0:
		out.add("result-type", x, "the result of %s has the resultType %s", method, kind.Short(40))
	}
	if v.Signed = v.Signed || !res.Lookup("_meta", protocol.MetaServer).IsAbsent(); !v.Signed {
		v.Unsigned = x
	}
	ttl, scope := res.Lookup("ttlMs"), res.Lookup("cacheScope")
	if isCached(method) && !asks {
		switch {
		case ttl.Kind() != jsonv.KindNumber || ttl.Float64() < 0:
			out.add("cache-hints", x, "ttlMs of %s is %s, expected a number of 0 or more", method, ttl.OrNull().Short(40))
		case scope.Text() != "public" && scope.Text() != "private":
			out.add("cache-hints", x, "cacheScope of %s is %s, expected public or private", method, scope.OrNull().Short(40))
		}
	}
	if !asks {
		return
	}
	asked := res.Lookup("inputRequests")
	switch {
	case !protocol.AsksInput(method):
		out.add("input-method", x, "%s asks for input", method)
	case asked.IsAbsent() && res.Lookup("requestState").IsAbsent():
		out.add("input-content", x, "the result asks for input, but has neither inputRequests nor requestState")
	}
	for _, request := range asked.Members() {
		declared := parseValue(x.Request).Lookup("params", "_meta", protocol.MetaCapabilities)
		if method := request.Lookup("method"); protocol.CapabilityOf(method.Text()) == "" {
			out.add("input-kind", x, "inputRequests has the method %s", method.OrNull().Short(60))
		} else if declared.Lookup(protocol.CapabilityOf(method.Text())).IsAbsent() {
			out.add("input-declared", x, "inputRequests has %s, but the client does not declare it", method.Text())
		}
	}
}

// Conclude judges what is known only at the end of a visit.
func (v *Visit) Conclude(ctx context.Context) {
	v.Close()
	v.judgeEndings(ctx)
	v.Close()
	v.judgeGone(ctx)
	v.Enter(Held(), "process-ended")
}

// judgeGone looks whether a server over HTTP that was there still is, when the last session
// has ended: a request that no other one follows may have ended it.
func (v *Visit) judgeGone(ctx context.Context) {
	const rule = answeredAgain
	if v.Stdio() || !v.Version.Known() || !v.Applies(rule) || ctx.Err() != nil {
		return
	}
	_, err := v.Session(ctx)
	v.Close()
	if syserr.Is(err, syscall.ECONNREFUSED) {
		evidence := verdict.Evidence{Sent: "a new connection, after the end of the last session", Received: err.Error()}
		v.enterAbout(rule, "a new connection", BrokenBy(evidence, "the server was there before, and nothing accepts connections at the end"))
	}
}
