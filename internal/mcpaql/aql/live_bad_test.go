package aql_test

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"mcptest/internal/base/jsonv"
	"mcptest/internal/client/mcp"
	"mcptest/internal/client/protocol"
	"mcptest/internal/client/wire"
	"mcptest/internal/mcpaql/demo"
	"mcptest/internal/mcpaql/evidence"
	"mcptest/internal/mcpaql/live"
	"mcptest/internal/mcpaql/live/guard"
	"mcptest/internal/mcpaql/verdict"
	"mcptest/internal/server/mcpserver"
)

// spoiled is the demo adapter with something in its way. spoil returns nil
// to let the adapter answer.
func spoiled(t *testing.T, o demo.Options, spoil func(n int, req *mcpserver.Request, answer func() *mcpserver.Reply) *mcpserver.Reply) mcpserver.Handler {
	a, err := demo.New(o)
	if err != nil {
		t.Fatal(err)
	}
	var calls atomic.Int64
	return mcpserver.HandlerFunc(func(ctx context.Context, req *mcpserver.Request) *mcpserver.Reply {
		answer := func() *mcpserver.Reply { return a.Handle(ctx, req) }
		if req.Method != "tools/call" {
			return answer()
		}
		if r := spoil(int(calls.Add(1)), req, answer); r != nil {
			return r
		}
		return answer()
	})
}

func textReply(s string) *mcpserver.Reply {
	var b bytes.Buffer
	b.WriteString(`{"content":[{"type":"text","text":`)
	b.Write(jsonv.AppendString(nil, s))
	b.WriteString(`}]}`)
	return &mcpserver.Reply{Result: b.Bytes()}
}

// For every behavior of an adapter, a run ends with rows and findings.
func TestBadAdapters(t *testing.T) {
	t.Parallel()
	type spoil = func(n int, req *mcpserver.Request, answer func() *mcpserver.Reply) *mcpserver.Reply
	huge := strings.Repeat("x", 3<<20)
	for name, c := range map[string]struct {
		spoil spoil
		rows  []string // that must not be PASS
		exit  int
	}{
		"text that is no JSON": {func(int, *mcpserver.Request, func() *mcpserver.Reply) *mcpserver.Reply { return textReply("Hello!") }, []string{"operations", "types", "error-form"}, 1},
		"no content": {func(int, *mcpserver.Request, func() *mcpserver.Reply) *mcpserver.Reply {
			return &mcpserver.Reply{Result: []byte(`{}`)}
		}, []string{"operations", "error-form"}, 1},
		"result of a wrong kind": {func(int, *mcpserver.Request, func() *mcpserver.Reply) *mcpserver.Reply {
			return &mcpserver.Reply{Result: []byte(`7`)}
		}, []string{"operations"}, 1},
		"JSON-RPC errors only": {func(int, *mcpserver.Request, func() *mcpserver.Reply) *mcpserver.Reply {
			return &mcpserver.Reply{Error: &protocol.RPCError{Code: -32603, Message: "at Object.run (/srv/app/src/x.js:3:4)"}}
		}, []string{"operations", "error-form", "leaks", "envelopes"}, 1},
		"JSON-RPC errors after introspection": {func(n int, req *mcpserver.Request, _ func() *mcpserver.Reply) *mcpserver.Reply {
			if bytes.Contains(req.Params, []byte(`"introspect"`)) {
				return nil
			}
			return &mcpserver.Reply{Error: &protocol.RPCError{Code: -32603, Message: "no"}}
		}, []string{"accuracy", "envelopes"}, 1},
		"huge answers": {func(n int, req *mcpserver.Request, _ func() *mcpserver.Reply) *mcpserver.Reply {
			if bytes.Contains(req.Params, []byte(`"list_`)) {
				return textReply(`{"success":true,"data":{"items":[{"id":"` + huge + `"}]}}`)
			}
			return nil
		}, nil, 1},
		"a flood of notifications": {func(n int, req *mcpserver.Request, _ func() *mcpserver.Reply) *mcpserver.Reply {
			if n == 3 {
				for range 3000 {
					_ = req.Notify("notifications/message", []byte(`{"level":"info","data":"x"}`))
				}
			}
			return nil
		}, []string{"conduct"}, 0},
		"requests to the client": {func(n int, req *mcpserver.Request, _ func() *mcpserver.Reply) *mcpserver.Reply {
			if n%10 == 0 {
				ctx, cancel := context.WithTimeout(context.Background(), 2*time.Second)
				defer cancel()
				_, _ = req.Ask(ctx, "sampling/createMessage", []byte(`{}`))
			}
			return nil
		}, []string{"conduct"}, 0},
		"another answer each time": {func() spoil {
			r := rand.New(rand.NewPCG(1, 2))
			var mu sync.Mutex
			return func(n int, req *mcpserver.Request, _ func() *mcpserver.Reply) *mcpserver.Reply {
				mu.Lock()
				defer mu.Unlock()
				if bytes.Contains(req.Params, []byte(`"introspect"`)) && n < 30 {
					return nil
				}
				return textReply([]string{
					`{"success":true,"data":null}`, `[]`, `{"success":false,"error":null}`, `{"success":"no"}`, `null`,
					`{"success":true,"data":[[[1]]],"warnings":5}`, "\x00", `{"success":false,"error":{"code":1,"message":[]}}`,
				}[r.IntN(8)])
			}
		}(), []string{"accuracy"}, 1},
		"introspection that lies": {func(n int, req *mcpserver.Request, _ func() *mcpserver.Reply) *mcpserver.Reply {
			switch {
			case bytes.Contains(req.Params, []byte(`"name":"list_books"`)):
				return textReply(`{"success":true,"data":{"operation":{"name":"list_books","parameters":[{"name":"shape","type":"Circle<","required":true},{"name":"x","type":"integer","minimum":9,"maximum":2},{"name":"y","type":"string","pattern":"(","minLength":5,"maxLength":2}]}}}`)
			case bytes.Contains(req.Params, []byte(`"name":"get_book"`)):
				return textReply(`{"success":true,"data":{"operation":{"name":7,"parameters":{"a":1},"returns":null}}}`)
			}
			return nil
		}, []string{"details"}, 1},
		"dies in the middle": {func(n int, req *mcpserver.Request, _ func() *mcpserver.Reply) *mcpserver.Reply {
			if n == 60 {
				return &mcpserver.Reply{Raw: []byte("\x00bye")}
			}
			return nil
		}, nil, -1},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			dial := dialer(t, func(string) mcpserver.Handler { return spoiled(t, demo.Options{}, c.spoil) })
			o := guard.Options{Dial: dial, Mode: guard.ModeWrite, CallTimeout: 3 * time.Second, Budget: 60 * time.Second}
			e := collect(t, o)
			r := judgeLive(e)
			rows := rowsByID(r)
			for _, id := range c.rows {
				if rows[id].Result == verdict.Pass {
					t.Errorf("%s is PASS", id)
				}
			}
			if c.exit >= 0 && (r.ExitCode == 1) != (c.exit == 1) {
				t.Errorf("exit %d\n%s", r.ExitCode, r.FormatText())
			}
			if len(e.JSON().Append(nil)) > 64<<20 {
				t.Error("the bundle is huge")
			}
		})
	}
}

