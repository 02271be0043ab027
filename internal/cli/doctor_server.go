package cli

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"slices"
	"strings"
	"time"

	"mcptest/internal/auth"
	"mcptest/internal/connect"
	"mcptest/internal/display"
	"mcptest/internal/jsonv"
	"mcptest/internal/mcp"
	"mcptest/internal/mcp/protocol"
	"mcptest/internal/mcp/wire"
	"mcptest/internal/proc"
)

// The layers of MCP itself.

func (d *doctor) stdioSteps() []step { return append([]step{d.start, d.hello}, d.sessionSteps()...) }

func (d *doctor) sessionSteps() []step {
	return []step{d.protocol, d.lists, d.schemas, d.messages}
}

// start starts the program: the layers command and start. The session is
// opened over the same process later.
func (d *doctor) start(ctx context.Context) bool {
	begun := time.Now()
	t, err := connect.Dial(ctx, d.server, d.dialOptions())
	took := time.Since(begun)
	var se *proc.StartError
	switch {
	case errors.As(err, &se):
		return d.found(layer{name: "command", state: broken, message: strings.TrimSuffix(se.Error(), "; "+se.Hint), hint: se.Hint})
	case err != nil:
		return d.found(layer{name: "start", state: broken, message: err.Error(), details: d.rawDetail(err)})
	}
	d.dialled = t
	d.found(layer{name: "command", state: fine, message: d.server.Argv[0] + " is found"})
	return d.found(layer{name: "start", state: fine, took: took, message: fmt.Sprintf("process %d", t.Facts().Pid)})
}

// hello opens the session: the layers auth (of an address) and handshake.
func (d *doctor) hello(ctx context.Context) bool {
	begun := time.Now()
	var stderr *proc.Tail
	if d.dialled != nil {
		stderr = d.dialled.Facts().Stderr
	}
	late := time.AfterFunc(silenceTime, func() { d.stillWaiting(stderr) })
	err := d.open(ctx)
	late.Stop()
	took := time.Since(begun)
	if err != nil {
		return d.noSession(err, took)
	}
	if d.server.URL != "" {
		d.found(layer{name: "auth", state: fine, message: d.credentials()})
	}
	l := layer{name: "handshake", state: fine, took: took, message: d.serverName()}
	if took > 5*time.Second {
		l.state, l.hint = warning, "this is slow: every session starts with it"
	}
	if died := d.sess.Restarted(); died != nil {
		l.state = warning
		l.details = append(l.details, connect.StartedTwice(died, d.sess.Protocol()))
		l.hint = "a server must answer an unknown request with the error -32601 and keep running"
	}
	return d.found(l)
}

// silenceTime is how long doctor waits for a session before it says so.
const silenceTime = 5 * time.Second

// stillWaiting says on standard error what there is to see of a server that has
// not answered yet.
func (d *doctor) stillWaiting(stderr *proc.Tail) {
	fmt.Fprintf(d.s.Err, "mcptest: no response for %v; waiting until connect-timeout (%v)\n", silenceTime, d.server.ConnectTimeout)
	if stderr == nil {
		return
	}
	lines := stderr.Ends(10)
	if len(lines) == 0 {
		fmt.Fprintln(d.s.Err, "  the server wrote nothing to stderr")
	}
	for _, line := range lines {
		fmt.Fprintln(d.s.Err, "  stderr: "+d.text(line))
	}
}

// credentials says what was sent to be let in.
func (d *doctor) credentials() string {
	if a := d.server.Auth; a != nil && a.OAuth != nil {
		if d.server.NeedsLogin() {
			return "authenticated with a stored login"
		}
		return "OAuth, " + a.OAuth.Grant + ": authenticated"
	}
	for _, h := range d.server.Headers {
		if h.Name == "Authorization" {
			return "the credentials are accepted or ignored"
		}
	}
	return "no credentials are required"
}

func (d *doctor) serverName() string {
	info := d.sess.ServerInfo()
	who := info.Lookup("serverInfo")
	if d.sess.Era() == protocol.EraStateless {
		who = info.Lookup("_meta", "io.modelcontextprotocol/serverInfo")
	}
	if who.Lookup("name").Kind() != jsonv.KindString {
		return "the server does not report its name"
	}
	return strings.TrimSpace(who.Lookup("name").Text() + " " + who.Lookup("version").Text())
}

