package tape

import (
	"cmp"
	"fmt"
	"strings"

	"github.com/spf13/cobra"

	"mcptest/internal/base/display"
	"mcptest/internal/base/secret"
	"mcptest/internal/base/term"
	"mcptest/internal/cli/cmdutil"
	"mcptest/internal/cli/option"
	"mcptest/internal/cli/scaffold"
	"mcptest/internal/client/protocol"
	"mcptest/internal/tape/cassette"
	"mcptest/internal/tape/promote"
	"mcptest/internal/tape/timeline"
)

// promoteFlags are the flags of `mcptest cassette promote`.
type promoteFlags struct {
	output, name, url, bearerEnv string
	env                          []string
	force                        bool
}

func newPromoteCmd(s cmdutil.Streams) *cobra.Command {
	var f promoteFlags
	cmd := &cobra.Command{
		Use:   "promote FILE [-o SUITE] [--url URL | -- command args…]",
		Short: "Write a suite from the recorded calls",
		Long: `Write a suite that repeats the recorded requests: calls of tools, resources, prompts and lists, each with its
recorded arguments. Assertions expect the recorded responses and are marked "review". Values that differ between equal
requests, look like a time or an id, or describe this machine are matched loosely; secrets are not written.

The server of the suite is the recorded one, unless another one is given. It is not started. Each recorded
session gets its own entry of the server, which declares and answers what the recorded client did. Equal requests are one
test, unless they call a tool and other tools were called between them. Requests with a masked secret, those that the
client canceled or answered in more than one way, equal requests that were refused only sometimes, and those that depend
on what the client announced between requests, such as its roots, are omitted and listed in the suite. Violations of the
protocol that the recorded server committed are tolerated. The cassette itself is never overwritten.

Exit codes: 0 the suite was written, 2 invalid command line or cassette, or the file already exists, 4 the file could not be written.`,
		Example: `  mcptest cassette promote bug.cassette.ndjson -o bug.mcptest.yaml
  mcptest cassette promote bug.cassette.ndjson --env API_KEY -- node dist/server.js`,
		RunE: func(cmd *cobra.Command, args []string) error { return f.run(cmd, args, s) },
	}
	fl := cmd.Flags()
	fl.StringVarP(&f.output, "output", "o", "-", "suite `file` to write, or - for standard output")
	fl.BoolVar(&f.force, "force", false, "overwrite an existing file")
	fl.StringVar(&f.name, "name", "", "`name` of the suite and the server (default: that of the recorded server)")
	fl.StringVar(&f.url, "url", "", "the suite's server is at this `address` (http or https)")
	fl.StringVar(&f.bearerEnv, "bearer-token-env", "", "the suite's server gets the bearer token in this environment `variable`")
	fl.StringArrayVar(&f.env, "env", nil, "the suite's server gets this environment `variable`; may be repeated")
	return cmd
}

func (f *promoteFlags) run(cmd *cobra.Command, args []string, s cmdutil.Streams) error {
	var t option.TargetFlags
	own, argv, err := t.Split(cmd, args, 1)
	switch {
	case err != nil:
		return err
	case len(own) == 0:
		return option.Invalid("missing argument FILE (a cassette)")
	case len(argv) > 0 && f.url != "":
		return option.Invalid("expected at most one server: --url URL, or -- command args…")
	}
	if err := option.Free(f.output, f.force); err != nil {
		return err
	}
	if err := checkNotInput(own[0], f.output); err != nil {
		return err
	}
	c, err := open(s, own[0])
	if err != nil {
		return err
	}
	defer c.Close()
	sv, err := f.makeServer(c, argv)
	if err != nil {
		return err
	}
	d, err := scaffold.Begin(sv, func(name string) string { return cmdutil.LookupEnv(s.Env, name) })
	if err != nil {
		return option.Fail(option.ExitInternal, "%v", err)
	}
	redactor := secret.NewRedactor()
	redactor.Add(secret.FindInEnviron(s.Env)...)
	redactor.Add(d.Hidden...)
	for _, v := range d.Secrets {
		redactor.Add(v.Value)
		fmt.Fprintf(s.Err, "mcptest: %s is not written: set %s before a run\n", v.What, v.Name)
	}
	su := d.Suite
	su.Recorded = true
	su.From = display.OneLine(redactor.String(strings.Join(describeInfo(c), " ")))
	// The masked secrets of the cassette are unknown, like current ones.
	su.Mask = func(text string) string {
		return strings.ReplaceAll(redactor.String(text), secret.Mask, "(a secret)")
	}
	merged, err := promote.Fill(su, c)
	if err != nil {
		return option.Invalid("%v", err)
	}
	su.Server.Tolerate = timeline.FindKinds(cmd.Context(), c, cmdutil.Version())
	if len(su.Tests) == 0 {
		return option.Invalid("%s has no request that a test can make again%s", c.File, joinReasons(su.Omitted))
	}
	if err := option.WriteFile(f.output, s.Out, su.YAML()); err != nil {
		return err
	}
	fmt.Fprintf(s.Err, "mcptest: %s from %s, %s left out, %d merged with equal ones\n", display.Count(len(su.Tests), "test"), term.Escape(c.File),
		display.Count(len(su.Omitted)-merged, "request"), merged)
	return nil
}

// joinReasons returns the first reason why requests were left out.
func joinReasons(omitted []string) string {
	if len(omitted) == 0 {
		return ""
	}
	return ": " + omitted[0]
}

// makeServer returns the server of the suite: the given one, or the recorded one.
func (f *promoteFlags) makeServer(c *cassette.Cassette, argv []string) (scaffold.Server, error) {
	sv := scaffold.Server{Argv: argv, URL: f.url, BearerEnv: f.bearerEnv, Env: f.env, Output: f.output}
	if f.url != "" {
		if _, err := option.HTTPURL("--url", f.url, secret.NewRedactor()); err != nil {
			return sv, err
		}
	}
	if len(argv) == 0 && f.url == "" {
		sv.Argv, sv.URL = c.Server.Command, c.Server.URL
		isMasked := strings.Contains(strings.Join(sv.Argv, " ")+sv.URL, secret.Mask)
		if isMasked || len(sv.Argv) == 0 && sv.URL == "" {
			return sv, option.Invalid("%s does not say how to reach the server, or a secret in it is masked: add --url URL, or -- command args…", c.File)
		}
	}
	if f.bearerEnv != "" && sv.URL == "" {
		return sv, option.Invalid("--bearer-token-env requires a server with an address")
	}
	if sv.URL != "" && c.Transport == cassette.HTTPSSE {
		sv.Transport = cassette.HTTPSSE
	}
	if protocol.VersionOf(c.Protocol).Known() {
		sv.Protocol = c.Protocol
	}
	sv.Name = cmp.Or(f.name, scaffold.MakeShortName(cmp.Or(c.Server.Name, describeInfo(c)[0])))
	return sv, nil
}

// describeInfo returns the recorded name and version of the server.
func describeInfo(c *cassette.Cassette) []string {
	calls, _ := c.Calls() // an error is reported when the calls are used
	hello := c.Handshake(calls)
	return []string{hello.Lookup("serverInfo", "name").Text(), hello.Lookup("serverInfo", "version").Text()}
}
