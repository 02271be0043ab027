package probe

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"time"

	"mcptest/internal/base/jsonschema"
	"mcptest/internal/base/jsonv"
	"mcptest/internal/client/mcp"
	"mcptest/internal/process/proc"
	"mcptest/internal/run/connect"
	"mcptest/internal/run/probe/verdict"
)

// patience is how long a server may take to end.
const patience = 5 * time.Second

// shutdownRules examines the rules of the family shutdown.
type shutdownRules struct{ *visit }

// shutdown ends the process of a server that has answered a call.
func (v shutdownRules) shutdown(ctx context.Context) {
	if !v.stdio() {
		return
	}
	v.close()
	each(ctx, v.visit, []string{"shutdown-eof", "shutdown-sigterm", "shutdown-children"}, v.stopped, ended)
}

// stopped starts the server, makes a call, and ends it: the input is closed, then comes
// SIGTERM, then SIGKILL.
func (v shutdownRules) stopped(ctx context.Context) (end ending) {
	o := connect.Opener{Options: v.Connect, Dial: v.Dial, Client: v.Client}
	o.Options.Grace = proc.Grace{Stdin: patience, Term: patience}
	sess, err := o.Open(ctx, v.server, jsonv.Value{})
	if err != nil {
		return ending{err: err}
	}
	limited, cancel := mcp.WithLimit(ctx, "response", v.Reply)
	defer cancel()
	for _, tool := range v.tools {
		if slices.Contains(v.tooSlow, tool.Lookup("name").Text()) {
			continue
		}
		args := jsonschema.Arguments(tool.Lookup("inputSchema"))
		if v.policy.Call(tool, args) == "" {
			params := jsonv.ObjectOf("name", tool.Lookup("name"), "arguments", args)
			sess.Do(limited, mcp.Call{Method: "tools/call", Params: params.Append(nil)})
			break
		}
	}
	return ending{Stopped: sess.Close(ctx)}
}

// ending is the end of a process, or why it was not started.
type ending struct {
	proc.Stopped
	err error
}

// ended judges the end of a process by a rule.
func ended(rule string, end ending) outcome {
	evidence := verdict.Evidence{Sent: "the end of standard input", Received: fmt.Sprintf("ended after %.1f s (%s, %s)", end.Took.Seconds(), end.How, end.Exit)}
	switch {
	case end.err != nil:
		return unverified("no session could be opened: %v", end.err)
	case end.How == proc.ByItself:
		return unverified("the server ended before its input was closed (%s)", end.Exit)
	case rule == "shutdown-children" && len(end.Leftovers) > 0 && end.How != proc.ByKill:
		var list []string
		for _, l := range end.Leftovers {
			list = append(list, fmt.Sprintf("%d %s", l.Pid, l.Command))
		}
		evidence.Received += "\n" + strings.Join(list, "\n")
		return broken(evidence, "processes of the server remained after it had ended: %s", verdict.Excerpt(strings.Join(list, "; "), 200))
	case rule == "shutdown-children" && end.How == proc.ByKill:
		return unverified("the server had to be killed")
	case rule == "shutdown-eof" && end.How != proc.ByEOF:
		return broken(evidence, "the server still ran %s after its input had been closed", patience)
	case rule == "shutdown-sigterm" && end.How == proc.ByEOF:
		return inapplicable("the server exits when its input is closed")
	case rule == "shutdown-sigterm" && end.How == proc.ByKill:
		evidence.Sent += ", then SIGTERM"
		return broken(evidence, "the server still ran %s after SIGTERM", patience)
	}
	return held()
}
