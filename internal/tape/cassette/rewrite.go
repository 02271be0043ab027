package cassette

import (
	"bytes"
	"strings"

	"mcptest/internal/base/jsonv"
	"mcptest/internal/base/lazy"
	"mcptest/internal/client/protocol"
)

// Live contains the live client's replacements for the recorded ids of a call, as
// JSON text.
type Live struct{ ID, Token string }

// ReadLive returns the ids of a message of a client.
func ReadLive(raw []byte) Live {
	return Live{
		ID:    string(protocol.MemberOf(raw, "id")),
		Token: string(protocol.MemberOf(protocol.MemberOf(protocol.MemberOf(raw, "params"), "_meta"), "progressToken")),
	}
}

// Rewrite returns data that a server sent in a call with the ids of a live client.
// All other bytes are unchanged.
func (call *Call) Rewrite(data []byte, live Live) []byte {
	if call.ID == "" || live.ID == "" || call.ID == live.ID && call.Token == live.Token {
		return data
	}
	if len(data) > 0 && data[0] == '[' && jsonv.Valid(data) == nil {
		elems, _ := jsonv.Elements(data)
		for _, e := range elems {
			data = bytes.Replace(data, e, call.Rewrite(e, live), 1)
		}
		return data
	}
	s := protocol.NewScanner()
	if len(data) == 0 || data[0] != '{' || s.Scan(data) != nil {
		return rewriteText(data, call.ID, live.ID)
	}
	switch {
	case s.Has&protocol.HasID != 0 && call.hasID(&s.Envelope):
		return replaceIn(data, s.ID, strings.Replace(string(s.ID), call.ID, live.ID, 1))
	case protocol.TextOf(s.Method) == "notifications/progress":
		token := protocol.MemberOf(s.Params, "progressToken")
		if call.Token != "" && string(token) == call.Token {
			return replaceIn(data, token, live.Token)
		}
	}
	if sub := protocol.MemberOf(protocol.MemberOf(s.Params, "_meta"), protocol.MetaSubscription); string(sub) == call.ID {
		return replaceIn(data, sub, live.ID)
	}
	return data
}

// replaceIn replaces part, which is a sub-slice of data.
func replaceIn(data, part []byte, with string) []byte {
	for at := 0; at+len(part) <= len(data); at++ {
		if &data[at] == &part[0] {
			out := make([]byte, 0, len(data)+len(with))
			return append(append(append(out, data[:at]...), with...), data[at+len(part):]...)
		}
	}
	return data
}

// findID returns the position of an id in a piece of a message that is not valid JSON
// on its own, or nil.
func findID(data []byte, id string) []int {
	const member = `"id"`
	for from := 0; ; {
		at := bytes.Index(data[from:], []byte(member))
		if at < 0 {
			return nil
		}
		start := from + at
		from = start + len(member)
		rest := bytes.TrimLeft(data[from:], jsonSpace)
		if len(rest) == 0 || rest[0] != ':' {
			continue
		}
		rest, found := bytes.CutPrefix(bytes.TrimLeft(rest[1:], jsonSpace), []byte(id))
		if found && (len(rest) == 0 || strings.IndexByte(jsonSpace+",}", rest[0]) >= 0) {
			return []int{start, len(data) - len(rest)}
		}
	}
}

// jsonSpace are the characters that JSON allows between tokens.
const jsonSpace = " \t\r\n"

var tail = lazy.Regexp(`[,{]\s*"id"\s*:\s*("[^"\\]{1,200}"|-?\d{1,20})\s*\}\s*$`)

// TailOf returns the end of a message if it is an id, otherwise "".
func TailOf(data []byte) string { return string(tail().Find(data[max(0, len(data)-300):])) }

// rewriteText replaces the id in a piece of a message that is not valid JSON on its
// own.
func rewriteText(data []byte, id, with string) []byte {
	at := findID(data, id)
	if at == nil {
		return data
	}
	out := append([]byte(nil), data[:at[0]]...)
	out = append(out, bytes.Replace(data[at[0]:at[1]], []byte(id), []byte(with), 1)...)
	return append(out, data[at[1]:]...)
}
