package probe_test

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"mcptest/internal/client/wire"
	"mcptest/internal/offer/ruleset"
	"mcptest/internal/run/connect"
	"mcptest/internal/run/probe"
	"mcptest/internal/run/probe/exam"
	"mcptest/internal/run/probe/verdict"
	"mcptest/internal/spec/plan"
)

// odd are correct servers that look wrong.
var odd = []struct {
	what     string
	http     bool
	versions string
	only     string // families and rules; all if empty
	plant    func(*planted)
}{
	{"the name of a host is escaped, and other unusual URIs", false, dual, "resources", altered(func(method string, res object) {
		if method == "resources/list" {
			var list []object
			for _, uri := range []string{"memo://My%20Notes/1", "urn:isbn:0451450523", "x-y+z.1:foo", "db://u:p@host:5432/x", "a://b/c'd(e)*!;=&$,@:", "note://[2001:db8::1]/x"} {
				list = append(list, object{"uri": uri, "name": uri})
			}
			res["resources"] = list
		}
	})},
	{"a schema of draft 4 in a revision without a dialect", false, "2025-03-26", "tools", altered(eachTool(func(_ int, tool object) {
		properties := tool["inputSchema"].(object)["properties"].(object)
		properties["n"] = object{"type": "number", "minimum": 0, "exclusiveMinimum": true}
	}))},
	{"a limit of the rate of calls, told in an error", false, dual, "tools messages arguments", rateLimited},
	{"arguments that are no object make the request malformed", false, older, "arguments messages", func(p *planted) {
		p.raw = func(_, out string) string {
			if !strings.Contains(out, "arguments must be an object") {
				return out
			}
			return `{"jsonrpc":"2.0","id":null,"error":{"code":-32600,"message":"invalid request"}}`
		}
	}},
	{"the address leads to another one", true, older, "lifecycle http session", wrapped(redirects)},
	{"a foreign origin is refused within the status 200", true, "2025-06-18", "http", wrapped(refusesOrigin)},
	{"a document at every path", true, older, "auth http", wrapped(servesAnything(`{"status": "ok"}`))},
	{"an error at every path", true, older, "auth messages", wrapped(servesAnything(`{"error": "not found"}`))},
	{"sessions end after a few requests", true, older, "http messages", func(p *planted) {
		p.sessions = true
		p.wrap = endsSessions
	}},
	{"a slow tool takes longer the second time", true, older, "tools messages", wrapped(slowdown)},
	{"the header of the version makes a request stateless", true, dual, "lifecycle stateless http", func(p *planted) {
		p.wrap = trustsHeader
		p.alter = func(method string, res object) {
			if method == "server/discover" {
				res["supportedVersions"] = []string{modern}
			}
		}
	}},
	{"an id is used once in a session", true, older, "", wrapped(refusesUsedIDs)},
	{"calls are made one after the other, and one takes long", true, older, "tools arguments messages", wrapped(oneAfterTheOther)},
}

func wrapped(wrap func(http.Handler) http.Handler) func(*planted) {
	return func(p *planted) { p.wrap = wrap }
}

// rateLimited answers ten calls, and an internal error after that.
func rateLimited(p *planted) {
	var calls atomic.Int64
	p.raw = func(method, out string) string {
		head, _, isResult := strings.Cut(out, `"result":`)
		if method != "tools/call" || !isResult || calls.Add(1) < 10 {
			return out
		}
		return head + `"error":{"code":-32603,"message":"Rate limit exceeded: 10 calls a minute"}}`
	}
}

// redirects serves at another path.
func redirects(next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		switch r.URL.Path {
		case "/mcp":
			http.Redirect(w, r, "/mcp/", http.StatusTemporaryRedirect)
			return
		case "/mcp/":
			r.URL.Path = "/mcp"
		}
		next.ServeHTTP(w, r)
	})
}

