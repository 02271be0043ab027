package mcp_test

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"mcptest/internal/base/testkit"
	"mcptest/internal/client/mcp"
	"mcptest/internal/client/protocol"
	"mcptest/internal/client/wire"
)

// A dialog partner over a pipe: it answers a line by its method. An empty
// answer is silence, "exit" hangs up.
func speaker(t *testing.T, answers func(method, id string) string) wire.Transport {
	t.Helper()
	tr, rw := wire.NewPipe()
	var wg sync.WaitGroup
	wg.Go(func() {
		defer rw.Close()
		in := bufio.NewReader(rw)
		for {
			line, err := in.ReadString('\n')
			if err != nil {
				return
			}
			method := between(line, `"method":"`, `"`)
			answer := answers(method, idOf([]byte(line)))
			if answer == "exit" {
				return
			}
			for i, part := range strings.Split(answer, "~") {
				if i > 0 {
					time.Sleep(50 * time.Millisecond)
				}
				if part == "exit" {
					return
				}
				if part != "" {
					io.WriteString(rw, part+"\n")
				}
			}
		}
	})
	t.Cleanup(wg.Wait)
	return tr
}

func between(s, a, b string) string {
	_, s, _ = strings.Cut(s, a)
	s, _, _ = strings.Cut(s, b)
	return s
}

func result(id, r string) string { return `{"jsonrpc":"2.0","id":` + id + `,"result":` + r + `}` }

func refused(id string, code int, data string) string {
	if data != "" {
		data = `,"data":` + data
	}
	return fmt.Sprintf(`{"jsonrpc":"2.0","id":%s,"error":{"code":%d,"message":"no"%s}}`, id, code, data)
}

const discovered = `{"resultType":"complete","supportedVersions":["2026-07-28"],"capabilities":{},"_meta":{"io.modelcontextprotocol/serverInfo":{"name":"m","version":"1"}}}`

func TestDetectEra(t *testing.T) {
	legacy := func(probe string) func(method, id string) string {
		return func(method, id string) string {
			switch method {
			case "server/discover":
				return strings.ReplaceAll(probe, "ID", id)
			case "initialize":
				return result(id, helloResult)
			}
			return ""
		}
	}
	for _, c := range []struct {
		name    string
		answers func(method, id string) string
		again   func(method, id string) string // the fresh connection, nil: none is expected
		want    string                         // revision
		err     string                         // part of the error
	}{
		{name: "modern", answers: legacy(result("ID", discovered)), want: "2026-07-28"},
		{name: "-32601", answers: legacy(refused("ID", -32601, "")), want: "2025-11-25"},
		{name: "-32602", answers: legacy(refused("ID", -32602, "")), want: "2025-11-25"},
		{name: "-32600", answers: legacy(refused("ID", -32600, "")), want: "2025-11-25"},
		{name: "-32000", answers: legacy(refused("ID", -32000, "")), want: "2025-11-25"},
		{name: "code 0", answers: legacy(refused("ID", 0, "")), want: "2025-11-25"},
		{name: "id null", answers: legacy(refused("null", -32600, "")), want: "2025-11-25"},
		{name: "modern refusal of no use", answers: legacy(refused("ID", -32022, `{"supported":["2999-01-01"]}`)), err: "supports none of the known protocol versions"},
		{name: "modern refusal, sessions", answers: legacy(refused("ID", -32022, `{"supported":["2025-11-25"]}`)), want: "2025-11-25"},
		{name: "result of another kind", answers: legacy(result("ID", `{"ok":true}`)), want: "2025-11-25"},
		{name: "result is null", answers: legacy(result("ID", `null`)), want: "2025-11-25"},
		{name: "lists sessions only", answers: legacy(result("ID", `{"supportedVersions":["2025-11-25"],"capabilities":{}}`)), again: legacy("exit"), want: "2025-11-25"},
		{name: "dies", answers: legacy("exit"), again: legacy("exit"), want: "2025-11-25"},
		{name: "silent", answers: legacy(""), again: legacy(""), want: "2025-11-25"},
		{name: "latched", answers: func(method, id string) string {
			if method == "initialize" {
				return refused(id, 0, "")
			}
			return refused(id, -32601, "")
		}, again: legacy("exit"), want: "2025-11-25"},
		{name: "dies at initialize after the probe", answers: func(method, id string) string {
			if method == "initialize" {
				return "exit"
			}
			return refused(id, -32601, "")
		}, again: legacy("exit"), want: "2025-11-25"},
		{name: "refused once, then modern", answers: func() func(method, id string) string {
			n := 0
			return func(method, id string) string {
				if n++; n == 1 {
					return refused(id, -32022, `{"supported":["2026-07-28"],"requested":"2026-07-28"}`)
				}
				return result(id, discovered)
			}
		}(), want: "2026-07-28"},
	} {
		t.Run(c.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				fresh := 0
				s, err := mcp.Open(t.Context(), speaker(t, c.answers), mcp.Options{
					Protocol: mcp.Auto, ConnectTimeout: 4 * time.Second,
					Redial: func(context.Context) (wire.Transport, error) {
						fresh++
						return speaker(t, c.again), nil
					},
				})
				if (fresh == 1) != (c.again != nil) {
					t.Errorf("%d fresh connections", fresh)
				}
				if err != nil {
					if c.err == "" || !strings.Contains(err.Error(), c.err) {
						t.Fatal(err)
					}
					return
				}
				defer s.Close(context.Background())
				if s.Protocol() != c.want {
					t.Errorf("revision %s, want %s", s.Protocol(), c.want)
				}
				if v := s.TakeViolations(); len(v) > 0 {
					t.Error(v)
				}
				if (s.Era() == protocol.EraStateless) != (c.want == "2026-07-28") {
					t.Error(s.Era())
				}
			})
		})
	}
}

