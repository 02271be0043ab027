package server

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"strings"
	"sync"

	"github.com/spf13/cobra"

	"mcptest/internal/base/display"
	"mcptest/internal/base/jsonv"
	"mcptest/internal/base/source"
	"mcptest/internal/base/term"
	"mcptest/internal/cli/cmdutil"
	"mcptest/internal/cli/keeping"
	"mcptest/internal/cli/option"
	"mcptest/internal/client/mcp"
	"mcptest/internal/client/protocol"
	"mcptest/internal/run/inspect"
)

// NewCallCmd returns the command `mcptest call`.
func NewCallCmd(s cmdutil.Streams) *cobra.Command {
	var f option.TargetFlags
	var a argFlags
	var e elicitFlag
	var k keeping.Flags
	var as asFlag
	cmd := &cobra.Command{
		Use:   "call TOOL" + option.TargetUse,
		Short: "Call one tool of a server",
		Long:  callLong,
		Example: `  mcptest call get-sum --arg a=2 --arg b=3 -- npx -y @modelcontextprotocol/server-everything
  mcptest call search --arg query='open issues' --arg limit=5 --url http://localhost:8080/mcp
  mcptest call create --args-json '{"item": {"id": 1}}' --server api --config suite.yaml --json
  mcptest call get-sum --arg a=2 --arg b=3 --config mcptest.yaml --keep mcptest.yaml`,
	}
	f.Add(cmd)
	option.AddClient(cmd, &f.Client)
	a.add(cmd, true)
	k.Add(cmd)
	as.add(cmd)
	cmd.Flags().StringVar(&e.json, "elicit", "", "accept every elicitation of the server with this JSON `object`")
	return option.AddOutput(cmd, s, f.Run(1, func(cmd *cobra.Command, s cmdutil.Streams, own, argv []string) error {
		if len(own) == 0 {
			return option.Invalid("missing tool name: mcptest call TOOL -- command args…")
		}
		params, err := a.readObject(s, false)
		if err != nil {
			return err
		}
		if err := e.check(); err != nil {
			return err
		}
		if err := as.check(&f); err != nil {
			return err
		}
		keeper, err := k.Begin(s, &f.SuiteFlags)
		if err != nil {
			return err
		}
		return f.With(cmd, s, argv, func(ctx context.Context, l *option.Viewer) error {
			to, err := describeTarget(keeper, &k, l, argv)
			if err != nil {
				return err
			}
			return callAndKeep(ctx, l, keeper, to, toolCall{own[0], params, as.client})
		}, e.setOptions)
	}))
}

const callLong = `Call one tool and print the result. Messages that arrive before it are printed to standard error: progress, log
messages, requests of the server, and every protocol violation.

--elicit answers the server's questions to the user (elicitation); without it they are declined. The capabilities
sampling and roots are not declared; use respond: in a suite to answer such requests.

Arguments: --arg name=value parses the value as a number, true, false, null or "text" if possible, otherwise as plain
text; --arg name:=JSON accepts any JSON; --args-json accepts an object, @FILE or - for standard input.

The checks are those of a test, including the validation of the result against the tool's outputSchema.

--keep SUITE inserts the call as a test into a suite that exists, after showing the change and asking; --yes does not
ask, --print only prints the test. What the tool answered is expected: stable parts exactly, times, ids and paths loosely,
secrets never; a refusal is kept as a test that expects it. No other byte of the suite changes.

--as claude-code or codex prints what that client hands to the model in place of the result, and on standard error how many
tokens that is (an estimate) and what the model does not see. It declares that client as --client does, unless --client names
another one.

Exit codes: 0 the tool returned a result, or its answer was kept, 1 it returned an error, or the server failed or violated
the protocol, 2 invalid command line, or nothing was kept, 5 --keep in CI.`

// argFlags are the arguments of a tool or prompt.
type argFlags struct {
	args []string
	json string
}

func (a *argFlags) add(cmd *cobra.Command, typed bool) {
	if !typed {
		cmd.Flags().StringArrayVarP(&a.args, "arg", "a", nil, "an argument: `name=value`")
		return
	}
	cmd.Flags().StringArrayVarP(&a.args, "arg", "a", nil, "an argument: `name=value`, or name:=JSON")
	cmd.Flags().StringVar(&a.json, "args-json", "", "all arguments as a JSON `object`, @FILE, or - for standard input")
}

// readObject returns the arguments: those of --args-json, then each --arg.
func (a *argFlags) readObject(s cmdutil.Streams, onlyText bool) (jsonv.Value, error) {
	out := jsonv.Object()
	if a.json != "" {
		var err error
		if out, err = a.readWhole(s); err != nil {
			return jsonv.Value{}, err
		}
	}
	seen := map[string]bool{}
	for _, arg := range a.args {
		key, text, ok := strings.Cut(arg, "=")
		raw := strings.HasSuffix(key, ":") && !onlyText
		if raw {
			key = strings.TrimSuffix(key, ":")
		}
		if !ok || key == "" {
			return jsonv.Value{}, option.Invalid("--arg %s: expected name=value", arg)
		}
		if seen[key] {
			return jsonv.Value{}, option.Invalid("--arg: %s is set twice", key)
		}
		seen[key] = true
		v, err := parseArg(text, raw, onlyText)
		if err != nil {
			return jsonv.Value{}, option.Invalid("--arg %s: not JSON: %v", key, err)
		}
		out = out.With(key, v)
	}
	return out, nil
}

