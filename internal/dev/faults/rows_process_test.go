//go:build linux

package faults_test

import (
	"fmt"
	"os"
	"os/exec"
	"os/signal"
	"strings"
	"syscall"
	"time"
)

// processRows are servers that crash, hang, or leave processes behind.
func processRows() []row {
	died := func(id, what string, act func(*stdio), says ...string) row {
		return row{id: "process/" + id, what: what, stdio: talk{act: act}, exit: 1, tests: "error pass", says: append(says, "while ", "tools/call", "in flight")}
	}
	fine := func(id, what, at string, act func(*stdio)) row {
		return row{id: "process/" + id, what: what, stdio: talk{at: at, act: act}, tests: "pass pass", within: 6 * time.Second}
	}
	stuck := func(id, what string, act func(*stdio), within time.Duration) row {
		return row{
			id: "process/" + id, what: what, stdio: talk{act: act}, test: "timeout: 500ms", exit: 1, tests: "error pass",
			says: []string{"(limit: timeout 500ms)"}, within: within,
		}
	}
	ok := func(act func(*stdio)) func(*stdio) {
		return func(s *stdio) { s.ok(); act(s) }
	}
	return []row{
		died("exit-0", "the server ends during a call, with status 0", exitWith(0, ""), "exit status 0"),
		died("exit-3", "the server ends during a call, with status 3 and a reason", exitWith(3, "out of quota\n"), "exit status 3", "out of quota"),
		died("sigkill", "the server is killed during a call", killSelf(syscall.SIGKILL), "signal: killed"),
		died("sigsegv", "the server crashes during a call", killSelf(syscall.SIGSEGV), "signal: segmentation fault"),
		died("sigabrt", "the server aborts during a call", killSelf(syscall.SIGABRT), "signal: aborted"),
		died("sigterm", "the server is ended by SIGTERM during a call", killSelf(syscall.SIGTERM), "signal: terminated"),
		died("sigpipe", "the server ends with SIGPIPE", killSelf(syscall.SIGPIPE), "signal: broken pipe"),
		died("half-an-answer", "the server ends in the middle of its answer", func(s *stdio) { s.write(`{"jsonrpc":"2.0","id":` + s.id + `,"resu`); os.Exit(1) }, "exit status 1", "partial-line"),
		died("closes-output", "the server closes its output during a call and lives on", func(*stdio) { os.Stdout.Close(); hang(nil) }, "closed its standard output"),
		{
			id: "process/always-dies", what: "the server crashes on every call", stdio: talk{at: "tools/call", act: exitWith(5, "no\n")}, exit: 1, tests: "error error error error error error", says: []string{"exit status 5"},
			suite: "servers: {s: {command: [\"$EXE\", --fault, \"$ID\"]}}\ntools:\n" + numbered(6), within: 10 * time.Second, // the pauses before five restarts are 3 s
		},
		{
			id: "process/dies-between", what: "the server dies between two calls", stdio: talk{act: ok(func(*stdio) { delay(20 * time.Millisecond); os.Exit(6) })},
			more: "setup_per_test: [{run: [sleep, \"0.3\"]}]\n", exit: 1, tests: "pass pass", says: []string{"exit status 6", "died and was restarted"},
		},
		stuck("hangs", "a call gets no response", func(*stdio) {}, 2500*time.Millisecond),
		stuck("hangs-deaf", "the server stops reading and writing", hang, 5*time.Second),
		stuck("stopped", "the server stops itself (SIGSTOP)", func(*stdio) { syscall.Kill(os.Getpid(), syscall.SIGSTOP) }, 6*time.Second),
		stuck("spins", "the server computes without end", func(*stdio) {
			for end := time.Now().Add(time.Minute); time.Now().Before(end); {
			}
		}, 5*time.Second),
		stuck("hangs-on-sigterm", "the server hangs and ignores SIGTERM", func(*stdio) { signal.Ignore(syscall.SIGTERM, syscall.SIGINT, syscall.SIGHUP); hang(nil) }, 6*time.Second),
		stuck("answers-late", "the response comes after the limit", func(s *stdio) { delay(time.Second); s.ok() }, 4*time.Second),
		{
			id: "process/reads-nothing", what: "the server stops reading, and a call is larger than the pipe buffer", stdio: talk{at: "notifications/initialized", act: hang},
			test: "timeout: 1s", suite: "servers: {s: {command: [\"$EXE\", --fault, \"$ID\"], validate_output: false}}\ntools:\n  - {name: one, tool: t, timeout: 1s, args: {text: " + strings.Repeat("x", 300000) + "}}\n",
			exit: 1, tests: "error", says: []string{"timeout 1s"}, within: 6 * time.Second,
		},
		{
			id: "process/odd-exit-at-once", what: "odd: the server answers and exits; the next call, which it did not read, goes to a new process", stdio: talk{act: ok(exitWith(0, ""))},
			tests: "pass pass", says: []string{"died and was restarted", "exit status 0"},
		},
		{
			id: "process/odd-answer-then-exit", what: "odd: the server answers and exits with status 0; the next call goes to a new process", stdio: talk{act: ok(exitWith(0, ""))},
			more: "setup_per_test: [{run: [sleep, \"0.3\"]}]\n", tests: "pass pass", says: []string{"died and was restarted", "exit status 0"},
		},
		fine("odd-status-at-the-end", "odd: the server ends with status 7 when its input ends", "end", exitWith(7, "no more input\n")),
		{
			id: "process/odd-closes-input", what: "odd: the server closes its input after a response and is replaced", stdio: talk{act: ok(func(*stdio) { os.Stdin.Close(); hang(nil) })},
			server: "validate_output: false", more: "setup_per_test: [{run: [sleep, \"0.3\"]}]\n", exit: 1, tests: "pass error", says: []string{"the server closed its standard input"}, within: 6 * time.Second,
		},
		fine("deaf-to-end-of-input", "the server keeps running when its input ends", "end", hang),
		fine("deaf-to-sigterm", "the server ignores the end of its input, and SIGTERM", "start", func(s *stdio) {
			signal.Ignore(syscall.SIGTERM, syscall.SIGINT, syscall.SIGHUP)
			s.at = "end"
			s.act = hang
		}),
		fine("floods-at-the-end", "the server floods standard error when its input ends", "end", func(*stdio) {
			for {
				os.Stderr.WriteString(strings.Repeat("bye\n", 10000))
			}
		}),
		{id: "process/noise-at-the-end", what: "the server writes to standard output when its input ends", stdio: talk{at: "end", say: "goodbye\n"}, exit: 1, tests: "pass pass", says: []string{"stray-output", "goodbye"}},
		fine("child-holds-pipes", "a child process keeps the server's pipes open after the server ended", "", ok(child("sleep 300"))),
		{
			id: "process/child-holds-pipes-of-dead", what: "a child holds the pipes of a server that ended", stdio: talk{act: func(s *stdio) { child("sleep 300")(s); s.ok(); os.Exit(0) }},
			suite: "servers: {s: {command: [\"$EXE\", --fault, \"$ID\"], validate_output: false}}\ntools: [{name: one, tool: t, args: {fault: true}}]\n", tests: "pass", says: []string{"sleep 300"}, within: 5 * time.Second,
		},
		fine("deaf-child", "a child of the server ignores SIGTERM", "", ok(child("trap '' TERM INT HUP; while :; do sleep 300; done"))),
		fine("many-children", "the server leaves fifty children", "", ok(child("for i in 1 2 3 4 5 6 7 8 9 10; do (sleep 300 & sleep 300 & sleep 300 & sleep 300 & sleep 300) & done"))),
		fine("child-of-a-new-group", "a child of the server in a process group of its own", "", ok(func(*stdio) {
			c := exec.Command("sleep", "300")
			c.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
			_ = c.Start()
		})),
		watchdog("odd-watchdog", "odd: a child of the server that ends 0.2 s after it", false),
		watchdog("odd-watchdog-daemon", "odd: a child in a session of its own that ends 0.2 s after the server", true),
		{id: "process/daemon", what: "a child of the server in a session of its own (a daemon)", stdio: talk{act: ok(func(*stdio) {
			c := exec.Command("sleep", "300")
			c.SysProcAttr = &syscall.SysProcAttr{Setsid: true}
			_ = c.Start()
		})}, tests: "pass pass", says: []string{"sleep 300"}, within: 6 * time.Second},
		{id: "process/signals-its-group", what: "the server sends SIGINT to its process group", stdio: talk{act: func(s *stdio) {
			signal.Ignore(syscall.SIGINT)
			_ = syscall.Kill(0, syscall.SIGINT)
			s.ok()
		}}, tests: "pass pass"},
		{id: "process/removes-its-folder", what: "the server removes the folder it runs in", server: "cwd: sub", files: map[string]string{"sub/x": ""}, stdio: talk{act: func(s *stdio) {
			wd, _ := os.Getwd()
			_ = os.RemoveAll(wd)
			s.ok()
		}}, tests: "pass pass"},
		{id: "process/nonblocking-pipe", what: "odd: the server sets its pipes to non-blocking", stdio: talk{at: "start", act: func(*stdio) {
			_ = syscall.SetNonblock(1, true)
			_ = syscall.SetNonblock(2, true)
		}}, tests: "pass pass"},
	}
}

// watchdog is a server with a child that watches it and exits soon after it.
func watchdog(id, what string, daemon bool) row {
	return row{id: "process/" + id, what: what, tests: "pass pass", never: []string{"leftover-process"}, stdio: talk{act: func(s *stdio) {
		c := exec.Command("sh", "-c", fmt.Sprintf("while kill -0 %d 2>/dev/null; do sleep 0.05; done; sleep 0.2", os.Getpid()))
		c.SysProcAttr = &syscall.SysProcAttr{Setsid: daemon}
		_ = c.Start()
		s.ok()
	}}}
}

// child starts a shell script and does not wait for it; it has the server's
// own standard streams.
func child(script string) func(*stdio) {
	return func(*stdio) {
		c := exec.Command("sh", "-c", script)
		c.Stdin, c.Stdout, c.Stderr = os.Stdin, os.Stdout, os.Stderr
		_ = c.Start()
		delay(50 * time.Millisecond)
	}
}

// numbered is n tests that call t.
func numbered(n int) string {
	var b strings.Builder
	for i := range n {
		fmt.Fprintf(&b, "  - {name: n%d, tool: t}\n", i+1)
	}
	return b.String()
}