// The violations in the response to server/discover are those of the handshake.
// Rejecting an unknown request is valid, even without its id if the server did not
// read the method.
func TestDetectViolations(t *testing.T) {
	const no = `"error":{"code":-32601,"message":"no"}}`
	for _, c := range []struct{ name, probe, want string }{
		{"refused", `{"jsonrpc":"2.0","id":ID,` + no, ""},
		{"id null, invalid request", refused("null", -32600, ""), ""},
		{"id null, code of the server", refused("null", -32000, ""), ""},
		{"no id, parse error", `{"jsonrpc":"2.0","error":{"code":-32700,"message":"no"}}`, ""},
		{"result of another kind", result("ID", `{"ok":true}`), ""},
		{"byte order mark", "\ufeff" + `{"jsonrpc":"2.0","id":ID,` + no, "bom"},
		{"byte order mark, modern", "\ufeff" + result("ID", discovered), "bom"},
		{"id of another type", `{"jsonrpc":"2.0","id":"ID",` + no, "id-type"},
		{"id null, unknown method", refused("null", -32601, ""), "null-id"},
		{"no jsonrpc", `{"id":ID,` + no, "bad-jsonrpc"},
		{"code is a string", `{"jsonrpc":"2.0","id":ID,"error":{"code":"-32601","message":"no"}}`, "bad-error"},
		{"no message", `{"jsonrpc":"2.0","id":ID,"error":{"code":-32601}}`, "bad-error"},
		{"result and error", `{"jsonrpc":"2.0","id":ID,"result":{},` + no, "result-and-error"},
		{"result is null", result("ID", "null"), "bad-result"},
		{"several lines", "{\n\"jsonrpc\":\"2.0\",\"id\":ID,\n" + no, "pretty-json"},
		{"batch", `[{"jsonrpc":"2.0","id":ID,` + no + `]`, "batch"},
		{"same key twice", `{"jsonrpc":"2.0","jsonrpc":"2.0","id":ID,` + no, "duplicate-key"},
	} {
		t.Run(c.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				s, err := mcp.Open(t.Context(), speaker(t, func(method, id string) string {
					switch method {
					case "server/discover":
						return strings.ReplaceAll(c.probe, "ID", id)
					case "initialize":
						return result(id, helloResult)
					}
					return ""
				}), mcp.Options{Protocol: mcp.Auto})
				if err != nil {
					t.Fatal(err)
				}
				defer s.Close(context.Background())
				got := append(s.TakeViolations(), s.Handshake().Violations...)
				testkit.Equal(t, "the violations", kinds(got), c.want)
				testkit.Equal(t, "that they are repeated", len(got) > 1, false)
			})
		})
	}
}

