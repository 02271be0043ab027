package mcp_test

import (
	"context"
	"testing"
	"time"

	"mcptest/internal/base/jsonv"
	"mcptest/internal/base/testkit"
	"mcptest/internal/client/mcp"
	"mcptest/internal/client/protocol"
	"mcptest/internal/server/mcpserver"
)

const (
	knowsTasks = `"_meta":{"io.modelcontextprotocol/clientCapabilities":{"extensions":{"io.modelcontextprotocol/tasks":{}}}}`
	taskResult = `{"resultType":"task","taskId":"t-1","task":{"taskId":"t-1","status":"working"}}`
)

// A response must be of a kind that the request allows: a task only where the
// client knows tasks or asked for one, a request for input only in a revision
// that has those.
func TestResultTypeThatWasNotAskedFor(t *testing.T) {
	stateless := func(result string) func(o mcp.Options) *mcp.Session {
		return func(o mcp.Options) *mcp.Session {
			return modernPipe(t, func(_, id, _ string) string {
				return `{"jsonrpc":"2.0","id":` + id + `,"result":` + result + `}`
			}, o)
		}
	}
	session := func(result string) func(o mcp.Options) *mcp.Session {
		return func(o mcp.Options) *mcp.Session {
			return handled(t, o, func(context.Context, *mcpserver.Request) *mcpserver.Reply {
				return &mcpserver.Reply{Result: []byte(result)}
			})
		}
	}
	extended := jsonv.Object(jsonv.Member{Key: "extensions", Value: jsonv.Object(
		jsonv.Member{Key: "io.modelcontextprotocol/tasks", Value: jsonv.Object()})})
	for _, tt := range []struct {
		name    string
		open    func(o mcp.Options) *mcp.Session
		declare jsonv.Value
		params  string
		want    string
	}{
		{"task", stateless(taskResult), jsonv.Value{}, `{"name":"t"}`, protocol.ResultType},
		{"task, params without _meta of that", stateless(taskResult), jsonv.Value{}, `{"name":"t","_meta":{"a":1}}`, protocol.ResultType},
		{"task, declared by the request", stateless(taskResult), jsonv.Value{}, `{"name":"t",` + knowsTasks + `}`, ""},
		{"task, declared by the session", stateless(taskResult), extended, `{"name":"t"}`, ""},
		{"task in a session", session(taskResult), jsonv.Value{}, `{"name":"t"}`, protocol.ResultType},
		{"task in a session that asked for it", session(taskResult), jsonv.Value{}, `{"name":"t","task":{"ttl":1}}`, ""},
		{"input in a session", session(`{"resultType":"input_required","requestState":"s"}`), jsonv.Value{}, `{"name":"t"}`, protocol.ResultType},
		{"complete in a session", session(`{"resultType":"complete","content":[]}`), jsonv.Value{}, `{"name":"t"}`, ""},
		{"a number", stateless(`{"resultType":7}`), jsonv.Value{}, `{"name":"t"}`, protocol.ResultType},
	} {
		t.Run(tt.name, func(t *testing.T) {
			s := tt.open(mcp.Options{Capabilities: tt.declare})
			x := s.Do(within(t, time.Minute), mcp.Call{Method: "tools/call", Params: []byte(tt.params)})
			testkit.Equal(t, "the cause", x.Cause, nil)
			testkit.Equal(t, "the violations", kinds(x.Violations), tt.want)
		})
	}
}
