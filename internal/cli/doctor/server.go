package doctor

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"strings"
	"time"

	"mcptest/internal/base/display"
	"mcptest/internal/base/jsonv"
	"mcptest/internal/base/shellwords"
	"mcptest/internal/client/auth"
	"mcptest/internal/client/check"
	"mcptest/internal/client/mcp"
	"mcptest/internal/client/protocol"
	"mcptest/internal/client/wire"
	"mcptest/internal/process/proc"
	"mcptest/internal/report/result"
	"mcptest/internal/run/connect"
	"mcptest/internal/run/inspect"
)

// The layers of MCP itself.

// start starts the program: the layers command and start. The session is opened over
// the same process later.
func (e *examination) start(ctx context.Context) bool {
	begun := time.Now()
	facts, err := e.Conn.Start(ctx)
	took := time.Since(begun)
	se, ok := errors.AsType[*proc.StartError](err)
	switch {
	case ok:
		return e.addLayer(Layer{
			Name:    "command",
			State:   Fail,
			Message: strings.TrimSuffix(se.Error(), "; "+se.Hint),
			Hint:    se.Hint,
		})
	case err != nil:
		return e.addLayer(Layer{Name: "start", State: Fail, Message: err.Error(), Details: inspect.Detail(err)})
	}
	e.stderr = facts.Stderr
	e.addLayer(Layer{Name: "command", State: OK, Message: e.server.Argv[0] + " is found"})
	return e.addLayer(Layer{Name: "start", State: OK, Took: took, Message: fmt.Sprintf("process %d", facts.Pid)})
}

// checkHandshake opens the session: the layers auth (of an address) and handshake.
func (e *examination) checkHandshake(ctx context.Context) bool {
	begun := time.Now()
	late := time.AfterFunc(silenceTime, e.reportWaiting)
	err := e.Conn.Open(ctx)
	late.Stop()
	took := time.Since(begun)
	if err != nil {
		return e.explainNoSession(err, took)
	}
	e.Conn.ReportRemaining() // of the handshake, before those of requests
	if e.server.URL != "" {
		e.addLayer(Layer{Name: "auth", State: OK, Message: e.describeCredentials()})
	}
	l := Layer{Name: "handshake", State: OK, Took: took, Message: e.Conn.ServerName()}
	if took > 5*time.Second {
		l.State, l.Hint = Warn, "this is slow: every session starts with it"
	}
	if how := e.Conn.Session().Detection(); how != "" {
		l.Details = append(l.Details, how+"; protocol: "+e.Conn.Session().Protocol()+" avoids the wait")
	}
	if died := e.Conn.Session().Restarted(); died != nil {
		l.State = Warn
		l.Details = append(l.Details, connect.ExplainSecondStart(died, e.Conn.Session().Protocol()))
		l.Hint = "a server must respond to an unknown request with the error -32601 and keep running"
		if connect.HasEndedByItself(died) {
			l.Hint = "no request ended it: it may do so again, in a run too"
		}
	}
	return e.addLayer(l)
}

// silenceTime is the time that the server may be silent before Waiting is called.
const silenceTime = 5 * time.Second

func (e *examination) reportWaiting() {
	if e.Waiting == nil {
		return
	}
	var lines []string
	if e.stderr != nil {
		lines = e.stderr.Ends(10)
	}
	e.Waiting(silenceTime, e.stderr != nil, lines)
}

// describeCredentials describes how the client was authorized.
func (e *examination) describeCredentials() string {
	if a := e.server.Auth; a != nil && a.OAuth != nil {
		if e.server.NeedsLogin() {
			return "authenticated with a stored login"
		}
		return "OAuth, " + a.OAuth.Grant + ": authenticated"
	}
	if e.hasAuthorization() {
		return "the credentials are accepted or ignored"
	}
	return "no credentials are required"
}

