package cli

import (
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"mcptest/internal/auth"
	"mcptest/internal/cmdutil"
	"mcptest/internal/connect"
	"mcptest/internal/jsonv"
	"mcptest/internal/plan"
	"mcptest/internal/secret"
	"mcptest/internal/term"
)

// tokenFileEnv names the file of tokens where no flag does.
const tokenFileEnv = "MCPTEST_TOKEN_FILE"

func addTokenFile(cmd *cobra.Command, to *string) {
	cmd.Flags().StringVar(to, "token-file", "", "`file` that stores the tokens of logins (default: $"+tokenFileEnv+", or mcptest/tokens.json in your configuration directory)")
}

// tokenPath is where logins are kept.
func tokenPath(flag string, s cmdutil.Streams) (string, error) {
	if flag != "" {
		return flag, nil
	}
	if path := cmdutil.LookupEnv(s.Env, tokenFileEnv); path != "" {
		return path, nil
	}
	path, err := auth.DefaultStore()
	if err != nil {
		return "", fail(exitInvalid, "%v: use --token-file or set %s", err, tokenFileEnv)
	}
	return path, nil
}

// noToken says why a server that a person has to log in to can't be used, ""
// when it can. lost is why there is no file of tokens: who needs no login
// needs none, and may have no home directory (cron, a container).
func noToken(path string, lost error) func(*plan.Server) string {
	store := auth.OpenStore(path)
	return func(sv *plan.Server) string {
		if lost != nil {
			return "the stored logins can't be read: " + lost.Error()
		}
		c := connect.OAuth(sv)
		client := c.ClientID
		if client == "" {
			client = c.ClientMetadataURL
		}
		switch l, err := store.Find(auth.Query{Server: c.Resource, Issuer: c.Issuer, Client: client}); {
		case err != nil:
			return err.Error()
		case l == nil:
			return "not logged in to " + auth.ServerKey(c.Resource)
		}
		return ""
	}
}

// needLogins refuses a run that lacks a login: a broken environment.
func (f *suiteFlags) needLogins(s cmdutil.Streams, p *plan.Plan, tokens string, lost error) error {
	if diags := plan.NeedLogin(p, noToken(tokens, lost)); diags.HasErrors() {
		f.print(s, diags)
		return fail(exitInvalid, "a login is missing; nothing was run")
	}
	return nil
}

// listLogins prints what is kept, without the tokens.
func (f *loginFlags) listLogins(s cmdutil.Streams, args []string) error {
	if len(args) > 0 {
		return fail(exitInvalid, "login --list: unexpected argument %q", args[0])
	}
	path, err := tokenPath(f.tokenFile, s)
	if err != nil {
		return err
	}
	all, err := auth.OpenStore(path).List()
	if err != nil {
		return fail(exitInvalid, "%v", err)
	}
	if f.json {
		var out []jsonv.Value
		for _, l := range all {
			out = append(out, loginJSON(l))
		}
		_, err = fmt.Fprintln(s.Out, asciiSafe(string(jsonv.Array(out...).Indent("", "  "))))
		return err
	}
	if len(all) == 0 {
		_, err = fmt.Fprintln(s.Out, "no stored logins")
		return err
	}
	for _, l := range all {
		client := l.Client
		if client == "" {
			client = "registered automatically"
		}
		if _, err = fmt.Fprintf(s.Out, "%s\n  issuer %s, client %s\n", term.Escape(l.Server), term.Escape(l.Issuer), term.Escape(client)); err != nil {
			return err
		}
		if len(l.Scopes) > 0 {
			fmt.Fprintf(s.Out, "  scopes %s\n", term.Escape(strings.Join(l.Scopes, " ")))
		}
		fmt.Fprintf(s.Out, "  %s\n", validity(l))
	}
	return nil
}

// validity says how long a login serves.
func validity(l auth.Login) string {
	left := time.Until(l.Expiry).Round(time.Second)
	switch renewed := l.RefreshToken != ""; {
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

func loginJSON(l auth.Login) jsonv.Value {
	text := func(k, v string) jsonv.Member { return jsonv.Member{Key: k, Value: jsonv.String(v)} }
	m := []jsonv.Member{text("server", l.Server), text("issuer", l.Issuer), text("client_id", l.ClientID)}
	if len(l.Scopes) > 0 {
		m = append(m, jsonv.Member{Key: "scopes", Value: jsonv.From(l.Scopes)})
	}
	if !l.Expiry.IsZero() {
		m = append(m, text("expires", l.Expiry.UTC().Format(time.RFC3339)))
	}
	m = append(m, jsonv.Member{Key: "refreshed", Value: jsonv.Bool(l.RefreshToken != "")}, text("obtained", l.Obtained.UTC().Format(time.RFC3339)))
	return jsonv.Object(m...)
}

func newLogoutCmd(s cmdutil.Streams) *cobra.Command {
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
				return fail(exitInvalid, "missing server: pass its address, its name in a suite, or --all")
			}
			return f.logout(cmd, s, args)
		},
	}
	f.suiteFlags.add(cmd)
	cmd.Flags().BoolVar(&all, "all", false, "delete every stored login")
	addTokenFile(cmd, &f.tokenFile)
	return cmd
}

func (f *loginFlags) logout(cmd *cobra.Command, s cmdutil.Streams, args []string) error {
	fits := func(auth.Login) bool { return true }
	if len(args) == 1 {
		sv, err := f.server(s, args[0], secret.NewRedactor())
		if err != nil {
			return err
		}
		key := auth.ServerKey(sv.URL)
		fits = func(l auth.Login) bool { return l.Server == key }
	}
	path, err := tokenPath(f.tokenFile, s)
	if err != nil {
		return err
	}
	gone, err := auth.OpenStore(path).Remove(background(cmd.Context()), fits)
	if err != nil {
		return fail(exitInvalid, "%v", err)
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
