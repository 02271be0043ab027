package option

import (
	"cmp"
	"context"
	"fmt"
	"net/http"
	"net/url"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"mcptest/internal/base/display"
	"mcptest/internal/base/secret"
	"mcptest/internal/base/shellwords"
	"mcptest/internal/base/source"
	"mcptest/internal/base/term"
	"mcptest/internal/cli/cmdutil"
	"mcptest/internal/client/auth"
	"mcptest/internal/client/identity"
	"mcptest/internal/client/mcp"
	"mcptest/internal/client/protocol"
	"mcptest/internal/client/wire"
	"mcptest/internal/process/bundle"
	"mcptest/internal/run/connect"
	"mcptest/internal/spec/plan"
	"mcptest/internal/spec/suite"
)

// TargetFlags select the server that a command connects to: an address, a command
// after --, or a server of a suite.
type TargetFlags struct {
	meant string // a hint, if an argument is an address
	SuiteFlags
	HTTPFlags
	Server         string
	env            []string
	Timeout        time.Duration
	ConnectTimeout time.Duration
	JSON           bool
	tokenFile      string
	lost           error // why tokenFile is empty
	waitForReady   time.Duration
	limits         LimitFlags
	compiledOnce   bool // whether the warnings of the suite were printed
	sessions       *connect.Sessions
}

// HTTPFlags are an address and its connection settings.
type HTTPFlags struct {
	URL, BearerEnv, CAFile, Transport, Protocol string
	Headers                                     []string
	Insecure                                    bool
}

// Add defines the flags.
func (f *HTTPFlags) Add(cmd *cobra.Command) {
	fl := cmd.Flags()
	fl.StringVar(&f.URL, "url", "", "server at this `address` (http or https)")
	fl.StringArrayVarP(&f.Headers, "header", "H", nil, "send this HTTP header, as in `'Name: value'`; no output shows the value")
	fl.StringVar(&f.BearerEnv, "bearer-token-env", "", "send the bearer token in this environment `variable`")
	fl.StringVar(&f.CAFile, "ca-file", "", "also trust the certificate authorities in this PEM `file`")
	fl.BoolVar(&f.Insecure, "insecure", false, "don't verify the server's certificate")
	fl.StringVar(&f.Transport, "transport", "auto", "HTTP transport: auto, streamable-http or sse")
	fl.StringVar(&f.Protocol, "protocol", "auto", "protocol `version` to use, or auto")
}

// TargetUse is the usage of a command that takes a server, after its own arguments.
const TargetUse = " (--url URL | --server NAME | -- command args…)"

// Add defines the flags.
func (f *TargetFlags) Add(cmd *cobra.Command) {
	fl := cmd.Flags()
	f.sessions = connect.NewSessions()
	f.HTTPFlags.Add(cmd)
	fl.StringArrayVar(&f.env, "env", nil, "pass this environment `variable` to the command after --; may be repeated")
	fl.StringVar(&f.Server, "server", "", "the server of this `name` in a suite (see --config)")
	fl.DurationVar(&f.Timeout, "timeout", plan.DefaultTimeout, "time limit for each request")
	fl.DurationVar(&f.ConnectTimeout, "connect-timeout", plan.DefaultConnectTimeout, "time limit for start and handshake")
	fl.BoolVar(&f.JSON, "json", false, "print JSON")
	fl.DurationVar(&f.waitForReady, "wait-for-ready", 0, "wait up to this long for the server to become ready; exit 3 if it does not")
	f.limits.Add(cmd)
	AddTokenFile(cmd, &f.tokenFile)
	f.SuiteFlags.Add(cmd)
}

// AddClient defines the flag of the commands that can introduce themselves as a known
// client.
func AddClient(cmd *cobra.Command, name *string) {
	cmd.Flags().StringVar(name, "client", "", "declare the name, version and capabilities of this known `client`, in place of client: in the suite")
}