// parseArg parses one value: JSON if raw, otherwise a JSON scalar or text.
func parseArg(text string, raw, onlyText bool) (jsonv.Value, error) {
	if onlyText {
		return jsonv.String(text), nil
	}
	v, err := jsonv.Parse([]byte(text))
	switch {
	case raw:
		return v, err
	case err != nil || v.Kind() == jsonv.KindObject || v.Kind() == jsonv.KindArray:
		return jsonv.String(text), nil
	}
	return v, nil
}

func (a *argFlags) readWhole(s cmdutil.Streams) (jsonv.Value, error) {
	data := []byte(a.json)
	var err error
	name, isFile := strings.CutPrefix(a.json, "@")
	switch {
	case a.json == "-":
		data, err = io.ReadAll(io.LimitReader(s.In, source.MaxSize+1))
	case isFile:
		data, err = os.ReadFile(name)
	}
	if err != nil {
		file := strings.TrimPrefix(a.json, "@")
		return jsonv.Value{}, option.Invalid("--args-json: %s: %s", file, cmdutil.Reason(err))
	}
	v, err := jsonv.Parse(data)
	switch {
	case err != nil:
		return jsonv.Value{}, option.Invalid("--args-json: not JSON: %v", err)
	case v.Kind() != jsonv.KindObject:
		return jsonv.Value{}, option.Invalid("--args-json: expected an object, got %s", v.Kind())
	}
	return v, nil
}

// toolCall is one call that a person makes.
type toolCall struct {
	tool string
	args jsonv.Value
	as   string // the client whose view of the result is printed; "": none
}

// call calls a tool and prints the result.
func call(ctx context.Context, l *option.Viewer, c toolCall) (x *mcp.Exchange, warnings []string, err error) {
	params := jsonv.ObjectOf("name", c.tool, "arguments", c.args)
	stop := func() {}
	if !l.Flags.JSON {
		stop = followProgress(ctx, l)
	}
	x = l.Conn.Do(ctx, "tools/call", params)
	stop()
	warnings = l.Conn.CheckCall(ctx, c.tool, c.args, x)
	if l.Flags.JSON {
		return x, warnings, callJSON(ctx, l, c, x, warnings)
	}
	return x, warnings, printCall(ctx, l, c, x, warnings)
}

// callAndKeep calls a tool, and keeps the call if keeper is not nil.
func callAndKeep(
	ctx context.Context, l *option.Viewer, keeper *keeping.Keeper, to keeping.Request, c toolCall,
) error {
	x, warnings, err := call(ctx, l, c)
	if keeper == nil {
		return err
	}
	return keep(ctx, keeper, l, to, keepCall(ctx, l, c.tool, c.args, x, warnings), x, err)
}

// printCall prints the result of a call, and what arrived before it.
func printCall(ctx context.Context, l *option.Viewer, c toolCall, x *mcp.Exchange, warnings []string) error {
	printMessages(l, x)
	for _, w := range warnings {
		fmt.Fprintln(l.Streams.Err, "warning: "+l.Text(w))
	}
	printRefused(l, x)
	if err := inspect.ExchangeError(x); err != nil {
		err = l.Conn.Unlisted(ctx, err, "tools", c.tool)
		if rpc, ok := errors.AsType[*protocol.RPCError](err); ok && rpc.Data != nil {
			defer fmt.Fprintln(l.Streams.Err, "  data: "+l.Text(string(rpc.Data)))
		}
		return l.Failed(ctx, "tools/call "+c.tool, err)
	}
	res, err := jsonv.Parse(x.Result)
	if err != nil {
		return l.Failed(ctx, "tools/call", fmt.Errorf("read the result: %w", err))
	}
	if c.as != "" {
		err = printHandout(ctx, l, c.as, c.tool, res)
	} else {
		err = printResult(l, res)
	}
	if err != nil {
		return err
	}
	if res.Lookup("isError").Bool() {
		err := errors.New("the tool returned an error (isError)")
		return option.Fail(option.ExitFailed, "%s", l.Text(l.Conn.Unlisted(ctx, err, "tools", c.tool).Error()))
	}
	return newViolationError(l)
}

