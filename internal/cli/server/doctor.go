package server

import (
	"context"
	"errors"
	"fmt"
	"io"
	"strings"
	"time"

	"mcptest/internal/process/proc"

	"github.com/spf13/cobra"

	"mcptest/internal/base/display"
	"mcptest/internal/base/jsonv"
	"mcptest/internal/base/term"
	"mcptest/internal/cli/cmdutil"
	"mcptest/internal/cli/doctor"
	"mcptest/internal/cli/option"
	"mcptest/internal/run/inspect"
)

// NewDoctorCmd returns the command `mcptest doctor`.
func NewDoctorCmd(s cmdutil.Streams) *cobra.Command {
	var f option.TargetFlags
	cmd := &cobra.Command{
		Use:   "doctor" + option.TargetUse,
		Short: "Diagnose why a server does not work",
		Long: `Check a server layer by layer. For each layer, print whether it works, how long the check took and how to fix
a problem. The diagnosis stops at the first failure that prevents the checks after it.

A command:   command, start, handshake, protocol, list, schemas, second, messages, end
An address:  dns, tcp, tls, http, auth, handshake, protocol, list, schemas, second, messages

Exit codes: 0 no layer failed (there may be warnings), 1 a layer failed, 2 invalid command line.`,
		Example: `  mcptest doctor -- npx -y @modelcontextprotocol/server-everything
  mcptest doctor --url https://mcp.example.com/mcp
  mcptest doctor --server api --config suite.yaml --json`,
	}
	f.Add(cmd)
	option.AddClient(cmd, &f.Client)
	return option.AddOutput(cmd, s, f.Run(0, func(cmd *cobra.Command, s cmdutil.Streams, _, argv []string) error {
		var o doctor.Options
		ctx, l, end, err := f.Prepare(cmd, s, argv, func(i *inspect.Options) {
			i.Violations, o.Connect = nil, i.Connect
		})
		if err != nil {
			return err
		}
		o.Conn = l.Conn
		return option.Guarded(l.World, l.Streams.Err, func() error {
			defer end()
			return diagnose(ctx, l, o)
		})
	}))
}

// diagnose examines the server and reports each layer as it is found.
func diagnose(ctx context.Context, l *option.Viewer, o doctor.Options) error {
	o.Waiting = func(after time.Duration, process bool, stderr []string) { printWaiting(l, after, process, stderr) }
	if !l.Flags.JSON {
		o.Found = func(layer doctor.Layer) { _, _ = io.WriteString(l.Streams.Out, printLayer(l, layer)) }
		fmt.Fprintln(l.Streams.Out, l.Palette.Paint(term.Faint, l.Text(option.Where(l.Server))))
	}
	d := doctor.Examine(ctx, o)
	if sig, ok := errors.AsType[*proc.Interrupted](context.Cause(ctx)); ok {
		return &option.ExitError{Code: sig.Code, Message: sig.Error()}
	}
	if err := conclude(l, d); err != nil {
		return err
	}
	if d.Count(doctor.Fail) > 0 {
		return &option.ExitError{Code: option.ExitFailed}
	}
	return nil
}

// printWaiting prints the stderr output of a server that has not responded yet.
func printWaiting(l *option.Viewer, after time.Duration, process bool, stderr []string) {
	fmt.Fprintf(l.Streams.Err, "mcptest: no response for %v; waiting until connect-timeout (%v)\n", after, l.Server.ConnectTimeout)
	if process && len(stderr) == 0 {
		fmt.Fprintln(l.Streams.Err, "  the server wrote nothing to stderr")
	}
	for _, line := range stderr {
		fmt.Fprintln(l.Streams.Err, "  stderr: "+l.Text(line))
	}
}

// printLayer formats a layer.
func printLayer(l *option.Viewer, y doctor.Layer) string {
	style := map[doctor.State]term.Style{
		doctor.OK:   term.Good,
		doctor.Warn: term.Warn,
		doctor.Fail: term.Bad,
	}[y.State]
	var b strings.Builder
	state := l.Palette.Paint(style, term.Pad(string(y.State), 4))
	fmt.Fprintf(&b, "%s  %s  %s", state, term.Pad(y.Name, 9), l.Text(y.Message))
	if y.Took > 0 {
		b.WriteString("  " + l.Palette.Paint(term.Faint, "("+formatTime(y.Took)+")"))
	}
	b.WriteByte('\n')
	const indent = "                 "
	for _, line := range y.Details {
		b.WriteString(indent + l.Text(line) + "\n")
	}
	if y.Hint != "" {
		b.WriteString(indent + l.Palette.Paint(term.Accent, "hint: ") + l.Text(y.Hint) + "\n")
	}
	return b.String()
}

// formatTime formats a duration in milliseconds, or in seconds if it is long.
func formatTime(d time.Duration) string {
	switch {
	case d >= 10*time.Second:
		return fmt.Sprintf("%.1f s", d.Seconds())
	case d >= 10*time.Millisecond:
		return fmt.Sprintf("%d ms", d.Milliseconds())
	}
	return fmt.Sprintf("%.1f ms", float64(d.Microseconds())/1000)
}

// conclude prints the last line, or everything as JSON.
func conclude(l *option.Viewer, d doctor.Diagnosis) error {
	if l.Flags.JSON {
		return l.PrintJSON(l.Streams.Out, formatDiagnosis(option.Where(l.Server), d))
	}
	warnings := display.Count(d.Count(doctor.Warn), "warning")
	failures := display.Count(d.Count(doctor.Fail), "failure")
	text := fmt.Sprintf("%d ok, %s, %s", d.Count(doctor.OK), warnings, failures)
	if d.Stopped != "" {
		text += "; the checks after " + d.Stopped + " were skipped"
	}
	_, err := fmt.Fprintln(l.Streams.Out, text)
	return err
}

func formatDiagnosis(target string, d doctor.Diagnosis) jsonv.Value {
	var layers []jsonv.Value
	for _, l := range d.Layers {
		layer := jsonv.ObjectOf(
			"layer", l.Name,
			"status", string(l.State),
			"ms", float64(l.Took.Microseconds())/1000,
			"message", l.Message,
		)
		if len(l.Details) > 0 {
			layer = layer.With("details", jsonv.From(l.Details))
		}
		if l.Hint != "" {
			layer = layer.With("hint", jsonv.String(l.Hint))
		}
		layers = append(layers, layer)
	}
	out := jsonv.ObjectOf(
		"target", target,
		"ok", d.Count(doctor.Fail) == 0,
		"layers", jsonv.Array(layers...),
	)
	if d.Stopped != "" {
		out = out.With("stopped_at", jsonv.String(d.Stopped))
	}
	return out
}
