package aql_test

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"mcptest/internal/base/jsonv"
	"mcptest/internal/base/testkit"
	"mcptest/internal/client/mcp"
	"mcptest/internal/client/protocol"
	"mcptest/internal/mcpaql/demo"
	"mcptest/internal/mcpaql/evidence"
	"mcptest/internal/mcpaql/live"
	"mcptest/internal/mcpaql/live/guard"
	"mcptest/internal/mcpaql/live/tape"
	"mcptest/internal/server/mcpserver"
	"mcptest/internal/tape/cassette"
)

// recorded is a run, its recording, and what a bundle of it is.
type recorded struct {
	o      guard.Options
	tape   []byte
	bundle string
}

// recordRun runs live and keeps what passed.
func recordRun(t testing.TB, ctx context.Context, o guard.Options) recorded {
	t.Helper()
	if o.Spread == 0 {
		o.Spread = time.Millisecond
	}
	o.RunID, o.Target, o.Repeat = "a1b2c3", "the adapter", "call it"
	file := filepath.Join(t.TempDir(), "run")
	o.Record = create(t, file, o)
	e, err := live.Collect(ctx, o)
	if err != nil {
		t.Fatal(err)
	}
	if err := o.Record.Close(); err != nil {
		t.Fatal(err)
	}
	data, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	return recorded{o, data, evidence.Mask(e.JSON(), o.Secrets).String()}
}

func create(t testing.TB, file string, o guard.Options) *cassette.Writer {
	t.Helper()
	w, err := tape.Create(file, cassette.Header{Transport: cassette.Stdio}, tape.About{Target: o.Target, Repeat: o.Repeat, RunID: o.RunID}, o.Secrets)
	if err != nil {
		t.Fatal(err)
	}
	return w
}

// openTape opens a recording with some content, in a file run.jsonl.
func openTape(t testing.TB, data []byte) (*tape.Recording, error) {
	t.Helper()
	file := filepath.Join(t.TempDir(), "run.jsonl")
	if err := os.WriteFile(file, data, 0o600); err != nil {
		t.Fatal(err)
	}
	rec, err := tape.Open(file)
	if err == nil {
		t.Cleanup(func() { _ = rec.Close() })
	}
	return rec, err
}

// replay plays a recording back.
func (r recorded) replay(t testing.TB) (string, error) {
	t.Helper()
	rec, err := openTape(t, r.tape)
	if err != nil {
		t.Fatal(err)
	}
	o := r.o
	o.Record, o.Replay, o.Secrets = nil, rec, nil
	o.RunID, o.Target, o.Repeat, o.Values = rec.RunID, rec.Target, rec.Repeat, rec.Values
	o.Dial = func(context.Context, string) (*mcp.Session, error) {
		t.Error("a replay started the adapter")
		return nil, errors.New("no")
	}
	e, err := live.Collect(context.Background(), o)
	if err != nil {
		return "", err
	}
	return evidence.Mask(e.JSON(), nil).String(), nil
}

// again wants the same bundle, to the byte.
func (r recorded) again(t testing.TB) {
	t.Helper()
	got, err := r.replay(t)
	if err != nil {
		t.Errorf("%v", err)
	} else if got != r.bundle {
		t.Errorf("another bundle:\n%s", cmp.Diff(indented(r.bundle), indented(got)))
	}
}

func indented(s string) string {
	v, _ := jsonv.Parse([]byte(s))
	return string(v.Indent("", " "))
}

