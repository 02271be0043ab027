package api

import (
	"context"

	"mcptest/internal/base/jsonv"
	"mcptest/internal/client/mcp"
	"mcptest/internal/client/protocol"
)

func (a *API) state(context.Context, nothing) (jsonv.Value, error) { return a.stateNow(), nil }

// stateNow returns all that is small and changes: servers, calls, requests of servers.
func (a *API) stateNow() jsonv.Value {
	servers, problem := a.o.Hub.Servers()
	calls := a.o.Hub.Calls()
	return jsonv.ObjectOf(
		"servers", jsonv.List(servers, a.viewServer),
		"problem", textOrAbsent(problem),
		"protocols", jsonv.List(append([]string{mcp.Auto}, protocol.Versions()...), jsonv.String),
		"calls", jsonv.List(calls, callView),
		"asks", jsonv.List(a.o.Hub.Asks(), askView),
		"suites", a.o.Tester.Version(),
		"run", runView(a.o.Tester.Run()),
		"cassettes", jsonv.List(a.o.Tapes.Names(), jsonv.String),
		"recording", textOrAbsent(a.o.Recorder.Folder()),
		"files", jsonv.List(a.o.Keeper.Files(), jsonv.String),
	)
}
