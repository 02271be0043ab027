package mcp_test

import (
	"bufio"
	"context"
	"fmt"
	"io"
	"strings"
	"sync"
	"testing"
	"time"

	"mcptest/internal/mcp"
)

// A dialog partner over a pipe: it answers a line by its method. An empty
// answer is silence, "exit" hangs up.
func speaker(t *testing.T, answers func(method, id string) string) mcp.Transport {
	t.Helper()
	tr, rw := mcp.NewPipe()
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
		slow    bool
	}{
		{name: "modern", answers: legacy(result("ID", discovered)), want: "2026-07-28"},
		{name: "-32601", answers: legacy(refused("ID", -32601, "")), want: "2025-11-25"},
		{name: "-32602", answers: legacy(refused("ID", -32602, "")), want: "2025-11-25"},
		{name: "-32600", answers: legacy(refused("ID", -32600, "")), want: "2025-11-25"},
		{name: "-32000", answers: legacy(refused("ID", -32000, "")), want: "2025-11-25"},
		{name: "code 0", answers: legacy(refused("ID", 0, "")), want: "2025-11-25"},
		{name: "id null", answers: legacy(refused("null", -32600, "")), want: "2025-11-25"},
		{name: "modern refusal of no use", answers: legacy(refused("ID", -32022, `{"supported":["2999-01-01"]}`)), err: "speaks no protocol revision that is spoken here"},
		{name: "modern refusal, sessions", answers: legacy(refused("ID", -32022, `{"supported":["2025-11-25"]}`)), want: "2025-11-25"},
		{name: "result of another kind", answers: legacy(result("ID", `{"ok":true}`)), want: "2025-11-25"},
		{name: "result is null", answers: legacy(result("ID", `null`)), want: "2025-11-25"},
		{name: "lists sessions only", answers: legacy(result("ID", `{"supportedVersions":["2025-11-25"],"capabilities":{}}`)), again: legacy("exit"), want: "2025-11-25"},
		{name: "dies", answers: legacy("exit"), again: legacy("exit"), want: "2025-11-25"},
		{name: "silent", answers: legacy(""), want: "2025-11-25", slow: true},
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
			if c.slow && testing.Short() {
				t.Skip("waits for a time limit of its own: not with -short")
			}
			t.Parallel()
			fresh := 0
			s, err := mcp.Open(t.Context(), speaker(t, c.answers), mcp.Options{
				Protocol: mcp.Auto, ConnectTimeout: 10 * time.Second,
				Redial: func(context.Context) (mcp.Transport, error) {
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
			if (s.Era() == mcp.EraRequests) != (c.want == "2026-07-28") {
				t.Error(s.Era())
			}
		})
	}
}

// A probe that is answered late counts if it comes before initialize's answer,
// and is no fault if it comes after.
func TestDetectLate(t *testing.T) {
	if testing.Short() {
		t.Skip("waits for a time limit of its own: not with -short")
	}
	for _, order := range []string{"discover", "initialize"} {
		t.Run(order+" first", func(t *testing.T) {
			t.Parallel()
			var probe string
			s, err := mcp.Open(t.Context(), speaker(t, func(method, id string) string {
				switch method {
				case "server/discover":
					probe = id
				case "initialize":
					first, second := result(probe, discovered), result(id, helloResult)
					if order == "initialize" {
						first, second = second, first
					}
					return first + "~" + second
				}
				return ""
			}), mcp.Options{Protocol: mcp.Auto})
			if err != nil {
				t.Fatal(err)
			}
			defer s.Close(context.Background())
			want := map[string]mcp.Era{"discover": mcp.EraRequests, "initialize": mcp.EraSession}[order]
			time.Sleep(100 * time.Millisecond)
			if v := s.TakeViolations(); s.Era() != want || len(v) > 0 {
				t.Error(s.Era(), v)
			}
		})
	}
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
		{"2025-06-18", "", "asked for protocol revision 2025-06-18"},
		{"", "2025-11-25", ""},
		{"auto", "2026-07-28", ""},
		{"1999-01-01", "", "not spoken here"},
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
	if err == nil || !strings.Contains(err.Error(), "does not speak protocol revision 2026-07-28") {
		t.Error(err)
	}
}
