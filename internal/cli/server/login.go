package server

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"mcptest/internal/process/proc"

	"github.com/spf13/cobra"

	"mcptest/internal/base/display"
	"mcptest/internal/base/jsonv"
	"mcptest/internal/base/secret"
	"mcptest/internal/base/term"
	"mcptest/internal/cli/cmdutil"
	"mcptest/internal/cli/option"
	"mcptest/internal/client/auth"
	"mcptest/internal/client/mcp"
	"mcptest/internal/run/connect"
	"mcptest/internal/spec/plan"
	"mcptest/internal/spec/suite"
)

// loginFlags are the flags of `mcptest login`.
type loginFlags struct {
	option.SuiteFlags
	device, noBrowser, list, json bool
	clientID, secretEnv, issuer   string
	metadataURL, scope            string
	port                          int
	caFile                        string
	insecure                      bool
	timeout                       time.Duration
	tokenFile                     string
}

// loginTime limits the duration of a login.
const loginTime = 10 * time.Minute

// NewLoginCmd returns the command `mcptest login`.
func NewLoginCmd(s cmdutil.Streams) *cobra.Command {
	var f loginFlags
	cmd := &cobra.Command{
		Use:   "login (SERVER | URL)",
		Short: "Log in to a server that requires OAuth, for later runs",
		Long: `Log in to a server that requires OAuth and store the tokens. Later commands use and refresh them without asking:
commands that connect to the server by its address, and mcptest run for servers whose suite contains
auth: {oauth: {grant: authorization_code}}. SERVER is the name of a server in a suite (see --config).

The login opens a browser, which is redirected to a local port when the login is complete. --no-browser only prints
the address. --device prints a short code instead, which you enter in a browser on any machine.

The tokens are stored in one file that only you can read; no output shows them.

Exit codes: 0 logged in, 1 login failed, 2 invalid command line, 130 interrupted.`,
		Example: `  mcptest login https://mcp.example.com/mcp
  mcptest login api --config suite.yaml --device
  mcptest login --list`,
		Args: cobra.MaximumNArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			if f.list {
				return f.listLogins(s, args)
			}
			return f.run(cmd.Context(), s, args)
		},
	}
	f.SuiteFlags.Add(cmd)
	fl := cmd.Flags()
	fl.BoolVar(&f.device, "device", false, "log in with a code that you enter in a browser on any machine (RFC 8628)")
	fl.BoolVar(&f.noBrowser, "no-browser", false, "print the address instead of opening a browser")
	fl.BoolVar(&f.list, "list", false, "list the stored logins, without their tokens")
	fl.BoolVar(&f.json, "json", false, "with --list: print JSON")
	fl.StringVar(&f.clientID, "client-id", "", "the client's `id` (default: the client registers itself)")
	fl.StringVar(&f.secretEnv, "client-secret-env", "", "the environment `variable` that contains the client secret; requires --issuer")
	fl.StringVar(&f.issuer, "issuer", "", "the authorization server's `address`; any other is refused")
	fl.StringVar(&f.metadataURL, "client-metadata-url", "", "`address` of a client ID metadata document")
	fl.StringVar(&f.scope, "scope", "", "`scopes` to request instead of those that the server suggests")
	fl.IntVar(&f.port, "redirect-port", 0, "`port` on 127.0.0.1 to which the browser is redirected (default: any free port)")
	fl.StringVar(&f.caFile, "ca-file", "", "also trust the certificate authorities in this PEM `file`")
	fl.BoolVar(&f.insecure, "insecure", false, "don't verify the servers' certificates")
	fl.DurationVar(&f.timeout, "timeout", loginTime, "how long to wait for the login")
	option.AddTokenFile(cmd, &f.tokenFile)
	return cmd
}

func (f *loginFlags) run(ctx context.Context, s cmdutil.Streams, args []string) error {
	if len(args) == 0 {
		return option.Invalid("missing server: pass its address, or its name in a suite")
	}
	if f.timeout <= 0 {
		return option.Invalid("--timeout must be greater than zero")
	}
	redactor := secret.NewRedactor()
	c, err := f.makeConfig(s, args[0], redactor)
	if err != nil {
		return err
	}
	path, err := option.TokenPath(f.tokenFile, s)
	if err != nil {
		return err
	}
	c.Store, c.Secret = auth.OpenStore(path), redactor.Add
	if _, err := c.Store.List(); err != nil {
		return option.Invalid("%v", err)
	}
	ctx, stop := cmdutil.WatchSignals(ctx, s.Err, s.Exit)
	defer stop()
	ctx, cancel := context.WithTimeoutCause(ctx, f.timeout, fmt.Errorf("timed out after %s (limit: --timeout)", f.timeout))
	defer cancel()
	login, err := auth.LogIn(ctx, c, f.newPrompt(s))
	sig, ok := errors.AsType[*proc.Interrupted](context.Cause(ctx))
	switch {
	case ok:
		return &option.ExitError{Code: sig.Code, Message: sig.Error()}
	case err != nil:
		return option.Fail(option.ExitFailed, "login: %s", redactor.String(err.Error()))
	}
	_, err = fmt.Fprintf(s.Out, "logged in to %s%s\nThe tokens are stored in %s\n", term.Escape(login.Server), term.Escape(summarizeLogin(login)), path)
	return err
}