func TestReplayGivesTheSameBundle(t *testing.T) {
	for _, mode := range []string{guard.ModeSafe, guard.ModeWrite, guard.ModeFull} {
		t.Run(mode, func(t *testing.T) {
			t.Parallel()
			recordRun(t, context.Background(), guard.Options{Dial: library(t, demo.Options{}), Mode: mode, Confirm: true}).again(t)
		})
	}
	var features []string
	for _, f := range demo.Features() {
		features = append(features, f.Name)
	}
	t.Run("features", func(t *testing.T) {
		t.Parallel()
		recordRun(t, context.Background(), guard.Options{Dial: library(t, demo.Options{Features: features}), Mode: guard.ModeFull, Confirm: true}).again(t)
	})
	for i, d := range demo.Defects() {
		if i%16 != 0 && (d.Feature == "" || !testkit.Deep()) {
			continue
		}
		t.Run(d.Name, func(t *testing.T) {
			t.Parallel()
			o := demo.Options{Defects: []string{d.Name}}
			lo := guard.Options{Mode: guard.ModeWrite, Stress: d.Feature == "stress", Confirm: d.Feature == "confirm"}
			if d.Feature != "" && d.Feature != "stress" {
				o.Features = []string{d.Feature}
			}
			lo.Dial = library(t, o)
			recordRun(t, context.Background(), lo).again(t)
		})
	}
}

// Deaths, restarts, hangs, waits and ends are played back at once.
func TestReplayOfTrouble(t *testing.T) {
	hangs := func(after int) func(context.Context, string) (*mcp.Session, error) {
		return dialer(t, func(string) mcpserver.Handler {
			return spoiled(t, demo.Options{}, func(n int, _ *mcpserver.Request, _ func() *mcpserver.Reply) *mcpserver.Reply {
				if n > after && n%20 == 0 || n > after+100 {
					return &mcpserver.Reply{}
				}
				return nil
			})
		})
	}
	limited := dialer(t, func(string) mcpserver.Handler {
		return spoiled(t, demo.Options{}, func(n int, _ *mcpserver.Request, _ func() *mcpserver.Reply) *mcpserver.Reply {
			if n != 30 {
				return nil
			}
			return textReply(`{"success":false,"error":{"code":"RATE_LIMIT_EXCEEDED","message":"Wait.","details":{"retry_after_seconds":0.3}}}`)
		})
	})
	always := func(reply *mcpserver.Reply) func(context.Context, string) (*mcp.Session, error) {
		return dialer(t, func(string) mcpserver.Handler {
			return spoiled(t, demo.Options{}, func(int, *mcpserver.Request, func() *mcpserver.Reply) *mcpserver.Reply { return reply })
		})
	}
	flood := dialer(t, func(string) mcpserver.Handler {
		return spoiled(t, demo.Options{}, func(n int, req *mcpserver.Request, _ func() *mcpserver.Reply) *mcpserver.Reply {
			for range 2000 / n {
				_ = req.Notify("notifications/message", []byte(`{"level":"info","data":"x"}`))
			}
			return nil
		})
	})
	for name, o := range map[string]guard.Options{
		"one death":      {Dial: mortal(t, 70)},
		"two deaths":     {Dial: mortal(t, 70, 20, 20)},
		"hangs":          {Dial: hangs(40), CallTimeout: 300 * time.Millisecond},
		"limits":         {Dial: limited},
		"floods":         {Dial: flood},
		"calls used up":  {Dial: library(t, demo.Options{}), MaxCalls: 50},
		"time used up":   {Dial: hangs(60), CallTimeout: 20 * time.Second, Budget: 700 * time.Millisecond},
		"a rate":         {Dial: library(t, demo.Options{}), Rate: 1000},
		"no JSON":        {Dial: always(textReply("Hello!"))},
		"another result": {Dial: always(&mcpserver.Reply{Result: []byte(`{"a":1,"a":2}`)})},
		"errors":         {Dial: always(&mcpserver.Reply{Error: &protocol.RPCError{Code: -32603, Message: "no"}})},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			o.Mode = guard.ModeWrite
			r := recordRun(t, context.Background(), o)
			begin := time.Now()
			r.again(t)
			if took := time.Since(begin); took > time.Minute {
				t.Errorf("the replay took %s", took)
			}
		})
	}
}

