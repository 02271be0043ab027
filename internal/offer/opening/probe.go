package opening

import (
	"context"
	"net/http"
	"slices"
	"time"

	"mcptest/internal/base/jsonv"
	"mcptest/internal/client/protocol"
)

// probe asks which era the server speaks, and decides it. It returns a verdict if the client
// ends there.
func (p *play) probe(ctx context.Context) *Verdict {
	st := *p.script.Probe
	for again := false; ; again = true {
		p.modern = true
		a := p.send(ctx, &st, p.probeLimit())
		decided := p.decide(&st, a, again)
		if decided.again {
			if st.ID.Kind() == jsonv.KindString && p.script.Reads == "typescript-sdk-2" {
				st.ID = jsonv.String("server-discover-probe-2")
			}
			continue
		}
		if decided.lost != nil {
			return decided.lost
		}
		if !decided.modern {
			p.modern = false
		}
		return p.judgeProbe(ctx, a)
	}
}

// judgeProbe gives the session a process of its own, where the client does that.
func (p *play) judgeProbe(ctx context.Context, a Answer) *Verdict {
	if p.script.Transport != Stdio || p.r.probeEnd != endStartsAgain {
		return nil
	}
	if err := p.line.Fresh(ctx); err != nil {
		says := "does not start a second time (" + err.Error() + ")"
		return p.newLost(Ended, p.script.Probe.Method, says, "the client needs a second process after its probe")
	}
	return nil
}

// probeLimit is how long the client waits for the answer to its probe.
func (p *play) probeLimit() time.Duration {
	wait := p.script.Probe.WaitMS
	switch {
	case wait > 0:
		return time.Duration(wait) * time.Millisecond
	case p.r.probeSilent && (p.script.Transport == HTTP || p.r.probeEnd == endLoses):
		return 0
	}
	return probeLimit
}

// decision is what an answer to the probe decides: neither member set is initialize.
type decision struct {
	modern bool
	again  bool // with the revision that the server offers
	lost   *Verdict
}

// decide reads the answer to a probe.
func (p *play) decide(st *Step, a Answer, again bool) decision {
	if v := p.explainUnjudged(a); v != nil {
		return decision{lost: v}
	}
	lose := func(reason, does string) decision {
		v := p.newLost(reason, st.Method, describe(a), does)
		v.Died = reason == Ended && !a.Gone
		return decision{lost: v}
	}
	switch {
	case a.Ended != "":
		startsAgain := p.script.Transport == Stdio && p.r.probeEnd == endStartsAgain
		if startsAgain || p.script.Transport == HTTP && !p.r.probe5xx {
			return decision{}
		}
		if p.script.Transport == HTTP {
			return lose(Ended, p.script.Title+" does not fall back to initialize then")
		}
		return lose(Ended, p.script.Title+" does not start it again")
	case a.Garbage != "" && p.r.strictLines:
		says := "answers with a line that is not a message (" + quote(a.Garbage) + ")"
		return decision{lost: p.newLost(Unreadable, st.Method, says, p.r.name+" ends the connection at such a line")}
	case a.Status == http.StatusUnauthorized || a.Status == http.StatusForbidden:
		if p.r.probe5xx {
			return lose(Credentials, p.script.Title+" asks for a sign-in, and does not try initialize")
		}
		return decision{}
	case a.Status >= http.StatusInternalServerError:
		if p.r.probe5xx {
			return lose(ServerError, p.script.Title+" does not fall back to initialize on HTTP 5xx")
		}
		return decision{}
	case a.Status >= http.StatusMultipleChoices:
		if p.script.Reads == "chatgpt" && a.Status == http.StatusBadRequest {
			p.doubt = "after HTTP 400 to server/discover, on which reports contradict each other"
		}
		return p.decideAnswered(st, a, again)
	case p.r.probeBroken && a.Status != 0 && a.Status != http.StatusAccepted && !isReadable(a.ContentType):
		return lose(Unreadable, p.script.Title+" does not fall back on what is neither JSON nor an event stream")
	case a.Message.IsAbsent():
		return p.decideUnanswered(a, lose)
	}
	return p.decideAnswered(st, a, again)
}

// decideUnanswered decides without a response.
func (p *play) decideUnanswered(a Answer, lose func(reason, does string) decision) decision {
	fatal := p.r.probeSilent && (p.script.Transport == HTTP || p.r.probeEnd == endLoses)
	if !p.r.probe5xx && protocol.IsEventStream(a.ContentType) && a.Silent == 0 && a.Stray.IsAbsent() {
		return decision{} // the end of the stream stands for an error
	}
	switch {
	case fatal && !a.Stray.IsAbsent():
		return lose(NoAnswer, p.script.Title+" does not take this for the response to its probe, and waits in vain")
	case fatal:
		return lose(NoAnswer, p.script.Title+" waits in vain, and does not fall back to initialize")
	}
	if p.script.Probe.WaitMS == 0 && (a.Silent > 0 || !a.Stray.IsAbsent()) {
		p.doubt = "only after the client has waited for an answer to server/discover"
	}
	return decision{}
}

// decideAnswered decides by a response.
func (p *play) decideAnswered(st *Step, a Answer, again bool) decision {
	message := a.Message
	if message.IsAbsent() && a.Status >= http.StatusBadRequest {
		message, _ = jsonv.Parse(a.Body)
	}
	if isFilled(message.Lookup("error")) {
		return p.decideRefusedVersion(st, a, message, again)
	}
	result := a.Message.Lookup("result")
	if result.IsAbsent() || p.findFault(result, true) != "" {
		return decision{}
	}
	supported := result.Lookup("supportedVersions")
	for _, version := range supported.Elems() {
		if version.Text() == stateless() {
			p.revision, p.caps = stateless(), result.Lookup("capabilities")
			return decision{modern: true}
		}
	}
	if p.r.promise && supported.Kind() == jsonv.KindArray {
		p.doubt = "after a server/discover result without " + stateless() + ", on which it was once seen to fail"
	}
	return decision{}
}

// decideRefusedVersion decides by the error that names the revisions of the server.
func (p *play) decideRefusedVersion(st *Step, a Answer, message jsonv.Value, again bool) decision {
	code, _ := message.Lookup("error", "code").Int64()
	supported := message.Lookup("error", "data", "supported").Texts()
	if code != protocol.CodeUnsupportedVersion || len(supported) == 0 || p.r.sdk == "" {
		return decision{}
	}
	common := slices.Contains(supported, stateless())
	lost := func(does string) decision {
		return decision{lost: p.newLost(Promise, st.Method, describe(a), does)}
	}
	fails := p.r.probe5xx // SDK 2 for TypeScript
	switch {
	case common && !again:
		return decision{again: true}
	case common && fails:
		return lost(p.script.Title + " asks once more, gets the same answer, and does not fall back to initialize")
	case fails && slices.ContainsFunc(supported, func(v string) bool { return v > stateless() }):
		return lost(p.script.Title + " does not speak these revisions, and does not fall back to initialize")
	}
	return decision{}
}
