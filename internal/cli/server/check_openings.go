package server

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/spf13/cobra"

	"mcptest/internal/cli/cmdutil"
	"mcptest/internal/cli/option"
	"mcptest/internal/client/wire"
	"mcptest/internal/offer/compat"
	"mcptest/internal/run/openings"
)

// onlyOpenings reports whether nothing but openings was chosen, for which no list is needed.
func (f *checkFlags) onlyOpenings() bool {
	return f.choosesOnly(compat.GroupOpenings)
}

// openServer replays the openings with a server whose lists are not needed.
func (f *checkFlags) openServer(
	cmd *cobra.Command, s cmdutil.Streams, name string, argv []string, rules compat.Rules,
) error {
	target := f.target
	target.Server = name
	ctx, l, end, err := target.Prepare(cmd, s, argv)
	if err != nil {
		return err
	}
	return option.Guarded(l.World, s.Err, func() error {
		defer end()
		began := time.Now()
		err := l.Conn.Open(ctx)
		if refused, ok := errors.AsType[*wire.OpenError](err); ok && refused.Phase == "start" || ctx.Err() != nil {
			return l.Failed(ctx, "", err)
		}
		startup := time.Since(began)
		if err != nil { // no answer says how long a start takes
			startup = min(startup, 2*time.Second)
		}
		before := len(f.openings)
		f.replay(ctx, l, rules, startup)
		if err != nil && neverServed(f.openings[before:]) {
			f.openings = f.openings[:before]
			return l.Failed(ctx, "", err)
		}
		return f.explainInterrupt(ctx, l)
	})
}

// neverServed reports whether no client got in. If mcptest does not either, that is no fault
// of an opening: the server did not start, as with a wrong path or without a setting that it
// needs, nothing listens at its address, or what it needs is not reachable.
func neverServed(all []compat.Opening) bool {
	judged := false
	for _, o := range all {
		if o.Verdict.Connected {
			return false
		}
		if o.Verdict.Unjudged == "" {
			judged = true
		}
	}
	return judged
}

// explainInterrupt returns the error of a signal during the openings.
func (f *checkFlags) explainInterrupt(ctx context.Context, l *option.Viewer) error {
	if ctx.Err() == nil {
		return nil
	}
	return l.Failed(ctx, "", context.Cause(ctx))
}

// replay plays the chosen openings after the session of the viewer, whose start took so long;
// 0 if it could not be opened.
func (f *checkFlags) replay(ctx context.Context, l *option.Viewer, rules compat.Rules, startup time.Duration) {
	name, opened := f.nameOf(l), l.Conn.Session() != nil
	if opened && l.Conn.Session().Facts().Kind == wire.HTTPSSE {
		f.openingNotes = append(f.openingNotes,
			"openings not judged: the server has the transport HTTP+SSE, and they are those of Streamable HTTP")
		return
	}
	l.Conn.ReportRemaining()
	l.Conn.Close()
	o := openings.Options{
		Server: l.Server, Connect: l.Connect(), Scripts: rules.Openings, Startup: startup, Refuses: f.all.Refuses,
		Progress: func(done, all int, client string) {
			if l.Status.Live() {
				l.Status.Set(fmt.Sprintf("opening %d of %d · as %s does", done+1, all, client))
			}
		},
	}
	if opened {
		o.Control = l.Again
	}
	result := openings.Run(ctx, o)
	l.Status.Clear()
	var all []compat.Opening
	for _, v := range result.Verdicts {
		one := compat.Opening{Server: name, Verdict: v}
		if l.Flags.Server != "" {
			one.File, one.Line = option.Shown(l.Server.Pos.File.Name), l.Server.Pos.Line
		}
		all = append(all, one)
	}
	compat.MaskOpenings(all, l.Redactor.String)
	f.openings = append(f.openings, all...)
	for _, note := range result.Notes {
		f.openingNotes = append(f.openingNotes, l.Redactor.String(note))
	}
	if slices.ContainsFunc(all, func(o compat.Opening) bool { return o.Verdict.NeedsCredentials }) {
		f.openingNotes = append(f.openingNotes, "to have the openings judged, pass credentials: "+l.LoginHint())
	}
}

// nameOf is the name of a server in the report.
func (f *checkFlags) nameOf(l *option.Viewer) string {
	switch {
	case f.name != "":
		return f.name
	case l.Flags.Server != "":
		return l.Server.Name
	case l.Conn.Session() == nil:
		return ""
	}
	return l.Conn.Implementation().Lookup("name").Text()
}
