package server

import (
	"fmt"
	"slices"
	"strings"

	"mcptest/internal/base/display"
	"mcptest/internal/run/probe/verdict"
)

// conclusion says whose bug it is.
type conclusion struct {
	headline string
	reasons  []reason
}

// reason is a sentence, and the address of the clause that it cites.
type reason struct{ text, url string }

// conclude decides whose bug it is. What a recording shows goes before what was provoked: a clause that is
// broken elsewhere says nothing about what happened in it.
func (e *evidence) conclude() conclusion {
	failed := e.listFailedMusts()
	switch {
	case e.recorded != nil && e.recorded.hasBreaches():
		return e.recorded.conclude()
	case len(failed) > 0:
		return e.concludeBroken(failed)
	case e.refusal != "":
		return e.concludeRefused()
	}
	examined := "The server broke no clause that was examined: " + e.probe.Summary() + "."
	if why := e.probe.Undecided(); why != "" {
		examined = "The rules were not all examined: " + why + "."
	}
	return conclusion{"Not known.", []reason{{text: examined}, {text: e.describeClient()}}}
}

// hasBreaches reports whether a side breaks a clause in the recording.
func (r *recording) hasBreaches() bool { return len(r.client) > 0 || len(r.server) > 0 }

// conclude returns the conclusion of a recording in which a clause is broken.
func (r *recording) conclude() conclusion {
	switch {
	case len(r.server) == 0:
		return conclusion{"The client broke a clause, in the recording.", r.listClientReasons()}
	case len(r.client) == 0:
		return conclusion{"The server broke a clause, in the recording.", r.listServerReasons()}
	}
	both := slices.Concat(r.listClientReasons(), r.listServerReasons())
	return conclusion{"Not known: in the recording, both sides break a clause.", both}
}

// concludeRefused returns the conclusion of a server that no rule could examine. To refuse a version is
// allowed, so the refusal is no breach.
func (e *evidence) concludeRefused() conclusion {
	var in, out int // openings that get in, and that do not
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
		return "The recording of " + e.recorded.getClientName() + " has no frame that breaks a clause."
	}
	return "There is no recording of the client, without which nothing is said about it: " +
		"make one with mcptest record, and add --cassette."
}

// concludeBroken returns the conclusion of a server that failed rules of level must.
func (e *evidence) concludeBroken(failed []verdict.Result) conclusion {
	var names []string
	var reasons []reason
	for _, x := range failed {
		if !slices.Contains(names, x.Rule) {
			names = append(names, x.Rule)
		}
		if len(x.Failures) == 0 {
			continue
		}
		f := x.Failures[0] // one shows the breach
		text := f.Message
		if f.Subject != "" {
			text = f.Subject + ": " + text
		}
		text = fmt.Sprintf("%s, %s: %s — “%s”", x.Rule, x.Revision, text, x.Sentence)
		reasons = append(reasons, reason{text, x.Clause})
	}
	headline := fmt.Sprintf("The server broke %s: %s", display.Count(len(names), "clause"), strings.Join(names, ", "))
	if e.recorded != nil {
		headline += "; the recording shows none of it"
	}
	return conclusion{headline + ".", reasons}
}

// getClientName returns the name of the recorded client.
func (r *recording) getClientName() string {
	if r.who == "" {
		return "the client"
	}
	return r.who
}

func (r *recording) listClientReasons() (out []reason) {
	for _, b := range r.client {
		text := fmt.Sprintf("%s, line %d of the recording: %s — “%s”", r.getClientName(), b.Line, b.Message, b.Sentence)
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
