package agent

import (
	"context"

	"mcptest/internal/base/jsonv"
	"mcptest/internal/server/manifest"
	"mcptest/internal/server/mcpserver"
	"mcptest/internal/server/mock"
)

// mocks answers calls of mocked tools.
type mocks struct {
	tools   *manifest.Manifest
	server  *mock.Server
	session *mock.Session
}

func newMocks(m *manifest.Manifest) *mocks {
	if m == nil {
		return nil
	}
	server := mock.New(m, mock.Options{})
	return &mocks{m, server, server.Session()}
}

func (m *mocks) close() {
	if m != nil {
		m.server.Close()
	}
}

// call returns the response of a mocked tool; ok is false if it is not mocked.
func (m *mocks) call(ctx context.Context, name string, args jsonv.Value) (res, rpcError jsonv.Value, ok bool) {
	if m == nil || m.tools.Tool(name) == nil {
		return res, rpcError, false
	}
	params := jsonv.Object(jsonv.Member{Key: "name", Value: jsonv.String(name)}, jsonv.Member{Key: "arguments", Value: args})
	reply := m.session.Handle(ctx, &mcpserver.Request{Method: "tools/call", ID: []byte("1"), Params: params.Append(nil)})
	switch {
	case reply == nil:
		return jsonv.Object(jsonv.Member{Key: "content", Value: jsonv.Array()}), rpcError, true
	case reply.Error != nil:
		return res, jsonv.ObjectOf("code", reply.Error.Code, "message", reply.Error.Message), true
	}
	res, _ = jsonv.Parse(reply.Result)
	return res, rpcError, true
}