// KnownClient returns the client that --client names, nil if it names none.
func KnownClient(name string) (*plan.Client, error) {
	if name == "" {
		return nil, nil
	}
	c, ok := plan.FindClient(name)
	if !ok {
		return nil, Invalid("--client: %q is not a client that mcptest knows (%s)", name, source.Known(name, identity.Names()))
	}
	return &c, nil
}

// Split separates a command's own arguments from the server's command after --.
func (f *TargetFlags) Split(cmd *cobra.Command, args []string, limit int) (own, argv []string, err error) {
	own = args
	if n := cmd.ArgsLenAtDash(); n >= 0 {
		own, argv = args[:n], args[n:]
		if len(argv) == 0 {
			return nil, nil, Invalid("missing server command after --")
		}
	}
	if len(own) > limit {
		if at := strings.IndexAny(own[limit], "={"); at >= 0 && cmd.Flags().Lookup("arg") != nil {
			flag := "--arg "
			if at == 0 {
				flag = "--args-json "
			}
			hint := source.Parenthesis(source.Suggest(flag + shellwords.QuoteForShell(own[limit])))
			return nil, nil, Invalid("%s: unexpected argument %q%s", cmd.Name(), own[limit], hint)
		}
		return nil, nil, Invalid("%s: unexpected argument %q (%s)", cmd.Name(), own[limit], placeOf(cmd, own, limit))
	}
	if len(own) > 0 && strings.Contains(own[0], "://") && cmd.Flags().Lookup("url") != nil && f.URL == "" {
		f.meant = source.Parenthesis(source.Suggest("--url " + own[0]))
	}
	if len(own) > 0 && len(argv) == 0 && cmdutil.FindStarter(own[0]) != "" {
		f.meant = source.Parenthesis(source.Suggest(cmdutil.QuoteServer(own[0])))
	}
	return own, argv, nil
}

// placeOf says where an argument belongs that a command does not take.
func placeOf(cmd *cobra.Command, own []string, limit int) string {
	arg := own[limit]
	name, value, pair := strings.Cut(arg, ":")
	isURL := strings.HasPrefix(arg, "http") && strings.Contains(arg, "://")
	takesURL := cmd.Flags().Lookup("url") != nil
	switch {
	case isURL && takesURL && (limit == 0 || own[0] != "read"):
		return "did you mean \"--url " + arg + "\"?"
	case limit > 0 && slices.Contains([]string{"read", "get", "list", "show", "call"}, own[0]):
		return "leave " + own[0] + " out: mcptest " + cmd.Name() + " " + shellwords.QuoteForShell(arg)
	case cmd.Flags().Lookup("arg") != nil && pair && name != "":
		return "did you mean \"--arg " + shellwords.QuoteForShell(name+"="+strings.TrimSpace(value)) + "\"?"
	case cmd.Flags().Lookup("arg") != nil && limit > 0:
		return "an argument of the tool is one word: --arg name=value; the server's command goes after --"
	case cmd.Flags().Changed("check") && (isSuiteName(arg) || filepath.Ext(arg) == ".json"):
		return "the lock file to compare with is that of --output: --output " + shellwords.QuoteForShell(arg)
	case isSuiteName(arg) && cmd.Flags().Lookup("config") != nil:
		config := "--config " + shellwords.QuoteForShell(arg)
		return "a suite names the server by " + config + "; the server's command goes after --"
	case cmdutil.FindStarter(arg) != "":
		return "the server's command goes after --: " + cmdutil.QuoteServer(arg)
	}
	return "the server's command goes after --"
}

// isSuiteName reports whether an argument has the suffix of a suite.
func isSuiteName(arg string) bool {
	ext := filepath.Ext(arg)
	return ext == ".yaml" || ext == ".yml"
}