func TestNoAdapter(t *testing.T) {
	t.Parallel()
	none := dialer(t, func(string) mcpserver.Handler {
		return mcpserver.HandlerFunc(func(ctx context.Context, req *mcpserver.Request) *mcpserver.Reply {
			switch req.Method {
			case "initialize":
				return &mcpserver.Reply{Result: []byte(`{"protocolVersion":"2025-06-18","capabilities":{},"serverInfo":{"name":"x","version":"1"}}`)}
			case "tools/list":
				return &mcpserver.Reply{Result: []byte(`{"tools":[{"name":"echo"},{"name":"add"}],"nextCursor":"again"}`)}
			}
			return nil
		})
	})
	_, err := live.Collect(context.Background(), guard.Options{Spread: time.Millisecond, Dial: none})
	var want *live.NoAdapterError
	if !errors.As(err, &want) || !strings.Contains(err.Error(), "echo, add") {
		t.Errorf("%v", err)
	}
	_, err = live.Collect(context.Background(), guard.Options{Spread: time.Millisecond, Dial: none, Tool: "ecco"})
	if !errors.As(err, &want) || !strings.Contains(err.Error(), `no tool "ecco"`) {
		t.Errorf("%v", err)
	}
	_, err = live.Collect(context.Background(), guard.Options{Dial: func(context.Context, string) (*mcp.Session, error) { return nil, errors.New("refused") }})
	if !errors.As(err, &want) {
		t.Errorf("%v", err)
	}
}

