package mcp_test

import (
	"bufio"
	"bytes"
	"context"
	"fmt"
	"os"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"mcptest/internal/base/jsonv"
	"mcptest/internal/base/testkit"
	"mcptest/internal/client/mcp"
	"mcptest/internal/client/protocol"
	"mcptest/internal/client/wire"
	"mcptest/internal/process/proc"
)

// faulty is a server that misbehaves at its first tools/call and is well
// behaved before and after. It runs in a process of its own.
type faulty struct {
	in   *bufio.Reader
	next []byte // line that was read ahead
}

func (s *faulty) line() []byte {
	if l := s.next; l != nil {
		s.next = nil
		return l
	}
	l, err := s.in.ReadBytes('\n')
	if err != nil {
		os.Exit(0)
	}
	return l
}

func (s *faulty) write(format string, args ...any) {
	if len(args) > 0 {
		format = fmt.Sprintf(format, args...)
	}
	if _, err := os.Stdout.WriteString(format); err != nil {
		os.Exit(0)
	}
}

// drip writes pieces with a pause before each but the first.
func (s *faulty) drip(pause time.Duration, pieces ...string) {
	for i, piece := range pieces {
		if i > 0 {
			time.Sleep(pause)
		}
		s.write("%s", piece)
	}
}

// hang is what a server does that neither answers nor ends.
func hang() { <-time.After(time.Hour) }

const goodResult = `{"content":[{"type":"text","text":"ok"}]}`

func (s *faulty) answer(id string) string {
	return `{"jsonrpc":"2.0","id":` + id + `,"result":` + goodResult + "}\n"
}

// fault is one row of the table. $ID in say is replaced by the id of the call,
// $OK for a correct answer line; say is written in one piece.
type fault struct {
	name    string
	say     string
	act     func(s *faulty, id string) // instead of say
	call    string                     // kinds of violations the exchange must have
	session string                     // kinds the session must have
	cause   string                     // part of the cause; empty: none
	result  string                     // raw result; "good" means goodResult
	dead    bool                       // the session is over afterwards
	timeout time.Duration
	limits  wire.Limits
	proto   string
	during  string // methods of the messages the exchange lists
}

