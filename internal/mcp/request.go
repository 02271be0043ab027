package mcp

import (
	"bytes"

	"mcptest/internal/jsonv"
)

// AppendRequest builds a request frame. Line ends in params, which can only be
// white space in JSON, become spaces: they would end the frame.
func AppendRequest(id string, c *Call) (raw, token []byte) {
	params := c.Params
	if c.ProgressToken || bytes.Contains(params, progressKey) {
		params, token = withToken(params, id, c.ProgressToken)
	}
	raw = make([]byte, 0, 48+len(id)+len(c.Method)+len(params))
	raw = append(raw, `{"jsonrpc":"2.0","id":`...)
	raw = append(raw, id...)
	raw = append(raw, `,"method":`...)
	raw = jsonv.AppendString(raw, c.Method)
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

// withToken returns params with a progress token, and the token. One that is
// there already stays.
func withToken(params []byte, id string, add bool) (out, token []byte) {
	meta := MemberOf(params, "_meta")
	if token = MemberOf(meta, "progressToken"); token != nil || !add {
		return params, bytes.Clone(token)
	}
	if params == nil {
		params = []byte("{}")
	}
	v, err := jsonv.Parse(params)
	if err != nil || v.Kind() != jsonv.KindObject {
		return params, nil // sent as it stands
	}
	m, _ := v.Get("_meta")
	if m.Kind() != jsonv.KindObject {
		m = jsonv.Object()
	}
	n, _ := jsonv.Number(id)
	return v.With("_meta", m.With("progressToken", n)).Append(nil), []byte(id)
}

// AppendNotification builds a notification frame.
func AppendNotification(raw []byte, method string, params []byte) []byte {
	raw = append(raw, `{"jsonrpc":"2.0","method":`...)
	raw = jsonv.AppendString(raw, method)
	if params != nil {
		raw = append(raw, `,"params":`...)
		raw = appendLine(raw, params)
	}
	return append(raw, '}')
}
