package twin

import (
	"slices"
	"strings"

	"mcptest/internal/assert/match"
	"mcptest/internal/assert/shown"
	"mcptest/internal/assert/snapshot"
	"mcptest/internal/assert/target"
	"mcptest/internal/base/jsonv"
	"mcptest/internal/client/protocol"
	"mcptest/internal/report/result"
	"mcptest/internal/spec/plan"
)

// Answer is what one server answered.
type Answer struct {
	Op   *plan.Op
	Era  protocol.Era
	Seen target.Observation
}

// Call returns a call on another server, whose names have a prefix.
func Call(op *plan.Op, server *plan.Server, prefix string) *plan.Op {
	out := *op
	out.Server, out.Subject = server, prefix+op.Subject
	key := "name"
	if op.Method == "resources/read" {
		key = "uri"
	}
	if params, err := jsonv.Parse(op.Params); err == nil && prefix != "" {
		out.Params = params.With(key, jsonv.String(out.Subject)).Append(nil)
	}
	return &out
}

// Compare compares the answers to the call of a case, first that of its own server. It
// returns an assertion for each part that is compared.
func Compare(c *plan.Case, first, other Answer) (out []result.Assertion) {
	both := [2]Answer{first, other}
	add := func(name string, part func(Answer) jsonv.Value) {
		var v [2]jsonv.Value
		for i, answer := range both {
			own := stripPrefix(part(answer), c.SameAs.Prefix, first.Op.Subject)
			v[i], _ = c.Masks.Mask(name, own, c.File.Dir)
			_, v[i] = dropIgnored("", v[i])
		}
		a := result.Assertion{
			Name: "same as " + other.Op.Server.Name, Target: name, Matcher: "same_as", Pass: jsonv.Equal(v[0], v[1]),
			Line: c.SameAs.Pos.Line, Column: c.SameAs.Pos.Col,
		}
		if !a.Pass {
			a.Message, a.Diff = match.Difference(v[0], v[1])
			a.Message = name + ": " + other.Op.Server.Name + " answered differently: " + a.Message
			a.Expected, a.Actual = shown.Value(v[0], shown.Alone), shown.Value(v[1], shown.Alone)
		}
		out = append(out, a)
	}
	if c.SameAs.Compares("result") {
		name := "result"
		if !first.Seen.Error.IsAbsent() || !other.Seen.Error.IsAbsent() {
			name = "refusal"
		}
		add(name, func(a Answer) jsonv.Value { return maskResponse(a.Seen, first.Era != other.Era) })
	}
	if c.SameAs.Compares("notifications") {
		add("notifications", func(a Answer) jsonv.Value { return listNotifications(a.Seen) })
	}
	return out
}

// Reply is the result or the error of a call; the other one is absent.
type Reply struct{ Result, Error jsonv.Value }

// Difference compares the responses to the same call, which no test made, as a test with
// same_as would. It returns no line if they are the same. dir is the folder that is masked.
func Difference(first, other Reply, dir string) (lines []string) {
	var v [2]jsonv.Value
	masks := snapshot.Default()
	for i, r := range []Reply{first, other} {
		seen := target.Observation{Result: r.Result, Error: r.Error}
		v[i], _ = masks.Mask("result", maskResponse(seen, true), dir)
	}
	if jsonv.Equal(v[0], v[1]) {
		return nil
	}
	message, more := match.Difference(v[0], v[1])
	return append([]string{message}, more...)
}

// dropIgnored drops ignored members: one of the servers may not have them.
func dropIgnored(key string, v jsonv.Value) (string, jsonv.Value) {
	if key != "" && v.Kind() == jsonv.KindString && v.Text() == "<ignored>" {
		return key, jsonv.Value{}
	}
	return key, v.Map(dropIgnored)
}

// maskResponse is the result, or the error in an object, so that one never equals the other.
func maskResponse(o target.Observation, eras bool) jsonv.Value {
	if !o.Error.IsAbsent() {
		return jsonv.Object(jsonv.Member{Key: "error", Value: o.Error})
	}
	v := o.Result
	if eras { // only one of them has these members
		v = v.Without("ttlMs").Without("cacheScope")
	}
	if v.Lookup("resultType").Text() == "complete" { // what a missing one means
		v = v.Without("resultType")
	}
	meta := v.Lookup("_meta").Without(protocol.MetaServer)
	if meta.Len() == 0 {
		return v.Without("_meta")
	}
	return v.With("_meta", meta)
}

// listNotifications are the log messages and the progress of the call, without its token.
func listNotifications(o target.Observation) jsonv.Value {
	var list []jsonv.Value
	for _, n := range o.Notifications {
		if slices.Contains([]string{"notifications/message", "notifications/progress"}, n.Lookup("method").Text()) {
			list = append(list, n.With("params", n.Lookup("params").Without("progressToken").Without("_meta")))
		}
	}
	return jsonv.Array(list...)
}

// stripPrefix takes the prefix from the name that was called, wherever an answer repeats it.
func stripPrefix(v jsonv.Value, prefix, name string) jsonv.Value {
	if prefix == "" || name == "" {
		return v
	}
	inside := func(s string) string { return strings.Trim(jsonv.String(s).String(), `"`) }
	out, err := jsonv.Parse([]byte(strings.ReplaceAll(v.String(), inside(prefix+name), inside(name))))
	if err == nil {
		return out
	}
	return v
}