var faults = []fault{
	{name: "none", say: "$OK", result: "good"},
	{name: "crlf", say: `{"jsonrpc":"2.0","id":$ID,"result":{}}` + "\r\n", result: "{}"},
	{
		name: "many-values", say: `{"jsonrpc":"2.0","id":$ID,"result":{"list":[` + strings.Repeat("[],", 99) + `0]}}` + "\n",
		limits: wire.Limits{Values: 100}, cause: "more than 100 JSON values (limit: --max-values 100)",
	},
	{
		name: "many-values-in-a-notification", limits: wire.Limits{Values: 100}, result: "good",
		say: `{"jsonrpc":"2.0","method":"notifications/x","params":{"list":[` + strings.Repeat("[],", 99) + "0]}}\n$OK",
	},
	{name: "blank-lines", say: "\n\r\n  \n$OK\n\n", result: "good"},
	{name: "spaces-around", say: " \t" + `{"jsonrpc":"2.0","id":$ID,"result":{}}` + "  \n", result: "{}"},
	{name: "chunked", act: func(s *faulty, id string) { s.drip(100*time.Microsecond, strings.Split(s.answer(id), "")...) }, result: "good"},
	{name: "slow", act: func(s *faulty, id string) { s.drip(60*time.Millisecond, "", s.answer(id)) }, result: "good"},
	{name: "large", act: func(s *faulty, id string) {
		s.write(`{"jsonrpc":"2.0","id":%s,"result":{"x":"%s"}}`+"\n", id, strings.Repeat("x", 3<<20))
	}, result: `{"x":"` + strings.Repeat("x", 3<<20) + `"}`},

	{name: "stray-line", say: "Server listening\n$OK", session: protocol.StrayOutput, result: "good"},
	{name: "stray-after", say: "$OKbye\n", session: protocol.StrayOutput, result: "good"},
	{name: "stray-json-log", say: `{"level":"info","msg":"hi"}` + "\n$OK", session: protocol.StrayOutput, result: "good"},
	{name: "stray-number", say: "42\n$OK", session: protocol.StrayOutput, result: "good"},
	{name: "stray-string", say: "\"hello\"\n$OK", session: protocol.StrayOutput, result: "good"},
	{name: "stray-list", say: "[1, 2]\n$OK", session: protocol.StrayOutput, result: "good"},
	{name: "stray-bracket-log", say: "[INFO] started\n$OK", session: protocol.StrayOutput, result: "good"},
	{name: "stray-brace", say: "{\nstarted\n$OK", session: protocol.BadJSON + "," + protocol.StrayOutput, result: "good"},
	{name: "stray-python-dict", say: "{'a': 1}\n$OK", session: protocol.BadJSON, result: "good"},
	{name: "ansi", say: "\x1b[31mred\x1b[0m\n$OK", session: protocol.StrayOutput, result: "good"},
	{name: "stray-flood", act: func(s *faulty, id string) {
		s.write("%s", strings.Repeat("noise noise noise\n", 20000)+s.answer(id))
	}, session: "flood-of-stray", result: "good"},

	{name: "bad-json-answer", say: `{"jsonrpc":"2.0","id":$ID,"result":{"a":}}` + "\n", call: protocol.BadJSON, cause: "not valid JSON"},
	{name: "bad-json-id-last", say: `{"result":{"a":tru},"jsonrpc":"2.0","id":$ID}` + "\n", call: protocol.BadJSON, cause: "not valid JSON"},
	{name: "bad-json-other", say: `{"jsonrpc":"2.0","method":"notifications/message","params":{]}` + "\n$OK", session: protocol.BadJSON, result: "good"},
	{name: "two-on-a-line", say: `{"jsonrpc":"2.0","method":"a"}{"jsonrpc":"2.0","method":"b"}` + "\n$OK", session: protocol.BadJSON, result: "good"},
	{name: "trailing-garbage", say: `{"jsonrpc":"2.0","id":$ID,"result":{}} done` + "\n", call: protocol.BadJSON, cause: "not valid JSON"},
	{name: "nan", say: `{"jsonrpc":"2.0","id":$ID,"result":{"v":NaN}}` + "\n", call: protocol.BadJSON, cause: "not valid JSON"},
	{name: "too-deep", act: func(s *faulty, id string) {
		s.write(`{"jsonrpc":"2.0","id":%s,"result":{"x":%s1%s}}`+"\n", id, strings.Repeat("[", 5000), strings.Repeat("]", 5000))
	}, call: protocol.BadJSON, cause: "not valid JSON"},
	{name: "pretty", say: "{\n  \"jsonrpc\": \"2.0\",\n  \"id\": $ID,\n  \"result\": {\n    \"a\": [\n      1\n    ]\n  }\n}\n", call: protocol.PrettyJSON, result: "{\n\"a\": [\n1\n]\n}"},
	{name: "pretty-in-pieces", act: func(s *faulty, id string) {
		s.drip(time.Millisecond, strings.SplitAfter("{\n  \"jsonrpc\": \"2.0\",\n  \"id\": "+id+",\n  \"result\": {}\n}\n", "\n")...)
	}, call: protocol.PrettyJSON, result: "{}"},
	{name: "pretty-never-ends", say: "{\n  \"jsonrpc\": \"2.0\",\n  \"id\": $ID,\n", session: protocol.BadJSON, cause: "timed out", timeout: 150 * time.Millisecond},
	{name: "pretty-then-good", say: "{\n  \"jsonrpc\": \"2.0\",\n$OK", session: protocol.BadJSON, result: "good"},

	{name: "bom", say: "\ufeff$OK", call: protocol.BOM, result: "good"},
	{name: "nul-before", say: "\x00$OK", call: protocol.NULByte, result: "good"},
	{name: "nul-after", say: `{"jsonrpc":"2.0","id":$ID,"result":{}}` + "\x00\n", call: protocol.NULByte, result: "{}"},
	{name: "nul-inside", say: `{"jsonrpc":"2.0","id":$ID,"result":{"a":"` + "\x00" + `"}}` + "\n", call: protocol.BadJSON, cause: "not valid JSON"},
	{name: "invalid-utf8", say: `{"jsonrpc":"2.0","id":$ID,"result":{"a":"` + "\xff\xfe" + `"}}` + "\n", call: protocol.InvalidUTF8, result: "{\"a\":\"\xff\xfe\"}"},
	{name: "invalid-utf8-noise", say: "\xff\xfe\xfd\n$OK", session: protocol.InvalidUTF8 + "," + protocol.StrayOutput, result: "good"},
	{name: "utf16", say: "{\x00\"\x00}\x00\n\x00$OK", session: protocol.NULByte + "," + protocol.BadJSON, call: protocol.NULByte, result: "good"},

	{name: "id-string", say: `{"jsonrpc":"2.0","id":"$ID","result":{}}` + "\n", call: protocol.IDType, result: "{}"},
	{name: "id-float", say: `{"jsonrpc":"2.0","id":$ID.0,"result":{}}` + "\n", call: protocol.IDType, result: "{}"},
	{name: "id-list", say: `{"jsonrpc":"2.0","id":[$ID],"result":{}}` + "\n", call: protocol.IDType, result: "{}"},
	{name: "id-fractional", say: `{"jsonrpc":"2.0","id":2.5,"result":{}}` + "\n$OK", session: protocol.IDType, result: "good"},
	{name: "id-true", say: `{"jsonrpc":"2.0","id":true,"result":{}}` + "\n$OK", session: protocol.IDType, result: "good"},
	{name: "id-object", say: `{"jsonrpc":"2.0","id":{},"result":{}}` + "\n$OK", session: protocol.IDType, result: "good"},
	{name: "id-null-error-noise", say: `{"jsonrpc":"2.0","id":null,"error":{"code":-32700,"message":"x"}}` + "\n$OK", session: protocol.NullID, result: "good"},
	{name: "id-null-only", say: `{"jsonrpc":"2.0","id":null,"result":{"n":1}}` + "\n", session: protocol.NullID, result: `{"n":1}`},
	{name: "id-missing", say: `{"jsonrpc":"2.0","result":{"n":1}}` + "\n", session: protocol.MissingID, result: `{"n":1}`},
	{name: "id-unknown", say: `{"jsonrpc":"2.0","id":999,"result":{}}` + "\n$OK", session: protocol.UnknownID, result: "good"},
	{name: "id-unknown-string", say: `{"jsonrpc":"2.0","id":"abc","result":{}}` + "\n$OK", session: protocol.UnknownID, result: "good"},
	{name: "id-zero", say: `{"jsonrpc":"2.0","id":0,"result":{}}` + "\n$OK", session: protocol.UnknownID, result: "good"},
	{name: "id-negative", say: `{"jsonrpc":"2.0","id":-2,"result":{}}` + "\n$OK", session: protocol.UnknownID, result: "good"},
	{name: "id-huge", say: `{"jsonrpc":"2.0","id":99999999999999999999999,"result":{}}` + "\n$OK", session: protocol.UnknownID, result: "good"},
	{name: "id-of-initialize", say: `{"jsonrpc":"2.0","id":` + mcp.ID(1) + `,"result":{}}` + "\n$OK", session: protocol.DuplicateID, result: "good"},
	{name: "duplicate-at-once", say: "$OK$OK", call: protocol.DuplicateID, result: "good"},
	{name: "duplicate-as-string", say: `$OK{"jsonrpc":"2.0","id":"$ID","result":{}}` + "\n", call: protocol.IDType, result: "good"},
	{name: "duplicate-later", act: func(s *faulty, id string) {
		s.write(s.answer(id))
		s.next = s.line()
		s.write(s.answer(id))
	}, session: protocol.DuplicateID, result: "good"},

	{name: "no-jsonrpc", say: `{"id":$ID,"result":{}}` + "\n", call: protocol.BadJSONRPC, result: "{}"},
	{name: "jsonrpc-1", say: `{"jsonrpc":"1.0","id":$ID,"result":{}}` + "\n", call: protocol.BadJSONRPC, result: "{}"},
	{name: "jsonrpc-number", say: `{"jsonrpc":2.0,"id":$ID,"result":{}}` + "\n", call: protocol.BadJSONRPC, result: "{}"},
	{name: "result-and-error", say: `{"jsonrpc":"2.0","id":$ID,"result":{},"error":{"code":1,"message":"m"}}` + "\n", call: protocol.ResultAndError, result: "{}"},
	{name: "result-and-null-error", say: `{"jsonrpc":"2.0","id":$ID,"result":{},"error":null}` + "\n", call: protocol.ResultAndError, result: "{}"},
	{name: "null-result-and-error", say: `{"jsonrpc":"2.0","id":$ID,"result":null,"error":{"code":1,"message":"m"}}` + "\n", call: protocol.ResultAndError},
	{name: "neither", say: `{"jsonrpc":"2.0","id":$ID}` + "\n", call: protocol.NoResult, cause: "neither a result nor an error"},
	{name: "error-null", say: `{"jsonrpc":"2.0","id":$ID,"error":null}` + "\n", call: protocol.BadError, cause: "error is null"},
	{name: "error-string", say: `{"jsonrpc":"2.0","id":$ID,"error":"boom"}` + "\n", call: protocol.BadError},
	{name: "error-no-code", say: `{"jsonrpc":"2.0","id":$ID,"error":{"message":"m"}}` + "\n", call: protocol.BadError},
	{name: "error-string-code", say: `{"jsonrpc":"2.0","id":$ID,"error":{"code":"E1","message":"m"}}` + "\n", call: protocol.BadError},
	{name: "error-fractional-code", say: `{"jsonrpc":"2.0","id":$ID,"error":{"code":1.5,"message":"m"}}` + "\n", call: protocol.BadError},
	{name: "error-no-message", say: `{"jsonrpc":"2.0","id":$ID,"error":{"code":1}}` + "\n", call: protocol.BadError},
	{name: "error-list-message", say: `{"jsonrpc":"2.0","id":$ID,"error":{"code":1,"message":[]}}` + "\n", call: protocol.BadError},
	{name: "error-good", say: `{"jsonrpc":"2.0","id":$ID,"error":{"code":-32602,"message":"m","data":[1]}}` + "\n"},
	{name: "result-null", say: `{"jsonrpc":"2.0","id":$ID,"result":null}` + "\n", call: protocol.BadResult, result: "null"},
	{name: "result-list", say: `{"jsonrpc":"2.0","id":$ID,"result":[1]}` + "\n", call: protocol.BadResult, result: "[1]"},
	{name: "result-string", say: `{"jsonrpc":"2.0","id":$ID,"result":"ok"}` + "\n", call: protocol.BadResult, result: `"ok"`},
	{name: "result-type-known", say: `{"jsonrpc":"2.0","id":$ID,"result":{"resultType":"complete"}}` + "\n", result: `{"resultType":"complete"}`},
	{name: "result-type-unknown", say: `{"jsonrpc":"2.0","id":$ID,"result":{"resultType":"hologram"}}` + "\n", call: protocol.ResultType, result: `{"resultType":"hologram"}`},
	{name: "result-type-nested", say: `{"jsonrpc":"2.0","id":$ID,"result":{"a":{"resultType":"x"}}}` + "\n", result: `{"a":{"resultType":"x"}}`},
	{name: "duplicate-key", say: `{"jsonrpc":"2.0","id":$ID,"result":{"n":1},"result":{"n":2}}` + "\n", call: protocol.DuplicateKey, result: `{"n":2}`},
	{name: "answer-with-method", say: `{"jsonrpc":"2.0","id":$ID,"method":"tools/call","result":{}}` + "\n", call: protocol.BadMessage, result: "{}"},
	{name: "echo", act: func(s *faulty, id string) {
		s.write(`{"jsonrpc":"2.0","id":%s,"method":"tools/call","params":{"name":"t"}}`+"\n", id)
	}, call: protocol.Echo, cause: "sent the request itself back"},

	{name: "batch", say: `[{"jsonrpc":"2.0","method":"notifications/x"},{"jsonrpc":"2.0","id":$ID,"result":{}}]` + "\n", call: protocol.Batch, result: "{}", during: "notifications/x"},
	{name: "batch-without-answer", say: `[{"jsonrpc":"2.0","method":"notifications/x"}]` + "\n$OK", session: protocol.Batch, result: "good", during: "notifications/x"},
	{name: "batch-allowed", proto: "2025-03-26", say: `[{"jsonrpc":"2.0","method":"notifications/x"},{"jsonrpc":"2.0","id":$ID,"result":{}}]` + "\n", result: "{}", during: "notifications/x"},
	{name: "batch-empty", say: "[]\n$OK", session: protocol.Batch, result: "good"},
	{name: "batch-pretty", proto: "2025-03-26", say: "[\n{\"jsonrpc\":\"2.0\",\n\"id\":$ID,\"result\":{}}\n]\n", call: protocol.PrettyJSON, result: "{}"},

	{name: "method-number", say: `{"jsonrpc":"2.0","method":7}` + "\n$OK", session: protocol.BadMessage, result: "good"},
	{name: "params-list", say: `{"jsonrpc":"2.0","method":"notifications/message","params":[1]}` + "\n$OK", session: protocol.BadMessage, result: "good", during: "notifications/message"},
	{name: "notification", say: `{"jsonrpc":"2.0","method":"notifications/message","params":{}}` + "\n$OK", result: "good", during: "notifications/message"},
	{name: "progress-unknown", say: `{"jsonrpc":"2.0","method":"notifications/progress","params":{"progressToken":"zz","progress":1}}` + "\n$OK", session: protocol.ProgressToken, result: "good", during: "notifications/progress"},
	{name: "request-null-id", say: `{"jsonrpc":"2.0","id":null,"method":"ping"}` + "\n$OK", session: protocol.BadMessage, result: "good", during: "ping"},

	{name: "oversize-id-first", limits: wire.Limits{Message: 100_000}, act: func(s *faulty, id string) {
		s.write(`{"jsonrpc":"2.0","id":%s,"result":{"x":"%s"}}`+"\n", id, strings.Repeat("x", 1<<20))
	}, call: protocol.Oversize, cause: "over the limit of 97.7 KiB"},
	{name: "oversize-id-last", limits: wire.Limits{Message: 100_000}, act: func(s *faulty, id string) {
		s.write(`{"result":{"x":"%s"},"jsonrpc":"2.0","id":%s}`+"\n", strings.Repeat("x", 1<<20), id)
	}, call: protocol.Oversize, cause: "over the limit"},
	{name: "oversize-notification", limits: wire.Limits{Message: 100_000}, act: func(s *faulty, id string) {
		s.write(`{"jsonrpc":"2.0","method":"m","params":{"x":"%s"}}`+"\n"+s.answer(id), strings.Repeat("x", 1<<20))
	}, session: protocol.Oversize, result: "good"},
	{name: "oversize-noise", limits: wire.Limits{Message: 100_000}, act: func(s *faulty, id string) {
		s.write(strings.Repeat("x", 1<<20) + "\n" + s.answer(id))
	}, session: protocol.Oversize, result: "good"},
	{name: "endless-line", limits: wire.Limits{Message: 100_000, Drain: 1 << 20}, act: func(s *faulty, id string) {
		for {
			s.write(strings.Repeat("x", 1<<16))
		}
	}, cause: "endless line", dead: true},

	{name: "hang", act: func(*faulty, string) {}, cause: "(limit: timeout 150ms)", timeout: 150 * time.Millisecond},
	{name: "hang-and-deaf", act: func(*faulty, string) { hang() }, cause: "timed out", timeout: 100 * time.Millisecond, dead: true},
	{name: "exit-3", act: func(*faulty, string) {
		fmt.Fprintln(os.Stderr, "cannot open database")
		os.Exit(3)
	}, cause: "the server exited (exit status 3) while tools/call was in flight", dead: true},
	{name: "exit-0", act: func(*faulty, string) { os.Exit(0) }, cause: "exit status 0", dead: true},
	{name: "panic", act: func(*faulty, string) { panic("boom") }, cause: "exit status 2", dead: true},
	{name: "partial-line-id", act: func(s *faulty, id string) { s.write(`{"jsonrpc":"2.0","id":%s,"resu`, id); os.Exit(1) }, call: protocol.PartialLine, cause: "exit status 1", dead: true},
	{name: "partial-line", act: func(s *faulty, id string) { s.write("Traceback"); os.Exit(1) }, session: protocol.PartialLine, cause: "exit status 1", dead: true},
	{name: "answer-without-newline", act: func(s *faulty, id string) { s.write(strings.TrimSpace(s.answer(id))); os.Exit(0) }, call: protocol.PartialLine, result: "good", dead: true},
	{name: "answer-then-exit", act: func(s *faulty, id string) { s.write(s.answer(id)); os.Exit(0) }, result: "good", dead: true},
	{name: "close-stdout", act: func(s *faulty, id string) { os.Stdout.Close(); hang() }, cause: "closed its standard output", dead: true},
	{name: "close-stdin", act: func(s *faulty, id string) { os.Stdin.Close(); s.write(s.answer(id)); hang() }, result: "good", dead: true},
}

