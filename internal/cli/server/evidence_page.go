package server

import (
	"bytes"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"

	"mcptest/internal/base/display"
	"mcptest/internal/base/jsonv"
	"mcptest/internal/base/term"
	"mcptest/internal/cli/cmdutil"
	"mcptest/internal/cli/option"
	"mcptest/internal/client/protocol"
	"mcptest/internal/offer/opening"
	"mcptest/internal/offer/ruleset"
	"mcptest/internal/run/probe/verdict"
	"mcptest/internal/tape/cassette"
)

const metaClient = protocol.MetaClient

// conclusion says whose bug it is.
type conclusion struct {
	headline string
	reasons  []reason
}

// reason is a sentence, and the address of the clause that it cites.
type reason struct{ text, url string }

// conclude decides. What a recording shows goes before what was provoked: a clause that is
// broken elsewhere says nothing about what happened in it.
func (e *evidence) conclude() conclusion {
	if r := e.recorded; r != nil {
		switch {
		case len(r.client) > 0 && len(r.server) > 0:
			both := slices.Concat(r.listClientReasons(), r.listServerReasons())
			return conclusion{"Not known: in the recording, both sides break a clause.", both}
		case len(r.client) > 0:
			return conclusion{"The client broke a clause, in the recording.", r.listClientReasons()}
		case len(r.server) > 0:
			return conclusion{"The server broke a clause, in the recording.", r.listServerReasons()}
		}
	}
	if failed := e.listFailedMusts(); len(failed) > 0 {
		return e.concludeBroken(failed)
	}
	if e.refusal != "" {
		return e.concludeRefused()
	}
	examined := "The server broke no clause that was examined: " + e.probe.Summary() + "."
	if why := e.probe.Undecided(); why != "" {
		examined = "The rules were not all examined: " + why + "."
	}
	return conclusion{"Not known.", []reason{{text: examined}, {text: e.describeClient()}}}
}

// concludeRefused returns the conclusion of a server that no rule could examine. To refuse a version is
// allowed, so the refusal is no breach.
func (e *evidence) concludeRefused() conclusion {
	var in, out int
	for _, v := range e.openings.Verdicts {
		switch {
		case v.Unjudged != "":
		case v.Connected:
			in++
		default:
			out++
		}
	}
	refusal := "The server refused the handshake of mcptest, so no rule was examined: " + e.refusal + "."
	who := fmt.Sprintf("Of the replayed openings, %d get in and %d do not (see below).", in, out)
	reasons := []reason{{text: refusal}, {text: who}, {text: e.describeClient()}}
	return conclusion{"Not known: the server refuses the handshake.", reasons}
}

// describeClient says why nothing is concluded about the client.
func (e *evidence) describeClient() string {
	if e.recorded != nil {
		return "The recording of " + e.recorded.findName() + " has no frame that breaks a clause."
	}
	return "There is no recording of the client, without which nothing is said about it: " +
		"make one with mcptest record, and add --cassette."
}

// concludeBroken is the conclusion of a server that failed rules of level must.
func (e *evidence) concludeBroken(failed []verdict.Result) conclusion {
	var names []string
	var reasons []reason
	for _, x := range failed {
		if !slices.Contains(names, x.Rule) {
			names = append(names, x.Rule)
		}
		for _, f := range x.Failures[:min(len(x.Failures), 1)] {
			text := strings.TrimPrefix(f.Subject+": "+f.Message, ": ")
			text = fmt.Sprintf("%s, %s: %s — “%s”", x.Rule, x.Revision, text, x.Sentence)
			reasons = append(reasons, reason{text, x.Clause})
		}
	}
	headline := fmt.Sprintf("The server broke %s: %s", display.Count(len(names), "clause"), strings.Join(names, ", "))
	if e.recorded != nil {
		headline += "; the recording shows none of it"
	}
	return conclusion{headline + ".", reasons}
}

func (r *recording) findName() string {
	if r.who == "" {
		return "the client"
	}
	return r.who
}

func (r *recording) listClientReasons() (out []reason) {
	for _, b := range r.client {
		text := fmt.Sprintf("%s, line %d of the recording: %s — “%s”", r.findName(), b.Line, b.Message, b.Sentence)
		out = append(out, reason{text: text})
	}
	return out
}

func (r *recording) listServerReasons() (out []reason) {
	for _, b := range r.server {
		text := fmt.Sprintf("the server, line %d of the recording: %s: %s (%s)", b.line, b.kind, b.message, b.rule)
		out = append(out, reason{text: text})
	}
	return out
}

// write writes the folder.
func (f *evidenceFlags) write(l *option.Viewer, e *evidence) error {
	if err := os.MkdirAll(f.output, 0o700); err != nil {
		return err
	}
	rules, err := ruleset.Builtin()
	if err != nil {
		return err
	}
	var probed bytes.Buffer
	document := e.probe.Document(rules, ruleset.Must, term.Palette{}, cmdutil.Version())
	if err := document.Write(&probed, "json"); err != nil {
		return err
	}
	var failed error
	put := func(name, text string) {
		failed = errors.Join(failed, os.WriteFile(filepath.Join(f.output, name), []byte(text), 0o600))
	}
	if v, err := jsonv.Parse(probed.Bytes()); err == nil {
		put("probe.json", l.JSONText("", v)+"\n")
	}
	put("doctor.json", l.JSONText("", formatDiagnosis(e.target, e.doctor))+"\n")
	put("openings.json", l.JSONText("", formatOpenings(e.openings.Verdicts))+"\n")
	failed = errors.Join(failed, f.writeExchange(l, e))
	put("evidence.md", e.makePage(l))
	return failed
}

