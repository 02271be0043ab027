//go:build linux

package faults_test

import (
	"fmt"
	"os"
	"strings"
	"syscall"
	"time"
)

// startRows are servers that do not start, or start in an unusual way.
func startRows() []row {
	cmd := func(argv string) string {
		return "servers: {s: {command: " + argv + ", connect_timeout: 5s}}\ntools: [{name: one, tool: t}, {name: two, tool: t}]\n"
	}
	neither := func(r row) row { // both tests lack a response
		r.exit, r.tests = 1, "error error"
		return r
	}
	fine := func(r row) row {
		r.tests = "pass pass"
		return r
	}
	rows := []row{
		neither(row{id: "start/not-found", what: "the program does not exist", suite: cmd("[no-such-program-here]"), says: []string{"no-such-program-here", "PATH"}}),
		neither(row{id: "start/no-such-file", what: "the program's path leads nowhere", suite: cmd("[./missing.sh]"), says: []string{"there is no file", "missing.sh"}}),
		neither(row{id: "start/not-executable", what: "the program's file may not be executed", suite: cmd("[./server.txt]"), files: map[string]string{"server.txt": "hello"}, says: []string{"server.txt is not executable"}}),
		neither(row{id: "start/directory", what: "the program is a folder", suite: cmd("[./folder]"), files: map[string]string{"folder/x": ""}, says: []string{"folder is a directory"}}),
		neither(row{id: "start/bad-interpreter", what: "a script whose interpreter does not exist", suite: cmd("[./server.sh]"), files: map[string]string{"server.sh": "#!/no/such/interpreter\n"}, says: []string{"server.sh", "/no/such/interpreter"}}),
		neither(row{id: "start/no-shebang", what: "an executable text without an interpreter", suite: cmd("[./server.sh]"), files: map[string]string{"server.sh": "#!\necho hi\n"}, says: []string{"neither a program for this system nor a script with a #! line"}}),
		neither(row{id: "start/no-such-cwd", what: "the server's working folder does not exist", suite: "servers: {s: {command: [sh], cwd: ./nowhere}}\ntools: [{name: one, tool: t}, {name: two, tool: t}]\n", says: []string{"nowhere"}}),
		neither(row{id: "start/exit-0", what: "the server exits immediately with status 0", stdio: talk{at: "start", act: exitWith(0, "")}, says: []string{"the server exited with status 0 before responding to"}}),
		neither(row{id: "start/exit-3", what: "the server exits immediately with status 3 and a reason", stdio: talk{at: "start", act: exitWith(3, "cannot open database\n")}, says: []string{"exited with status 3 before responding to", "cannot open database"}}),
		neither(row{id: "start/flood-then-exit", what: "the server writes 50 MB to standard error and ends", stdio: talk{at: "start", act: func(*stdio) {
			for range 50 {
				os.Stderr.WriteString(strings.Repeat("trouble with the frobnicator\n", 1<<20/29))
			}
			exitWith(1, "the last words\n")(nil)
		}}, says: []string{"exited with status 1 before responding to", "the last words"}, within: 5 * time.Second}),
		neither(row{id: "start/half-an-answer", what: "the server ends in the middle of its handshake", stdio: talk{at: "initialize", act: func(s *stdio) {
			s.write(`{"jsonrpc":"2.0","id":` + s.id + `,"result":{"protoc`)
			os.Exit(4)
		}}, says: []string{"exited with status 4 before responding to", "the output ended without a newline"}}),
		neither(row{id: "start/silent", what: "the server never answers the handshake", stdio: talk{at: "start", act: hang}, server: "connect_timeout: 1s\n", says: []string{"within 1s; the server wrote nothing to stdout", "is it a stdio MCP server?", "mcptest doctor --server s --config"}, within: 8 * time.Second}),
		neither(row{id: "start/closes-output", what: "the server closes its output and keeps running", stdio: talk{at: "start", act: func(*stdio) { os.Stdout.Close(); hang(nil) }}, says: []string{"closed its standard output"}, within: 8 * time.Second}),
		neither(row{id: "start/handshake-refused", what: "initialize gets an error", stdio: talk{at: "initialize", act: func(s *stdio) { s.write(refusal(s.id, -32603, "license expired")) }}, says: []string{"license expired", "-32603"}}),
		neither(row{id: "start/unknown-revision", what: "the server speaks a protocol version that does not exist", stdio: talk{hello: strings.ReplaceAll(goodHello, "2025-11-25", "1999-01-01")}, says: []string{"1999-01-01"}}),
		neither(row{id: "start/no-revision", what: "the handshake's result names no protocol version", stdio: talk{hello: `{"capabilities":{},"serverInfo":{"name":"f","version":"1"}}`}, says: []string{"protocolVersion"}}),
		neither(row{id: "start/hello-is-text", what: "the handshake's result is a text", stdio: talk{hello: `"hello"`}, says: []string{"initialize"}}),
		neither(row{id: "start/hello-is-null", what: "the handshake's result is null", stdio: talk{hello: `null`}, says: []string{"initialize"}}),
		neither(row{id: "start/hello-is-broken", what: "the handshake's response is not JSON", stdio: talk{at: "initialize", say: `{"jsonrpc":"2.0","id":$ID,"result":{"protocolVersion":}}` + "\n"}, says: []string{"not valid JSON"}}),
		neither(row{id: "start/only-unknown-modern", what: "server/discover offers only unknown revisions", stdio: talk{
			at: "initialize", act: func(s *stdio) { s.write(refusal(s.id, -32601, "no initialize here")) },
			found: strings.ReplaceAll(goodFound, "2026-07-28", "2031-01-01"),
		}, says: []string{"2031-01-01"}}),
		{id: "start/stray-banner", what: "a banner on standard output before the handshake", stdio: talk{at: "start", say: "Server listening on stdio\n"}, exit: 1, tests: "pass pass", says: []string{"Server listening on stdio", "stray-output"}},
		{id: "start/stray-banner-tolerated", what: "the same banner, tolerated by the suite", stdio: talk{at: "start", say: "Server listening on stdio\n"}, server: "tolerate: [stray-output]\n", tests: "pass pass", says: []string{"Server listening on stdio"}},
		{id: "start/hello-twice", what: "initialize is answered twice", stdio: talk{at: "initialize", act: func(s *stdio) { s.write(answer(s.id, goodHello) + answer(s.id, goodHello)) }}, exit: 1, tests: "pass pass", says: []string{"duplicate-id"}},
		fine(row{id: "start/odd-stderr-banner", what: "odd: a banner and logs on standard error", stdio: talk{at: "start", act: func(*stdio) { os.Stderr.WriteString("listening\n\x1b[31mwarning\x1b[0m\n") }}}),
		fine(row{id: "start/odd-slow", what: "odd: the server needs a second to start", stdio: talk{at: "start", act: func(*stdio) { delay(time.Second) }}, within: 4 * time.Second}),
		fine(row{id: "start/odd-silent-probe", what: "odd: server/discover gets no response", stdio: talk{at: "server/discover", act: func(*stdio) {}}, within: 9 * time.Second}),
		fine(row{
			id: "start/list-silent", what: "tools/list gets no response", stdio: talk{at: "tools/list", act: func(*stdio) {}},
			says: []string{"outputSchema is not checked: tools/list got no response within 1s"}, within: 4 * time.Second,
		}),
		fine(row{
			id: "start/list-silent-hooks", what: "tools/list gets no response, and the tests have hooks and little time", stdio: talk{at: "tools/list", act: func(*stdio) {}},
			test: "timeout: 500ms", more: "hooks: {beforeEach: \"true\"}\n", never: []string{"timed out"},
			says: []string{"outputSchema is not checked: tools/list got no response within 1s"}, within: 4 * time.Second,
		}),
		fine(row{id: "start/odd-dies-of-probe", what: "odd: the server exits on an unknown first request", stdio: talk{at: "server/discover", act: exitWith(1, "unknown method\n")}, within: 5 * time.Second}),
		fine(row{id: "start/odd-modern", what: "odd: a server of revision 2026-07-28, without handshake", stdio: talk{
			at: "initialize", found: goodFound, act: func(s *stdio) { s.write(refusal(s.id, -32601, "no")) },
			tools: modernTools,
		}}),
		fine(row{id: "start/odd-legacy-discover", what: "odd: server/discover offers old revisions only", stdio: talk{found: strings.ReplaceAll(goodFound, "2026-07-28", "2025-11-25")}, within: 5 * time.Second}),
		fine(row{id: "start/odd-old-revision", what: "odd: the server speaks 2024-11-05 only", stdio: talk{hello: strings.ReplaceAll(goodHello, "2025-11-25", "2024-11-05")}}),
		fine(row{id: "start/odd-wait-for-ready", what: "odd: wait_for_ready with a server that takes its time", stdio: talk{at: "initialize", act: func(s *stdio) { delay(300 * time.Millisecond); s.write(answer(s.id, goodHello)) }}, server: "wait_for_ready: 5s\n"}),
	}
	for _, code := range []int{-32000, -32600, -32602} {
		rows = append(rows, fine(row{id: fmt.Sprintf("start/odd-probe-refused%d", code), what: fmt.Sprintf("odd: server/discover is refused with code %d", code), stdio: talk{at: "server/discover", act: func(s *stdio) {
			s.write(refusal(s.id, code, "Bad Request"))
		}}}))
	}
	for _, sig := range []syscall.Signal{syscall.SIGKILL, syscall.SIGSEGV, syscall.SIGABRT} {
		name := map[syscall.Signal]string{syscall.SIGKILL: "SIGKILL", syscall.SIGSEGV: "SIGSEGV", syscall.SIGABRT: "SIGABRT"}[sig]
		rows = append(rows, neither(row{id: "start/" + strings.ToLower(name), what: "the server is ended by " + name + " at once", stdio: talk{at: "start", act: killSelf(sig)}, says: []string{"the server ended (signal: " + sig.String()}}))
	}
	return rows
}

// killSelf ends the server by a signal for which Go's runtime prints no trace.
func killSelf(sig syscall.Signal) func(*stdio) {
	return func(*stdio) {
		// A shell replaces the server, so that the signal has its default effect.
		_ = syscall.Exec("/bin/sh", []string{"sh", "-c", fmt.Sprintf("kill -%d $$", sig)}, os.Environ())
	}
}