// noSession reports why no session came to be, on the layer to blame.
func (d *doctor) noSession(err error, took time.Duration) bool {
	l := layer{name: "handshake", state: broken, took: took, details: d.rawDetail(err)}
	l.message, l.hint = connect.Diagnose(d.server, err)
	var he *wire.HTTPError
	var login *auth.LoginError
	var oe *wire.OpenError
	var closed *wire.ClosedError
	var timeout *mcp.TimeoutError
	switch {
	case errors.As(err, &login):
		l.name, l.message, l.hint = "auth", login.Why, "run: "+login.Command
	case errors.As(err, &he) && (he.Info.Status == http.StatusUnauthorized || he.Info.Status == http.StatusForbidden):
		l.name = "auth"
		d.challenge(&l, he.Info)
	case errors.As(err, &oe) && oe.Phase == "protocol":
		l.name = "protocol"
	case errors.As(err, &closed) && d.server.URL == "" && l.hint == "":
		l.hint = "run the command in a shell to see its output; is an argument or an environment variable missing?"
	case errors.As(err, &timeout):
		l.took = timeout.After // without the time it took to end the program
	}
	return d.found(l)
}

// challenge explains a refusal.
func (d *doctor) challenge(l *layer, info *wire.HTTPInfo) {
	sent := false
	for _, h := range d.server.Headers {
		sent = sent || h.Name == "Authorization"
	}
	switch {
	case info.Status == http.StatusForbidden:
		l.hint = "the credentials are valid but not sufficient, or the server refuses this client (Origin, address)"
	case sent:
		l.hint = "the server rejected the credentials: are they expired, or issued for another server?"
	default:
		l.hint = "mcptest login " + proc.Quote(auth.ServerKey(d.server.URL)) + " to log in as a user; or --bearer-token-env NAME (in a suite auth.bearer_token_env, or auth.oauth)"
	}
	if c := info.Header.Get("WWW-Authenticate"); c != "" {
		l.details = append(l.details, "WWW-Authenticate: "+c)
	}
}

// rawDetail are the further lines of an error, not masked yet.
func (d *doctor) rawDetail(err error) []string {
	for e := err; e != nil; e = errors.Unwrap(e) {
		if x, ok := e.(interface{ Detail() string }); ok && x.Detail() != "" {
			return strings.Split(strings.TrimRight(x.Detail(), "\n"), "\n")
		}
	}
	return nil
}

// protocol says which revision is spoken.
func (d *doctor) protocol(context.Context) bool {
	got := d.sess.Protocol()
	l := layer{name: "protocol", state: fine, message: got + ", session starts with initialize"}
	if d.sess.Era() == protocol.EraStateless {
		l.message = got + ", stateless (no session)"
	}
	if got < "2025-06-18" {
		l.state, l.hint = warning, "this is an old revision: clients may drop support for it"
	}
	if kind := d.sess.Facts().Kind; kind == wire.HTTPSSE {
		l.state, l.hint = warning, "HTTP with two endpoints (SSE) is deprecated since 2025-03-26; use Streamable HTTP"
	}
	return d.found(l)
}

// lists reads every list that the server says it has.
func (d *doctor) lists(ctx context.Context) bool {
	begun := time.Now()
	l := layer{name: "list", state: fine}
	var counts []string
	for _, k := range []struct{ capability, method, key, word string }{
		{"tools", "tools/list", "tools", "tool"},
		{"resources", "resources/list", "resources", "resource"},
		{"prompts", "prompts/list", "prompts", "prompt"},
	} {
		if !d.offers(k.capability) {
			continue
		}
		items, err := d.pages(ctx, k.method, k.key)
		if err != nil {
			l.state = broken
			l.details = append(l.details, k.method+": "+err.Error())
			continue
		}
		counts = append(counts, display.Count(len(items), k.word))
		if k.key == "tools" {
			d.tools = items
		}
		for _, name := range twice(items, map[string]string{"resources": "uri"}[k.key]) {
			l.state = worse(l.state, warning)
			l.details = append(l.details, "two "+k.word+"s are called "+name)
		}
	}
	l.took = time.Since(begun)
	l.message = strings.Join(counts, ", ")
	switch {
	case l.state == broken:
		l.message = "the server declares a list that can't be read"
	case len(counts) == 0:
		l.state, l.message = warning, "the server declares no tools, resources or prompts"
	}
	d.found(l)
	return true
}

// twice finds names that occur more than once.
func twice(items []jsonv.Value, key string) []string {
	if key == "" {
		key = "name"
	}
	seen := map[string]int{}
	var out []string
	for _, it := range items {
		n := name(it, key)
		if seen[n]++; seen[n] == 2 {
			out = append(out, n)
		}
	}
	return out
}

// messages reports every protocol violation that was seen on the way.
func (d *doctor) messages(context.Context) bool {
	all := slices.Concat(d.sess.Handshake().Violations, d.seen, d.sess.TakeViolations())
	l := layer{name: "messages", state: fine, message: "no protocol violations"}
	for i, v := range all {
		if v.Tolerated {
			l.state = worse(l.state, warning)
		} else {
			l.state = broken
			l.hint = "to accept it for now, add to the suite: tolerate: [" + v.Kind + "]"
		}
		if i < maxShown {
			l.details = append(l.details, violationText(v))
		}
	}
	if len(all) > 0 {
		l.message = display.Count(len(all), "protocol violation")
	}
	d.found(l)
	return true
}