func formatOpenings(all []opening.Verdict) jsonv.Value {
	return jsonv.List(all, func(v opening.Verdict) jsonv.Value {
		s := v.Script
		return jsonv.ObjectOf(
			"client", s.Client, "transport", s.Transport, "script", s.Name,
			"connected", v.Connected, "revision", v.Revision, "reason", v.Reason, "says", v.Says,
			"not_judged", v.Unjudged, "source", s.Source, "seen", s.Seen,
		)
	})
}

// writeExchange writes the shortest exchange that shows what the conclusion says.
func (f *evidenceFlags) writeExchange(l *option.Viewer, e *evidence) error {
	frames := e.listFrames()
	header := cassette.Header{Program: "mcptest " + cmdutil.Version(), Transport: cassette.Stdio}
	if l.Server.URL != "" {
		header.Transport = cassette.StreamableHTTP
	}
	switch {
	case frames != nil:
		header = e.recorded.cassette.Header
		header.Masks = nil
	default:
		frames = e.findShortest()
	}
	if frames == nil {
		return nil
	}
	w, err := cassette.Create(filepath.Join(f.output, "exchange"+cassette.Suffix), header, l.Redactor)
	if err != nil {
		return err
	}
	for _, frame := range frames {
		if err := w.Write(frame); err != nil {
			return errors.Join(err, w.Close())
		}
	}
	return w.Close()
}

// listFrames are those of the recording from its beginning to the first clause that is
// broken in its session.
func (e *evidence) listFrames() (frames []cassette.Frame) {
	if e.recorded == nil {
		return nil
	}
	last := 0
	for _, b := range e.recorded.client {
		if last == 0 || b.Line < last {
			last = b.Line
		}
	}
	for _, b := range e.recorded.server {
		if b.line > 0 && (last == 0 || b.line < last) {
			last = b.line
		}
	}
	c := e.recorded.cassette
	session := 0
	for i := range c.Frames {
		if c.Frames[i].Line == last {
			session = c.Frames[i].Session
		}
	}
	for i := range c.Frames {
		f := c.Frames[i]
		if f.Session == session && f.Line <= last {
			f.Data = c.Data(&f)
			frames = append(frames, f)
		}
	}
	return frames
}

// findShortest is the shortest exchange with which a rule failed.
func (e *evidence) findShortest() []cassette.Frame {
	var best *verdict.Evidence
	for _, x := range e.listFailedMusts() {
		for _, failure := range x.Failures {
			for i := range failure.Evidence {
				at := &failure.Evidence[i]
				if best == nil || len(at.Sent)+len(at.Received) < len(best.Sent)+len(best.Received) {
					best = at
				}
			}
		}
	}
	if best == nil {
		return nil
	}
	return []cassette.Frame{
		{Session: 1, At: 1, Dir: cassette.ToServer, Data: []byte(best.Sent)},
		{Session: 1, At: 2, Dir: cassette.FromServer, Data: []byte(best.Received)},
	}
}

// makePage is the page for an issue.
func (e *evidence) makePage(l *option.Viewer) string {
	var b strings.Builder
	line := func(format string, args ...any) {
		b.WriteString(display.Escape(l.Redactor.String(fmt.Sprintf(format, args...))) + "\n")
	}
	cell := display.Markdown
	done := e.conclude()
	b.WriteString("# Evidence\n\n")
	line("**%s**", done.headline)
	b.WriteString("\n")
	for _, why := range done.reasons {
		line("- %s", strings.TrimSuffix(cell(why.text)+" <"+why.url+">", " <>"))
	}
	b.WriteString("\n## What was examined\n\n| | |\n|---|---|\n")
	if e.probe.Server != "" {
		line("| Server | %s |", cell(e.probe.Server))
	}
	line("| Started as | %s |", cell(e.target))
	line("| mcptest | %s, %s/%s |", cmdutil.Version(), runtime.GOOS, runtime.GOARCH)
	if e.recorded != nil {
		date := e.recorded.cassette.Recorded.Format("2006-01-02")
		line("| Client | %s, recorded %s |", cell(e.recorded.findName()), date)
	}
	for _, revision := range e.probe.Revisions {
		t := e.probe.Tally(revision)
		line("| Rules of %s | %d of %d MUST hold, %d of %d SHOULD |",
			revision, t.Passed, t.Passed+t.Failed, t.Should, t.Should+t.ShouldNot)
	}
	b.WriteString("\n## Layers\n\n| Layer | State | |\n|---|---|---|\n")
	for _, layer := range e.doctor.Layers {
		line("| %s | %s | %s |", layer.Name, layer.State, cell(layer.Message))
	}
	b.WriteString("\n## Openings\n\nHow known clients open a connection, replayed. A lost opening is a prediction.\n\n" +
		"| Client | Gets in | | Seen |\n|---|---|---|---|\n")
	for _, v := range e.openings.Verdicts {
		state, why := "no", v.What()+"; "+v.Does
		switch {
		case v.Unjudged != "":
			state, why = "not judged", v.Unjudged
		case v.Connected:
			state, why = "yes", v.Revision
		}
		script := v.Script
		line("| %s, %s, script %s | %s | %s | %s |",
			script.Title, script.Transport, script.Name, state, cell(why), script.Seen)
	}
	e.repeats(&b, line)
	return b.String()
}

// repeats lists the commands that show the failures again.
func (e *evidence) repeats(b *strings.Builder, line func(format string, args ...any)) {
	failed := e.listFailedMusts()
	if len(failed) == 0 {
		return
	}
	b.WriteString("\n## Rules that the server breaks\n\n")
	for _, x := range failed {
		line("- %s (%s): `%s`", x.Rule, x.Revision, strings.ReplaceAll(x.Reproduce, "`", ""))
	}
}
