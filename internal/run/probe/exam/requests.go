package exam

import (
	"context"
	"errors"
	"maps"
	"net/http"
	"slices"
	"strings"

	"mcptest/internal/base/jsonv"
	"mcptest/internal/base/lazy"
	"mcptest/internal/client/check"
	"mcptest/internal/client/mcp"
	"mcptest/internal/client/protocol"
	"mcptest/internal/offer/surface"
	"mcptest/internal/run/probe/verdict"
)

// Look opens the first session and requests the lists.
func (v *Visit) Look(ctx context.Context) error {
	sess, err := v.Session(ctx)
	if err != nil {
		return err
	}
	v.Version, v.info, v.Hello = sess.ProtocolVersion(), sess.ServerInfo(), sess.Handshake()
	v.Caps = v.info.Lookup("capabilities")
	v.observe(v.Hello, nil)
	v.Stated = append(v.Stated, v.info.Lookup("supportedVersions").Texts()...)
	into := map[surface.Kind]*[]jsonv.Value{surface.Tool: &v.Tools, surface.Resource: &v.Resources, surface.Template: &v.Templates, surface.Prompt: &v.Prompts}
	for _, l := range surface.Lists() {
		if v.Declares(l.Capability) {
			v.Doing(v.Version.Name + " · " + l.Method)
			list := Read(ctx, l, v.Send)
			v.Listed, *into[l.Kind] = append(v.Listed, list), list.Items
		}
	}
	return nil
}

// Do makes one valid request in the open session.
func (v *Visit) Do(ctx context.Context, method string, params jsonv.Value) *mcp.Exchange {
	return v.Send(ctx, mcp.Call{Method: method, Params: Text(params)})
}

// Send makes a call in the open session. What the session reports about the exchange
// reaches the ledger.
func (v *Visit) Send(ctx context.Context, call mcp.Call) *mcp.Exchange {
	x := v.Once(ctx, call)
	v.observe(x, func() *mcp.Exchange { return v.Once(ctx, call) })
	return x
}

// Call calls a tool, or says why it must not.
func (v *Visit) Call(ctx context.Context, tool, args jsonv.Value) (x *mcp.Exchange, why string) {
	if why := v.Policy.Call(tool, args); why != "" {
		return nil, why
	}
	return v.Send(ctx, mcp.Call{Method: "tools/call", Params: Text(Params(tool, args)), ProgressToken: true}), ""
}

// Refuses checks that a request gets an error with one of the codes.
func (v *Visit) Refuses(ctx context.Context, rule, subject, method string, params jsonv.Value, codes ...int64) {
	v.Check(ctx, rule, subject, func(ctx context.Context) Outcome { return v.ExpectCode(ctx, method, params, codes...) })
}

// ExpectCode sends a request that must get an error with one of the codes.
func (v *Visit) ExpectCode(ctx context.Context, method string, params jsonv.Value, codes ...int64) Outcome {
	x := v.Do(ctx, method, params)
	e := RPCError(x)
	switch {
	case e != nil && slices.Contains(codes, e.Code), Another(x):
		return Held()
	case e == nil && x.Result == nil:
		return Unverified("%s got %s", method, Answer(x))
	}
	return Broken(x, "%s with %s got %s, expected the error %d", method, params.Short(120), Answer(x), codes[0])
}

