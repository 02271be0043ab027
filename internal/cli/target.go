package cli

import (
	"cmp"
	"context"
	"fmt"
	"net/http"
	"net/url"
	"os"
	"slices"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"mcptest/internal/auth"
	"mcptest/internal/cmdutil"
	"mcptest/internal/display"
	"mcptest/internal/mcp"
	"mcptest/internal/mcp/protocol"
	"mcptest/internal/mcp/wire"
	"mcptest/internal/plan"
	"mcptest/internal/secret"
	"mcptest/internal/shellwords"
	"mcptest/internal/source"
	"mcptest/internal/suite"
	"mcptest/internal/term"
)

// targetFlags say which server a command connects to: an address, a
// command after --, or a server of a suite.
type targetFlags struct {
	suiteFlags
	httpFlags
	server         string
	env            []string
	timeout        time.Duration
	connectTimeout time.Duration
	json           bool
	tokenFile      string
	lost           error // why there is no tokenFile
	waitForReady   time.Duration
	limits         limitFlags
	compiledOnce   bool // the warnings of the suite were printed
}

// httpFlags are an address and how to connect to it.
type httpFlags struct {
	url, bearerEnv, caFile, transport, protocol string
	headers                                     []string
	insecure                                    bool
}

func (f *httpFlags) add(cmd *cobra.Command) {
	fl := cmd.Flags()
	fl.StringVar(&f.url, "url", "", "server at this `address` (http or https)")
	fl.StringArrayVarP(&f.headers, "header", "H", nil, "send this HTTP header, as in `'Name: value'`; no output shows the value")
	fl.StringVar(&f.bearerEnv, "bearer-token-env", "", "send the bearer token in this environment `variable`")
	fl.StringVar(&f.caFile, "ca-file", "", "also trust the certificate authorities in this PEM `file`")
	fl.BoolVar(&f.insecure, "insecure", false, "don't verify the server's certificate")
	fl.StringVar(&f.transport, "transport", "auto", "HTTP transport: auto, streamable-http or sse")
	fl.StringVar(&f.protocol, "protocol", "auto", "protocol `revision` to speak, or auto")
}

// targetUse is how a command that takes a server is called, behind its own
// arguments.
const targetUse = " (--url URL | --server NAME | -- command args…)"

func (f *targetFlags) add(cmd *cobra.Command) {
	fl := cmd.Flags()
	f.httpFlags.add(cmd)
	fl.StringArrayVar(&f.env, "env", nil, "pass this environment `variable` to the command after --; may be repeated")
	fl.StringVar(&f.server, "server", "", "the server of this `name` in a suite (see --config)")
	fl.DurationVar(&f.timeout, "timeout", plan.DefaultTimeout, "time limit for each request")
	fl.DurationVar(&f.connectTimeout, "connect-timeout", plan.DefaultConnectTimeout, "time limit for start and handshake")
	fl.BoolVar(&f.json, "json", false, "print JSON")
	fl.DurationVar(&f.waitForReady, "wait-for-ready", 0, "wait up to this long for the server to become ready; exit 3 if it does not")
	f.limits.add(cmd)
	addTokenFile(cmd, &f.tokenFile)
	f.suiteFlags.add(cmd)
}

// split tells a command's own arguments from the server's command behind --.
func (f *targetFlags) split(cmd *cobra.Command, args []string, limit int) (own, argv []string, err error) {
	own = args
	if n := cmd.ArgsLenAtDash(); n >= 0 {
		own, argv = args[:n], args[n:]
		if len(argv) == 0 {
			return nil, nil, fail(exitInvalid, "missing server command after --")
		}
	}
	if len(own) > limit {
		if strings.Contains(own[limit], "=") && cmd.Flags().Lookup("arg") != nil {
			return nil, nil, fail(exitInvalid, "%s: unexpected argument %q%s", cmd.Name(), own[limit], source.Aside(source.Suggest("--arg "+shellwords.Quote(own[limit]))))
		}
		return nil, nil, fail(exitInvalid, "%s: unexpected argument %q (the server's command goes after --)", cmd.Name(), own[limit])
	}
	return own, argv, nil
}

