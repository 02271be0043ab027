package live_test

import (
	"context"
	"net/http/httptest"
	"runtime"
	"strings"
	"testing"
	"time"

	"mcptest/internal/base/jsonv"
	"mcptest/internal/base/source"
	"mcptest/internal/base/testkit"
	"mcptest/internal/client/mcp"
	"mcptest/internal/run/connect"
	"mcptest/internal/run/inspect"
	"mcptest/internal/server/manifest"
	"mcptest/internal/server/mcpserver"
	"mcptest/internal/server/mock"
	"mcptest/internal/spec/plan"
	"mcptest/internal/ui/live"
)

// mocked is a host with one server: a preset of the mock over HTTP.
type mocked struct {
	def       *plan.Server
	diagnosed bool
}

func (m *mocked) Servers() ([]*plan.Server, string) { return []*plan.Server{m.def}, "" }

func (m *mocked) Options(sv *plan.Server) inspect.Options {
	return inspect.Options{Server: sv, Client: mcp.Implementation{Name: "test"}, Eras: connect.NewEras(nil)}
}

func (m *mocked) Diagnose(_ context.Context, _ inspect.Options, found func(live.Layer)) {
	m.diagnosed = true
	found(live.Layer{Name: "tcp", State: "fail"})
}

func explore(t *testing.T, preset string) (*live.Hub, *mocked) {
	t.Helper()
	m, err := manifest.Preset(preset)
	if err != nil {
		t.Fatal(err)
	}
	server := mock.New(m, mock.Options{})
	t.Cleanup(server.Close)
	web := mcpserver.NewHTTPServer(func() mcpserver.Handler { return server.Session() })
	t.Cleanup(web.Close)
	listener := httptest.NewServer(web)
	t.Cleanup(listener.Close)
	host := &mocked{def: &plan.Server{
		Name: "mock", URL: listener.URL, Transport: "auto", Protocol: "2025-11-25", Timeout: time.Minute, ConnectTimeout: time.Minute,
		ValidateOutput: true, Tolerate: map[string]bool{}, Pos: source.Pos{File: &source.File{}},
	}}
	hub := live.New(t.Context(), host)
	t.Cleanup(hub.Close)
	return hub, host
}

// connected connects and waits until the lists are read.
func connected(t *testing.T, hub *live.Hub) live.View {
	t.Helper()
	if err := hub.Connect(0, ""); err != nil {
		t.Fatal(err)
	}
	var v live.View
	testkit.Wait(t, "the lists", func() bool {
		list, _ := hub.Servers()
		v = list[0]
		return v.Offer != nil
	})
	return v
}

func TestHubCallsATool(t *testing.T) {
	t.Parallel()
	hub, _ := explore(t, "echo")
	v := connected(t, hub)
	testkit.Equal(t, "status", v.Status, live.Connected)
	w := live.Wanted{Kind: live.CallTool, Name: "echo", Args: jsonv.ObjectOf("message", "hi")}
	id, confirm, err := hub.Send(w)
	if confirm != nil {
		w.Confirm = confirm.Token
		id, _, err = hub.Send(w)
	}
	if err != nil {
		t.Fatal(err)
	}
	testkit.Wait(t, "the result", func() bool { c, err := hub.Call(id); return err == nil && c.Done })
	c, _ := hub.Call(id)
	if !strings.Contains(c.Result.String(), "hi") {
		t.Errorf("got %s", c.Result)
	}
	if err := hub.Disconnect(0); err != nil {
		t.Fatal(err)
	}
	testkit.Wait(t, "the end", func() bool { list, _ := hub.Servers(); return list[0].Status == live.Off })
	if _, _, err := hub.Send(w); err == nil {
		t.Error("a call was made without a session")
	}
}

// Who sees the lists, or the end of a call, and sends at once is not refused.
func TestHubTakesTheNextCallAtOnce(t *testing.T) {
	t.Parallel()
	hub, _ := explore(t, "echo")
	if err := hub.Connect(0, ""); err != nil {
		t.Fatal(err)
	}
	hasLists := func() bool { list, _ := hub.Servers(); return list[0].Offer != nil }
	spin(t, hasLists)
	for range 30 {
		id, err := send(hub, live.Wanted{Kind: live.CallTool, Name: "echo", Args: jsonv.ObjectOf("message", "hi")})
		if err != nil {
			t.Fatal(err)
		}
		spin(t, func() bool { c, err := hub.Call(id); return err == nil && c.Done })
	}
}

// spin waits for a state without a pause between two looks.
func spin(t *testing.T, ok func() bool) {
	t.Helper()
	for end := time.Now().Add(time.Minute); !ok(); runtime.Gosched() {
		if time.Now().After(end) {
			t.Fatal("timed out")
		}
	}
}

// send sends a call, and confirms it if it is asked about.
func send(hub *live.Hub, w live.Wanted) (int, error) {
	id, confirm, err := hub.Send(w)
	if confirm != nil {
		w.Confirm = confirm.Token
		id, _, err = hub.Send(w)
	}
	return id, err
}

func TestHubExplainsAFailure(t *testing.T) {
	t.Parallel()
	hub, host := explore(t, "echo")
	host.def.URL = "http://127.0.0.1:1/mcp"
	if err := hub.Connect(0, ""); err != nil {
		t.Fatal(err)
	}
	var v live.View
	testkit.Wait(t, "the layers", func() bool { list, _ := hub.Servers(); v = list[0]; return len(v.Layers) > 0 })
	if v.Status != live.Failed || len(v.Reason) == 0 || !host.diagnosed {
		t.Errorf("got %+v", v)
	}
}
