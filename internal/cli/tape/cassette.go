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
	"mcptest/internal/tape/cassette"
)

// NewCassetteCmd returns the command `mcptest cassette`.
func NewCassetteCmd(s cmdutil.Streams) *cobra.Command {
	cmd := &cobra.Command{
		Use:   "cassette",
		Short: "Show cassettes, and work with what they contain",
		Args:  cobra.NoArgs,
		RunE:  func(cmd *cobra.Command, _ []string) error { return cmd.Help() },
	}
	cmd.AddCommand(newShowCmd(s), newVerifyCmd(s), newDiffCmd(s), newPromoteCmd(s), newKeepCmd(s), newOpeningCmd(s),
		newRedactCmd(s))
	return cmd
}

func newRedactCmd(s cmdutil.Streams) *cobra.Command {
	var output string
	var names []string
	var force bool
	cmd := &cobra.Command{
		Use:   "redact FILE [-o FILE]",
		Short: "Mask secrets in a cassette again",
		Long: `Rewrite a cassette with all secrets masked that this version of mcptest recognizes, in both directions: texts that look
like a token, members with the names of credentials, and the values of credentials in the environment and of the
variables in --secret-env. FILE itself is not changed.

Exit codes: 0 the cassette was written, 2 invalid command line or cassette, or the output already exists.`,
		Example: `  mcptest cassette redact bug.cassette.ndjson --secret-env CUSTOMER -o shared.cassette.ndjson`,
		Args:    cobra.ExactArgs(1),
		RunE: func(_ *cobra.Command, args []string) error {
			output = cmp.Or(output, strings.TrimSuffix(args[0], cassette.Suffix)+"-redacted"+cassette.Suffix)
			if err := option.EnvSet(s.Env, "--secret-env", names...); err != nil {
				return err
			}
			if err := option.Free(output, force); err != nil {
				return err
			}
			if err := checkNotInput(args[0], output); err != nil {
				return err
			}
			c, err := open(s, args[0])
			if err != nil {
				return err
			}
			defer c.Close()
			redactor := secret.NewRedactor()
			redactor.Add(secret.FindInEnviron(s.Env)...)
			redactor.Add(secret.Arguments(c.Server.Command)...)
			for _, name := range names {
				value := cmdutil.LookupEnv(s.Env, name)
				redactor.Add(value)
				if len(strings.TrimSpace(value)) < secret.MinLength {
					fmt.Fprintf(s.Err, "mcptest: warning: %s has fewer than %d bytes: it is masked only where it is a whole text, not inside longer ones\n", name, secret.MinLength)
				}
			}
			changed, err := cassette.Redact(output, c, redactor)
			if err != nil {
				return option.Invalid("%v", err)
			}
			fmt.Fprintf(s.Err, "mcptest: masked secrets in %s; wrote %s\n", display.Count(changed, "message"), term.Escape(output))
			return nil
		},
	}
	fl := cmd.Flags()
	fl.StringVarP(&output, "output", "o", "", "cassette `file` to write (default FILE with -redacted before its suffix)")
	fl.StringArrayVar(&names, "secret-env", nil, "mask the value of this environment `variable`; may be repeated")
	fl.BoolVar(&force, "force", false, "overwrite an existing cassette")
	return cmd
}