// refusesOrigin refuses pages of other sites with an error of JSON-RPC.
func refusesOrigin(next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		origin := r.Header.Get("Origin")
		if origin == "" || strings.Contains(origin, "127.0.0.1") || r.Method != http.MethodPost {
			next.ServeHTTP(w, r)
			return
		}
		w.Header().Set("Content-Type", "application/json")
		fmt.Fprint(w, `{"jsonrpc":"2.0","id":null,"error":{"code":-32000,"message":"the origin is not allowed"}}`)
	})
}

// trustsHeader takes what has the header of a stateless version for a request of it, which needs
// the version in its body, too.
func trustsHeader(next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		body, _ := io.ReadAll(r.Body)
		r.Body = io.NopCloser(bytes.NewReader(body))
		if r.Header.Get("Mcp-Protocol-Version") == modern && bytes.Contains(body, []byte(`"initialize"`)) {
			w.Header().Set("Content-Type", "application/json")
			w.WriteHeader(http.StatusBadRequest)
			fmt.Fprint(w, `{"jsonrpc":"2.0","id":1535,"error":{"code":-32020,"message":"the header does not match the body"}}`)
			return
		}
		next.ServeHTTP(w, r)
	})
}

// servesAnything has a document at every path where there is nothing else.
func servesAnything(document string) func(http.Handler) http.Handler {
	return func(next http.Handler) http.Handler {
		return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			if r.URL.Path == "/mcp" {
				next.ServeHTTP(w, r)
				return
			}
			w.Header().Set("Content-Type", "application/json")
			fmt.Fprint(w, document)
		})
	}
}

// endsSessions ends each session after twelve requests.
func endsSessions(next http.Handler) http.Handler {
	var mu sync.Mutex
	seen := map[string]int{}
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		id := r.Header.Get(exam.SessionID)
		mu.Lock()
		seen[id]++
		isOver := id != "" && seen[id] > 12
		mu.Unlock()
		if isOver {
			http.Error(w, "no such session", http.StatusNotFound)
			return
		}
		next.ServeHTTP(w, r)
	})
}

// refusesUsedIDs refuses a request whose id another one of the session had.
func refusesUsedIDs(next http.Handler) http.Handler {
	var mu sync.Mutex
	used := map[string]bool{}
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		body, _ := io.ReadAll(r.Body)
		r.Body = io.NopCloser(bytes.NewReader(body))
		var m message
		session := r.Header.Get(exam.SessionID)
		if json.Unmarshal(body, &m) != nil || m.ID == nil || session == "" {
			next.ServeHTTP(w, r)
			return
		}
		mu.Lock()
		isUsed := used[session+" "+string(m.ID)]
		used[session+" "+string(m.ID)] = true
		mu.Unlock()
		if isUsed {
			w.Header().Set("Content-Type", "application/json")
			w.WriteHeader(http.StatusBadRequest)
			fmt.Fprintf(w, `{"jsonrpc":"2.0","id":%s,"error":{"code":-32600,"message":"the id was used before"}}`, m.ID)
			return
		}
		next.ServeHTTP(w, r)
	})
}

// calling reports whether a request calls a tool, and returns its text.
func calling(r *http.Request, tool string) (text string, ok bool) {
	body, _ := io.ReadAll(r.Body)
	r.Body = io.NopCloser(bytes.NewReader(body))
	text = string(body)
	return text, strings.Contains(text, `"tools/call"`) && strings.Contains(text, `"`+tool+`"`)
}

// slowdown answers the first call of a tool after a third of the time for a response, and
// later ones too late.
func slowdown(next http.Handler) http.Handler {
	var calls atomic.Int64
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if _, ok := calling(r, "picture"); ok {
			took := 1300 * time.Millisecond
			if calls.Add(1) == 1 {
				took = 300 * time.Millisecond
			}
			await(r, took)
		}
		next.ServeHTTP(w, r)
	})
}

