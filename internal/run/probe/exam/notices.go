package exam

import (
	"slices"

	"mcptest/internal/base/jsonv"
	"mcptest/internal/client/mcp"
	"mcptest/internal/client/protocol"
)

// A part is a member of the parameters of a notification, and what it may be.
type part struct {
	name     string
	kinds    []jsonv.Kind // any if empty
	optional bool
	values   []string // of a text; any if empty
}

// listParts returns the members that a notification of the server has in every revision that defines it.
func listParts(method string) []part {
	text, number := []jsonv.Kind{jsonv.KindString}, []jsonv.Kind{jsonv.KindNumber}
	levels := []string{"debug", "info", "notice", "warning", "error", "critical", "alert", "emergency"}
	switch method {
	case "notifications/message":
		return []part{
			{name: "level", kinds: text, values: levels},
			{name: "data"},
			{name: "logger", kinds: text, optional: true},
		}
	case "notifications/progress": // its token has a rule of its own
		return []part{{name: "progress", kinds: number}, {name: "total", kinds: number, optional: true}}
	case "notifications/resources/updated":
		return []part{{name: "uri", kinds: text}}
	case protocol.ListenAcknowledged:
		return []part{{name: "notifications", kinds: []jsonv.Kind{jsonv.KindObject}}}
	}
	return nil
}

// describeWrongNotice says how a notification of the server breaks the schema, "" if it does not. That
// parameters are null, where there need not be any, is no fault.
func describeWrongNotice(m mcp.Message) string {
	if m.Kind != mcp.KindNotification {
		return ""
	}
	params, _ := jsonv.Parse(m.Params) // absent without any
	isNone := params.IsAbsent() || params.Kind() == jsonv.KindNull
	if !isNone && params.Kind() != jsonv.KindObject {
		return "params of " + m.Method + " is " + params.Kind().WithArticle() + ", not an object"
	}
	for _, p := range listParts(m.Method) {
		v := params.Lookup(p.name)
		isOther := len(p.kinds) > 0 && !slices.Contains(p.kinds, v.Kind())
		isUnknown := len(p.values) > 0 && !slices.Contains(p.values, v.Text())
		switch {
		case v.IsAbsent() && p.optional:
		case v.IsAbsent():
			return m.Method + " has no " + p.name
		case isOther || isUnknown:
			return p.name + " of " + m.Method + " is " + v.Short(40)
		}
	}
	return ""
}

// WrongID finds a request of the server whose id is not text or an integer, or was used before
// in the session, and says what is wrong.
func (v *Visit) WrongID(all []mcp.Message) (wrong mcp.Message, why string) {
	seen := map[string]string{}
	for _, m := range all {
		if m.Kind != mcp.KindRequest {
			continue
		}
		id, _ := jsonv.Parse([]byte(m.ID))
		_, whole := id.Int64()
		earlier, again := seen[m.ID]
		seen[m.ID] = string(m.Raw)
		switch {
		case id.Kind() != jsonv.KindString && !whole:
			return m, "the server sent " + m.Method + " with the id " + m.ID + ", expected text or an integer"
		case again && !v.mayRepeat(earlier, string(m.Raw)):
			return m, "the server sent a second request with the id " + m.ID
		}
	}
	return mcp.Message{}, ""
}

// mayRepeat reports whether a server may send a request with an id that it has used: over
// HTTP, without a session, or because it sends the same request again.
func (v *Visit) mayRepeat(earlier, raw string) bool {
	if v.Stdio() {
		return false
	}
	inSession := v.Hello.HTTP != nil && v.Hello.HTTP.Header.Get(SessionID) != ""
	return !inSession || earlier == raw
}
