package cli

import (
	"context"
	"errors"
	"fmt"
	"io"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"mcptest/internal/cmdutil"
	"mcptest/internal/display"
	"mcptest/internal/jsonv"
	"mcptest/internal/run"
	"mcptest/internal/term"
)

func newDoctorCmd(s cmdutil.Streams) *cobra.Command {
	var f targetFlags
	cmd := &cobra.Command{
		Use:   "doctor" + targetUse,
		Short: "Diagnose why a server does not work",
		Long: `Check a server layer by layer. For each layer, print whether it works, how long the check took and how to fix
a problem. The diagnosis stops at the first failure that prevents the checks after it.

A command:   command, start, handshake, protocol, list, schemas, messages
An address:  dns, tcp, tls, http, auth, handshake, protocol, list, schemas, messages

Exit codes: 0 no layer failed (there may be warnings), 1 a layer failed, 2 invalid command line.`,
		Example: `  mcptest doctor -- npx -y @modelcontextprotocol/server-everything
  mcptest doctor --url https://mcp.example.com/mcp
  mcptest doctor --server api --config suite.yaml --json`,
		RunE: func(cmd *cobra.Command, args []string) error {
			_, argv, err := f.split(cmd, args, 0)
			if err != nil {
				return err
			}
			ctx, l, end, err := f.prepare(cmd, s, argv)
			if err != nil {
				return err
			}
			l.collect = true
			return guarded(l.world, l.s.Err, func() error {
				defer end()
				return (&doctor{look: l}).examine(ctx)
			})
		},
	}
	f.add(cmd)
	return cmd
}

// condition is the state of one layer.
type condition string

const (
	fine    condition = "ok"
	warning condition = "warn"
	broken  condition = "fail"
)

// worse is the worse of two conditions.
func worse(a, b condition) condition {
	if a == broken || b == broken {
		return broken
	}
	if a == warning || b == warning {
		return warning
	}
	return fine
}

// layer is what was found out about one layer. Its texts are as they came;
// they are masked and escaped where they are printed.
type layer struct {
	name    string
	state   condition
	took    time.Duration
	message string
	details []string // one line each
	hint    string
}

// doctor examines one server.
type doctor struct {
	*look
	layers []layer
	counts map[condition]int
	tools  []jsonv.Value // what tools/list said
}

// examine goes through the layers of the target and reports each as it is done.
func (d *doctor) examine(ctx context.Context) error {
	d.counts = map[condition]int{}
	steps := d.stdioSteps()
	if d.server.URL != "" {
		steps = d.urlSteps()
	}
	if !d.f.json {
		fmt.Fprintln(d.s.Out, d.palette.Paint(term.Faint, d.text(where(d.server))))
	}
	stopped := ""
	for _, step := range steps {
		if !step(ctx) {
			stopped = d.layers[len(d.layers)-1].name
			break
		}
	}
	var sig *run.Interrupted
	if errors.As(context.Cause(ctx), &sig) {
		return &exitError{code: sig.Code, msg: sig.Error()}
	}
	if err := d.conclude(stopped); err != nil {
		return err
	}
	if d.counts[broken] > 0 {
		return &exitError{code: exitFailed}
	}
	return nil
}

// step examines one layer, or several that can only be seen together. It
// reports whether there is a point in going on.
type step func(context.Context) bool

// found adds a layer and prints it.
func (d *doctor) found(l layer) bool {
	d.layers = append(d.layers, l)
	d.counts[l.state]++
	if !d.f.json {
		_, _ = io.WriteString(d.s.Out, d.lines(l))
	}
	return l.state != broken
}

// lines are a layer for people.
func (d *doctor) lines(l layer) string {
	style := map[condition]term.Style{fine: term.Good, warning: term.Warn, broken: term.Bad}[l.state]
	var b strings.Builder
	fmt.Fprintf(&b, "%s  %s  %s", d.palette.Paint(style, term.Pad(string(l.state), 4)), term.Pad(l.name, 9), d.text(l.message))
	if l.took > 0 {
		b.WriteString("  " + d.palette.Paint(term.Faint, "("+spent(l.took)+")"))
	}
	b.WriteByte('\n')
	const indent = "                 "
	for _, line := range l.details {
		b.WriteString(indent + d.text(line) + "\n")
	}
	if l.hint != "" {
		b.WriteString(indent + d.palette.Paint(term.Accent, "hint: ") + d.text(l.hint) + "\n")
	}
	return b.String()
}

// spent is a duration in milliseconds, or seconds when there are many.
func spent(d time.Duration) string {
	switch {
	case d >= 10*time.Second:
		return fmt.Sprintf("%.1f s", d.Seconds())
	case d >= 10*time.Millisecond:
		return fmt.Sprintf("%d ms", d.Milliseconds())
	}
	return fmt.Sprintf("%.1f ms", float64(d.Microseconds())/1000)
}

// conclude prints the last line, or everything as JSON.
func (d *doctor) conclude(stopped string) error {
	if d.f.json {
		return d.printJSON(d.s.Out, d.asJSON(stopped))
	}
	text := fmt.Sprintf("%d ok, %s, %s", d.counts[fine], display.Count(d.counts[warning], "warning"), display.Count(d.counts[broken], "failure"))
	if stopped != "" {
		text += "; the checks after " + stopped + " were skipped"
	}
	_, err := fmt.Fprintln(d.s.Out, text)
	return err
}

func (d *doctor) asJSON(stopped string) jsonv.Value {
	var layers []jsonv.Value
	for _, l := range d.layers {
		m := []jsonv.Member{
			{Key: "layer", Value: jsonv.String(l.name)},
			{Key: "status", Value: jsonv.String(string(l.state))},
			{Key: "ms", Value: jsonv.Float(float64(l.took.Microseconds()) / 1000)},
			{Key: "message", Value: jsonv.String(l.message)},
		}
		if len(l.details) > 0 {
			m = append(m, jsonv.Member{Key: "details", Value: jsonv.From(l.details)})
		}
		if l.hint != "" {
			m = append(m, jsonv.Member{Key: "hint", Value: jsonv.String(l.hint)})
		}
		layers = append(layers, jsonv.Object(m...))
	}
	out := jsonv.Object(jsonv.Member{Key: "target", Value: jsonv.String(where(d.server))},
		jsonv.Member{Key: "ok", Value: jsonv.Bool(d.counts[broken] == 0)}, jsonv.Member{Key: "layers", Value: jsonv.Array(layers...)})
	if stopped != "" {
		out = out.With("stopped_at", jsonv.String(stopped))
	}
	return out
}