// late opens a server by a first connection that may answer late, and reports
// the methods that each connection was sent. It has no room for a guest, who comes after
// three seconds of silence.
func late(t *testing.T, o mcp.Options, first, again func(method, id string) string) (*mcp.Session, [][]string, error) {
	t.Helper()
	invited := o.Hint != protocol.EraUnknown
	return connected(t, o, first, again, func() error {
		if !invited {
			invited = true
			return errors.New("the port is taken")
		}
		return nil
	})
}

// connected opens a server by a first connection; refuse says whether another one fails.
func connected(t *testing.T, o mcp.Options, first, again func(method, id string) string, refuse func() error) (*mcp.Session, [][]string, error) {
	t.Helper()
	var mu sync.Mutex
	var seen [][]string
	dial := func(answers func(method, id string) string) wire.Transport {
		mu.Lock()
		defer mu.Unlock()
		n := len(seen)
		seen = append(seen, nil)
		return speaker(t, func(method, id string) string {
			mu.Lock()
			seen[n] = append(seen[n], method)
			mu.Unlock()
			return answers(method, id)
		})
	}
	o.Protocol = mcp.Auto
	o.Redial = func(context.Context) (wire.Transport, error) {
		if err := refuse(); err != nil {
			return nil, err
		}
		return dial(again), nil
	}
	s, err := mcp.Open(t.Context(), dial(first), o)
	if err == nil {
		t.Cleanup(func() { s.Close(context.Background()) })
	}
	mu.Lock()
	defer mu.Unlock()
	return s, slices.Clone(seen), err
}

// A connection that received requests of both eras is never used, and the result does not
// depend on the time or order of its responses.
func TestDetectLate(t *testing.T) {
	dual := func(method, id string) string {
		switch method {
		case "server/discover":
			return result(id, discovered)
		case "initialize":
			return result(id, helloResult)
		}
		return ""
	}
	// Nothing is answered before initialize has come.
	held := func(answer func(probe, hello string) string) func(method, id string) string {
		var probe string
		return func(method, id string) string {
			switch method {
			case "server/discover":
				probe = id
			case "initialize":
				return answer(probe, id)
			}
			return ""
		}
	}
	for _, c := range []struct {
		name string
		late func(probe, hello string) string
		era  protocol.Era
		hint protocol.Era
	}{
		{"discover first", func(p, h string) string { return result(p, discovered) + "~" + result(h, helloResult) }, protocol.EraStateless, protocol.EraStateless},
		{"initialize first", func(p, h string) string { return result(h, helloResult) + "~" + result(p, discovered) }, protocol.EraStateless, protocol.EraStateless},
		{"initialize refused", func(p, h string) string { return refused(h, -32601, "") + "~" + result(p, discovered) }, protocol.EraStateless, protocol.EraStateless},
		{"initialize refused by version", func(_, h string) string { return refused(h, -32022, `{"supported":["2026-07-28"]}`) }, protocol.EraStateless, protocol.EraStateless},
		{"initialize refused without a list", func(p, h string) string {
			return refused(h, -32022, "") + strings.Repeat("~", 30) + result(p, discovered)
		}, protocol.EraStateless, protocol.EraStateless},
		{"initialize refused for its headers", func(p, h string) string {
			return refused(h, -32020, "") + strings.Repeat("~", 30) + result(p, discovered)
		}, protocol.EraStateless, protocol.EraStateless},
		{"discover refused", func(p, h string) string { return refused(p, -32601, "") + result(h, helloResult) }, protocol.EraSession, protocol.EraUnknown},
		{"discover unanswered", func(_, h string) string { return result(h, helloResult) }, protocol.EraSession, protocol.EraSession},
	} {
		for _, hint := range []protocol.Era{protocol.EraUnknown, protocol.EraStateless} {
			t.Run(c.name+", hint "+hint.String(), func(t *testing.T) {
				synctest.Test(t, func(t *testing.T) {
					s, seen, err := late(t, mcp.Options{ConnectTimeout: 4 * time.Second, Hint: hint}, held(c.late), dual)
					if err != nil {
						t.Fatal(err)
					}
					if s.Era() != c.era || s.EraHint() != c.hint {
						t.Errorf("era %s, hint %s", s.Era(), s.EraHint())
					}
					want := map[protocol.Era]string{protocol.EraSession: "initialize", protocol.EraStateless: "server/discover"}[c.era]
					if len(seen) != 2 || len(seen[0]) != 2 || seen[1][0] != want {
						t.Errorf("sent %q, want both over the first connection and %s over the second", seen, want)
					}
					if v := s.TakeViolations(); len(v) > 0 {
						t.Error(v)
					}
				})
			})
		}
	}
}

