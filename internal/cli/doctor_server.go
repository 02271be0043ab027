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
	"mcptest/internal/jsonv"
	"mcptest/internal/mcp"
	"mcptest/internal/proc"
	"mcptest/internal/run"
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
	t, err := run.Dial(ctx, d.server, d.dialOptions())
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
	err := d.open(ctx)
	took := time.Since(begun)
	if err != nil {
		return d.noSession(err, took)
	}
	if d.server.URL != "" {
		d.found(layer{name: "auth", state: fine, message: d.credentials()})
	}
	l := layer{name: "handshake", state: fine, took: took, message: d.serverName()}
	if took > 5*time.Second {
		l.state, l.hint = warning, "that is slow: every session begins with it"
	}
	if died := d.sess.Restarted(); died != nil {
		l.state = warning
		l.details = append(l.details, run.Died(died, d.sess.Protocol()))
		l.hint = "a server answers a request it does not know with the error -32601, and lives on"
	}
	return d.found(l)
}

// credentials says what was sent to be let in.
func (d *doctor) credentials() string {
	if a := d.server.Auth; a != nil && a.OAuth != nil {
		if d.server.NeedsLogin() {
			return "let in with the token of a login"
		}
		return "OAuth, " + a.OAuth.Grant + ": let in"
	}
	for _, h := range d.server.Headers {
		if h.Name == "Authorization" {
			return "the credentials are accepted, or not looked at"
		}
	}
	return "no credentials are asked for"
}

func (d *doctor) serverName() string {
	info := d.sess.ServerInfo()
	who := info.Lookup("serverInfo")
	if d.sess.Era() == mcp.EraRequests {
		who = info.Lookup("_meta", "io.modelcontextprotocol/serverInfo")
	}
	if who.Lookup("name").Kind() != jsonv.KindString {
		return "the server does not say its name"
	}
	return strings.TrimSpace(who.Lookup("name").Text() + " " + who.Lookup("version").Text())
}

// noSession reports why no session came to be, on the layer to blame.
func (d *doctor) noSession(err error, took time.Duration) bool {
	l := layer{name: "handshake", state: broken, took: took, message: err.Error(), details: d.rawDetail(err)}
	var he *mcp.HTTPError
	var login *auth.LoginError
	var oe *mcp.OpenError
	var closed *mcp.ClosedError
	var timeout *mcp.TimeoutError
	switch {
	case errors.As(err, &login):
		l.name, l.message, l.hint = "auth", login.Why, "run: "+login.Command
	case errors.As(err, &he) && (he.Info.Status == http.StatusUnauthorized || he.Info.Status == http.StatusForbidden):
		l.name = "auth"
		d.challenge(&l, he.Info)
	case errors.As(err, &he) && (he.Info.Status == http.StatusNotFound || he.Info.Status == http.StatusMethodNotAllowed):
		l.hint = "is the path right? Servers often listen at /mcp, older ones at /sse"
	case errors.As(err, &oe) && oe.Phase == "protocol":
		l.name = "protocol"
	case errors.As(err, &closed) && d.server.URL == "":
		l.hint = "start it by hand and see what it says; does it lack an argument or a variable of the environment?"
	case errors.As(err, &timeout):
		l.took = timeout.After // without the time it took to end the program
		l.hint = "is this an MCP server, and does it speak on standard output? --connect-timeout gives it more time"
		if d.server.URL != "" {
			l.hint = "is this the address of an MCP server? --connect-timeout gives it more time"
		}
	}
	return d.found(l)
}

// challenge explains a refusal.
func (d *doctor) challenge(l *layer, info *mcp.HTTPInfo) {
	sent := false
	for _, h := range d.server.Headers {
		sent = sent || h.Name == "Authorization"
	}
	switch {
	case info.Status == http.StatusForbidden:
		l.hint = "the credentials are known and not enough, or the server refuses this client (Origin, address)"
	case sent:
		l.hint = "the credentials that were sent are not accepted: expired, or meant for another server?"
	default:
		l.hint = "mcptest login " + proc.Quote(auth.ServerKey(d.server.URL)) + ", where people log in; or --bearer-token-env NAME (in a suite auth.bearer_token_env, or auth.oauth)"
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
	l := layer{name: "protocol", state: fine, message: got + ", a session that begins with initialize"}
	if d.sess.Era() == mcp.EraRequests {
		l.message = got + ", no session: each request stands for itself"
	}
	if got < "2025-06-18" {
		l.state, l.hint = warning, "that is an old revision: clients may drop it"
	}
	if kind := d.sess.Facts().Kind; kind == mcp.HTTPSSE {
		l.state, l.hint = warning, "HTTP with two endpoints (SSE) is deprecated since 2025-03-26: Streamable HTTP took its place"
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
		counts = append(counts, plural(len(items), k.word))
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
		l.message = "a list that the server says it has can't be read"
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

// messages tells of every breach of the protocol that was seen on the way.
func (d *doctor) messages(context.Context) bool {
	all := slices.Concat(d.sess.Handshake().Violations, d.seen, d.sess.TakeViolations())
	l := layer{name: "messages", state: fine, message: "no breach of the protocol was seen"}
	for i, v := range all {
		if v.Tolerated {
			l.state = worse(l.state, warning)
		} else {
			l.state = broken
			l.hint = "tests on this server fail of it; tolerate: in a suite turns kinds of them into warnings"
		}
		if i < maxShown {
			l.details = append(l.details, violationText(v))
		}
	}
	switch n := len(all); {
	case n == 1:
		l.message = "one breach of the protocol"
	case n > 1:
		l.message = fmt.Sprintf("%d breaches of the protocol", n)
	}
	d.found(l)
	return true
}