func faultServer(name string) int {
	for i := range faults {
		if f := &faults[i]; f.name == name {
			return f.serve()
		}
	}
	for i := range openFaults {
		if f := &openFaults[i]; f.name == name {
			f.act(&faulty{in: bufio.NewReader(os.Stdin)})
			return 0
		}
	}
	fmt.Fprintln(os.Stderr, "no such fault:", name)
	return 9
}

func idOf(line []byte) (id string) {
	_ = jsonv.VisitMembers(line, func(k string, v []byte) error {
		if k == "id" {
			id = string(v)
		}
		return nil
	})
	return id
}

func (f *fault) serve() int {
	s := &faulty{in: bufio.NewReader(os.Stdin)}
	proto := f.proto
	if proto == "" {
		proto = "2025-11-25"
	}
	for n := 0; ; {
		line := s.line()
		id := idOf(line)
		switch {
		case bytes.Contains(line, []byte(`"method":"initialize"`)):
			s.write(`{"jsonrpc":"2.0","id":%s,"result":{"protocolVersion":"%s","capabilities":{},"serverInfo":{"name":"f","version":"1"}}}`+"\n", id, proto)
		case bytes.Contains(line, []byte(`"method":"ping"`)):
			s.write(`{"jsonrpc":"2.0","id":%s,"result":{}}`+"\n", id)
		case !bytes.Contains(line, []byte(`"method":"tools/call"`)):
		case n > 0:
			s.write(s.answer(id))
		default:
			n++
			if f.act != nil {
				f.act(s, id)
			} else {
				s.write(strings.NewReplacer("$ID", id, "$OK", s.answer(id)).Replace(f.say))
			}
		}
	}
}