// The violations over the first connection are reported too, unless the second one
// has the same.
func TestDetectViolationsOfFirst(t *testing.T) {
	for _, c := range []struct{ name, probe, hello, want string }{
		{"only over the first", "unknown method", "", "stray-output"},
		{"over both", "unknown method", "starting~", "stray-output"},
		{"late rejection without id", strings.Repeat("~", 220) + refused("null", -32600, ""), "", ""},
		{"late rejection with a byte order mark", strings.Repeat("~", 220) + "\ufeff" + refused("ID", -32601, ""), "", "bom"},
	} {
		t.Run(c.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				server := func(method, id string) string {
					switch method {
					case "initialize":
						return c.hello + result(id, helloResult)
					case "server/discover":
						return strings.ReplaceAll(c.probe, "ID", id)
					}
					return "" // a line after notifications/initialized may come before or after the violations are taken
				}
				s, _, err := late(t, mcp.Options{ConnectTimeout: 30 * time.Second}, func(method, id string) string {
					if method == "initialize" && strings.Contains(c.probe, "ID") {
						return ""
					}
					return server(method, id)
				}, server)
				if err != nil {
					t.Fatal(err)
				}
				got := append(s.TakeViolations(), s.Handshake().Violations...)
				testkit.Equal(t, "the violations", kinds(got), c.want)
				testkit.Equal(t, "that they are repeated", len(got) > 1, false)
			})
		})
	}
}

// When initialize is sent to a server that does not answer server/discover.
func TestDetectPatience(t *testing.T) {
	for _, c := range []struct {
		name    string
		limit   time.Duration
		hint    protocol.Era
		output  time.Duration // when the server writes a line that is not a response; 0: never
		expects time.Duration
	}{
		{"silent", 0, protocol.EraUnknown, 0, 10 * time.Second},
		{"output", 0, protocol.EraUnknown, 500 * time.Millisecond, 4500 * time.Millisecond},
		{"late output", 0, protocol.EraUnknown, 9 * time.Second, 13 * time.Second},
		{"short limit", 8 * time.Second, protocol.EraUnknown, 0, 4 * time.Second},
		{"silent before", 0, protocol.EraSession, 0, 0},
		{"slow before", 0, protocol.EraStateless, 500 * time.Millisecond, 10500 * time.Millisecond},
	} {
		t.Run(c.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				start := time.Now()
				var asked time.Duration
				first := func(method, id string) string {
					if method == "initialize" {
						asked = time.Since(start)
						return result(id, helloResult)
					}
					if c.output == 0 {
						return ""
					}
					return strings.Repeat("~", int(c.output/(50*time.Millisecond))) + "Starting"
				}
				again := func(_, id string) string { return result(id, helloResult) }
				s, _, err := late(t, mcp.Options{ConnectTimeout: c.limit, Hint: c.hint}, first, again)
				if err != nil {
					t.Fatal(err)
				}
				testkit.Equal(t, "the era", s.Era(), protocol.EraSession)
				if late := asked - c.expects; late < 0 || late > 50*time.Millisecond {
					t.Errorf("initialize was sent after %s, expected %s", asked, c.expects)
				}
			})
		})
	}
}

