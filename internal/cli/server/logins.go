package server

import (
	"cmp"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"mcptest/internal/auth"
	"mcptest/internal/cli/option"
	"mcptest/internal/cmdutil"
	"mcptest/internal/display"
	"mcptest/internal/jsonv"
	"mcptest/internal/secret"
	"mcptest/internal/term"
)

// listLogins prints the stored logins, without the tokens.
func (f *loginFlags) listLogins(s cmdutil.Streams, args []string) error {
	if len(args) > 0 {
		return option.Fail(option.ExitInvalid, "login --list: unexpected argument %q", args[0])
	}
	path, err := option.TokenPath(f.tokenFile, s)
	if err != nil {
		return err
	}
	all, err := auth.OpenStore(path).List()
	if err != nil {
		return option.Fail(option.ExitInvalid, "%v", err)
	}
	if f.json {
		var out []jsonv.Value
		for _, l := range all {
			out = append(out, loginJSON(l))
		}
		_, err = fmt.Fprintln(s.Out, display.JSON(string(jsonv.Array(out...).Indent("", "  "))))
		return err
	}
	if len(all) == 0 {
		_, err = fmt.Fprintln(s.Out, "no stored logins")
		return err
	}
	for _, l := range all {
		client := cmp.Or(l.Client, "registered automatically")
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

// validity describes how long a login is valid.
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
	var scopes, expires jsonv.Value
	if len(l.Scopes) > 0 {
		scopes = jsonv.From(l.Scopes)
	}
	if !l.Expiry.IsZero() {
		expires = jsonv.String(l.Expiry.UTC().Format(time.RFC3339))
	}
	return jsonv.ObjectOf("server", l.Server, "issuer", l.Issuer, "client_id", l.ClientID, "scopes", scopes, "expires", expires,
		"refreshed", l.RefreshToken != "", "obtained", l.Obtained.UTC().Format(time.RFC3339))
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
				return option.Fail(option.ExitInvalid, "missing server: pass its address, its name in a suite, or --all")
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
		sv, err := f.server(s, args[0], secret.NewRedactor())
		if err != nil {
			return err
		}
		key := auth.ServerKey(sv.URL)
		fits = func(l auth.Login) bool { return l.Server == key }
	}
	path, err := option.TokenPath(f.tokenFile, s)
	if err != nil {
		return err
	}
	gone, err := auth.OpenStore(path).Remove(option.Background(cmd.Context()), fits)
	if err != nil {
		return option.Fail(option.ExitInvalid, "%v", err)
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