// resolve returns the server's definition and declares its secrets.
func (f *TargetFlags) resolve(s cmdutil.Streams, argv []string, redactor *secret.Redactor) (*plan.Server, error) {
	f.tokenFile, f.lost = TokenPath(f.tokenFile, s)
	isConfigured := f.URL == "" && len(argv) == 0 && len(f.Configs) > 0
	if CountTrue(f.URL != "", len(argv) > 0, f.Server != "" || isConfigured) != 1 {
		return nil, Invalid("expected exactly one server: --url URL, --server NAME of a suite, or -- command args…%s", f.meant)
	}
	if f.Timeout <= 0 || f.ConnectTimeout <= 0 {
		return nil, Invalid("--timeout and --connect-timeout must be greater than zero")
	}
	if f.waitForReady < 0 {
		return nil, Invalid("--wait-for-ready must be greater than zero")
	}
	if err := f.limits.Check(); err != nil {
		return nil, err
	}
	if !slices.Contains([]string{wire.HTTPAuto, wire.StreamableHTTP, wire.HTTPSSE}, f.Transport) {
		return nil, Invalid("--transport: expected auto, streamable-http or sse, got %q", f.Transport)
	}
	if f.Protocol != mcp.Auto && !slices.Contains(protocol.Versions(), f.Protocol) {
		return nil, Invalid("--protocol: expected auto or one of %s, got %q", strings.Join(protocol.Versions(), ", "), f.Protocol)
	}
	if _, err := KnownClient(f.Client); err != nil {
		return nil, err
	}
	switch {
	case f.URL != "":
		return f.remote(s, redactor)
	case len(argv) > 0:
		if f.hasHTTPOnly() {
			return nil, Invalid("-H, --bearer-token-env, --ca-file, --insecure and --transport require --url")
		}
		redactor.Add(secret.FindInEnviron(s.Env)...)
		return f.Program(s, argv)
	}
	if f.hasHTTPOnly() {
		return nil, Invalid("-H, --bearer-token-env, --ca-file, --insecure and --transport require --url; servers of a suite are configured in the suite")
	}
	return f.OfSuite(s, redactor)
}

// EnvNames returns the variables of the environment that the command after -- gets.
func (f *TargetFlags) EnvNames() []string { return f.env }

// Resolve is how a command gets the definition of its only server; it declares the secrets.
func (f *TargetFlags) Resolve(s cmdutil.Streams, argv []string, redactor *secret.Redactor) (*plan.Server, error) {
	return f.resolve(s, argv, redactor)
}

// CountTrue counts the conditions that hold.
func CountTrue(conditions ...bool) (n int) {
	for _, holds := range conditions {
		if holds {
			n++
		}
	}
	return n
}

func (f *TargetFlags) hasHTTPOnly() bool {
	return len(f.Headers) > 0 || f.BearerEnv != "" || f.CAFile != "" || f.Insecure || f.Transport != wire.HTTPAuto
}

// makeServer returns a definition with the settings of the flags.
func (f *TargetFlags) makeServer() *plan.Server {
	sv := &plan.Server{
		Name: "server", Pos: source.Pos{File: &source.File{}}, Transport: f.Transport, Protocol: f.Protocol,
		ConnectTimeout: f.ConnectTimeout, Timeout: f.Timeout, Sessions: 1, Tolerate: map[string]bool{}, ValidateOutput: true,
	}
	f.introduce(sv)
	return sv
}

// introduce makes the client of a server the one that --client names. The name has been
// checked.
func (f *TargetFlags) introduce(sv *plan.Server) {
	if c, ok := plan.FindClient(f.Client); ok {
		sv.Client = c
	}
}

// Program returns a server that the command starts in the current folder, with the
// environment that a suite would give it.
func (f *TargetFlags) Program(s cmdutil.Streams, argv []string) (*plan.Server, error) {
	if argv[0] == "" {
		return nil, Invalid("the server's command is empty")
	}
	dir, err := os.Getwd()
	if err != nil {
		return nil, Fail(ExitInternal, "find the current folder: %v", err)
	}
	sv := f.makeServer()
	if err := EnvSet(s.Env, "--env", f.env...); err != nil {
		return nil, err
	}
	program, err := f.openBundleProgram(s, argv)
	if err != nil {
		return nil, err
	}
	if program != nil {
		f.startBundle(s, sv, program)
		return sv, nil
	}
	sv.Argv, sv.Dir = slices.Clone(argv), dir
	sv.Env, sv.Withheld = plan.SplitServerEnv(s.Env, f.env)
	if argv[0] == "mcptest" && s.Self != "" {
		sv.Argv[0] = s.Self // as in a suite
	}
	return sv, nil
}

