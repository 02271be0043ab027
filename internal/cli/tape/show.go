package tape

import (
	"cmp"
	"context"
	"fmt"
	"io"
	"strings"

	"github.com/spf13/cobra"

	"mcptest/internal/base/display"
	"mcptest/internal/base/osfile"
	"mcptest/internal/base/term"
	"mcptest/internal/cli/cmdutil"
	"mcptest/internal/cli/option"
	"mcptest/internal/report/html"
	"mcptest/internal/tape/cassette"
	"mcptest/internal/tape/timeline"
)

type showFlags struct {
	html, force bool
	output      string
}

func newShowCmd(s cmdutil.Streams) *cobra.Command {
	var f showFlags
	cmd := &cobra.Command{
		Use:   "show FILE",
		Short: "List what a cassette contains",
		Long: `List the messages of the client in a cassette with their outcomes. --html writes a page instead, which shows every message
with its bytes and the violations of the protocol in it, and needs no network and no other file: it can be sent to a
colleague. Secrets are masked in it once more. Nothing in a cassette is executed.

Exit codes: 0 the list or the page was written, 2 invalid command line or cassette, or the output already exists.`,
		Example: `  mcptest cassette show bug.cassette.ndjson
  mcptest cassette show bug.cassette.ndjson --html -o bug.html`,
		Args: cobra.ExactArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			if err := f.check(s); err != nil {
				return err
			}
			c, err := open(s, args[0])
			if err != nil {
				return err
			}
			defer c.Close()
			if f.html {
				return f.writePage(cmd.Context(), s, c)
			}
			return show(s, c)
		},
	}
	fl := cmd.Flags()
	fl.BoolVar(&f.html, "html", false, "write a page with all messages")
	fl.StringVarP(&f.output, "output", "o", "", "write the page to this `file` instead of standard output")
	fl.BoolVar(&f.force, "force", false, "overwrite an existing file")
	return cmd
}

// check refuses what needs no look at the cassette.
func (f *showFlags) check(s cmdutil.Streams) error {
	switch {
	case !f.html && (f.output != "" || f.force):
		return option.Invalid("--output and --force require --html")
	case !f.html:
		return nil
	case f.output != "":
		return option.Free(f.output, f.force)
	case term.IsTerminal(s.Out):
		return option.Invalid("--html writes a page, and standard output is a terminal: add -o FILE")
	}
	return nil
}

// describeHead returns two lines about a cassette: what was recorded, and how.
func describeHead(c *cassette.Cassette, calls []*cassette.Call) []string {
	server := strings.TrimSpace(strings.Join(describeInfo(c), " "))
	server = cmp.Or(server, strings.Join(c.Server.Command, " "), c.Server.URL, "unknown server")
	versions := cmp.Or(strings.Join(c.Versions(calls), ", "), c.Protocol, "unknown")
	recorded := c.Recorded.Format("2006-01-02 15:04:05 MST")
	return []string{
		fmt.Sprintf("%s, %s, protocol version %s", server, c.Transport, versions),
		fmt.Sprintf("recorded %s by %s; masked: %s", recorded, c.Program, strings.Join(c.Masks, ", ")),
	}
}

// show prints one line for each message of a client.
func show(s cmdutil.Streams, c *cassette.Cassette) error {
	calls, err := c.Calls()
	if err != nil {
		return option.Invalid("%v", err)
	}
	line := func(format string, args ...any) {
		fmt.Fprintln(s.Out, term.Escape(fmt.Sprintf(format, args...)))
	}
	head := describeHead(c, calls)
	line("%s: %s", c.File, head[0])
	line("%s", head[1])
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
			v := c.Value(call.Response)
			if err := c.Err(); err != nil {
				return option.Invalid("%v", err)
			}
			if !v.Lookup("error").IsAbsent() {
				outcome += ", error " + v.Lookup("error", "code").Literal()
			} else if v.Lookup("result", "isError").Bool() {
				outcome += ", isError"
			}
		}
		more := ""
		if n := len(call.Frames); n > 1 {
			more = ", " + display.Count(n-1, "more message")
		}
		what := call.Method + call.Verb + " " + call.Name
		line("line %-5d session %d  %s  %s%s", call.Request.Line, call.Session, what, outcome, more)
	}
	return nil
}

// writePage writes the page of a cassette.
func (f *showFlags) writePage(ctx context.Context, s cmdutil.Streams, c *cassette.Cassette) error {
	rows, loose, err := timeline.Read(c, timeline.Violations(ctx, c, cmdutil.Version()))
	if err != nil {
		return option.Invalid("%v", err)
	}
	calls, err := c.Calls()
	if err != nil {
		return option.Invalid("%v", err)
	}
	p := newPage(s, c, rows)
	page := html.Traffic{
		Title: c.File, Facts: p.mask(describeHead(c, calls)), Count: len(rows), Messages: p.walkMessages(),
		Tool: "mcptest " + cmdutil.Version(),
	}
	for _, v := range loose {
		page.Problems = append(page.Problems, p.redactor.String(v.Kind+": "+v.Msg))
	}
	for _, r := range rows {
		if len(r.Violations) > 0 {
			page.Broken++
		}
	}
	if f.output == "" {
		return page.Write(s.Out)
	}
	if err := writeNew(f.output, page.Write); err != nil {
		return option.Invalid("--output: %v", err)
	}
	fmt.Fprintf(s.Err, "mcptest: wrote %s with %s\n", term.Escape(f.output), display.Count(len(rows), "row"))
	return nil
}

// writeNew writes a file at once: it is complete, or what it was.
func writeNew(path string, write func(io.Writer) error) error {
	to, err := osfile.Create(path, 0o600)
	if err != nil {
		return err
	}
	if err := write(to); err != nil {
		to.Abort()
		return err
	}
	return to.Commit()
}