func summarizeLogin(l auth.Login) string {
	s := ", at " + l.Issuer
	if len(l.Scopes) > 0 {
		s += ", scopes " + strings.Join(l.Scopes, " ")
	}
	return s
}

// newPrompt prints to the error stream what the user must do to log in.
func (f *loginFlags) newPrompt(s cmdutil.Streams) auth.Person {
	return auth.Person{
		Open: func(address string) {
			if !f.noBrowser && option.OpenBrowser(s, address) {
				fmt.Fprintf(s.Err, "A browser was opened to log in. If it did not open, visit:\n\n  %s\n\n", term.Escape(address))
				return
			}
			fmt.Fprintf(s.Err, "Open this address in a browser on this machine to log in:\n\n  %s\n\n", term.Escape(address))
		},
		Enter: func(code, address, complete string, ends time.Time) {
			fmt.Fprintf(s.Err, "Open this address in any browser:\n\n  %s\n\nand enter the code:\n\n  %s\n\n", term.Escape(address), term.Escape(code))
			if complete != "" {
				fmt.Fprintf(s.Err, "or open this one, which contains the code:\n\n  %s\n\n", term.Escape(complete))
			}
			if !ends.IsZero() {
				fmt.Fprintf(s.Err, "The code is valid for %s.\n", time.Until(ends).Round(time.Second))
			}
		},
	}
}

// makeConfig returns the configuration of a login from the suite and the flags.
func (f *loginFlags) makeConfig(s cmdutil.Streams, target string, redactor *secret.Redactor) (auth.Config, error) {
	sv, err := f.findServer(s, target, redactor)
	if err != nil {
		return auth.Config{}, err
	}
	c := connect.OAuth(sv)
	if f.device {
		c.Grant = auth.DeviceCode
	}
	c.ClientID, c.Issuer = cmp.Or(f.clientID, c.ClientID), cmp.Or(f.issuer, c.Issuer)
	c.ClientMetadataURL, c.RedirectPort = cmp.Or(f.metadataURL, c.ClientMetadataURL), cmp.Or(f.port, c.RedirectPort)
	if f.scope != "" {
		c.Scopes = strings.Fields(f.scope)
	}
	if f.secretEnv != "" {
		if c.ClientSecret = cmdutil.LookupEnv(s.Env, f.secretEnv); c.ClientSecret == "" {
			return auth.Config{}, option.Invalid("--client-secret-env: the environment variable %s is not set", f.secretEnv)
		}
	}
	redactor.Add(c.ClientSecret)
	switch {
	case f.port < 0 || f.port > 65535:
		return auth.Config{}, option.Invalid("--redirect-port must be from 1 to 65535")
	case c.ClientSecret != "" && (c.Issuer == "" || c.ClientID == ""):
		return auth.Config{}, option.Invalid("--client-secret-env requires --client-id and --issuer, so that the server cannot choose where the secret is sent")
	}
	if c.TLS, err = connect.TLSConfig(sv); err != nil {
		return auth.Config{}, option.Invalid("%v", err)
	}
	return c, nil
}

// findServer returns the server to log in to.
func (f *loginFlags) findServer(s cmdutil.Streams, target string, redactor *secret.Redactor) (*plan.Server, error) {
	if strings.Contains(target, "://") {
		u, err := option.HTTPURL("login", target, redactor)
		if err != nil {
			return nil, err
		}
		u.User = nil
		sv := &plan.Server{URL: u.String(), Auth: &suite.Auth{OAuth: &suite.OAuth{Grant: auth.AuthorizationCode}}}
		if f.caFile != "" || f.insecure {
			sv.TLS = &suite.TLS{CAFile: f.caFile, Insecure: f.insecure}
		}
		return sv, nil
	}
	if f.caFile != "" || f.insecure {
		return nil, option.Invalid("--ca-file and --insecure apply to an address only; servers of a suite are configured in the suite")
	}
	t := option.TargetFlags{SuiteFlags: f.SuiteFlags, Server: target, HTTPFlags: option.HTTPFlags{Protocol: mcp.Auto}}
	sv, err := t.OfSuite(s, redactor)
	switch {
	case err != nil:
		return nil, err
	case sv.URL == "":
		return nil, option.Invalid("%s is started by the suite and takes no login", target)
	case !sv.NeedsLogin():
		return nil, option.Invalid("%s needs no user login: its auth has no oauth with grant authorization_code or device_code", target)
	}
	return sv, nil
}