// A run that was interrupted ends in the same place again.
func TestReplayOfAnInterruptedRun(t *testing.T) {
	for _, at := range []int{1, 2, 5, 40, 60, 90, 130, 180, 230} {
		t.Run(fmt.Sprint(at), func(t *testing.T) {
			t.Parallel()
			ctx, cancel := context.WithCancelCause(context.Background())
			defer cancel(nil)
			var calls atomic.Int64
			dial := dialer(t, func(string) mcpserver.Handler {
				return spoiled(t, demo.Options{}, func(int, *mcpserver.Request, func() *mcpserver.Reply) *mcpserver.Reply {
					if int(calls.Add(1)) == at {
						cancel(errors.New("interrupted"))
					}
					return nil
				})
			})
			r := recordRun(t, ctx, guard.Options{Dial: dial, Mode: guard.ModeWrite})
			if !strings.Contains(r.bundle, `"ended":`) {
				t.Error("the run was not ended: the test proves nothing")
			}
			r.again(t)
		})
	}
}

// What is secret is in no recording, and the run is the same without it.
func TestSecretsAreNotRecorded(t *testing.T) {
	const secret, pin, token, other, number = "wx-90210-hunter", "4711-0815", "conf_Ab12Cd34Ef56", "tok-1234-abcd", "86420975"
	dial := dialer(t, func(string) mcpserver.Handler {
		return spoiled(t, demo.Options{Features: []string{"confirm"}}, func(_ int, req *mcpserver.Request, _ func() *mcpserver.Reply) *mcpserver.Reply {
			switch {
			case bytes.Contains(req.Params, []byte(`"name":"search_books"`)):
				return textReply(`{"success":true,"data":{"operation":{"name":"search_books","semantic_category":"READ","endpoint":"READ","mcpTool":"mcp_aql_read","description":"Finds.","permissions":{"readOnly":true,"destructive":false},"parameters":[{"name":"pin","type":"string","required":true,"sensitive":true,"maxLength":9}],"returns":{"name":"BookList","kind":"object"}}}}`)
			case bytes.Contains(req.Params, []byte(`"operation":"search_books"`)) && bytes.Contains(req.Params, []byte(pin)):
				return textReply(`{"success":true,"data":{"pin":"` + pin + `","access_token":"` + other + `","confirmation_token":"` + token + `","as":"` + secret + `","password":` + number + `,"credentials":{"user":"planted-user","keys":[` + number + `1]}}}`)
			case bytes.Contains(req.Params, []byte(`"operation":"search_books"`)):
				return textReply(`{"success":false,"error":{"code":"VALIDATION_INVALID_VALUE","message":"Bearer ` + secret + ` may not.","details":{"pin":"` + pin + `","access_token":"abcdef"}}}`)
			}
			return nil
		})
	})
	values, _ := jsonv.Parse([]byte(`{"search_books":{"pin":"` + pin + `"}}`))
	r := recordRun(t, context.Background(), guard.Options{Dial: dial, Mode: guard.ModeFull, Confirm: true, Values: values, Secrets: []string{secret}})
	for _, word := range []string{secret, pin, token, token[5:], other, "abcdef", number, "planted"} {
		if bytes.Contains(r.tape, []byte(word)) {
			t.Errorf("the recording holds %s", word)
		}
		if strings.Contains(r.bundle, word) && word != secret { // it is masked when the bundle is written
			t.Errorf("the bundle holds %s", word)
		}
	}
	if !strings.Contains(r.bundle, "search_books") {
		t.Error("nothing was called: the test proves nothing")
	}
	r.again(t)
}

// The messages of a recording are those of a server, for all readers of cassettes.
func TestRecordingHasTheMessages(t *testing.T) {
	r := recordRun(t, context.Background(), guard.Options{Dial: library(t, demo.Options{}), Mode: guard.ModeWrite})
	rec, err := openTape(t, r.tape)
	if err != nil {
		t.Fatal(err)
	}
	calls, err := rec.Calls()
	if err != nil {
		t.Fatal(err)
	}
	answered := map[string]int64{}
	for _, call := range calls {
		if call.Response == nil {
			t.Errorf("line %d, %s %s: no response", call.Request.Line, call.Method, call.Name)
		}
		answered[call.Method]++
	}
	bundle, _ := jsonv.Parse([]byte(r.bundle))
	sent, _ := bundle.Lookup("x_live", "calls").Int64()
	if answered["tools/call"] < sent || sent < 100 || answered["initialize"] < 2 || rec.Protocol == "" {
		t.Errorf("%v of %d calls, protocol %q", answered, sent, rec.Protocol)
	}
}

