package server

import (
	"fmt"
	"runtime"
	"strings"

	"mcptest/internal/base/display"
	"mcptest/internal/base/secret"
	"mcptest/internal/cli/cmdutil"
	"mcptest/internal/cli/option"
	"mcptest/internal/run/probe/verdict"
)

// makePage returns the page for an issue.
func (e *evidence) makePage(l *option.Viewer) string {
	p := evidencePage{redactor: l.Redactor}
	p.addConclusion(e.conclude())
	p.addExamined(e)
	p.addLayers(e)
	p.addOpenings(e)
	p.addBrokenRules(e.listFailedMusts())
	return p.text.String()
}

// evidencePage is a page in Markdown, to which sections are added.
type evidencePage struct {
	text     strings.Builder
	redactor *secret.Redactor
}

// addLine adds a line with texts of the server, without secrets.
func (p *evidencePage) addLine(format string, args ...any) {
	line := p.redactor.String(fmt.Sprintf(format, args...))
	p.text.WriteString(display.Escape(line) + "\n")
}

func (p *evidencePage) addConclusion(done conclusion) {
	p.text.WriteString("# Evidence\n\n")
	p.addLine("**%s**", done.headline)
	p.text.WriteString("\n")
	for _, why := range done.reasons {
		text := display.Markdown(why.text)
		if why.url != "" {
			text += " <" + why.url + ">"
		}
		p.addLine("- %s", text)
	}
}

func (p *evidencePage) addExamined(e *evidence) {
	cell := display.Markdown
	p.text.WriteString("\n## What was examined\n\n| | |\n|---|---|\n")
	if e.probe.Server != "" {
		p.addLine("| Server | %s |", cell(e.probe.Server))
	}
	p.addLine("| Started as | %s |", cell(e.target))
	p.addLine("| mcptest | %s, %s/%s |", cmdutil.Version(), runtime.GOOS, runtime.GOARCH)
	if e.recorded != nil {
		date := e.recorded.cassette.Recorded.Format("2006-01-02")
		p.addLine("| Client | %s, recorded %s |", cell(e.recorded.getClientName()), date)
	}
	for _, revision := range e.probe.Revisions {
		t := e.probe.Tally(revision)
		p.addLine("| Rules of %s | %d of %d MUST hold, %d of %d SHOULD |",
			revision, t.Passed, t.Passed+t.Failed, t.Should, t.Should+t.ShouldNot)
	}
}

func (p *evidencePage) addLayers(e *evidence) {
	p.text.WriteString("\n## Layers\n\n| Layer | State | |\n|---|---|---|\n")
	for _, layer := range e.doctor.Layers {
		p.addLine("| %s | %s | %s |", layer.Name, layer.State, display.Markdown(layer.Message))
	}
}

func (p *evidencePage) addOpenings(e *evidence) {
	p.text.WriteString("\n## Openings\n\n" +
		"How known clients open a connection, replayed. A lost opening is a prediction.\n\n" +
		"| Client | Gets in | | Seen |\n|---|---|---|---|\n")
	for _, v := range e.openings.Verdicts {
		var state, why string
		switch {
		case v.Unjudged != "":
			state, why = "not judged", v.Unjudged
		case v.Connected:
			state, why = "yes", v.Revision
		default:
			state, why = "no", v.What()+"; "+v.Does
		}
		script := v.Script
		p.addLine("| %s, %s, script %s | %s | %s | %s |",
			script.Title, script.Transport, script.Name, state, display.Markdown(why), script.Seen)
	}
}

// addBrokenRules adds the commands that show the failures again.
func (p *evidencePage) addBrokenRules(failed []verdict.Result) {
	if len(failed) == 0 {
		return
	}
	p.text.WriteString("\n## Rules that the server breaks\n\n")
	for _, x := range failed {
		p.addLine("- %s (%s): `%s`", x.Rule, x.Revision, strings.ReplaceAll(x.Reproduce, "`", ""))
	}
}