// startBundle makes the server start a bundle, with the environment that a suite would give it.
func (f *TargetFlags) startBundle(s cmdutil.Streams, sv *plan.Server, p *bundle.Program) {
	sv.Bundle, sv.Argv, sv.Dir = p, p.Argv, p.Dir
	sv.Env, sv.Withheld = plan.SplitBundleEnv(s.Env, f.env, p)
}

func (f *TargetFlags) remote(s cmdutil.Streams, redactor *secret.Redactor) (*plan.Server, error) {
	sv := f.makeServer()
	u, err := HTTPURL("--url", f.URL, redactor)
	if err != nil {
		return nil, err
	}
	if password, ok := u.User.Password(); ok {
		redactor.Add(password)
	}
	sv.URL = f.URL
	for _, h := range f.Headers {
		name, value, err := SplitHeader(h)
		if err != nil {
			return nil, err
		}
		sv.Headers = append(sv.Headers, plan.Header{Name: http.CanonicalHeaderKey(name), Value: value})
		redactor.Add(value)
		if _, credential, ok := strings.Cut(value, " "); ok && strings.EqualFold(name, "Authorization") {
			redactor.Add(credential)
		}
	}
	if f.BearerEnv != "" {
		if err := EnvSet(s.Env, "--bearer-token-env", f.BearerEnv); err != nil {
			return nil, err
		}
		token := cmdutil.LookupEnv(s.Env, f.BearerEnv)
		redactor.Add(token)
		sv.Headers = append(sv.Headers, plan.Header{Name: "Authorization", Value: "Bearer " + token})
	}
	if !sv.SendsCredentials() {
		f.useLogin(s, sv)
	}
	if f.CAFile != "" || f.Insecure {
		sv.TLS = &suite.TLS{CAFile: f.CAFile, Insecure: f.Insecure}
	}
	return sv, nil
}