// explainNoSession reports why no session was opened, in the layer that failed.
func (e *examination) explainNoSession(err error, took time.Duration) bool {
	l := Layer{Name: "handshake", State: Fail, Took: took, Details: inspect.Detail(err)}
	l.Message, l.Hint = connect.Diagnose(e.server, err)
	var he *wire.HTTPError
	var login *auth.LoginError
	var oe *wire.OpenError
	var closed *wire.ClosedError
	timeout, timedOut := errors.AsType[*mcp.TimeoutError](err)
	switch {
	case errors.As(err, &login):
		l.Name, l.Message, l.Hint = "auth", login.Why, "run: "+login.Command
	case errors.As(err, &he) && (he.Info.Status == http.StatusUnauthorized || he.Info.Status == http.StatusForbidden):
		l.Name = "auth"
		e.explainChallenge(&l, he.Info)
	case errors.As(err, &oe) && oe.Phase == "protocol":
		l.Name = "protocol"
	case errors.As(err, &closed) && e.server.URL == "" && l.Hint == "":
		l.Hint = "run the command in a shell to see its output; is an argument or an environment variable missing?"
	case timedOut:
		l.Took = timeout.After // without the time needed to end the program
	}
	return e.addLayer(l)
}

// explainChallenge explains a refusal.
func (e *examination) explainChallenge(l *Layer, info *wire.HTTPInfo) {
	switch {
	case info.Status == http.StatusForbidden:
		l.Hint = "the credentials are valid but not sufficient, or the server refuses this client (Origin, address)"
	case e.hasAuthorization():
		l.Hint = "the server rejected the credentials: are they expired, or issued for another server?"
	default:
		l.Hint = "mcptest login " + shellwords.QuoteForShell(auth.MakeServerKey(e.server.URL)) + " to log in as a user; or --bearer-token-env NAME (in a suite auth.bearer_token_env, or auth.oauth)"
	}
	if c := info.Header.Get("WWW-Authenticate"); c != "" {
		l.Details = append(l.Details, "WWW-Authenticate: "+c)
	}
}

// checkProtocol reports the negotiated revision.
func (e *examination) checkProtocol(context.Context) bool {
	got := e.Conn.Session().Protocol()
	l := Layer{Name: "protocol", State: OK, Message: got + ", session starts with initialize"}
	if e.Conn.Session().Era() == protocol.EraStateless {
		l.Message = got + ", stateless (no session)"
	}
	if e.Conn.Session().ProtocolVersion().Old {
		l.State, l.Hint = Warn, "this is an old version: clients may drop support for it"
	}
	if kind := e.Conn.Session().Facts().Kind; kind == wire.HTTPSSE {
		l.State, l.Hint = Warn, "HTTP with two endpoints (SSE) is deprecated since 2025-03-26; use Streamable HTTP"
	}
	return e.addLayer(l)
}

// lists reads every list that the server declares.
func (e *examination) lists(ctx context.Context) bool {
	begun := time.Now()
	l := Layer{Name: "list", State: OK}
	var counts []string
	for _, k := range []struct{ capability, method, key, word string }{
		{"tools", "tools/list", "tools", "tool"},
		{"resources", "resources/list", "resources", "resource"},
		{"prompts", "prompts/list", "prompts", "prompt"},
	} {
		if !e.Conn.Offers(k.capability) {
			continue
		}
		items, pages, err := e.Conn.Pages(ctx, k.method, k.key)
		if err != nil {
			l.State = Fail
			l.Details = append(l.Details, k.method+": "+err.Error())
			continue
		}
		counts = append(counts, display.Count(len(items), k.word))
		if k.key == "tools" {
			e.tools = items // the layer schemas checks them
		} else if wrong := listViolations(e.Conn.Session().Protocol(), k.method, k.key, items); len(wrong) > 0 {
			l.State = Fail
			l.Details = append(l.Details, wrong...)
		}
		for _, page := range pages {
			if wrong := check.Page(k.key, page); len(wrong) > 0 {
				l.State = Fail
				l.Details = append(l.Details, k.method+": "+strings.Join(wrong, "; "))
			}
		}
		identity := "name"
		if k.key == "resources" {
			identity = "uri"
		}
		for _, name := range findTwice(items, identity) {
			l.State = chooseWorse(l.State, Warn)
			l.Details = append(l.Details, "two "+k.word+"s are called "+name)
		}
	}
	if loops := e.Conn.SelfAnnouncements(ctx); len(loops) > 0 {
		l.State = chooseWorse(l.State, Warn)
		l.Details = append(l.Details, loops...)
	}
	l.Took = time.Since(begun)
	l.Message = strings.Join(counts, ", ")
	switch {
	case l.State == Fail:
		l.Message = "the server declares a list that can't be read, or that clients reject"
	case len(counts) == 0:
		l.State, l.Message = Warn, "the server declares no tools, resources or prompts"
	}
	e.addLayer(l)
	return true
}

