package tape

import (
	"fmt"
	"strings"

	"github.com/spf13/cobra"

	"mcptest/internal/cassette"
	"mcptest/internal/cli/option"
	"mcptest/internal/cmdutil"
	"mcptest/internal/display"
	"mcptest/internal/jsonv"
	"mcptest/internal/term"
)

// NewCassetteCmd returns the command `mcptest cassette`.
func NewCassetteCmd(s cmdutil.Streams) *cobra.Command {
	cmd := &cobra.Command{
		Use:   "cassette",
		Short: "Show cassettes, and work with what they contain",
		Args:  cobra.NoArgs,
		RunE:  func(cmd *cobra.Command, _ []string) error { return cmd.Help() },
	}
	cmd.AddCommand(newShowCmd(s), newVerifyCmd(s), newDiffCmd(s), newPromoteCmd(s), newRedactCmd(s))
	return cmd
}

func newShowCmd(s cmdutil.Streams) *cobra.Command {
	return &cobra.Command{
		Use:   "show FILE",
		Short: "List what a cassette contains",
		Args:  cobra.ExactArgs(1),
		RunE: func(_ *cobra.Command, args []string) error {
			c, err := open(s, args[0])
			if err != nil {
				return err
			}
			defer c.Close()
			return show(s, c)
		},
	}
}

// show prints one line for each message of a client.
func show(s cmdutil.Streams, c *cassette.Cassette) error {
	calls, err := c.Calls()
	if err != nil {
		return option.Fail(option.ExitInvalid, "%v", err)
	}
	line := func(format string, args ...any) {
		fmt.Fprintln(s.Out, term.Escape(fmt.Sprintf(format, args...)))
	}
	info, _ := jsonv.Parse(c.Server.Info)
	line("%s: %s %s, %s, protocol version %s", c.File, info.Lookup("name").Text(), info.Lookup("version").Text(), c.Transport, c.Protocol)
	line("recorded %s by %s; masked: %s", c.Recorded.Format("2006-01-02 15:04:05 MST"), c.Program, strings.Join(c.Masks, ", "))
	for _, call := range calls {
		if call.Request == nil {
			continue
		}
		outcome := ""
		switch {
		case call.ID == "":
		case call.Response == nil:
			outcome = "no response"
		default:
			outcome = (call.Response.At - call.Request.At).String()
			data, err := c.Data(call.Response)
			if err != nil {
				return option.Fail(option.ExitInvalid, "%v", err)
			}
			if v, _ := jsonv.Parse(data); !v.Lookup("error").IsAbsent() {
				outcome += ", error " + v.Lookup("error", "code").Literal()
			} else if v.Lookup("result", "isError").Bool() {
				outcome += ", isError"
			}
		}
		more := ""
		if n := len(call.Frames); n > 1 {
			more = ", " + display.Count(n-1, "more message")
		}
		line("line %-5d session %d  %s %s  %s%s", call.Request.Line, call.Session, call.Method+call.Verb, call.Name, outcome, more)
	}
	return nil
}