// start starts the test binary as the server name.
func start(t testing.TB, name string, l wire.Limits) wire.Transport {
	t.Helper()
	tr, err := wire.NewStdio(t.Context(), proc.Spec{Argv: []string{os.Args[0]}, Env: append(os.Environ(), serverEnv+"="+name)},
		wire.StdioOptions{Limits: l, Grace: proc.Grace{Stdin: 200 * time.Millisecond, Term: 10 * time.Second}})
	if err != nil {
		t.Fatal(err)
	}
	return tr
}

func kinds(vs []protocol.Violation) string {
	var out []string
	for _, v := range vs {
		if n := len(out); n == 0 || out[n-1] != v.Kind {
			out = append(out, v.Kind)
		}
	}
	return strings.Join(out, ",")
}

func TestFaults(t *testing.T) {
	for _, f := range faults {
		t.Run(f.name, func(t *testing.T) {
			t.Parallel()
			f.check(t)
		})
	}
}

func (f *fault) check(t *testing.T) {
	s, err := mcp.Open(t.Context(), start(t, f.name, f.limits), mcp.Options{Limits: f.limits, Protocol: f.proto})
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close(context.Background())
	limit := f.timeout
	if limit == 0 {
		limit = time.Minute
	}
	call := mcp.Call{Method: "tools/call", Params: []byte(`{"name":"t"}`)}
	do := func(d time.Duration) *mcp.Exchange {
		ctx, cancel := mcp.WithLimit(t.Context(), "timeout", d)
		defer cancel()
		return s.Do(ctx, call)
	}
	x := do(limit)
	after := limit
	if !f.dead {
		after = time.Minute
	}
	next := do(after)
	seen := s.TakeViolations()

	want := f.result
	if want == "good" {
		want = goodResult
	}
	if string(x.Result) != want {
		t.Errorf("result %.200q, want %.200q", x.Result, want)
	}
	if d := cmp.Diff(f.call, kinds(x.Violations)); d != "" {
		t.Errorf("violations of the call (-want +got):\n%s%v", d, x.Violations)
	}
	f.checkSession(t, seen)
	switch {
	case f.cause == "" && x.Cause != nil:
		t.Errorf("cause %v, want none", x.Cause)
	case f.cause != "" && (x.Cause == nil || !strings.Contains(x.Cause.Error(), f.cause)):
		t.Errorf("cause %v, want %q", x.Cause, f.cause)
	}
	if !f.dead {
		testkit.Equal(t, "the next call", outcomeOf(next), outcome{Result: goodResult})
	} else if next.Cause == nil {
		t.Error("the session is alive")
	}
	testkit.Equal(t, "the messages during the call", methodNames(x.During), f.during)
	for _, v := range append(seen, x.Violations...) {
		if len(v.Excerpt) > 200 || strings.ContainsAny(v.Excerpt, "\x00\x1b\n") {
			t.Errorf("excerpt of %s: %q", v.Kind, v.Excerpt)
		}
		if v.Kind != protocol.Flood && (v.Offset < 100 || v.Offset > 3<<20) {
			t.Errorf("offset of %s: %d", v.Kind, v.Offset)
		}
	}
}

