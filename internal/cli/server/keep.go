package server

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"mcptest/internal/base/jsonv"
	"mcptest/internal/cli/keeping"
	"mcptest/internal/cli/option"
	"mcptest/internal/client/mcp"
	"mcptest/internal/run/inspect"
	"mcptest/internal/spec/draft"
)

// keep inserts a request into a suite as a test. failed is the error that the command would
// end with: a refusal is kept, too, a request without a response is not.
func keep(
	ctx context.Context, k *keeping.Keeper, l *option.Viewer, r keeping.Request, t draft.Test, x *mcp.Exchange, failed error,
) error {
	answer, ok := keeping.AnswerOf(x)
	if !ok {
		fmt.Fprintln(l.Streams.Err, "mcptest: not kept: there is no result")
		if failed != nil {
			return failed
		}
		return &option.ExitError{Code: option.ExitFailed}
	}
	l.Conn.ReportRemaining()
	if l.Conn.Violated() {
		fmt.Fprintln(l.Streams.Err, "note: the server violated the protocol, so the test will fail until that is fixed")
	}
	t.Answers = []draft.Answer{answer}
	r.Test = t
	return k.Keep(ctx, r)
}

// describeTarget returns a request to the server of a command, which is not made yet. It fails if
// the suite that gets the test lacks the server. Standard output is for the kept test if that
// is printed.
func describeTarget(k *keeping.Keeper, f *keeping.Flags, l *option.Viewer, argv []string) (keeping.Request, error) {
	r := keeping.Request{Argv: argv, URL: l.Flags.URL, Redactor: l.Redactor}
	if len(argv) == 0 && l.Flags.URL == "" {
		r.Server = l.Server.Name
	}
	if f.Printing() {
		l.Streams.Out = l.Streams.Err
	}
	if k == nil {
		return r, nil
	}
	return r, k.CheckServer(r)
}

// keepCall returns the test of a call of a tool, without its answer.
func keepCall(ctx context.Context, l *option.Viewer, tool string, args jsonv.Value, x *mcp.Exchange, warnings []string) draft.Test {
	t := draft.Test{Block: "tools", Subject: tool, Args: args, Respond: keeping.ScriptResponses(x)}
	misfit := func(warning string) bool { return strings.HasPrefix(warning, "argument ") }
	t.InvalidArgs = slices.ContainsFunc(warnings, misfit) || !isListed(ctx, l, "tools", "name", tool)
	return t
}

// isListed reports whether a list of the server has an item of that name. A server without a
// list lists nothing, and is not asked.
func isListed(ctx context.Context, l *option.Viewer, list, key, name string) bool {
	if !l.Conn.Offers(list) {
		return true
	}
	items, err := l.Conn.List(ctx, list+"/list", list)
	return err != nil || slices.Contains(inspect.Names(items, key), name)
}