// useLogin uses the token of an earlier login to this address, if there is one.
func (f *TargetFlags) useLogin(s cmdutil.Streams, sv *plan.Server) {
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

// HTTPURL parses an address of HTTP.
func HTTPURL(what, address string, redactor *secret.Redactor) (*url.URL, error) {
	u, err := url.Parse(address)
	if err != nil || u.Scheme != "http" && u.Scheme != "https" || u.Hostname() == "" {
		return nil, Invalid("%s: %q is not an http or https address", what, redactor.String(address))
	}
	return u, nil
}

// Words splits the command line in the value of a flag.
func Words(flag, line string) (argv []string, err error) {
	if argv, err = shellwords.Argv(line); err != nil {
		return nil, Invalid("%s: %v", flag, err)
	}
	return argv, nil
}

// SplitHeader splits the argument of -H.
func SplitHeader(h string) (name, value string, err error) {
	name, value, ok := strings.Cut(h, ":")
	name, value = strings.TrimSpace(name), strings.TrimSpace(value)
	if !ok || !suite.IsHeaderName(name) || strings.ContainsAny(value, "\r\n\x00") {
		return "", "", Invalid("-H: expected 'Name: value' (the argument is not shown because it may contain a secret)")
	}
	return name, value, nil
}

// compileFile returns the suite file of --config.
func (f *TargetFlags) compileFile(s cmdutil.Streams, redactor *secret.Redactor) (*plan.File, error) {
	paths, err := f.Paths(nil)
	if err != nil {
		return nil, err
	}
	if len(paths) != 1 {
		return nil, Invalid("--config: expected one suite file, got %d", len(paths))
	}
	p, diags, err := f.Compile(paths, s, redactor)
	if err != nil {
		return nil, err
	}
	if !f.compiledOnce || diags.HasErrors() {
		if errs, _ := PrintDiagnostics(s, f.Color, diags); errs > 0 || len(p.Files) != 1 {
			return nil, Invalid("%s in %s", display.Count(max(errs, 1), "error"), paths[0])
		}
	}
	f.compiledOnce = true
	return p.Files[0], nil
}

// Names returns the servers that the flags select: those of a suite that match a pattern,
// or if all is set, all of a suite without --server; otherwise one.
func (f *TargetFlags) Names(s cmdutil.Streams, argv []string, all bool) (names []string, err error) {
	all = all && f.Server == "" && len(f.Configs) > 0
	if len(argv) > 0 || f.URL != "" || !all && !strings.Contains(f.Server, "*") {
		return []string{f.Server}, nil
	}
	file, err := f.compileFile(s, secret.NewRedactor())
	if err != nil {
		return nil, err
	}
	for _, sv := range file.Matching(cmp.Or(f.Server, "*")) {
		names = append(names, sv.Name)
	}
	if len(names) == 0 {
		return nil, Invalid("%s", explainNoServer(file, f.Server))
	}
	return names, nil
}

// OfSuite returns the definition of a server in a suite: the named one, or the
// default.
func (f *TargetFlags) OfSuite(s cmdutil.Streams, redactor *secret.Redactor) (*plan.Server, error) {
	file, err := f.compileFile(s, redactor)
	if err != nil {
		return nil, err
	}
	sv := file.Default
	if f.Server != "" {
		sv = file.Server(f.Server)
	}
	if sv == nil {
		return nil, Invalid("%s", explainNoServer(file, f.Server))
	}
	if (f.tokenFile != "" || f.lost != nil) && sv.NeedsLogin() {
		if why := newNoToken(f.tokenFile, f.lost)(sv); why != "" {
			return nil, Invalid("%s; run: %s", why, sv.LoginCommand())
		}
	}
	out := *sv
	if f.Protocol != mcp.Auto {
		out.Protocol = f.Protocol
	}
	out.Timeout = cmp.Or(out.Timeout, f.Timeout)
	return &out, nil
}

func explainNoServer(file *plan.File, name string) string {
	what := " declares no server called " + name
	if name == "" {
		what = " has no default server: use --server NAME"
	}
	return file.Path + what + source.Parenthesis(file.Suite.SuggestServer(name))
}

// Where describes the target: the address, or the command.
func Where(sv *plan.Server) string {
	if sv.URL != "" {
		return sv.URL
	}
	return shellwords.QuoteAllForShell(sv.Written())
}

// Usage returns the flags and arguments that select the same server, or "". The line
// is for output: credentials in it are masked.
func (f *TargetFlags) Usage(s cmdutil.Streams, argv []string) string {
	var words []string
	switch {
	case len(argv) > 0:
		for _, name := range f.env {
			words = append(words, "--env", name)
		}
		words = append(append(words, "--"), argv...)
	case f.URL != "":
		words = []string{"--url", f.URL}
	case f.Server != "":
		suite := cmp.Or(strings.Join(f.Configs, ""), DefaultSuites[0])
		words = []string{"--server", f.Server, "--config", filepath.ToSlash(suite)}
	default:
		return ""
	}
	if f.Client != "" {
		words = append([]string{"--client", f.Client}, words...)
	}
	redactor := secret.NewRedactor()
	redactor.Add(secret.FindInEnviron(s.Env)...)
	redactor.Add(secret.Arguments(argv)...)
	for i, word := range words { // one by one, because a short secret is only masked as a whole
		words[i] = redactor.Whole(word, nil)
	}
	return " " + redactor.Whole(shellwords.QuoteAllForShell(words), nil)
}

// Palette returns the colors of standard output.
func (f *TargetFlags) Palette(s cmdutil.Streams) (term.Palette, error) {
	profile, err := term.Detect(s.Out, s.Env, f.Color)
	if err != nil {
		return term.Palette{}, Invalid("%v", err)
	}
	return term.NewPalette(profile), nil
}

// CleanupContext returns a context that limits the ending of processes of another
// run.
func CleanupContext() (context.Context, context.CancelFunc) {
	return context.WithTimeout(context.Background(), 10*time.Second)
}