// resolve makes the server's definition, and declares what no output may show.
func (f *targetFlags) resolve(s cmdutil.Streams, argv []string, redactor *secret.Redactor) (*plan.Server, error) {
	f.tokenFile, f.lost = tokenPath(f.tokenFile, s)
	given := 0
	for _, b := range []bool{f.url != "", len(argv) > 0, f.server != "" || f.url == "" && len(argv) == 0 && len(f.configs) > 0} {
		if b {
			given++
		}
	}
	if given != 1 {
		return nil, fail(exitInvalid, "expected exactly one server: --url URL, --server NAME of a suite, or -- command args…")
	}
	if f.timeout <= 0 || f.connectTimeout <= 0 {
		return nil, fail(exitInvalid, "--timeout and --connect-timeout must be greater than zero")
	}
	if f.waitForReady < 0 {
		return nil, fail(exitInvalid, "--wait-for-ready must be greater than zero")
	}
	if err := f.limits.check(); err != nil {
		return nil, err
	}
	if !slices.Contains([]string{wire.HTTPAuto, wire.StreamableHTTP, wire.HTTPSSE}, f.transport) {
		return nil, fail(exitInvalid, "--transport: expected auto, streamable-http or sse, got %q", f.transport)
	}
	if f.protocol != mcp.Auto && !slices.Contains(protocol.Versions(), f.protocol) {
		return nil, fail(exitInvalid, "--protocol: expected auto or one of %s, got %q", strings.Join(protocol.Versions(), ", "), f.protocol)
	}
	switch {
	case f.url != "":
		return f.remote(s, redactor)
	case len(argv) > 0:
		if f.httpOnly() {
			return nil, fail(exitInvalid, "-H, --bearer-token-env, --ca-file, --insecure and --transport require --url")
		}
		redactor.Add(suite.Inherited(s.Env)...)
		return f.local(s, argv)
	}
	if f.httpOnly() {
		return nil, fail(exitInvalid, "-H, --bearer-token-env, --ca-file, --insecure and --transport require --url; servers of a suite are configured in the suite")
	}
	return f.ofSuite(s, redactor)
}

func (f *targetFlags) httpOnly() bool {
	return len(f.headers) > 0 || f.bearerEnv != "" || f.caFile != "" || f.insecure || f.transport != wire.HTTPAuto
}

// bare is a definition with the settings of the flags.
func (f *targetFlags) bare() *plan.Server {
	return &plan.Server{
		Name: "server", Pos: source.Pos{File: &source.File{}}, Transport: f.transport, Protocol: f.protocol,
		ConnectTimeout: f.connectTimeout, Timeout: f.timeout, Sessions: 1, Tolerate: map[string]bool{}, ValidateOutput: true,
	}
}

// local is a server that the command starts: in this folder, with the environment that
// a suite gives it.
func (f *targetFlags) local(s cmdutil.Streams, argv []string) (*plan.Server, error) {
	if argv[0] == "" {
		return nil, fail(exitInvalid, "the server's command is empty")
	}
	dir, err := os.Getwd()
	if err != nil {
		return nil, fail(exitInternal, "find the current folder: %v", err)
	}
	sv := f.bare()
	if err := envSet(s.Env, "--env", f.env...); err != nil {
		return nil, err
	}
	sv.Argv, sv.Dir = slices.Clone(argv), dir
	sv.Env, sv.Withheld = plan.ServerEnv(s.Env, f.env)
	if argv[0] == "mcptest" && s.Self != "" {
		sv.Argv[0] = s.Self // as in a suite
	}
	return sv, nil
}

func (f *targetFlags) remote(s cmdutil.Streams, redactor *secret.Redactor) (*plan.Server, error) {
	sv := f.bare()
	u, err := httpURL("--url", f.url, redactor)
	if err != nil {
		return nil, err
	}
	if password, ok := u.User.Password(); ok {
		redactor.Add(password)
	}
	sv.URL = f.url
	for _, h := range f.headers {
		name, value, err := splitHeader(h)
		if err != nil {
			return nil, err
		}
		sv.Headers = append(sv.Headers, plan.Header{Name: http.CanonicalHeaderKey(name), Value: value})
		redactor.Add(value)
		if _, credential, ok := strings.Cut(value, " "); ok && strings.EqualFold(name, "Authorization") {
			redactor.Add(credential)
		}
	}
	if f.bearerEnv != "" {
		if err := envSet(s.Env, "--bearer-token-env", f.bearerEnv); err != nil {
			return nil, err
		}
		token := cmdutil.LookupEnv(s.Env, f.bearerEnv)
		redactor.Add(token)
		sv.Headers = append(sv.Headers, plan.Header{Name: "Authorization", Value: "Bearer " + token})
	}
	if !slices.ContainsFunc(sv.Headers, func(h plan.Header) bool { return h.Name == "Authorization" }) && u.User == nil {
		f.loggedIn(s, sv)
	}
	if f.caFile != "" || f.insecure {
		sv.TLS = &suite.TLS{CAFile: f.caFile, Insecure: f.insecure}
	}
	return sv, nil
}

// loggedIn uses the token of an earlier login to this address, when there is
// one.
func (f *targetFlags) loggedIn(s cmdutil.Streams, sv *plan.Server) {
	if f.tokenFile == "" {
		return
	}
	l, err := auth.OpenStore(f.tokenFile).Find(auth.Query{Server: sv.URL})
	switch {
	case err != nil:
		fmt.Fprintln(s.Err, "mcptest: warning: "+term.Escape(err.Error()))
	case l != nil:
		sv.Auth = &suite.Auth{OAuth: &suite.OAuth{Grant: auth.AuthorizationCode}}
	}
}

