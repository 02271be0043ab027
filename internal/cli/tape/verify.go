package tape

import (
	"context"
	"fmt"
	"maps"

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

// verifyFlags are the flags of `mcptest cassette verify`.
type verifyFlags struct {
	changes option.ChangeFlags
	target  option.TargetFlags
}

func newVerifyCmd(s cmdutil.Streams) *cobra.Command {
	var f verifyFlags
	cmd := &cobra.Command{
		Use:   "verify FILE" + option.TargetUse,
		Short: "Send the recorded requests to another build of the server",
		Long: `Send the recorded requests to a server, in order and with the recorded arguments, and classify the differences from
the recorded responses; recorded lists are compared like in mcptest diff:
  breaking  an error instead of a result, a missing member, another type, or a definition that rejects valid calls
  review    another value or text
  safe      a new member

The calls have their effects again: use a build that may change its data. Requests with a masked secret are not sent.

Exit codes: 0 no difference selected by --fail-on, 1 the server failed, 2 invalid command line or cassette, 6 differences
selected by --fail-on.`,
		Example: `  mcptest cassette verify bug.cassette.ndjson -- node dist/server.js`,
		RunE: func(cmd *cobra.Command, args []string) error {
			own, argv, err := f.target.Split(cmd, args, 1)
			if err != nil {
				return err
			}
			if len(own) == 0 {
				return option.Fail(option.ExitInvalid, "missing FILE: the cassette")
			}
			if err := f.changes.Check(f.target.JSON); err != nil {
				return err
			}
			c, err := open(s, own[0])
			if err != nil {
				return err
			}
			defer c.Close()
			return f.target.With(cmd, s, argv, func(ctx context.Context, l *option.Viewer) error { return f.verify(ctx, s, l, c, f.target.Usage(argv)) })
		},
	}
	f.target.Add(cmd)
	f.changes.Add(cmd, "breaking")
	return cmd
}

func (f *verifyFlags) verify(ctx context.Context, s cmdutil.Streams, l *option.Viewer, c *cassette.Cassette, target string) error {
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
		keepCommon(offer.Lists, r.Lists)
		old := surface.New("server", r.Handshake, r.Lists, l.Redactor.String, nil)
		now := surface.New("server", l.Conn.Session().ServerInfo(), offer.Lists, l.Redactor.String, nil)
		changes = append(changes, diff.Compare(ctx, []*surface.Surface{old}, []*surface.Surface{now}, diff.Options{Target: target})...)
	}
	for _, skipped := range r.Skipped {
		fmt.Fprintln(s.Err, "not sent: "+l.Text(skipped))
	}
	for i := range changes {
		changes[i].Message = l.Redactor.String(changes[i].Message)
	}
	fmt.Fprintf(s.Err, "%s sent, %s not sent\n", display.Count(r.Sent, "request"), display.Count(len(r.Skipped), "request"))
	return f.changes.Print(s, changes)
}

func newDiffCmd(s cmdutil.Streams) *cobra.Command {
	var f option.ChangeFlags
	var volatile []string
	cmd := &cobra.Command{
		Use:   "diff OLD NEW",
		Short: "Compare the responses of two cassettes",
		Long: `Compare the responses in two cassettes to the same requests, and classify the differences like mcptest cassette verify.
Requests match by method and parameters, identical ones in order. Requests that only one cassette has are listed.

Exit codes: 0 no difference selected by --fail-on, 2 invalid command line or cassette, 6 differences selected by --fail-on.`,
		Example: `  mcptest cassette diff before.cassette.ndjson after.cassette.ndjson --fail-on review`,
		Args:    cobra.ExactArgs(2),
		RunE: func(cmd *cobra.Command, args []string) error {
			if err := f.Check(false); err != nil {
				return err
			}
			old, err := open(s, args[0])
			if err != nil {
				return err
			}
			defer old.Close()
			now, err := open(s, args[1])
			if err != nil {
				return err
			}
			defer now.Close()
			return compare(cmd.Context(), s, &f, old, now, volatile)
		},
	}
	cmd.Flags().StringArrayVar(&volatile, "volatile", nil, "ignore this `path` into the parameters of requests, such as arguments.now; may be repeated")
	f.Add(cmd, "breaking")
	return cmd
}

func compare(ctx context.Context, s cmdutil.Streams, f *option.ChangeFlags, old, now *cassette.Cassette, volatile []string) error {
	was, is, unused, err := verify.Recordings(old, now, volatile)
	if err != nil {
		return option.Fail(option.ExitInvalid, "%v", err)
	}
	keepCommon(was.Lists, is.Lists)
	keepCommon(is.Lists, was.Lists)
	changes := append(was.Changes, diff.Compare(ctx,
		[]*surface.Surface{surface.New("server", was.Handshake, was.Lists, nil, nil)},
		[]*surface.Surface{surface.New("server", is.Handshake, is.Lists, nil, nil)}, diff.Options{})...)
	for _, skipped := range was.Skipped {
		fmt.Fprintln(s.Err, term.Escape("not compared: "+skipped))
	}
	for _, request := range unused {
		fmt.Fprintln(s.Err, term.Escape("only in "+now.File+": "+request))
	}
	fmt.Fprintf(s.Err, "%s compared, %s not compared\n", display.Count(was.Sent, "request"), display.Count(len(was.Skipped), "request"))
	return f.Print(s, changes)
}

// keepCommon removes the lists that the other side does not have.
func keepCommon(lists, others map[surface.Kind][]jsonv.Value) {
	maps.DeleteFunc(lists, func(kind surface.Kind, _ []jsonv.Value) bool {
		_, both := others[kind]
		return !both
	})
}