// A recording answers nothing but what was asked when it was made.
func TestReplayOfSomethingElse(t *testing.T) {
	r := recordRun(t, context.Background(), guard.Options{Dial: library(t, demo.Options{}), Mode: guard.ModeSafe})
	lines := bytes.SplitAfter(r.tape, []byte("\n"))
	first := slices.IndexFunc(lines, func(l []byte) bool { return bytes.Contains(l, []byte(`"tools/call"`)) })
	without := func(n int) []byte { return bytes.Join(slices.Delete(slices.Clone(lines), first, first+n), nil) }
	at := func(i int) string { return fmt.Sprintf("run.jsonl:%d: ", first+i) }
	for name, c := range map[string]struct {
		change func(o *guard.Options)
		tape   []byte
		want   string
	}{
		"another mode":          {func(o *guard.Options) { o.Mode = guard.ModeWrite }, r.tape, "the recording has no response to"},
		"a line is missing":     {nil, without(1), at(2) + "the recording was changed: expected 2 messages before this line, got 1;"},
		"a call is missing":     {nil, without(3), at(1) + "the recording has no response to"},
		"a line is there twice": {nil, bytes.Join(slices.Insert(slices.Clone(lines), first, lines[first]), nil), at(4) + "the recording was changed"},
		"fewer calls":           {func(o *guard.Options) { o.MaxCalls = 10 }, r.tape, "record the run again"},
		"cut short":             {nil, bytes.Join(lines[:50], nil), "run.jsonl:50: the recording is not complete"},
		"half a line":           {nil, r.tape[:len(r.tape)-30], "the recording is not complete"},
		"another version":       {nil, bytes.Replace(r.tape, []byte(`"mcptest_cassette":1`), []byte(`"mcptest_cassette":9`), 1), "run.jsonl:1: the cassette has version 9"},
		"a bundle":              {nil, []byte(r.bundle), "run.jsonl:1: not a cassette"},
		"the format before":     {nil, []byte("{\"recording\":\"mcpaql-conformance live\",\"version\":1}\n{\"end\":true}\n"), "record the run again with --record"},
		"a run of suites":       {nil, bytes.Replace(r.tape, []byte(`"note":`), []byte(`"x":`), 1), "run.jsonl:1: the cassette is not one of a live run"},
		"nothing":               {nil, nil, "run.jsonl: the file is empty"},
	} {
		t.Run(name, func(t *testing.T) {
			rec, err := openTape(t, c.tape)
			if err == nil {
				o := guard.Options{Replay: rec, RunID: rec.RunID, Mode: guard.ModeSafe}
				if c.change != nil {
					c.change(&o)
				}
				var e *evidence.Evidence
				if e, err = live.Collect(context.Background(), o); e != nil {
					t.Error("there is evidence all the same")
				}
			}
			var wrong *cassette.Error
			if !errors.As(err, &wrong) || !strings.Contains(err.Error(), c.want) {
				t.Errorf("%v, want %s", err, c.want)
			}
		})
	}
}

// A recording that cannot be written does not cost the evidence.
func TestRecordingThatCannotBeWritten(t *testing.T) {
	o := guard.Options{Spread: time.Millisecond, Dial: library(t, demo.Options{}), RunID: "a1b2c3"}
	o.Record = create(t, filepath.Join(t.TempDir(), "run"), o)
	if err := o.Record.Close(); err != nil {
		t.Fatal(err)
	}
	e, err := live.Collect(context.Background(), o)
	if e == nil || err != nil {
		t.Errorf("%v", err)
	}
	if err := o.Record.Close(); err == nil {
		t.Error("the recording lacks the run, and no error says so")
	}
}