// listLogins prints the stored logins, without the tokens.
func (f *loginFlags) listLogins(s cmdutil.Streams, args []string) error {
	if len(args) > 0 {
		return option.Invalid("login --list: unexpected argument %q", args[0])
	}
	path, err := option.TokenPath(f.tokenFile, s)
	if err != nil {
		return err
	}
	all, err := auth.OpenStore(path).List()
	if err != nil {
		return option.Invalid("%v", err)
	}
	if f.json {
		_, err = fmt.Fprintln(s.Out, display.JSON(string(jsonv.List(all, formatLogin).Indent("", "  "))))
		return err
	}
	if len(all) == 0 {
		_, err = fmt.Fprintln(s.Out, "no stored logins")
		return err
	}
	for _, l := range all {
		client := cmp.Or(l.Client, "registered automatically")
		_, err = fmt.Fprintf(s.Out, "%s\n  issuer %s, client %s\n", term.Escape(l.Server), term.Escape(l.Issuer), term.Escape(client))
		if err != nil {
			return err
		}
		if len(l.Scopes) > 0 {
			fmt.Fprintf(s.Out, "  scopes %s\n", term.Escape(strings.Join(l.Scopes, " ")))
		}
		fmt.Fprintf(s.Out, "  %s\n", describeValidity(l))
	}
	return nil
}

// describeValidity describes how long a login is valid.
func describeValidity(l auth.Login) string {
	left := time.Until(l.Expiry).Round(time.Second)
	renewed := l.RefreshToken != ""
	switch {
	case l.Expiry.IsZero():
		return "the token states no expiry"
	case left > 0 && renewed:
		return fmt.Sprintf("valid for %s, then refreshed", left)
	case left > 0:
		return fmt.Sprintf("valid for %s, then a new login is required", left)
	case renewed:
		return "expired, will be refreshed"
	}
	return "expired: log in again"
}

func formatLogin(l auth.Login) jsonv.Value {
	var scopes, expires jsonv.Value // absent: the server did not say
	if len(l.Scopes) > 0 {
		scopes = jsonv.From(l.Scopes)
	}
	if !l.Expiry.IsZero() {
		expires = jsonv.String(l.Expiry.UTC().Format(time.RFC3339))
	}
	return jsonv.ObjectOf(
		"server", l.Server,
		"issuer", l.Issuer,
		"client_id", l.ClientID,
		"scopes", scopes,
		"expires", expires,
		"refreshed", l.RefreshToken != "",
		"obtained", l.Obtained.UTC().Format(time.RFC3339),
	)
}

// NewLogoutCmd returns the command `mcptest logout`.
func NewLogoutCmd(s cmdutil.Streams) *cobra.Command {
	var f loginFlags
	var all bool
	cmd := &cobra.Command{
		Use:   "logout (SERVER | URL | --all)",
		Short: "Delete the tokens of a login",
		Long: `Delete the tokens that mcptest login stored for a server, for every client. The tokens are not revoked at the
authorization server.`,
		Example: `  mcptest logout https://mcp.example.com/mcp
  mcptest logout --all`,
		Args: cobra.MaximumNArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			if all == (len(args) == 1) {
				return option.Invalid("missing server: pass its address, its name in a suite, or --all")
			}
			return f.logout(cmd, s, args)
		},
	}
	f.SuiteFlags.Add(cmd)
	cmd.Flags().BoolVar(&all, "all", false, "delete every stored login")
	option.AddTokenFile(cmd, &f.tokenFile)
	return cmd
}

func (f *loginFlags) logout(cmd *cobra.Command, s cmdutil.Streams, args []string) error {
	fits := func(auth.Login) bool { return true }
	if len(args) == 1 {
		sv, err := f.findServer(s, args[0], secret.NewRedactor())
		if err != nil {
			return err
		}
		key := auth.MakeServerKey(sv.URL)
		fits = func(l auth.Login) bool { return l.Server == key }
	}
	path, err := option.TokenPath(f.tokenFile, s)
	if err != nil {
		return err
	}
	gone, err := auth.OpenStore(path).Remove(cmd.Context(), fits)
	if err != nil {
		return option.Invalid("%v", err)
	}
	if len(gone) == 0 {
		_, err = fmt.Fprintln(s.Out, "no stored login found")
		return err
	}
	slices.SortFunc(gone, func(a, b auth.Login) int { return strings.Compare(a.Server, b.Server) })
	for _, l := range gone {
		if _, err := fmt.Fprintf(s.Out, "logged out of %s\n", term.Escape(l.Server)); err != nil {
			return err
		}
	}
	return nil
}
