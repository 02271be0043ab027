package protocol

import (
	"bytes"
	"strconv"

	"mcptest/internal/base/jsonv"
)

// AppendRequest appends a request frame, with a progress token if progress is set or
// params has one. It replaces line breaks in params with spaces, because they would
// end the frame; in JSON they can only be white space.
func AppendRequest(id, method string, params []byte, progress bool) (raw, token []byte) {
	if progress || bytes.Contains(params, progressKey) {
		params, token = addToken(params, id, progress)
	}
	raw = make([]byte, 0, 48+len(id)+len(method)+len(params))
	raw = append(raw, `{"jsonrpc":"2.0","id":`...)
	raw = append(raw, id...)
	raw = append(raw, `,"method":`...)
	raw = jsonv.AppendString(raw, method)
	if params != nil {
		raw = append(raw, `,"params":`...)
		raw = appendLine(raw, params)
	}
	return append(raw, '}'), token
}

func appendLine(dst, b []byte) []byte {
	n := len(dst)
	dst = append(dst, b...)
	if bytes.IndexByte(b, '\n') >= 0 {
		for i := n; i < len(dst); i++ {
			if dst[i] == '\n' || dst[i] == '\r' {
				dst[i] = ' '
			}
		}
	}
	return dst
}

var progressKey = []byte(`"progressToken"`)

// addToken returns params with a progress token, and the token. It keeps an existing
// one.
func addToken(params []byte, id string, add bool) (out, token []byte) {
	meta := MemberOf(params, "_meta")
	if token = MemberOf(meta, "progressToken"); token != nil || !add {
		return params, bytes.Clone(token)
	}
	if params == nil {
		params = []byte("{}")
	}
	v, err := jsonv.Parse(params)
	if err != nil || v.Kind() != jsonv.KindObject {
		return params, nil // sent unchanged
	}
	n, _ := jsonv.Number(id)
	return v.With("_meta", v.Lookup("_meta").With("progressToken", n)).Append(nil), []byte(id)
}

// AppendNotification appends a notification frame.
func AppendNotification(raw []byte, method string, params []byte) []byte {
	raw = append(raw, `{"jsonrpc":"2.0","method":`...)
	raw = jsonv.AppendString(raw, method)
	if params != nil {
		raw = append(raw, `,"params":`...)
		raw = appendLine(raw, params)
	}
	return append(raw, '}')
}

// AppendResponse appends a response frame and returns the offset of its result or
// error.
func AppendResponse(raw, id, result []byte, e *RPCError) (out []byte, at int) {
	raw = append(raw, `{"jsonrpc":"2.0","id":`...)
	raw = append(raw, id...)
	if e == nil {
		raw = append(raw, `,"result":`...)
		at = len(raw)
		return append(appendLine(raw, result), '}'), at
	}
	raw = append(raw, `,"error":`...)
	at = len(raw)
	raw = append(raw, `{"code":`...)
	raw = append(raw, strconv.FormatInt(e.Code, 10)...)
	raw = append(raw, `,"message":`...)
	raw = jsonv.AppendString(raw, e.Message)
	if e.Data != nil {
		raw = append(raw, `,"data":`...)
		raw = appendLine(raw, e.Data)
	}
	return append(raw, '}', '}'), at
}

// PrependMember adds a member at the beginning of an object.
func PrependMember(object []byte, key string, val []byte) []byte {
	object = TrimSpace(object)
	rest := []byte("}")
	if len(object) > 1 {
		rest = TrimSpace(object[1:])
	}
	out := make([]byte, 0, len(object)+len(key)+len(val)+3)
	out = append(append(append(out, '{'), key...), val...)
	if rest[0] != '}' {
		out = append(out, ',')
	}
	return append(out, rest...)
}