// printResult prints content block by block. It prints structured content unless a
// text has the same data.
func printResult(l *option.Viewer, res jsonv.Value) error {
	var b strings.Builder
	structured, said := res.Lookup("structuredContent"), false
	for _, c := range res.Lookup("content").Elems() {
		b.WriteString(formatContent(l, c))
		if v, err := jsonv.Parse([]byte(c.Lookup("text").Text())); err == nil && jsonv.Equal(v, structured) {
			said = true
		}
	}
	if !structured.IsAbsent() && !said {
		b.WriteString(l.Palette.Paint(term.Faint, "[structured content]") + "\n" + l.JSONText("", structured) + "\n")
	}
	if b.Len() == 0 {
		b.WriteString(formatNote(l, "no content"))
	}
	_, err := io.WriteString(l.Streams.Out, b.String())
	return err
}

// followProgress prints progress notifications as they arrive, until stop is called.
func followProgress(ctx context.Context, l *option.Viewer) (stop func()) {
	ctx, cancel := context.WithCancel(ctx)
	mark := l.Conn.Session().Mark()
	var wg sync.WaitGroup
	wg.Go(func() {
		for {
			if _, err := l.Conn.Session().Wait(ctx, "notifications/progress", mark); err != nil {
				return
			}
			from := mark
			mark = l.Conn.Session().Mark()
			for _, m := range l.Conn.Session().Messages(from) {
				if m.Method == "notifications/progress" && m.Kind == mcp.KindNotification {
					fmt.Fprintln(l.Streams.Err, l.Text(formatProgress(m.Params)))
				}
			}
		}
	})
	return func() { cancel(); wg.Wait() }
}

func formatProgress(params []byte) string {
	v, err := jsonv.Parse(params)
	if err != nil {
		return "progress: " + protocol.Excerpt(params)
	}
	s := "progress: " + v.Lookup("progress").Short(20)
	if t := v.Lookup("total"); !t.IsAbsent() {
		s += " of " + t.Short(20)
	}
	if m := v.Lookup("message").Text(); m != "" {
		s += ": " + m
	}
	return s
}

// printMessages prints the messages before the response, except progress, which was
// printed already.
func printMessages(l *option.Viewer, x *mcp.Exchange) {
	for _, m := range x.During {
		switch {
		case m.Kind == mcp.KindNotification && m.Method == "notifications/progress":
		case m.Kind == mcp.KindNotification:
			fmt.Fprintln(l.Streams.Err, l.Text(strings.TrimSuffix(fmt.Sprintf("notification %s: %s", m.Method, m.Params), ": ")))
		case m.Kind == mcp.KindRequest:
			fmt.Fprintln(l.Streams.Err, l.Text(fmt.Sprintf("the server requested %s: %s", m.Method, m.Params)))
		default:
			fmt.Fprintln(l.Streams.Err, l.Text(fmt.Sprintf("answered %s with %s", m.Method, m.Params)))
		}
	}
	if x.Dropped > 0 {
		fmt.Fprintf(l.Streams.Err, "%s more were dropped\n", display.Count(x.Dropped, "message"))
	}
}

// callJSON prints all data of a call as one object.
func callJSON(ctx context.Context, l *option.Viewer, c toolCall, x *mcp.Exchange, warnings []string) error {
	result, _ := jsonv.Parse(x.Result) // absent if there is none
	problem, _ := jsonv.Parse(x.Error)
	bad := inspect.ExchangeError(x) != nil || result.Lookup("isError").Bool()
	var cause jsonv.Value
	if x.Cause != nil {
		cause = jsonv.String(x.Cause.Error())
	}
	var during []jsonv.Value
	for _, m := range x.During {
		params, err := jsonv.Parse(m.Params)
		if err != nil {
			params = jsonv.Null()
		}
		during = append(during, jsonv.ObjectOf("kind", m.Kind.String(), "method", m.Method, "params", params))
	}
	violations := jsonv.List(x.Violations, func(v protocol.Violation) jsonv.Value {
		return jsonv.ObjectOf("kind", v.Kind, "message", v.Msg, "excerpt", v.Excerpt, "tolerated", v.Tolerated)
	})
	all := jsonv.ObjectOf(
		"result", result, "error", problem, "cause", cause, "elapsed_ms", float64(x.Elapsed.Microseconds())/1000,
		"during", jsonv.Array(during...), "violations", violations, "warnings", jsonv.List(warnings, jsonv.String))
	if c.as != "" && !result.IsAbsent() {
		all = all.With("as", formatHandout(c.as, writeHandout(ctx, l, c.as, c.tool, result)))
	}
	err := l.PrintJSON(l.Streams.Out, all)
	if err != nil {
		return err
	}
	if x.Cause != nil {
		return l.Failed(ctx, "tools/call", x.Cause)
	}
	if bad {
		return &option.ExitError{Code: option.ExitFailed}
	}
	return newViolationError(l)
}

// newViolationError returns the error of a server that violated the protocol, or nil.
func newViolationError(l *option.Viewer) error {
	l.Conn.ReportRemaining()
	if !l.Conn.Violated() {
		return nil
	}
	return option.Fail(option.ExitFailed, "the server violated the protocol")
}
