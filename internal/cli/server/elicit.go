package server

import (
	"context"
	"fmt"

	"mcptest/internal/base/jsonv"
	"mcptest/internal/cli/option"
	"mcptest/internal/client/mcp"
	"mcptest/internal/client/protocol"
	"mcptest/internal/run/inspect"
)

// elicitFlag defines how `call` answers elicitation requests of a server.
type elicitFlag struct {
	json    string
	content jsonv.Value
}

func (e *elicitFlag) check() error {
	if e.json == "" {
		return nil
	}
	v, err := jsonv.Parse([]byte(e.json))
	switch {
	case err != nil:
		return option.Invalid("--elicit: not JSON: %v", err)
	case v.Kind() != jsonv.KindObject:
		return option.Invalid("--elicit: expected an object, got %s", v.Kind())
	}
	e.content = v
	return nil
}

// setOptions declares elicitation and answers it.
func (e *elicitFlag) setOptions(o *inspect.Options) {
	if o.Server.Client.Declares.IsAbsent() {
		o.Capabilities = jsonv.ObjectOf("elicitation", jsonv.Object())
	}
	o.Answer = func(_ context.Context, method string, _ []byte) ([]byte, *protocol.RPCError) {
		switch {
		case method != "elicitation/create":
			return nil, nil // not declared, so not supported
		case e.json == "":
			return []byte(`{"action":"decline"}`), nil
		}
		return jsonv.ObjectOf("action", "accept", "content", e.content).Append(nil), nil
	}
}

// printRefused prints which flags would have answered the declined or rejected requests of
// the server.
func printRefused(l *option.Viewer, x *mcp.Exchange) {
	hinted := map[string]bool{}
	for _, m := range x.During {
		if hinted[m.Method] || m.Kind != mcp.KindResponse {
			continue
		}
		answer, err := jsonv.Parse(m.Params)
		switch {
		case err != nil:
			continue
		case m.Method == "elicitation/create" && answer.Lookup("action").Text() == "decline":
			fmt.Fprintln(l.Streams.Err, "hint: --elicit '{…}' accepts the elicitation with that content")
		case m.Method == "sampling/createMessage" || m.Method == "roots/list":
			fmt.Fprintln(l.Streams.Err, "hint: "+m.Method+" was refused; a suite can answer it with respond:")
		default:
			continue
		}
		hinted[m.Method] = true
	}
}