// violated is the rule that a kind of violation breaks, "" for a kind that forbids
// nothing or is a limit of mcptest.
func violated(kind string) string {
	switch kind {
	case protocol.StrayOutput, protocol.BadJSON, protocol.PrettyJSON, protocol.BOM, protocol.NULByte:
		return "message-stdout"
	case protocol.InvalidUTF8:
		return "message-utf8"
	case protocol.BadJSONRPC, protocol.ResultAndError, protocol.NoResult:
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

// observe enters what an exchange of a valid request shows about passive rules. A
// violation counts if the repeated request shows it too; again is nil if it can't be
// repeated.
func (v *Visit) observe(x *mcp.Exchange, again func() *mcp.Exchange) {
	exercised := func(could bool, rules ...string) {
		if could && x.Response != nil {
			v.Enter(Held(), rules...)
		}
	}
	exercised(true, "message-jsonrpc", "message-id", "message-stdout", "message-utf8", "message-duplicate", "message-schema", "meta-key", "undeclared-request", "server-request", "cancel-by-server")
	exercised(x.Error != nil, "message-error")
	exercised(x.Result != nil, "result-type", "input-content", "input-kind", "input-declared", "input-method")
	exercised(x.Result != nil && cached(x.Method), "cache-hints")
	exercised(x.Method == "tools/call", "logging-unasked")
	exercised(x.HTTP != nil, "session-ascii", "http-content-type")
	exercised(x.HTTP != nil && protocol.IsEventStream(x.HTTP.ContentType), "stream-related")
	v.errorForm(x)
	found := v.violations(x)
	repeated := found
	if again != nil && len(found) > 0 {
		repeated = v.violations(again())
	}
	for rule, o := range found {
		if _, ok := repeated[rule]; !ok {
			o = Unverified("not repeatable: %s", o.Why)
		}
		v.enterAbout(x, o, rule)
	}
}

// cached reports whether results of a method have hints for caches.
func cached(method string) bool {
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
	v.Enter(BrokenIf(e.Code <= -32023 && e.Code >= -32099 || e.Code == -32002, x, "%s got the reserved code %d", x.Method, e.Code), "message-reserved-code")
	meaning := Held()
	switch {
	case e.Code == protocol.CodeHeaderMismatch && v.Stdio():
		meaning = Broken(x, "%s got -32020 (headers differ), but stdio has no headers", x.Method)
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

// violations returns the rules that an exchange breaks, and how.
func (v *Visit) violations(x *mcp.Exchange) findings {
	out, res := findings{}, Result(x)
	all := x.Violations
	if v.Version.Known() {
		all = append(all[:len(all):len(all)], check.Response(v.Version.Name, x.Method, x, res).Violations...)
	}
	for _, found := range all {
		rule := violated(found.Kind)
		switch {
		case found.Kind == protocol.IDType && otherID(x): // 3.0 is the number 3
			rule = "message-id"
		case found.Kind == protocol.ContentType && Served(x):
			rule = "http-content-type"
		}
		if rule != "" {
			out.add(rule, x, "%s: %s", x.Method, found.Msg)
		}
	}
	if late, ok := errors.AsType[*mcp.TimeoutError](x.Cause); ok && x.Method != "tools/call" && strings.HasPrefix(late.Limit, "response") {
		out.add("message-unanswered", x, "%s got no response", x.Method)
	}
	for _, m := range x.During {
		v.during(out, x, m)
	}
	if res.Kind() == jsonv.KindObject {
		for key := range res.Lookup("_meta").Members() {
			if !MetaKey().MatchString(key) {
				out.add("meta-key", x, "the key %q of _meta has no valid form", key)
			}
		}
		if v.Modern() {
			v.modernResult(out, x, res)
		}
	}
	return out
}

func otherID(x *mcp.Exchange) bool {
	message, err := jsonv.Parse(x.Response)
	return err == nil && message.Lookup("id").Kind() != jsonv.KindNumber
}

// during examines a message that came with a call.
func (v *Visit) during(out findings, x *mcp.Exchange, m mcp.Message) {
	e := verdict.Evidence{Sent: verdict.Excerpt(string(x.Request), 1000), Received: verdict.Excerpt(string(m.Raw), 1000)}
	switch {
	case m.Kind == mcp.KindRequest && v.Modern() && m.ID != "": // an entry of inputRequests has none
		out.addBy("server-request", e, "the server sent the request %s", m.Method)
	case m.Kind == mcp.KindRequest && protocol.CapabilityOf(m.Method) != "":
		out.addBy("undeclared-request", e, "the server sent %s to a client that does not declare it", m.Method)
	case v.Modern() && m.Stream == x.ID && Changes(m):
		out.addBy("stream-related", e, "%s came on the response stream of %s", m.Method, x.Method)
	case m.Method == "notifications/cancelled" && v.Modern():
		out.addBy("cancel-by-server", e, "the server sent notifications/cancelled for a request")
	case m.Method == "notifications/message" && m.Kind == mcp.KindNotification:
		if !v.Declares("logging") {
			out.addBy("logging-undeclared", e, "the server sent a log message, but does not declare logging")
		}
		if v.Modern() {
			out.addBy("logging-unasked", e, "a log message came for a request without logLevel")
		}
	}
}

// modernResult examines what 2026-07-28 requires of every result.
func (v *Visit) modernResult(out findings, x *mcp.Exchange, res jsonv.Value) {
	kind := res.Lookup("resultType")
	asks := kind.Text() == "input_required"
	switch {
	case kind.Kind() != jsonv.KindString:
		out.add("result-type", x, "the result of %s has no resultType", x.Method)
	case kind.Text() != "complete" && !asks && v.Caps.Lookup("extensions").Len() == 0:
		out.add("result-type", x, "the result of %s has the resultType %s", x.Method, kind.Short(40))
	}
	if v.Signed = v.Signed || !res.Lookup("_meta", protocol.MetaServer).IsAbsent(); !v.Signed {
		v.Unsigned = x
	}
	if ttl, scope := res.Lookup("ttlMs"), res.Lookup("cacheScope"); cached(x.Method) && !asks {
		switch {
		case ttl.Kind() != jsonv.KindNumber || ttl.Float64() < 0:
			out.add("cache-hints", x, "ttlMs of %s is %s, expected a number of 0 or more", x.Method, ttl.OrNull().Short(40))
		case scope.Text() != "public" && scope.Text() != "private":
			out.add("cache-hints", x, "cacheScope of %s is %s, expected public or private", x.Method, scope.OrNull().Short(40))
		}
	}
	if !asks {
		return
	}
	asked := res.Lookup("inputRequests")
	switch {
	case !protocol.AsksInput(x.Method):
		out.add("input-method", x, "%s asks for input", x.Method)
	case asked.IsAbsent() && res.Lookup("requestState").IsAbsent():
		out.add("input-content", x, "the result asks for input, but has neither inputRequests nor requestState")
	}
	for _, request := range asked.Members() {
		if method := request.Lookup("method"); protocol.CapabilityOf(method.Text()) == "" {
			out.add("input-kind", x, "inputRequests has the method %s", method.OrNull().Short(60))
		} else {
			out.add("input-declared", x, "inputRequests has %s, but the client does not declare it", method.Text())
		}
	}
}

// Conclude enters the violations of no call. For one alone the lists are requested again.
func (v *Visit) Conclude() {
	byRule := func() map[string][]protocol.Violation {
		out := map[string][]protocol.Violation{}
		for _, found := range v.loose {
			rule := violated(found.Kind)
			out[rule] = append(out[rule], found)
		}
		delete(out, "")
		return out
	}
	for _, rule := range slices.Sorted(maps.Keys(byRule())) {
		first := byRule()[rule][0]
		if len(byRule()[rule]) == 1 {
			ctx, cancel := context.WithTimeout(context.Background(), v.Reply)
			for _, l := range v.Listed {
				Read(ctx, l.List, v.Once)
			}
			v.Close()
			cancel()
		}
		if len(byRule()[rule]) > 1 {
			v.Enter(BrokenBy(verdict.Evidence{Received: first.Excerpt}, "%s", first.Msg), rule)
		} else {
			v.Enter(Unverified("not repeatable: %s", first.Msg), rule)
		}
	}
}
