package probe

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"time"

	"mcptest/internal/base/jsonv"
	"mcptest/internal/client/mcp"
	"mcptest/internal/process/proc"
	"mcptest/internal/run/connect"
	"mcptest/internal/run/probe/verdict"
	"mcptest/internal/spec/draft"
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
	var last *proc.Stopped // of all three rules
	for _, rule := range []string{"shutdown-eof", "shutdown-sigterm", "shutdown-children"} {
		first := last
		v.check(ctx, rule, "", func(ctx context.Context) outcome {
			end := first
			if first = nil; end == nil {
				var err error
				if end, err = v.stopped(ctx); err != nil {
					return unverified("no session could be opened: %v", err)
				}
				last = end
			}
			return ended(rule, *end)
		})
	}
}

// stopped starts the server, makes a call, and ends it: the input is closed, then comes
// SIGTERM, then SIGKILL.
func (v shutdownRules) stopped(ctx context.Context) (*proc.Stopped, error) {
	o := connect.Opener{Options: v.Connect, Dial: v.Dial, Client: v.Client}
	o.Options.Grace = proc.Grace{Stdin: patience, Term: patience}
	sess, err := o.Open(ctx, v.server, jsonv.Value{})
	if err != nil {
		return nil, err
	}
	limited, cancel := mcp.WithLimit(ctx, "response", v.Reply)
	defer cancel()
	for _, tool := range v.tools {
		if slices.Contains(v.tooSlow, tool.Lookup("name").Text()) {
			continue
		}
		args := draft.Arguments(tool.Lookup("inputSchema"))
		if v.policy.Call(tool, args) == "" {
			params := jsonv.ObjectOf("name", tool.Lookup("name"), "arguments", args)
			sess.Do(limited, mcp.Call{Method: "tools/call", Params: params.Append(nil)})
			break
		}
	}
	end := sess.Close(ctx)
	return &end, nil
}

// ended judges the end of a process by a rule.
func ended(rule string, end proc.Stopped) outcome {
	evidence := verdict.Evidence{Sent: "the end of standard input", Received: fmt.Sprintf("ended after %.1f s (%s, %s)", end.Took.Seconds(), end.How, end.Exit)}
	switch {
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