// envSet refuses variables of a flag that the environment lacks.
func envSet(env []string, flag string, names ...string) error {
	for _, name := range names {
		if cmdutil.LookupEnv(env, name) == "" {
			return fail(exitInvalid, "%s: the environment variable %s is not set", flag, name)
		}
	}
	return nil
}

// httpURL parses an address of HTTP.
func httpURL(what, address string, redactor *secret.Redactor) (*url.URL, error) {
	u, err := url.Parse(address)
	if err != nil || u.Scheme != "http" && u.Scheme != "https" || u.Hostname() == "" {
		return nil, fail(exitInvalid, "%s: %q is not an http or https address", what, redactor.String(address))
	}
	return u, nil
}

// splitHeader splits the argument of -H.
func splitHeader(h string) (name, value string, err error) {
	name, value, ok := strings.Cut(h, ":")
	name, value = strings.TrimSpace(name), strings.TrimSpace(value)
	if !ok || !suite.IsHeaderName(name) || strings.ContainsAny(value, "\r\n\x00") {
		return "", "", fail(exitInvalid, "-H: expected 'Name: value' (the argument is not shown because it may contain a secret)")
	}
	return name, value, nil
}

// compiled is the suite file of --config.
func (f *targetFlags) compiled(s cmdutil.Streams, redactor *secret.Redactor) (*plan.File, error) {
	paths, err := f.paths(nil)
	if err != nil {
		return nil, err
	}
	if len(paths) != 1 {
		return nil, fail(exitInvalid, "--config: expected one suite file, got %d", len(paths))
	}
	suites, diags, err := f.load(paths, s.Env)
	if err != nil {
		return nil, err
	}
	for _, su := range suites {
		redactor.Add(su.Secrets...)
	}
	set := f.settings(s)
	set.CI, set.Names = false, map[string]bool{} // no test is run
	p, more := plan.Compile(suites, set)
	if diags = append(diags, more...); !f.compiledOnce || diags.HasErrors() {
		if errs, _ := printDiagnostics(s, f.color, diags); errs > 0 || len(p.Files) != 1 {
			return nil, fail(exitInvalid, "%s in %s", display.Count(max(errs, 1), "error"), paths[0])
		}
	}
	f.compiledOnce = true
	return p.Files[0], nil
}

// servers are the names of the servers of the suite that --server matches, or of
// all.
func (f *targetFlags) servers(s cmdutil.Streams) (names []string, err error) {
	file, err := f.compiled(s, secret.NewRedactor())
	if err != nil {
		return nil, err
	}
	for _, sv := range file.Matching(cmp.Or(f.server, "*")) {
		names = append(names, sv.Name)
	}
	if len(names) == 0 {
		return nil, fail(exitInvalid, "%s", noServer(file, f.server))
	}
	return names, nil
}

// ofSuite takes the definition from a suite: the server of that name, or the
// default one.
func (f *targetFlags) ofSuite(s cmdutil.Streams, redactor *secret.Redactor) (*plan.Server, error) {
	file, err := f.compiled(s, redactor)
	if err != nil {
		return nil, err
	}
	sv := file.Default
	if f.server != "" {
		sv = file.Server(f.server)
	}
	if sv == nil {
		return nil, fail(exitInvalid, "%s", noServer(file, f.server))
	}
	if (f.tokenFile != "" || f.lost != nil) && sv.NeedsLogin() {
		if why := noToken(f.tokenFile, f.lost)(sv); why != "" {
			return nil, fail(exitInvalid, "%s; run: %s", why, sv.LoginCommand())
		}
	}
	out := *sv
	if f.protocol != mcp.Auto {
		out.Protocol = f.protocol
	}
	if out.Timeout == 0 {
		out.Timeout = f.timeout
	}
	return &out, nil
}

func noServer(file *plan.File, name string) string {
	what := " declares no server called " + name
	if name == "" {
		what = " has no default server: use --server NAME"
	}
	return file.Path + what + source.Aside(file.Suite.ServerHint(name))
}

// where is the target for people: the address, or the command.
func where(sv *plan.Server) string {
	if sv.URL != "" {
		return sv.URL
	}
	return shellwords.QuoteAll(sv.Argv)
}

// palette is that of a stream.
func (f *targetFlags) palette(s cmdutil.Streams) (term.Palette, error) {
	profile, err := term.Detect(s.Out, s.Env, f.color)
	if err != nil {
		return term.Palette{}, fail(exitInvalid, "%v", err)
	}
	return term.NewPalette(profile), nil
}

// background is the context of commands that are run without one.
func background(ctx context.Context) context.Context {
	if ctx == nil {
		return context.Background()
	}
	return ctx
}