// mortal serves until a call number, and then closes the connection.
func mortal(t *testing.T, lives ...int) func(context.Context, string) (*mcp.Session, error) {
	dials := 0
	return func(ctx context.Context, variant string) (*mcp.Session, error) {
		if variant != "" {
			return nil, nil
		}
		last := 1 << 30
		if dials < len(lives) {
			last = lives[dials]
		}
		dials++
		client, server := wire.NewPipe()
		h := spoiled(t, demo.Options{}, func(n int, _ *mcpserver.Request, _ func() *mcpserver.Reply) *mcpserver.Reply {
			if n == last {
				_ = server.Close()
			}
			return nil
		})
		go func() { _ = mcpserver.ServeStdio(context.Background(), server, server, h) }()
		return mcp.Open(ctx, client, mcp.Options{ConnectTimeout: 5 * time.Second})
	}
}

func TestDeadAdapterIsStartedOnce(t *testing.T) {
	t.Parallel()
	e := collect(t, guard.Options{Dial: mortal(t, 70), Mode: guard.ModeSafe})
	r := judgeLive(e)
	if rowsByID(r)["conduct"].Result != verdict.Failed || r.ExitCode != 1 {
		t.Errorf("a death is %s, exit %d", rowsByID(r)["conduct"].Result, r.ExitCode)
	}
	if calls, _ := e.Live.Lookup("calls").Int64(); calls < 100 || e.Live.Lookup("ended").Text() != "" {
		t.Errorf("%d calls, ended: %q", calls, e.Live.Lookup("ended").Text())
	}
	e = collect(t, guard.Options{Dial: mortal(t, 70, 20, 20, 20), Mode: guard.ModeSafe})
	if got := e.Live.Lookup("ended").Text(); got != "the adapter died twice" {
		t.Errorf("ended: %q", got)
	}
	if r := judgeLive(e); r.ExitCode != 1 {
		t.Errorf("exit %d", r.ExitCode)
	}
}

func TestSilentAdapterIsGivenUp(t *testing.T) {
	t.Parallel()
	dial := dialer(t, func(string) mcpserver.Handler {
		return spoiled(t, demo.Options{}, func(n int, _ *mcpserver.Request, _ func() *mcpserver.Reply) *mcpserver.Reply {
			if n > 40 {
				return &mcpserver.Reply{}
			}
			return nil
		})
	})
	e, took := collectTimed(t, guard.Options{Dial: dial, CallTimeout: 100 * time.Millisecond})
	if rowsByID(judgeLive(e))["conduct"].Result != verdict.Failed || !strings.Contains(e.Live.Lookup("ended").Text(), "too many calls got no response") {
		t.Errorf("ended: %q", e.Live.Lookup("ended").Text())
	}
	if took > 60*time.Second {
		t.Errorf("took %s", took)
	}
}

// A run that is ended early removes what it created all the same.
func TestEndedRunCleansUp(t *testing.T) {
	t.Parallel()
	for _, at := range []int{40, 60, 90, 130, 180, 230} {
		t.Run(fmt.Sprint(at), func(t *testing.T) {
			state := t.TempDir() + "/library.json"
			ctx, cancel := context.WithCancel(context.Background())
			defer cancel()
			var calls atomic.Int64
			dial := dialer(t, func(string) mcpserver.Handler {
				return spoiled(t, demo.Options{State: state}, func(int, *mcpserver.Request, func() *mcpserver.Reply) *mcpserver.Reply {
					if int(calls.Add(1)) == at {
						cancel()
					}
					return nil
				})
			})
			if _, err := live.Collect(ctx, guard.Options{Spread: time.Millisecond, Dial: dial, Mode: guard.ModeWrite}); err != nil {
				t.Fatal(err)
			}
			if left := markedIn(t, state); len(left) > 0 {
				t.Errorf("left: %v", left)
			}
		})
	}
}

// An adapter that limits the rate is waited for, within bounds.
func TestRateLimits(t *testing.T) {
	t.Parallel()
	limited := func(after string, every int) func(context.Context, string) (*mcp.Session, error) {
		var refused atomic.Bool
		return dialer(t, func(string) mcpserver.Handler {
			return spoiled(t, demo.Options{}, func(n int, req *mcpserver.Request, _ func() *mcpserver.Reply) *mcpserver.Reply {
				if n%every != 0 || refused.Swap(true) {
					refused.Store(false)
					return nil
				}
				return textReply(`{"success":false,"error":{"code":"RATE_LIMIT_EXCEEDED","message":"Too many calls: wait.","details":{"retry_after_seconds":` + after + `}}}`)
			})
		})
	}
	r := judgeLive(collect(t, guard.Options{Dial: limited("0.001", 7), Mode: guard.ModeWrite}))
	for id, row := range rowsByID(r) {
		if row.Result == verdict.Failed || row.Result == verdict.Warned && id != "modes" {
			t.Errorf("%s: %s: %s", id, row.Result, row.Detail)
		}
	}
	e, took := collectTimed(t, guard.Options{Dial: limited("3600", 40), Mode: guard.ModeWrite})
	if took > time.Minute {
		t.Errorf("waited %s", took)
	}
	for id, row := range rowsByID(judgeLive(e)) {
		if row.Result == verdict.Failed {
			t.Errorf("not waited for: %s: %s: %s", id, row.Result, row.Detail)
		}
	}
	if left := e.Live.Lookup("leftovers"); left.Len() > 0 {
		t.Errorf("left: %s", left)
	}
}