// A server that stays silent while a second connection gets a session is of the era of
// sessions; the second connection is used. What the first one answers decides otherwise.
func TestDetectGuest(t *testing.T) {
	const tick = 50 * time.Millisecond // of "~"
	after := func(d time.Duration, text string) string { return strings.Repeat("~", int(d/tick)) + text }
	for _, c := range []struct {
		name     string
		start    time.Duration // of a process, from its first request to the response
		discover func(id string) string
		era      protocol.Era
		within   time.Duration
		kept     bool // the second connection is used
	}{
		{"silent", 0, nil, protocol.EraSession, 3500 * time.Millisecond, true},
		{"silent, starts in 500 ms", 500 * time.Millisecond, nil, protocol.EraSession, 4 * time.Second, true},
		{"silent, starts in 4 s", 4 * time.Second, nil, protocol.EraSession, 11 * time.Second, true},
		{"modern, starts in 5 s", 5 * time.Second, func(id string) string { return result(id, discovered) }, protocol.EraStateless, 5 * time.Second, false},
		{"legacy, refuses after 5 s", 5 * time.Second, func(id string) string { return refused(id, -32601, "") }, protocol.EraSession, 5 * time.Second, false},
	} {
		t.Run(c.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				server := func(method, id string) string {
					switch {
					case method == "initialize":
						return after(c.start, result(id, helloResult))
					case method == "server/discover" && c.discover != nil:
						return after(c.start, c.discover(id))
					}
					return ""
				}
				began := time.Now()
				s, seen, err := connected(t, mcp.Options{}, server, server, func() error { return nil })
				if err != nil {
					t.Fatal(err)
				}
				took := time.Since(began)
				testkit.Equal(t, "the era", s.Era(), c.era)
				testkit.Equal(t, "the number of connections", len(seen), 2)
				testkit.Equal(t, "that silence is remembered", s.EraHint() == protocol.EraSession, c.kept)
				if c.era == protocol.EraStateless || c.kept {
					testkit.Equal(t, "the requests on the first connection", seen[0], []string{"server/discover"})
				}
				if took < c.within || took > c.within+c.start+tick {
					t.Errorf("took %v, expected %v", took, c.within)
				}
			})
		})
	}
}

// A server that was restarted has the complete time limit again.
func TestDetectSlowTwice(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		slow := func(method, id string) string {
			if method == "server/discover" {
				return strings.Repeat("~", 40*20) + result(id, discovered) // 40 s
			}
			return refused(id, -32601, "")
		}
		if s, _, err := late(t, mcp.Options{}, slow, slow); err != nil || s.Era() != protocol.EraStateless {
			t.Error(err)
		}
	})
}

// If the server rejects both requests, the error quotes both, regardless of the
// connections.
func TestDetectRefusedTwice(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		no := func(method, id string) string { return refused(id, map[string]int{"initialize": -32603}[method], "") }
		_, seen, err := connected(t, mcp.Options{}, no, no, func() error { return nil })
		const want = "initialize: the server refused initialize: no (code -32603); before that, the response to server/discover was: no (code 0)"
		testkit.Equal(t, "the error", err, errors.New(want))
		testkit.Equal(t, "the number of servers that were started", len(seen), 2)
	})
}

// A server that answers within three seconds sees one connection, and no request of the
// other era.
func TestDetectOneConnection(t *testing.T) {
	for _, delay := range []time.Duration{500, 1000, 1500, 2500} {
		delay *= time.Millisecond
		slow := func(text string) string { return strings.Repeat("~", int(delay/(50*time.Millisecond))) + text }
		modern := func(method, id string) string {
			if method == "server/discover" {
				return slow(result(id, discovered))
			}
			return slow(refused(id, -32601, ""))
		}
		session := func(method, id string) string {
			switch method {
			case "initialize":
				return slow(result(id, helloResult))
			case "notifications/initialized":
				return ""
			}
			return slow(refused(id, -32601, ""))
		}
		for _, c := range []struct {
			name   string
			server func(method, id string) string
			want   []string
		}{
			{"modern", modern, []string{"server/discover"}},
			{"session", session, []string{"server/discover", "initialize", "notifications/initialized"}},
		} {
			t.Run(c.name+" after "+delay.String(), func(t *testing.T) {
				synctest.Test(t, func(t *testing.T) {
					var sent []string
					server := func(method, id string) string {
						sent = append(sent, method)
						return c.server(method, id)
					}
					s, seen, err := connected(t, mcp.Options{}, server, server, func() error { return nil })
					if err != nil {
						t.Fatal(err)
					}
					synctest.Wait()
					testkit.Equal(t, "the requests", sent, c.want)
					testkit.Equal(t, "the number of connections", len(seen), 1)
					testkit.Equal(t, "the record of the detection", s.Detection(), "")
				})
			})
		}
	}
}

