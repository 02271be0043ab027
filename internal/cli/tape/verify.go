package tape

import (
	"context"
	"fmt"
	"maps"
	"slices"

	"github.com/spf13/cobra"

	"mcptest/internal/base/display"
	"mcptest/internal/base/jsonv"
	"mcptest/internal/base/term"
	"mcptest/internal/cli/cmdutil"
	"mcptest/internal/cli/option"
	"mcptest/internal/client/mcp"
	"mcptest/internal/client/protocol"
	"mcptest/internal/offer/diff"
	"mcptest/internal/offer/surface"
	"mcptest/internal/run/connect"
	"mcptest/internal/run/inspect"
	"mcptest/internal/tape/cassette"
	"mcptest/internal/tape/timeline"
	"mcptest/internal/tape/verify"
)

// verifyFlags are the flags of `mcptest cassette verify`.
type verifyFlags struct {
	changes option.ChangeFlags
	target  option.TargetFlags
	ignored []string
}

func newVerifyCmd(s cmdutil.Streams) *cobra.Command {
	var f verifyFlags
	cmd := &cobra.Command{
		Use:   "verify FILE" + option.TargetUse,
		Short: "Send the recorded requests to another build of the server",
		Long: `Send the recorded requests to a server, in order and with the recorded arguments, and classify the differences from
the recorded responses; recorded lists are compared like in mcptest diff:
  breaking  an error instead of a result, a missing member, another type, a definition that rejects valid calls, a crash,
            a timeout, or a violation of the protocol that the recorded server did not commit
  review    another value or text, another error, fewer or more notifications during a call, fewer, more or other requests
            of the server to the client during a call, another protocol version, or another exit status
  safe      a new member, or a recorded violation of the protocol that no longer occurs

Each recorded session is a separate session, over stdio a separate process. The client declares what the recorded client
declared, uses its protocol version unless --protocol names one, sends its notifications, and answers the requests of the
server with the recorded answers. A server that crashes is started again.

The calls have their effects again: use a build that may change its data. Requests with a masked secret are not sent.

Exit codes: 0 no difference selected by --fail-on, 1 the server could not be started, or not again after a crash, even if
there are differences, 2 invalid command line or cassette, 6 differences selected by --fail-on, or with --fail-on any
requests that were not sent, 7 nothing was compared.`,
		Example: `  mcptest cassette verify bug.cassette.ndjson -- node dist/server.js`,
		RunE:    func(cmd *cobra.Command, args []string) error { return f.target.Run(1, f.run)(cmd, s, args) },
	}
	f.target.Add(cmd)
	f.changes.Add(cmd, "breaking")
	addVolatileFlag(cmd, &f.ignored)
	return cmd
}

// addVolatileFlag adds the flag with the paths that are not compared.
func addVolatileFlag(cmd *cobra.Command, paths *[]string) {
	cmd.Flags().StringArrayVar(paths, "volatile", nil, "ignore this `path` in the parameters of requests and in results, such as arguments.now or content[0].text; may be repeated")
}

func (f *verifyFlags) run(cmd *cobra.Command, s cmdutil.Streams, own, argv []string) error {
	if len(own) == 0 {
		return option.Invalid("missing argument FILE (a cassette)")
	}
	if err := f.changes.Check(f.target.JSON); err != nil {
		return err
	}
	c, err := open(s, own[0], f.ignored...)
	if err != nil {
		return err
	}
	defer c.Close()
	return f.verify(cmd, s, c, argv)
}

// dialer opens the sessions of recorded clients.
type dialer struct {
	base   inspect.Options
	viewer *option.Viewer
	older  []diff.Change // if the server does not offer the recorded revision any more
}

func (d *dialer) dial(
	ctx context.Context, _ int, recorded *cassette.RecordedClient, answer mcp.Answerer, violated func([]protocol.Violation),
) (*inspect.Conn, error) {
	o := d.base
	o.Capabilities, o.Answer = recorded.Capabilities, answer
	if recorded.Exit != nil {
		o.Connect.Grace.Stdin = verify.ExitTime
	}
	o.Violations = separateViolations(d.base.Violations, violated)
	conn, err := inspect.OpenWith(ctx, o, recorded.Protocol)
	if err != nil {
		return nil, err
	}
	now := conn.Session().Protocol()
	isOther := protocol.VersionOf(recorded.Protocol).Known() && now != recorded.Protocol
	if len(d.older) == 0 && o.Server.Protocol == mcp.Auto && isOther {
		d.older = []diff.Change{{
			Class:   diff.Review,
			Kind:    surface.Server,
			Message: fmt.Sprintf("the server no longer offers protocol version %s: the requests were sent with %s", recorded.Protocol, now),
		}}
	}
	if died := conn.Session().Restarted(); died != nil {
		fmt.Fprintln(d.viewer.Streams.Err, "warning: "+d.viewer.Text(connect.ExplainSecondStart(died, now)))
	}
	return conn, nil
}