// listViolations returns the violations of the entries of a list.
func listViolations(version, method, key string, items []jsonv.Value) (out []string) {
	for i, it := range items {
		if wrong := check.Entry(version, method, it); len(wrong) > 0 && len(out) < mostViolations {
			out = append(out, check.Subject(key, i, it)+": "+strings.Join(wrong, "; "))
		}
	}
	return out
}

// findTwice returns the values of a member that several items have.
func findTwice(items []jsonv.Value, key string) []string {
	seen := map[string]int{}
	var out []string
	for _, it := range items {
		n := inspect.Name(it, key)
		seen[n]++
		if seen[n] == 2 {
			out = append(out, n)
		}
	}
	return out
}

// mostViolations is the number of violations that are listed.
const mostViolations = 20

// checkMessages reports the protocol violations that occurred.
func (e *examination) checkMessages(context.Context) bool {
	e.Conn.ReportRemaining()
	all := e.Conn.Seen()
	l := Layer{Name: "messages", State: OK, Message: "no protocol violations"}
	for i, v := range all {
		if v.Tolerated {
			l.State = chooseWorse(l.State, Warn)
		} else {
			l.State = Fail
			l.Hint = "to accept it for now, add to the suite: tolerate: [" + v.Kind + "]"
		}
		if i < mostViolations {
			l.Details = append(l.Details, inspect.FormatViolation(v))
		}
	}
	if len(all) > 0 {
		l.Message = display.Count(len(all), "protocol violation")
	}
	for _, event := range e.Conn.Session().SideEvents() {
		declared := e.announces()
		switch {
		case event.Kind == wire.SideRival: // the layer second
		case event.Kind != wire.SideStream:
			l.Details = append(l.Details, event.Text)
		case declared != "":
			if declared == "resources.subscribe" { // a change of a list can be announced in a response
				l.State = chooseWorse(l.State, Warn)
			}
			l.Details = append(l.Details, "the server declares "+declared+", and "+event.Text)
		}
	}
	e.addLayer(l)
	return true
}

// announces names what the server declares that needs messages outside of responses.
func (e *examination) announces() string {
	caps := e.Conn.Session().ServerInfo().Lookup("capabilities")
	for _, path := range [][]string{{"resources", "subscribe"}, {"resources", "listChanged"}, {"tools", "listChanged"}, {"prompts", "listChanged"}} {
		if caps.Lookup(path...).Bool() {
			return strings.Join(path, ".")
		}
	}
	return ""
}

// end examines how the process ends when its input is closed.
func (e *examination) end(context.Context) bool {
	if e.stderr == nil {
		return true
	}
	l := Layer{Name: "end", State: OK, Message: "the process exited when its input was closed"}
	began := time.Now()
	ended := e.Conn.End()
	if why := connect.DescribeUncleanEnd(ended); why != "" {
		l.State, l.Message = Warn, why
		l.Hint = endHint(ended) + ": mcptest explain " + result.UncleanEnd
	}
	l.Took = time.Since(began)
	e.addLayer(l)
	return true
}

// endHint says what a client or a server has to do with an end like that.
func endHint(ended proc.Stopped) string {
	switch {
	case connect.IgnoredEOF(ended):
		return "clients that only close the input leak the process"
	case len(ended.Leftovers) > 0:
		return "a server should end the processes that it started, or clients leak them"
	case ended.Exit.Signal != "":
		return "a server should end by itself then, with status 0"
	}
	return "a server should end with status 0 then"
}