func methodNames(ms []mcp.Message) string {
	var out []string
	for _, m := range ms {
		out = append(out, m.Method)
	}
	return strings.Join(out, ",")
}

func (f *fault) checkSession(t *testing.T, seen []protocol.Violation) {
	if f.session == "flood-of-stray" {
		if len(seen) != 1001 {
			t.Fatalf("%d violations, want 1001", len(seen))
		}
		testkit.Equal(t, "the kind of the last violation", seen[1000].Kind, protocol.Flood)
		if msg := seen[1000].Msg; !strings.Contains(msg, "19000 more of kind stray-output") {
			t.Errorf("the last violation: %s", msg)
		}
		return
	}
	if d := cmp.Diff(f.session, kinds(seen)); d != "" {
		t.Errorf("violations of the session (-want +got):\n%s%v", d, seen)
	}
}

// TestLastResponse: whoever has a response that came with the end of the stream
// finds a session that has ended, so that the next call gets another one.
func TestLastResponse(t *testing.T) {
	for range 20 {
		s, err := mcp.Open(t.Context(), start(t, "answer-without-newline", wire.Limits{}), mcp.Options{})
		if err != nil {
			t.Fatal(err)
		}
		x := s.Do(t.Context(), mcp.Call{Method: "tools/call", Params: []byte(`{"name":"t"}`)})
		testkit.Equal(t, "whether the session is alive", s.Alive(), false)
		testkit.Equal(t, "the cause", x.Cause, nil)
		s.Close(context.Background())
	}
}
