package probe

import (
	"context"

	"mcptest/internal/base/jsonv"
	"mcptest/internal/client/check"
	"mcptest/internal/client/mcp"
	"mcptest/internal/client/protocol"
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
	if x.Response == nil {
		return
	}
	for _, rule := range []string{"message-jsonrpc", "message-id", "message-stdout", "message-utf8", "message-duplicate", "message-schema"} {
		v.enter(rule, held())
	}
	if x.Error != nil {
		v.enter("message-error", held())
	}
	found := v.violations(x)
	if len(found) == 0 {
		return
	}
	repeated := found
	if again != nil {
		repeated = v.violations(again())
	}
	for rule, why := range found {
		if _, ok := repeated[rule]; !ok {
			v.enter(rule, unverified("not repeatable: %s", why))
			continue
		}
		v.enter(rule, broken(shown(x), "%s: %s", x.Method, why))
	}
}

// violations returns the rules that an exchange breaks, with what is wrong.
func (v *visit) violations(x *mcp.Exchange) map[string]string {
	out := map[string]string{}
	all := x.Violations
	if v.version.Known() {
		all = append(all[:len(all):len(all)], check.Response(v.version.Name, x.Method, x, result(x)).Violations...)
	}
	for _, found := range all {
		if rule := violated(found.Kind); rule != "" && out[rule] == "" {
			out[rule] = found.Msg
		}
	}
	return out
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
			if v.loose == nil {
				v.loose = map[string][]protocol.Violation{}
			}
			v.loose[rule] = append(v.loose[rule], found)
		}
	}
}

// conclude enters the violations of no call: one alone is not repeatable.
func (v *visit) conclude() {
	for rule, list := range v.loose {
		first := Evidence{Received: list[0].Excerpt}
		if len(list) == 1 {
			if again, err := v.open(context.Background(), jsonv.Value{}); err == nil {
				v.end(again)
				list = v.loose[rule]
			}
		}
		if len(list) > 1 {
			v.enter(rule, broken(first, "%s", list[0].Msg))
		} else {
			v.enter(rule, unverified("not repeatable: %s", list[0].Msg))
		}
	}
}