func (f *verifyFlags) verify(cmd *cobra.Command, s cmdutil.Streams, c *cassette.Cassette, argv []string) error {
	var base inspect.Options
	ctx, l, end, err := f.target.Prepare(cmd, s, argv, func(o *inspect.Options) { base = *o })
	if err != nil {
		return err
	}
	return option.Guarded(l.World, s.Err, func() error {
		defer end()
		d := dialer{base: base, viewer: l}
		r, now, err := verify.Run(ctx, c, d.dial, timeline.Violations(ctx, c, cmdutil.Version()), l.Redactor.String)
		if r == nil {
			return option.Invalid("%v", err)
		}
		changes := slices.Concat(d.older, r.Changes)
		keepCommon(now.Lists, r.Lists)
		if err == nil && len(r.Lists) > 0 {
			old := surface.New("server", r.Handshake, r.Lists, l.Redactor.String, nil)
			offered := surface.New("server", now.Handshake, now.Lists, l.Redactor.String, nil)
			o := diff.Options{Target: f.target.Usage(s, argv)}
			changes = append(changes, diff.Compare(ctx, []*surface.Surface{old}, []*surface.Surface{offered}, o)...)
		}
		for i := range changes {
			changes[i].Message = l.Redactor.String(changes[i].Message)
		}
		for _, list := range [][]string{r.Skipped, r.Notes} {
			for i := range list {
				list[i] = l.Redactor.String(list[i])
			}
		}
		if err == nil {
			return printCompared(l.Streams, &f.changes, c.File+" has no request that can be compared", r, "sent", changes)
		}
		if len(changes) > 0 { // what was found before is not lost; the failure decides the exit code
			_ = printCompared(l.Streams, &f.changes, c.File+" has no request that can be compared", r, "sent", changes)
		}
		return l.Failed(ctx, "", err)
	})
}

// separateViolations passes tolerated violations and other ones to different functions.
func separateViolations(tolerated, other func([]protocol.Violation)) func([]protocol.Violation) {
	return func(list []protocol.Violation) {
		for _, v := range list {
			if v.Tolerated {
				tolerated([]protocol.Violation{v})
			} else {
				other([]protocol.Violation{v})
			}
		}
	}
}

// printCompared prints what was compared and the changes. It is an error if nothing
// was compared; nothing is the reason.
func printCompared(s cmdutil.Streams, f *option.ChangeFlags, nothing string, r *verify.Report, verb string, changes []diff.Change) error {
	for _, skipped := range r.Skipped {
		fmt.Fprintln(s.Err, term.Escape("not "+verb+": "+skipped))
	}
	for _, note := range r.Notes {
		fmt.Fprintln(s.Err, term.Escape(note))
	}
	requests, lists := display.Count(r.Sent, "request"), display.Count(len(r.Lists), "list")
	fmt.Fprintf(s.Err, "%s %s, %d not %s, %s compared\n", requests, verb, len(r.Skipped), verb, lists)
	if r.Sent > 0 || len(r.Lists) > 0 {
		err := f.Print(s, changes)
		n := len(r.Skipped)
		if err == nil && n > 0 && f.Any() {
			return option.Fail(option.ExitGate, "--fail-on any: %s not %s", display.Count(n, "request"), verb)
		}
		return err
	}
	if len(changes) > 0 {
		if err := f.Print(s, changes); err != nil {
			return err
		}
	}
	return option.Fail(option.ExitNothing, "nothing was compared: %s", nothing)
}

func newDiffCmd(s cmdutil.Streams) *cobra.Command {
	var f option.ChangeFlags
	var ignored []string
	cmd := &cobra.Command{
		Use:   "diff OLD NEW",
		Short: "Compare the responses of two cassettes",
		Long: `Compare the responses in two cassettes to the same requests, and classify the differences like mcptest cassette verify.
Requests match by method and parameters, identical ones in order. Requests that only one cassette has are listed.

Exit codes: 0 no difference selected by --fail-on, 2 invalid command line or cassette, 6 differences selected by --fail-on,
or with --fail-on any requests of OLD that were not compared, 7 nothing was compared.`,
		Example: `  mcptest cassette diff before.cassette.ndjson after.cassette.ndjson --fail-on review`,
		Args:    cobra.ExactArgs(2),
		RunE: func(cmd *cobra.Command, args []string) error {
			if err := f.Check(false); err != nil {
				return err
			}
			old, err := open(s, args[0], ignored...)
			if err != nil {
				return err
			}
			defer old.Close()
			now, err := open(s, args[1], ignored...)
			if err != nil {
				return err
			}
			defer now.Close()
			return compare(cmd.Context(), s, &f, old, now)
		},
	}
	addVolatileFlag(cmd, &ignored)
	f.Add(cmd, "breaking")
	return cmd
}

func compare(ctx context.Context, s cmdutil.Streams, f *option.ChangeFlags, old, now *cassette.Cassette) error {
	was, is, unused, err := verify.CompareRecordings(old, now)
	if err != nil {
		return option.Invalid("%v", err)
	}
	keepCommon(was.Lists, is.Lists)
	keepCommon(is.Lists, was.Lists)
	changes := append(was.Changes, diff.Compare(ctx,
		[]*surface.Surface{surface.New("server", was.Handshake, was.Lists, nil, nil)},
		[]*surface.Surface{surface.New("server", is.Handshake, is.Lists, nil, nil)}, diff.Options{})...)
	for _, request := range unused {
		fmt.Fprintln(s.Err, term.Escape("only in "+now.File+": "+request))
	}
	return printCompared(s, f, old.File+" and "+now.File+" have no request in common that can be compared", was, "compared", changes)
}

// keepCommon removes the lists that the other side does not have.
func keepCommon(lists, others map[surface.Kind][]jsonv.Value) {
	maps.DeleteFunc(lists, func(kind surface.Kind, _ []jsonv.Value) bool {
		_, both := others[kind]
		return !both
	})
}
