package probe_test

import (
	"bufio"
	"context"
	"slices"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"mcptest/internal/client/mcp"
	"mcptest/internal/client/wire"
	"mcptest/internal/run/connect"
	"mcptest/internal/run/probe"
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
