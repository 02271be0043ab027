package opening

import (
	"context"
	"net/http"
	"slices"
	"strings"
	"time"

	"mcptest/internal/base/jsonv"
	"mcptest/internal/client/protocol"
)

// optionalLimit is how long a step waits whose answer decides nothing.
const optionalLimit = time.Second

// Play plays the script on a line, which is new.
func (s *Script) Play(ctx context.Context, line Line, o Options) Verdict {
	p := &play{script: s, line: line, o: o, r: findReading(s.Reads)}
	if s.Probe != nil {
		if v := p.probe(ctx); v != nil {
			return p.finish(*v)
		}
	}
	steps := s.Legacy
	if p.modern {
		steps = s.Modern
	}
	if len(steps) == 0 {
		return Verdict{Script: *s, Unjudged: "the script does not say what the client sends " + p.nameEra()}
	}
	for i := range steps {
		if v := p.step(ctx, &steps[i]); v != nil {
			return p.finish(*v)
		}
	}
	return p.finish(Verdict{Script: *s, Connected: true, Revision: p.revision, Doubt: p.doubt})
}

// nameEra names what the answer to the probe decided.
func (p *play) nameEra() string {
	if p.modern {
		return "to a server that speaks " + stateless()
	}
	return "to a server that does not speak " + stateless()
}

// finish completes a verdict with what was seen on the way.
func (p *play) finish(v Verdict) Verdict {
	if !v.Connected && len(p.asked) > 0 && (v.Reason == Ended || v.Reason == NoAnswer) {
		v.Reason, v.Fix = Undeclared, fixes[Undeclared]
		v.Says += " after it asked for " + strings.Join(p.asked, " and ") + ", which the client does not declare,"
	}
	return v
}

// step plays one step; it returns a verdict if that is the last one.
func (p *play) step(ctx context.Context, st *Step) *Verdict {
	if st.Listen {
		p.line.Listen(ctx, p.makeHeader(st))
		return nil
	}
	declared := st.When == "" || !p.caps.Lookup(st.When).IsAbsent()
	if !declared && (st.When != "tools" || p.modern) {
		return nil
	}
	optional := st.Optional || !declared
	limit := time.Duration(0)
	if optional {
		limit = optionalLimit
	}
	a := p.send(ctx, st, limit)
	if a.Ended != "" && !(optional && p.script.Transport == HTTP) {
		return p.judgeEnd(st, a)
	}
	switch {
	case optional:
		return nil
	case st.ID.IsAbsent():
		return p.judgeNotified(st, a)
	}
	if v := p.judgeReceived(st, a); v != nil {
		return v
	}
	switch {
	case st.Method == "initialize":
		return p.judgeInitialized(st, a)
	case st.Method == "tools/list":
		return p.judgeListed(st, a)
	}
	return nil
}

// judgeEnd is the verdict of a connection that ended.
func (p *play) judgeEnd(st *Step, a Answer) *Verdict {
	v := p.newLost(Ended, st.Method, a.Ended, "the client loses the connection")
	v.Died = true
	if a.Gone {
		v.Died = false
	}
	return v
}

// judgeNotified judges the answer to a notification.
func (p *play) judgeNotified(st *Step, a Answer) *Verdict {
	if p.r.refusal && a.Status >= http.StatusMultipleChoices {
		if v := p.explainUnjudged(a); v != nil {
			return v
		}
		return p.newLost(Initialized, st.Method, describe(a), p.r.name+" ends the connection then")
	}
	return nil
}