// oneAfterTheOther makes calls one after the other. One with wrong arguments takes longer than
// the time for a response.
func oneAfterTheOther(next http.Handler) http.Handler {
	var worker sync.Mutex
	var waited atomic.Bool
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		text, ok := calling(r, "echo")
		if ok {
			worker.Lock()
			defer worker.Unlock()
		}
		if ok && strings.Contains(text, `"text":7`) && waited.CompareAndSwap(false, true) {
			time.Sleep(2500 * time.Millisecond)
		}
		next.ServeHTTP(w, r)
	})
}

// await waits for a time, or until the client has gone.
func await(r *http.Request, took time.Duration) {
	select {
	case <-time.After(took):
	case <-r.Context().Done():
	}
}

// Correct servers that look wrong have no failed rule.
func TestOddServersPass(t *testing.T) {
	t.Parallel()
	for _, c := range odd {
		t.Run(c.what, func(t *testing.T) {
			t.Parallel()
			p := &planted{versions: strings.Fields(c.versions), sessions: c.http}
			c.plant(p)
			rep := examine(t, p, c.http, func(o *probe.Options) { o.Only = strings.Fields(c.only) })
			for _, line := range failed(rep, false) {
				t.Error(line)
			}
		})
	}
}

// Of many resources some are read, and the rules about their contents are not passed.
func TestUnreadResourcesAreNotVerified(t *testing.T) {
	t.Parallel()
	p := &planted{versions: strings.Fields(older), alter: func(method string, res object) {
		list, _ := res["resources"].([]object)
		for i := len(list); method == "resources/list" && i < 30; i++ {
			res["resources"] = append(res["resources"].([]object), object{"uri": fmt.Sprint("note:///first#", i), "name": "n"})
		}
	}}
	rep := examine(t, p, false, func(o *probe.Options) { o.Only = []string{"resources"} })
	if x := resultOf(t, rep, "resource-base64"); x.Verdict != verdict.NotVerified {
		t.Errorf("%s %s", x.Verdict, x.Reason)
	}
}

// What is examined of a list that is too long has both of its ends.
func TestIsChosen(t *testing.T) {
	t.Parallel()
	got := ""
	for i := range 9 {
		got += map[bool]string{true: "x", false: "-"}[exam.IsChosen(i, 9, 5)]
	}
	if got != "xxx----xx" {
		t.Error(got)
	}
	if !exam.IsChosen(0, 1, 2) || !exam.IsChosen(1, 2, 2) || exam.IsChosen(1, 3, 2) {
		t.Error("a short list is not examined whole")
	}
}

// rival is a server whose second process meets the first one while that lives.
type rival struct {
	*planted
	meet func(first, own io.ReadWriteCloser)

	mu     sync.Mutex
	living io.ReadWriteCloser // nil: none
}

func (r *rival) dial(context.Context, *plan.Server, connect.Options) (wire.Transport, error) {
	client, server := wire.NewPipe()
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.living != nil {
		r.meet(r.living, server)
	}
	r.living = server
	n := r.next()
	go func() {
		r.serve(server, n)
		r.mu.Lock()
		defer r.mu.Unlock()
		if r.living == server {
			r.living = nil
		}
	}()
	return client, nil
}

// What a second process breaks, or writes when it is refused, counts for nothing.
func TestASecondProcessCountsForNothing(t *testing.T) {
	t.Parallel()
	for what, meet := range map[string]func(first, own io.ReadWriteCloser){
		"it ends the first": func(first, _ io.ReadWriteCloser) { first.Close() },
		"it says in words that it must not be there": func(_, own io.ReadWriteCloser) {
			_, _ = io.WriteString(own, "already running\n")
			own.Close()
		},
	} {
		for _, versions := range []string{modern, older} {
			t.Run(what+" "+versions, func(t *testing.T) {
				t.Parallel()
				r := &rival{planted: &planted{versions: strings.Fields(versions)}, meet: meet}
				rep := examine(t, r.planted, false, func(o *probe.Options) { o.Dial = r.dial })
				for _, x := range rep.Results {
					if x.Verdict == verdict.Fail && x.Level == ruleset.Must {
						t.Errorf("%s: %+v", x.Rule, x.Failures)
					}
				}
			})
		}
	}
}
