package mock

import (
	"mcptest/internal/jsonv"
	"mcptest/internal/mcp"
)

// scope is what placeholders of one request may refer to.
type scope struct {
	req    *mcp.Request
	sess   *Session
	params jsonv.Value
	args   jsonv.Value
	vars   jsonv.Value
	uri    jsonv.Value
	asks   jsonv.Value
	calls  int
	token  jsonv.Value // of progress; absent when the client wants none

	held *jsonv.Value // the state while a set step has it
}

func (s *scope) root(name string) jsonv.Value {
	switch name {
	case "args":
		return s.args
	case "state":
		if s.held != nil {
			return *s.held
		}
		return s.sess.server.world.state()
	case "ask":
		return s.asks
	case "vars":
		return s.vars
	case "uri":
		return s.uri
	case "calls":
		return jsonv.Int(int64(s.calls))
	case "client":
		return s.sess.clientValue()
	case "params":
		return s.params
	case "id":
		return parsed(s.req.ID)
	case "request":
		return parsed(s.req.Raw)
	}
	return jsonv.Value{}
}

// parsed is a part of a frame that was already found to be JSON.
func parsed(raw []byte) jsonv.Value {
	v, err := jsonv.Parse(raw)
	if err != nil {
		return jsonv.Value{}
	}
	return v
}
