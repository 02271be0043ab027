package basics

import (
	"context"
	"fmt"
	"time"

	"mcptest/internal/base/jsonv"
	"mcptest/internal/client/mcp"
	"mcptest/internal/process/proc"
	"mcptest/internal/run/probe/argument"
	"mcptest/internal/run/probe/exam"
	"mcptest/internal/run/probe/verdict"
)

// patience is how long a server may take to end.
const patience = 5 * time.Second

// ending is the end of a process, or why it was not started.
type ending struct {
	proc.Stopped
	err error
}

// Shutdown ends the process of a server that has answered a call: the input is closed, then
// comes SIGTERM, then SIGKILL.
func Shutdown(ctx context.Context, v *exam.Visit) {
	if !v.Stdio() {
		return
	}
	v.Close()
	rules := []string{"shutdown-eof", "shutdown-sigterm", "shutdown-children"}
	exam.Each(ctx, v, rules, func(ctx context.Context) ending { return endAfterCalls(ctx, v) }, judgeEnd)
}

// endAfterCalls opens a session, calls the quick tools, and ends the process.
func endAfterCalls(ctx context.Context, v *exam.Visit) ending {
	o := v.Connect
	o.Grace.Stdin, o.Grace.Term = patience, patience
	sess, err := v.OpenWith(ctx, o, jsonv.Value{})
	if err != nil {
		return ending{err: err}
	}
	for i, tool := range v.Tools {
		args := argument.Valid(tool)
		if exam.IsChosen(i, len(v.Tools), mostEqualCalls) && !v.Slow(tool) && v.Policy.Call(tool, args) == "" {
			v.Within(v.Reply, sess)(ctx, mcp.Call{Method: "tools/call", Params: exam.Text(exam.Params(tool, args))})
		}
	}
	sess.Close(ctx) // with its grace, which End need not have
	return ending{Stopped: v.End(sess)}
}

// judgeEnd judges the end of a process by a rule.
func judgeEnd(rule string, end ending) exam.Outcome {
	evidence := verdict.Evidence{Sent: "the end of standard input", Received: fmt.Sprintf("ended after %.1f s (%s, %s)", end.Took.Seconds(), end.How, end.Exit)}
	switch {
	case end.err != nil:
		return exam.Unverified("no session could be opened: %v", end.err)
	case end.How == proc.ByItself:
		return exam.Unverified("the server ended before its input was closed (%s)", end.Exit)
	case rule == "shutdown-children" && len(end.Leftovers) > 0 && end.How != proc.ByKill:
		list := exam.Remaining(end.Leftovers)
		evidence.Received += "\n" + list
		return exam.BrokenBy(evidence, "processes of the server remained after it had ended: %s", verdict.Excerpt(list, 200))
	case rule == "shutdown-children" && end.How == proc.ByKill:
		return exam.Unverified("the server had to be killed")
	case rule == "shutdown-eof" && end.How != proc.ByEOF:
		return exam.BrokenBy(evidence, "the server still ran %s after its input had been closed", patience)
	case rule == "shutdown-sigterm" && end.How == proc.ByEOF:
		return exam.Inapplicable("the server exits when its input is closed")
	case rule == "shutdown-sigterm" && end.How == proc.ByKill:
		evidence.Sent += ", then " + proc.TermName
		return exam.BrokenBy(evidence, "the server still ran %s after %s", patience, proc.TermName)
	}
	return exam.Held()
}
