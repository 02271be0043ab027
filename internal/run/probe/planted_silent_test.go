package probe_test

import (
	"bufio"
	"context"
	"io"
	"net/http"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"mcptest/internal/client/mcp"
	"mcptest/internal/client/wire"
	"mcptest/internal/offer/ruleset"
	"mcptest/internal/run/connect"
	"mcptest/internal/run/probe"
	"mcptest/internal/run/probe/verdict"
	"mcptest/internal/spec/plan"
)

// asleep is a server whose first connections answer nothing.
type asleep struct {
	*planted
	dumb int // connections

	mu    sync.Mutex
	asked []string // methods that were not answered
}

func (a *asleep) dial(ctx context.Context, s *plan.Server, o connect.Options) (wire.Transport, error) {
	if a.dumb--; a.dumb < 0 {
		return a.planted.dial(ctx, s, o)
	}
	client, server := wire.NewPipe()
	go func() {
		defer server.Close()
		in := bufio.NewScanner(server)
		in.Buffer(nil, 1<<20)
		for in.Scan() {
			_, method, _ := strings.Cut(in.Text(), `"method":"`)
			method, _, _ = strings.Cut(method, `"`)
			if !strings.HasPrefix(method, "notifications/") {
				a.mu.Lock()
				a.asked = append(a.asked, method)
				a.mu.Unlock()
			}
		}
	}()
	return client, nil
}

func (a *asleep) options(limit time.Duration) probe.Options {
	return probe.Options{
		Server: &plan.Server{
			Name: "asleep", Argv: []string{"asleep"}, Transport: "auto", Protocol: mcp.Auto, ConnectTimeout: limit, Timeout: limit,
			Tolerate: map[string]bool{}, ValidateOutput: true,
		},
		Client: mcp.Implementation{Name: "test", Version: "1"}, Dial: a.dial, Only: []string{"ping", "discover-present"},
	}
}

// A server that answers nothing is asked three questions, each once: none of them waits
// for connect_timeout but initialize.
func TestAServerThatAnswersNothingIsAskedOnce(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		a := &asleep{dumb: 100}
		if _, err := probe.Run(t.Context(), a.options(10*time.Second)); err == nil {
			t.Error("no error")
		}
		a.mu.Lock()
		defer a.mu.Unlock()
		if want := []string{"server/discover", "tools/list", "initialize"}; !slices.Equal(a.asked, want) {
			t.Errorf("asked %v, expected %v", a.asked, want)
		}
	})
}

// A server that starts slowly loses no era: the first question is asked again.
func TestAServerThatStartsSlowlyLosesNoEra(t *testing.T) {
	t.Parallel()
	a := &asleep{dumb: 2, planted: &planted{versions: strings.Fields(dual)}}
	rep, err := probe.Run(context.Background(), a.options(time.Minute))
	if err != nil || !slices.Equal(rep.Revisions, []string{"2026-07-28", "2025-11-25"}) {
		t.Errorf("%v, %v", rep.Revisions, err)
	}
}

// A server of one era that starts slowly is examined as a whole, and not by the one question that
// shows that it is there.
func TestASlowServerIsExaminedWhole(t *testing.T) {
	t.Parallel()
	a := &asleep{dumb: 1, planted: &planted{versions: strings.Fields(modern)}}
	o := a.options(time.Minute)
	o.Only = append(o.Only, "result-type")
	rep, err := probe.Run(context.Background(), o)
	if err != nil {
		t.Fatal(err)
	}
	if x := resultOf(t, rep, "result-type"); x.Verdict != verdict.Pass {
		t.Errorf("%s %s", x.Verdict, x.Reason)
	}
}

// A subscription that is never acknowledged is begun twice, and then no more.
func TestASubscriptionThatIsNotAcknowledgedCostsTwoWaits(t *testing.T) {
	t.Parallel()
	var begun atomic.Int64
	p := &planted{versions: strings.Fields(modern), defect: "listen-ack/never", wrap: func(next http.Handler) http.Handler {
		return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			if r.Header.Get("Mcp-Method") == "subscriptions/listen" {
				begun.Add(1)
			}
			next.ServeHTTP(w, r)
		})
	}}
	rep := examine(t, p, true, func(o *probe.Options) { o.Only = []string{"capabilities", "utilities"} })
	if x := resultOf(t, rep, "listen-ack"); x.Verdict != verdict.Fail {
		t.Errorf("%s %s", x.Verdict, x.Reason)
	}
	if n := begun.Load(); n != 2 {
		t.Errorf("%d subscriptions were begun", n)
	}
}

// A rule of an era that the server does not speak was not examined: that is no verdict.
func TestARuleOfAnEraThatIsNotSpokenIsInconclusive(t *testing.T) {
	t.Parallel()
	for _, c := range []struct{ versions, rule string }{
		{older, "cache-hints"},
		{modern, "lifecycle-version-offer"},
		{dual, "http-origin"}, // on a stream
		{"2024-11-05", "result-type"},
	} {
		p := &planted{versions: strings.Fields(c.versions)}
		rep := examine(t, p, false, func(o *probe.Options) { o.Only = []string{c.rule} })
		if rep.Undecided() == "" || rep.Fails(ruleset.Must) {
			t.Errorf("%s for %s: undecided %q, %+v", c.rule, c.versions, rep.Undecided(), rep.Results)
		}
	}
}

// A server that stops to answer anything breaks a rule, also if what shows it is a raw request.
func TestSilenceAfterARawRequestIsJudged(t *testing.T) {
	t.Parallel()
	var n atomic.Int64
	p := &planted{versions: strings.Fields(modern), wrap: func(next http.Handler) http.Handler {
		return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			if r.Header.Get("Mcp-Method") == "tools/list" && n.Add(1) > 4 { // a list of three pages was read, and one more
				_, _ = io.Copy(io.Discard, r.Body) // or the end of the connection is not noticed
				await(r, time.Minute)
				return
			}
			next.ServeHTTP(w, r)
		})
	}}
	rep := examine(t, p, true, func(o *probe.Options) { o.Only = []string{"stateless", "message-unanswered"} })
	if x := resultOf(t, rep, "message-unanswered"); x.Verdict != verdict.Fail {
		t.Errorf("%s %s", x.Verdict, x.Reason)
	}
}
