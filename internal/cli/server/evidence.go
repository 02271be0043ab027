package server

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"os"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"mcptest/internal/base/filekind"
	"mcptest/internal/base/jsonv"
	"mcptest/internal/base/term"
	"mcptest/internal/cli/cmdutil"
	"mcptest/internal/cli/doctor"
	"mcptest/internal/cli/option"
	"mcptest/internal/client/identity"
	"mcptest/internal/client/protocol"
	"mcptest/internal/offer/compat"
	"mcptest/internal/offer/opening"
	"mcptest/internal/run/inspect"
	"mcptest/internal/run/openings"
	"mcptest/internal/run/probe"
	"mcptest/internal/tape/cassette"
	"mcptest/internal/tape/conduct"
	"mcptest/internal/tape/timeline"
)

// NewEvidenceCmd returns the command `mcptest evidence`.
func NewEvidenceCmd(s cmdutil.Streams) *cobra.Command {
	var f evidenceFlags
	cmd := &cobra.Command{
		Use:   "evidence" + option.TargetUse + " [-o DIR]",
		Short: "Collect what shows whose bug it is, the server's or the client's",
		Long: `Examine a server as doctor and probe do, replay how known clients open a connection, and write a folder to attach to a report:
evidence.md, a page that can be pasted into an issue, with the results as JSON and the shortest failing exchange as a cassette.
Secrets are masked. No tool is called but those with readOnlyHint: true.

The page has one of three conclusions: the server broke a clause of the specification; the client did, which only a recording
of it can show (--cassette, made with mcptest record); or it is not known. That a replayed opening is lost is a prediction,
and proves nothing about a client.

Exit codes: 0 the folder was written, 1 the server did not start or respond, 2 invalid command line or cassette, or DIR has files,
5 refused because CI is set and -o is missing.`,
		Example: `  mcptest evidence -o evidence -- node server.js
  mcptest evidence --url https://mcp.example.com/mcp --client cursor --cassette cursor.cassette.ndjson -o evidence`,
	}
	f.target.Add(cmd)
	option.AddClient(cmd, &f.target.Client)
	fl := cmd.Flags()
	fl.StringVar(&f.cassette, "cassette", "", "`file` in which the client and the server were recorded")
	fl.StringVarP(&f.output, "output", "o", "", "empty or new `folder` to write (default mcptest-evidence)")
	fl.DurationVar(&f.maxTime, "max-time", time.Minute, "`time` after which the rest of the rules is not verified")
	cmd.RunE = func(cmd *cobra.Command, args []string) error {
		_, argv, err := f.target.Split(cmd, args, 0)
		if err != nil {
			return err
		}
		return f.run(cmd, s, argv)
	}
	return cmd
}

func (f *evidenceFlags) run(cmd *cobra.Command, s cmdutil.Streams, argv []string) error {
	if f.output == "" && cmdutil.IsInCI(s.Env) {
		return option.Fail(option.ExitPolicy, "CI is set, and nothing is written where it was not asked for: add -o DIR")
	}
	f.output = cmp.Or(f.output, "mcptest-evidence")
	if f.maxTime <= 0 {
		return option.Invalid("--max-time must be positive, got %v", f.maxTime)
	}
	if err := checkEmpty(f.output); err != nil {
		return err
	}
	e := evidence{}
	if f.cassette != "" {
		if err := option.RefuseOther("--cassette", f.cassette, filekind.Cassette); err != nil {
			return err
		}
		c, err := cassette.Open(f.cassette)
		if err != nil {
			return option.Invalid("--cassette: %v", err)
		}
		defer c.Close()
		if e.recorded, err = readRecording(cmd.Context(), c); err != nil {
			return option.Invalid("--cassette: %v", err)
		}
	}
	if f.target.Client != "" {
		if _, known := identity.Named(f.target.Client); !known {
			_, err := option.KnownClient(f.target.Client)
			return err
		}
	}
	var connect inspect.Options
	ctx, l, end, err := f.target.Prepare(cmd, s, argv, func(i *inspect.Options) {
		i.Violations, connect = nil, *i
	})
	if err != nil {
		return err
	}
	return option.Guarded(l.World, s.Err, func() error {
		defer end()
		if err := f.collect(ctx, l, connect, &e, argv); err != nil {
			return err
		}
		if err := f.write(l, &e); err != nil {
			return option.Fail(option.ExitInternal, "%v", err)
		}
		fmt.Fprintf(s.Out, "%s\nmcptest: wrote %s\n", l.Text(e.conclude().headline), term.Escape(f.output))
		return nil
	})
}