// A first process that ends after a second one was started may have ended because of it:
// it is started again, alone, and that is not reported as a restart.
func TestDetectEndedBecauseOfTheGuest(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		ends := func(method, _ string) string {
			if method != "server/discover" {
				return ""
			}
			return strings.Repeat("~", 80) + "exit" // after 4 s
		}
		n := 0
		again := func(method, id string) string {
			switch {
			case method == "initialize":
				return result(id, helloResult)
			case method == "server/discover":
				n++
				return refused(id, -32601, "")
			}
			return ""
		}
		guest := func(method, id string) string { return strings.Repeat("~", 40) + again(method, id) }
		var connections atomic.Int32
		pick := func(method, id string) string {
			if connections.Load() == 1 {
				return guest(method, id)
			}
			return again(method, id)
		}
		s, seen, err := connected(t, mcp.Options{}, ends, pick, func() error { connections.Add(1); return nil })
		if err != nil {
			t.Fatal(err)
		}
		testkit.Equal(t, "the era", s.Era(), protocol.EraSession)
		testkit.Equal(t, "the number of connections", len(seen), 3)
		testkit.Equal(t, "whether it was asked again", n, 1)
		testkit.Equal(t, "the restart", s.Restarted(), nil)
	})
}

// Time only counts while this process is scheduled on time, and the server is awaited.
func TestStopwatch(t *testing.T) {
	at := time.Unix(0, 0)
	for _, c := range []struct {
		name  string
		wakes []time.Duration // after the wake-up before
		await bool
		want  time.Duration
	}{
		{"on time", []time.Duration{50 * time.Millisecond, 50 * time.Millisecond}, true, 100 * time.Millisecond},
		{"suspended", []time.Duration{time.Hour, 50 * time.Millisecond}, true, 100 * time.Millisecond},
		{"late, then early", []time.Duration{90 * time.Millisecond, 10 * time.Millisecond}, true, 60 * time.Millisecond},
		{"a clock that was set back", []time.Duration{-time.Hour}, true, 0},
		{"a login", []time.Duration{50 * time.Millisecond}, false, 0},
	} {
		t.Run(c.name, func(t *testing.T) {
			testkit.Equal(t, "the counted time", mcp.Counted(at, c.await, c.wakes...), c.want)
		})
	}
}

// A wrong hint changes only the time.
func TestDetectWrongHint(t *testing.T) {
	modern := func(method, id string) string {
		if method == "server/discover" {
			return result(id, discovered)
		}
		return refused(id, -32601, "")
	}
	s, seen, err := late(t, mcp.Options{Hint: protocol.EraSession}, modern, modern)
	if err != nil {
		t.Fatal(err)
	}
	testkit.Equal(t, "the era", s.Era(), protocol.EraStateless)
	testkit.Equal(t, "the number of servers that were started", len(seen), 1)
}

// If the server responds to neither request, the error names both.
func TestUndetected(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		silent := func(string, string) string { return "" }
		_, seen, err := late(t, mcp.Options{}, silent, silent)
		const want = "server/discover timed out after 1m (limit: connect_timeout 1m); initialize was sent, too, and got no response; " +
			"the server wrote nothing at all; protocol: pins the version, so that only one of the two is sent, and mcptest doctor examines the server"
		testkit.Equal(t, "the error", err, errors.New(want))
		testkit.Equal(t, "the number of servers that were started", len(seen), 1)
	})
}

func TestPins(t *testing.T) {
	dual := func(method, id string) string {
		switch method {
		case "server/discover":
			return result(id, discovered)
		case "initialize":
			return result(id, helloResult)
		}
		return ""
	}
	for _, c := range []struct{ pin, want, err string }{
		{"2026-07-28", "2026-07-28", ""},
		{"2025-11-25", "2025-11-25", ""},
		{"2025-06-18", "", "asked for protocol version 2025-06-18"},
		{"", "2025-11-25", ""},
		{"auto", "2026-07-28", ""},
		{"1999-01-01", "", "not supported"},
	} {
		t.Run(c.pin, func(t *testing.T) {
			s, err := mcp.Open(t.Context(), speaker(t, dual), mcp.Options{Protocol: c.pin})
			if c.err != "" {
				if err == nil || !strings.Contains(err.Error(), c.err) {
					t.Fatal(err)
				}
				return
			}
			if err != nil {
				t.Fatal(err)
			}
			defer s.Close(context.Background())
			if s.Protocol() != c.want {
				t.Error(s.Protocol())
			}
		})
	}
	_, err := mcp.Open(t.Context(), speaker(t, func(method, id string) string { return refused(id, -32601, "") }), mcp.Options{Protocol: "2026-07-28"})
	if err == nil || !strings.Contains(err.Error(), "does not speak protocol version 2026-07-28") {
		t.Error(err)
	}
}