// One operation that hangs, or ends the adapter, costs its own rows and not
// the run.
func TestOneBadOperation(t *testing.T) {
	t.Parallel()
	hangs := dialer(t, func(string) mcpserver.Handler {
		return spoiled(t, demo.Options{}, func(_ int, req *mcpserver.Request, _ func() *mcpserver.Reply) *mcpserver.Reply {
			if bytes.Contains(req.Params, []byte(`"operation":"search_books"`)) {
				return &mcpserver.Reply{}
			}
			return nil
		})
	})
	deadly := func(ctx context.Context, variant string) (*mcp.Session, error) {
		if variant != "" {
			return nil, nil
		}
		client, server := wire.NewPipe()
		h := spoiled(t, demo.Options{}, func(_ int, req *mcpserver.Request, _ func() *mcpserver.Reply) *mcpserver.Reply {
			if bytes.Contains(req.Params, []byte(`"operation":"search_books"`)) {
				_ = server.Close()
			}
			return nil
		})
		go func() { _ = mcpserver.ServeStdio(context.Background(), server, server, h) }()
		return mcp.Open(ctx, client, mcp.Options{ConnectTimeout: 5 * time.Second})
	}
	for name, dial := range map[string]func(context.Context, string) (*mcp.Session, error){"hangs": hangs, "ends the adapter": deadly} {
		t.Run(name, func(t *testing.T) {
			e := collect(t, guard.Options{Dial: dial, Mode: guard.ModeWrite, CallTimeout: 300 * time.Millisecond})
			rows := rowsByID(judgeLive(e))
			if rows["conduct"].Result != verdict.Failed || e.Live.Lookup("ended").Text() != "" {
				t.Errorf("conduct is %s, ended %q", rows["conduct"].Result, e.Live.Lookup("ended").Text())
			}
			for _, id := range []string{"create-read", "update", "deleted", "routing"} {
				if rows[id].Result != verdict.Pass {
					t.Errorf("%s: %s: %s", id, rows[id].Result, rows[id].Detail)
				}
			}
		})
	}
}

// What is secret is in no part of a bundle.
func TestSecretsAreNotKept(t *testing.T) {
	t.Parallel()
	const secret, pin = "wx-90210-hunter", "4711-0815"
	dial := dialer(t, func(string) mcpserver.Handler {
		return spoiled(t, demo.Options{}, func(_ int, req *mcpserver.Request, _ func() *mcpserver.Reply) *mcpserver.Reply {
			switch {
			case bytes.Contains(req.Params, []byte(`"name":"search_books"`)):
				return textReply(`{"success":true,"data":{"operation":{"name":"search_books","semantic_category":"READ","endpoint":"READ","mcpTool":"mcp_aql_read","description":"Finds.","permissions":{"readOnly":true,"destructive":false},"parameters":[{"name":"pin","type":"string","required":true,"sensitive":true}],"returns":{"name":"BookList","kind":"object"}}}}`)
			case bytes.Contains(req.Params, []byte(`"operation":"search_books"`)):
				return textReply(`{"success":false,"error":{"code":"VALIDATION_INVALID_VALUE","message":"Bearer ` + secret + ` may not.","details":{"pin":"` + pin + `","access_token":"abcdef"}}}`)
			}
			return nil
		})
	})
	values, _ := jsonv.Parse([]byte(`{"search_books":{"pin":"` + pin + `"}}`))
	e, err := live.Collect(context.Background(), guard.Options{Spread: time.Millisecond, Dial: dial, Values: values, Secrets: []string{secret}})
	if err != nil {
		t.Fatal(err)
	}
	bundle := string(evidence.Mask(e.JSON(), []string{secret}).Append(nil))
	for _, word := range []string{secret, pin, "abcdef"} {
		if strings.Contains(bundle, word) {
			t.Errorf("the bundle holds %s", word)
		}
	}
	if !strings.Contains(bundle, "[redacted]") {
		t.Error("nothing was redacted: the test proves nothing")
	}
}
