package probe

import (
	"context"
	"errors"
	"maps"
	"slices"
	"strings"

	"mcptest/internal/base/jsonv"
	"mcptest/internal/client/check"
	"mcptest/internal/client/mcp"
	"mcptest/internal/client/protocol"
	"mcptest/internal/run/probe/verdict"
)

// passive collects what sessions report by themselves.
type passive struct {
	loose map[string][]protocol.Violation // of no call, by rule
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
func (v *visit) observe(x *mcp.Exchange, again func() *mcp.Exchange) {
	for _, rule := range v.exercised(x) {
		v.enter(rule, held())
	}
	v.errorForm(x)
	found := v.violations(x)
	if len(found) == 0 {
		return
	}
	repeated := found
	if again != nil {
		repeated = v.violations(again())
	}
	for rule, o := range found {
		if _, ok := repeated[rule]; !ok {
			o = unverified("not repeatable: %s", o.why)
		}
		v.enter(rule, o)
	}
}

// exercised are the passive rules that an exchange could have broken.
func (v *visit) exercised(x *mcp.Exchange) (rules []string) {
	if x.Response == nil {
		return nil
	}
	rules = []string{"message-jsonrpc", "message-id", "message-stdout", "message-utf8", "message-duplicate", "message-schema", "meta-key", "undeclared-request", "server-request", "cancel-by-server"}
	if x.Error != nil {
		rules = append(rules, "message-error")
	}
	if x.Result != nil {
		rules = append(rules, "result-type", "input-content", "input-kind", "input-declared", "input-method")
	}
	if x.Method == "tools/call" {
		rules = append(rules, "logging-unasked")
	}
	if cached(x.Method) && x.Result != nil {
		rules = append(rules, "cache-hints")
	}
	if x.HTTP != nil {
		rules = append(rules, "session-ascii", "http-content-type")
		if protocol.IsEventStream(x.HTTP.ContentType) {
			rules = append(rules, "stream-related")
		}
	}
	return rules
}

// violations returns the rules that an exchange breaks, and how.
func (v *visit) violations(x *mcp.Exchange) map[string]outcome {
	out := map[string]outcome{}
	add := func(rule string, o outcome) {
		if _, ok := out[rule]; !ok && o.verdict == verdict.Fail {
			out[rule] = o
		}
	}
	all := x.Violations
	if v.version.Known() {
		all = append(all[:len(all):len(all)], check.Response(v.version.Name, x.Method, x, result(x)).Violations...)
	}
	for _, found := range all {
		if rule := violated(found.Kind); rule != "" {
			add(rule, broken(shown(x), "%s: %s", x.Method, found.Msg))
		}
		if found.Kind == protocol.IDType && otherID(x) { // 3.0 is the number 3
			add("message-id", broken(shown(x), "%s: %s", x.Method, found.Msg))
		}
		if found.Kind == protocol.ContentType && status(x) >= 200 && status(x) < 300 {
			add("http-content-type", broken(shown(x), "%s: %s", x.Method, found.Msg))
		}
	}
	if late, ok := errors.AsType[*mcp.TimeoutError](x.Cause); ok && x.Method != "tools/call" && strings.HasPrefix(late.Limit, "response") {
		add("message-unanswered", broken(shown(x), "%s got no response", x.Method))
	}
	for _, m := range x.During {
		e := verdict.Evidence{Sent: verdict.Excerpt(string(x.Request), 1000), Received: verdict.Excerpt(string(m.Raw), 1000)}
		switch {
		case m.Kind == mcp.KindRequest && v.modern():
			add("server-request", broken(e, "the server sent the request %s", m.Method))
		case m.Kind == mcp.KindRequest && protocol.CapabilityOf(m.Method) != "":
			add("undeclared-request", broken(e, "the server sent %s to a client that does not declare it", m.Method))
		case v.modern() && m.Stream == x.ID && changes(m):
			add("stream-related", broken(e, "%s came on the response stream of %s", m.Method, x.Method))
		case m.Method == "notifications/cancelled" && v.modern():
			add("cancel-by-server", broken(e, "the server sent notifications/cancelled for a request"))
		case m.Method == "notifications/message" && m.Kind == mcp.KindNotification:
			if !v.declares("logging") {
				add("logging-undeclared", broken(e, "the server sent a log message, but does not declare logging"))
			}
			if v.modern() {
				add("logging-unasked", broken(e, "a log message came for a request without logLevel"))
			}
		}
	}
	if res := result(x); res.Kind() == jsonv.KindObject {
		for key := range res.Lookup("_meta").Members() {
			if !metaKey.MatchString(key) {
				add("meta-key", broken(shown(x), "the key %q of _meta has no valid form", key))
			}
		}
		if v.modern() {
			v.modernResult(x, res, add)
		}
	}
	return out
}

func otherID(x *mcp.Exchange) bool {
	message, err := jsonv.Parse(x.Response)
	return err == nil && message.Lookup("id").Kind() != jsonv.KindNumber
}

// enter enters an outcome if the rule applies.
func (v *visit) enter(rule string, o outcome) {
	if v.applies(rule) {
		v.add(rule, "", o)
	}
}

// unclaimed collects violations that belong to no call.
func (v *visit) unclaimed(list []protocol.Violation) {
	for _, found := range list {
		if rule := violated(found.Kind); rule != "" {
			v.loose[rule] = append(v.loose[rule], found)
		}
	}
}

// conclude enters the violations of no call. For one alone the lists are requested again.
func (v *visit) conclude() {
	for _, rule := range slices.Sorted(maps.Keys(v.loose)) {
		list := v.loose[rule]
		first := verdict.Evidence{Received: list[0].Excerpt}
		if len(list) == 1 {
			ctx, cancel := context.WithTimeout(context.Background(), v.Reply)
			for _, l := range v.listed {
				v.read(ctx, l.List, v.once)
			}
			v.close()
			cancel()
			list = v.loose[rule]
		}
		if len(list) > 1 {
			v.enter(rule, broken(first, "%s", list[0].Msg))
		} else {
			v.enter(rule, unverified("not repeatable: %s", list[0].Msg))
		}
	}
}
