package cli

import (
	"strings"

	"github.com/spf13/cobra"

	"mcptest/internal/base/display"
	"mcptest/internal/base/filekind"
	"mcptest/internal/base/secret"
	"mcptest/internal/cli/cmdutil"
	"mcptest/internal/cli/option"
	"mcptest/internal/cli/scaffold"
	"mcptest/internal/cli/upstreams"
	"mcptest/internal/spec/draft"
)

// readServer returns the server that the flags define.
func (f *initFlags) readServer(cmd *cobra.Command, args []string, s cmdutil.Streams) (scaffold.Server, error) {
	none := scaffold.Server{}
	own, argv, err := f.splitArgv(cmd, args)
	if err != nil {
		return none, err
	}
	if f.timeout <= 0 || f.connectTimeout <= 0 {
		return none, option.Invalid("--timeout and --connect-timeout must be greater than zero")
	}
	if err := option.EnvSet(s.Env, "--env", f.env...); err != nil {
		return none, err
	}
	if _, err := option.KnownClient(f.client); err != nil {
		return none, err
	}
	sv := scaffold.Server{
		Argv:      argv,
		URL:       f.URL,
		BearerEnv: f.BearerEnv,
		CAFile:    f.CAFile,
		Insecure:  f.Insecure,
		Transport: f.Transport,
		Protocol:  f.Protocol,
		Client:    f.client,
		Env:       f.env,
		Name:      f.name,
		Output:    f.output,
	}
	if f.from != "" {
		if err := option.RefuseOther("--from", f.from, filekind.ClientConfig); err != nil {
			return none, err
		}
		err := sv.Configure(f.from, strings.Join(own, ""), func(name string) string { return cmdutil.LookupEnv(s.Env, name) })
		if err != nil {
			return none, option.Invalid("--from: %s: %s", f.from, cmdutil.Reason(err))
		}
	}
	if len(argv) > 0 || f.from != "" {
		sv.Upstreams, err = f.readDoubles(s)
		return sv, err
	}
	if _, err := option.HTTPURL("--url", f.URL, secret.NewRedactor()); err != nil {
		return none, err
	}
	for _, h := range f.Headers {
		name, value, err := option.SplitHeader(h)
		if err != nil {
			return none, err
		}
		sv.Headers = append(sv.Headers, scaffold.Header{Name: name, Value: value})
	}
	if f.BearerEnv != "" {
		err = option.EnvSet(s.Env, "--bearer-token-env", f.BearerEnv)
	}
	return sv, err
}

// readDoubles returns the upstreams of the suite.
func (f *initFlags) readDoubles(s cmdutil.Streams) ([]*draft.Upstream, error) {
	list, diags, err := upstreams.ParseDrafts(f.upstreams)
	if errs, _ := option.PrintDiagnostics(s, f.color, diags); errs > 0 && err == nil {
		err = option.Invalid("%s in the recordings; %s was not written", display.Count(errs, "error"), f.output)
	}
	return list, err
}

// splitArgv returns the server's command; nil for a server with an address.
func (f *initFlags) splitArgv(cmd *cobra.Command, args []string) (own, argv []string, err error) {
	var t option.TargetFlags
	own, argv, err = t.Split(cmd, args, min(len(f.from), 1)) // the name of the server in the file
	if err != nil {
		return nil, nil, err
	}
	if option.CountTrue(len(argv) > 0, f.command != "", f.URL != "", f.from != "") != 1 {
		return nil, nil, option.Invalid("expected exactly one server: --command LINE, --url URL, --from FILE, or -- command args… (to try it: mcptest init -- mcptest mock --preset echo)")
	}
	if f.URL != "" && len(f.upstreams) > 0 {
		return nil, nil, option.Invalid("--upstream requires a command: a server with --url is already running, and takes no variable")
	}
	hasFlagsOfURL := len(f.Headers) > 0 || f.BearerEnv != "" || f.CAFile != "" || f.Insecure
	if f.URL == "" && hasFlagsOfURL {
		return nil, nil, option.Invalid("-H, --bearer-token-env, --ca-file and --insecure require --url")
	}
	if f.command == "" {
		return own, argv, nil
	}
	argv, err = option.Words("--command", f.command)
	if err == nil && len(argv) == 0 {
		err = option.Invalid("--command: the line is empty")
	}
	return own, argv, err
}