// judgeReceived judges whether an answer is a result.
func (p *play) judgeReceived(st *Step, a Answer) *Verdict {
	if v := p.explainUnjudged(a); v != nil {
		return v
	}
	refused := isFilled(a.Message.Lookup("error"))
	switch {
	case a.Ended != "":
		return p.judgeEnd(st, a)
	case a.Garbage != "" && p.r.strictLines:
		says := "answers with a line that is not a message (" + quote(a.Garbage) + ")"
		return p.newLost(Unreadable, st.Method, says, p.r.name+" ends the connection at such a line")
	case a.Status == http.StatusUnauthorized || a.Status == http.StatusForbidden:
		return p.newLost(Credentials, st.Method, describe(a), "the client asks for a sign-in")
	case p.r.status && a.Status >= http.StatusMultipleChoices:
		does := "the client takes a status that is not 2xx for a failed connection"
		return p.newLost(p.explainRefusal(st, a), st.Method, describe(a), does)
	case p.r.types && a.Status != 0 && a.Status != http.StatusAccepted && !isReadable(a.ContentType):
		return p.newLost(Unreadable, st.Method, describe(a), p.r.name+" reads JSON and event streams only")
	case a.Message.IsAbsent() && !a.Stray.IsAbsent():
		return p.newLost(NoAnswer, st.Method, describe(a), "the client does not take this for its response, and waits in vain")
	case a.Message.IsAbsent():
		return p.newLost(NoAnswer, st.Method, describe(a), "the client waits in vain")
	case refused:
		return p.newLost(p.explainRefusal(st, a), st.Method, describe(a), "the client ends the connection")
	}
	return nil
}

// explainRefusal is the reason of a request that is answered with an error.
func (p *play) explainRefusal(st *Step, a Answer) string {
	code, _ := a.Message.Lookup("error", "code").Int64()
	text := strings.ToLower(a.Message.Lookup("error", "message").Text())
	switch {
	case p.modern:
		return Promise
	case a.Status >= http.StatusInternalServerError:
		return ServerError
	case st.Method == "initialize" && (code == protocol.CodeUnsupportedVersion || strings.Contains(text, "version")):
		return Version
	}
	return Refused
}

// judgeInitialized judges the result of initialize.
func (p *play) judgeInitialized(st *Step, a Answer) *Verdict {
	result := a.Message.Lookup("result")
	version := result.Lookup("protocolVersion")
	if fault := p.findFault(result, false); fault != "" {
		return p.newLost(Malformed, st.Method, "answers a result in which "+fault, p.r.name+" does not read it")
	}
	if p.r.versions != nil && !slices.Contains(p.r.versions, version.Text()) {
		says := "answers protocolVersion " + version.OrNull().Short(40)
		return p.newLost(Version, st.Method, says, p.r.name+" accepts "+strings.Join(p.r.versions, ", ")+" only")
	}
	p.revision, p.caps = version.Text(), result.Lookup("capabilities")
	return nil
}

// judgeListed judges the result of tools/list.
func (p *play) judgeListed(st *Step, a Answer) *Verdict {
	result := a.Message.Lookup("result")
	if p.modern && p.r.modernHints {
		if missing := listMissingHints(result); missing != "" {
			says := "answers a result without " + missing
			does := p.r.name + " takes a result of " + stateless() + " only with resultType, ttlMs and cacheScope"
			return p.newLost(Malformed, st.Method, says, does)
		}
	}
	if p.r.sdk == "" || p.o.Refuses == nil {
		return nil
	}
	tools := result.Lookup("tools")
	lists := tools.Kind() == jsonv.KindArray
	tolerated := !p.r.strict && result.Kind() == jsonv.KindObject && !isFilled(tools)
	if !lists && !tolerated {
		says := "answers " + result.OrNull().Short(80)
		return p.newLost(Malformed, st.Method, says, p.r.name+" refuses a result in which tools is not a list")
	}
	if why := p.o.Refuses(p.r.sdk, result); why != "" {
		says := "answers a list that " + p.r.name + " refuses (" + why + ")"
		return p.newLost(Malformed, st.Method, says, "the client gets no tool")
	}
	return nil
}

// listMissingHints names the member that a result of a revision without sessions lacks.
func listMissingHints(result jsonv.Value) string {
	switch {
	case result.Lookup("resultType").Text() != "complete":
		return "resultType complete"
	case result.Lookup("ttlMs").Kind() != jsonv.KindNumber:
		return "ttlMs"
	case result.Lookup("cacheScope").Text() != "public" && result.Lookup("cacheScope").Text() != "private":
		return "cacheScope"
	}
	return ""
}
