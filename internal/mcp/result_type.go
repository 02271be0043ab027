package mcp

import (
	"bytes"
	"fmt"

	"mcptest/internal/jsonv"
	"mcptest/internal/mcp/protocol"
)

// extTasks is the extension that has calls answered with a task.
const extTasks = "io.modelcontextprotocol/tasks"

var resultTypeKey = []byte(`"resultType"`)

// resultTypeFault says what is wrong with the resultType of an answer, "" for
// nothing. A value that is not known, or of something that this client did not
// declare, must be treated as invalid (MCP 2026-07-28). No revision before
// gives the member another meaning, so the check holds for all of them.
func (s *Session) resultTypeFault(x *Exchange) string {
	if !bytes.Contains(x.Result, resultTypeKey) {
		return ""
	}
	t := protocol.MemberOf(x.Result, "resultType")
	switch string(t) {
	case "", `"complete"`:
		return ""
	case `"input_required"`:
		if d := s.agreed(); d.Era() == protocol.EraSession {
			return fmt.Sprintf("resultType is %s, which protocol revision %s does not have", protocol.Excerpt(t), d.Name)
		}
		return ""
	case `"task"`:
		if s.knowsTasks(x) {
			return ""
		}
		return `resultType is "task", and the request did not declare that the client knows tasks`
	}
	return "resultType is " + protocol.Excerpt(t)
}

// knowsTasks reports whether the server may answer with a task.
func (s *Session) knowsTasks(x *Exchange) bool {
	own := s.capabilities()
	return x.AsksTask() || !own.Lookup("extensions", extTasks).IsAbsent() || !own.Lookup("tasks").IsAbsent()
}

// AsksTask reports whether the request asks for a task (params.task of
// 2025-11-25), or declares that its sender knows them (the extension of
// 2026-07-28).
func (x *Exchange) AsksTask() bool {
	params := protocol.MemberOf(x.Request, "params")
	if protocol.KindOf(protocol.MemberOf(params, "task")) == jsonv.KindObject {
		return true
	}
	declared := protocol.MemberOf(protocol.MemberOf(protocol.MemberOf(params, "_meta"), protocol.MetaCapabilities), "extensions")
	return protocol.MemberOf(declared, extTasks) != nil
}
