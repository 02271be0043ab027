package tape

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"mcptest/internal/cassette"
	"mcptest/internal/cassette/verify"
	"mcptest/internal/cli/option"
	"mcptest/internal/cmdutil"
	"mcptest/internal/display"
	"mcptest/internal/jsonv"
	"mcptest/internal/surface"
	"mcptest/internal/surface/diff"
	"mcptest/internal/term"
)

// NewCassetteCmd is the command `mcptest cassette`.
func NewCassetteCmd(s cmdutil.Streams) *cobra.Command {
	cmd := &cobra.Command{
		Use:   "cassette",
		Short: "Show cassettes, and work with what they contain",
		Args:  cobra.NoArgs,
		RunE:  func(cmd *cobra.Command, _ []string) error { return cmd.Help() },
	}
	cmd.AddCommand(newShowCmd(s), newVerifyCmd(s), newPromoteCmd(s))
	return cmd
}

func newShowCmd(s cmdutil.Streams) *cobra.Command {
	return &cobra.Command{
		Use:   "show FILE",
		Short: "List what a cassette contains",
		Args:  cobra.ExactArgs(1),
		RunE: func(_ *cobra.Command, args []string) error {
			c, err := open(s, args[0])
			if err != nil {
				return err
			}
			defer c.Close()
			return show(s, c)
		},
	}
}

// show prints one line for each message of a client.
func show(s cmdutil.Streams, c *cassette.Cassette) error {
	calls, err := c.Calls()
	if err != nil {
		return option.Fail(option.ExitInvalid, "%v", err)
	}
	line := func(format string, args ...any) {
		fmt.Fprintln(s.Out, term.Escape(fmt.Sprintf(format, args...)))
	}
	info, _ := jsonv.Parse(c.Server.Info)
	line("%s: %s %s, %s, protocol version %s", c.File, info.Lookup("name").Text(), info.Lookup("version").Text(), c.Transport, c.Protocol)
	line("recorded %s by %s; masked: %s", c.Recorded.Format("2006-01-02 15:04:05 MST"), c.Program, strings.Join(c.Masks, ", "))
	for _, call := range calls {
		if call.Request == nil {
			continue
		}
		outcome := ""
		switch {
		case call.ID == "":
		case call.Response == nil:
			outcome = "no response"
		default:
			outcome = (call.Response.At - call.Request.At).String()
			data, err := c.Data(call.Response)
			if err != nil {
				return option.Fail(option.ExitInvalid, "%v", err)
			}
			if v, _ := jsonv.Parse(data); !v.Lookup("error").IsAbsent() {
				outcome += ", error " + v.Lookup("error", "code").Literal()
			} else if v.Lookup("result", "isError").Literal() == "true" {
				outcome += ", isError"
			}
		}
		more := ""
		if n := len(call.Frames); n > 1 {
			more = fmt.Sprintf(", %d more messages", n-1)
		}
		line("line %-5d session %d  %s %s  %s%s", call.Request.Line, call.Session, call.Method+call.Verb, call.Name, outcome, more)
	}
	return nil
}

// verifyFlags are the flags of `mcptest cassette verify`.
type verifyFlags struct {
	target         option.TargetFlags
	format, failOn string
}

func newVerifyCmd(s cmdutil.Streams) *cobra.Command {
	var f verifyFlags
	cmd := &cobra.Command{
		Use:   "verify FILE" + option.TargetUse,
		Short: "Send the recorded requests to another build of the server",
		Long: `Send the recorded requests to a server, in order and with the recorded arguments, and classify what differs from the
recorded responses, and from the recorded lists as mcptest diff does:
  breaking  an error in place of a result, a missing member, another type, or a definition that rejects valid calls
  review    another value or text
  safe      a new member

The calls have their effects again: verify a build that may change its data. Requests with a masked secret are not sent.

Exit codes: 0 nothing that --fail-on names, 1 the server failed, 2 invalid command line or cassette, 6 differences that
--fail-on names.`,
		Example: `  mcptest cassette verify bug.cassette.ndjson -- node dist/server.js`,
		RunE: func(cmd *cobra.Command, args []string) error {
			own, argv, err := f.target.Split(cmd, args, 1)
			if err != nil {
				return err
			}
			if f.target.JSON {
				f.format = "json"
			}
			switch {
			case len(own) == 0:
				return option.Fail(option.ExitInvalid, "missing FILE: the cassette")
			case !slices.Contains(diff.Formats(), f.format):
				return option.Fail(option.ExitInvalid, "--format: expected one of %s, got %q", strings.Join(diff.Formats(), ", "), f.format)
			case !slices.Contains([]string{"breaking", "trust", "review", "any"}, f.failOn):
				return option.Fail(option.ExitInvalid, "--fail-on: expected breaking, trust, review or any, got %q", f.failOn)
			}
			c, err := open(s, own[0])
			if err != nil {
				return err
			}
			defer c.Close()
			return f.target.With(cmd, s, argv, func(ctx context.Context, l *option.Viewer) error { return f.verify(ctx, s, l, c) })
		},
	}
	f.target.Add(cmd)
	cmd.Flags().StringVarP(&f.format, "format", "f", "text", "format of the differences: `"+strings.Join(diff.Formats(), "`, ")+"")
	cmd.Flags().StringVar(&f.failOn, "fail-on", "breaking", "exit 6 for differences of this `class` and those before it: breaking, trust, review, any")
	return cmd
}

func (f *verifyFlags) verify(ctx context.Context, s cmdutil.Streams, l *option.Viewer, c *cassette.Cassette) error {
	r, err := verify.Run(ctx, c, l.Conn.Result, l.Redactor.String)
	if err != nil {
		return l.Failed(ctx, "", err)
	}
	changes := r.Changes
	if len(r.Lists) > 0 {
		offer, err := l.Conn.Complete(ctx)
		if err != nil {
			return l.Failed(ctx, "", err)
		}
		for kind := range offer.Lists {
			if _, recorded := r.Lists[kind]; !recorded {
				delete(offer.Lists, kind)
			}
		}
		old := surface.New("server", r.Handshake, r.Lists, l.Redactor.String, nil)
		now := surface.New("server", l.Conn.Session().ServerInfo(), offer.Lists, l.Redactor.String, nil)
		changes = append(changes, diff.Compare(ctx, []*surface.Surface{old}, []*surface.Surface{now}, diff.Options{Target: option.Where(l.Server)})...)
	}
	for _, skipped := range r.Skipped {
		fmt.Fprintln(s.Err, "not sent: "+l.Text(skipped))
	}
	for i := range changes {
		changes[i].Message = l.Redactor.String(changes[i].Message)
	}
	fmt.Fprintf(s.Err, "%s sent, %s not sent\n", display.Count(r.Sent, "request"), display.Count(len(r.Skipped), "request"))
	if err := diff.Write(s.Out, f.format, changes, cmdutil.Version()); err != nil {
		return option.Fail(option.ExitInternal, "write the differences: %s", cmdutil.Reason(err))
	}
	if slices.ContainsFunc(changes, func(c diff.Change) bool { return diff.Fails(c.Class, f.failOn) }) {
		return &option.ExitError{Code: option.ExitGate}
	}
	return nil
}