// checkEmpty refuses a folder with files.
func checkEmpty(dir string) error {
	files, err := os.ReadDir(dir)
	info, statErr := os.Stat(dir)
	switch {
	case statErr == nil && !info.IsDir(): // a file has no entries, and on Windows it is missing as a folder
		return option.Invalid("--output: %s is a file; name an empty or a new folder", dir)
	case errors.Is(err, os.ErrNotExist):
		return nil
	case err != nil:
		return option.Invalid("--output: %v", err)
	case len(files) > 0:
		return option.Invalid("--output: %s has files; name an empty or a new folder", dir)
	}
	return nil
}

// readRecording judges both sides of a cassette.
func readRecording(ctx context.Context, c *cassette.Cassette) (*recording, error) {
	calls, err := c.Calls()
	if err != nil {
		return nil, err
	}
	r := &recording{cassette: c}
	for _, call := range calls {
		if call.Request == nil {
			continue
		}
		params := c.Value(call.Request).Lookup("params")
		for _, info := range []jsonv.Value{params.Lookup("clientInfo"), params.Lookup("_meta", protocol.MetaClient)} {
			if r.who == "" && info.Kind() == jsonv.KindObject {
				r.who = strings.TrimSpace(info.Lookup("name").Text() + " " + info.Lookup("version").Text())
			}
		}
	}
	if r.client, err = conduct.Judge(c); err != nil {
		return nil, err
	}
	rows, loose, err := timeline.Read(c, timeline.Violations(ctx, c, cmdutil.Version()))
	if err != nil {
		return nil, err
	}
	for _, row := range rows {
		for _, v := range row.Violations {
			r.server = append(r.server, serverBreach{row.Frame.Line, v.Kind, v.Msg, v.Rule()})
		}
	}
	for _, v := range loose {
		r.server = append(r.server, serverBreach{0, v.Kind, v.Msg, v.Rule()})
	}
	return r, nil
}

// collect examines the server.
func (f *evidenceFlags) collect(
	ctx context.Context, l *option.Viewer, i inspect.Options, e *evidence, argv []string,
) error {
	e.target = option.Where(l.Server)
	began := time.Now()
	e.doctor = doctor.Examine(ctx, doctor.Options{Conn: l.Conn, Connect: i.Connect})
	startup := time.Since(began)
	l.Conn.Close()
	limited, cancel := context.WithTimeoutCause(ctx, f.maxTime, fmt.Errorf("--max-time %v was over", f.maxTime))
	defer cancel()
	rep, err := probe.Run(limited, probe.Options{
		Server: l.Server, Connect: i.Connect, Client: i.Client, Dial: i.Dial,
		Seed: 1, Reply: min(10*time.Second, f.target.Timeout), Doing: func(what string) { l.Status.Set(what) },
	})
	l.Status.Clear()
	refusal, isRefused := errors.AsType[*protocol.RPCError](err)
	switch {
	case ctx.Err() != nil || err != nil && !isRefused:
		return l.Failed(ctx, "", errors.Join(err, ctx.Err()))
	case isRefused: // the server runs and answers, and who gets in is the question
		e.refusal = fmt.Sprintf("%s (code %d)", refusal.Message, refusal.Code)
	}
	rep.Reproduce("mcptest probe --only %s "+strings.TrimSpace(f.target.Usage(l.Streams, argv)), l.Redactor.String)
	e.probe = rep
	rules, err := compat.Builtin()
	if err != nil {
		return err
	}
	var scripts []opening.Script
	for _, script := range rules.Openings {
		if f.target.Client == "" || script.Client == f.target.Client {
			scripts = append(scripts, script)
		}
	}
	o := openings.Options{
		Server: l.Server, Connect: l.Connect(), Scripts: scripts, Startup: startup, Refuses: rules.Refuses,
	}
	if e.refusal == "" {
		o.Control = l.Again
	}
	e.openings = openings.Run(ctx, o)
	if ctx.Err() != nil {
		return l.Failed(ctx, "", context.Cause(ctx))
	}
	return nil
}
