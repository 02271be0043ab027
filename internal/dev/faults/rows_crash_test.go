//go:build linux

package faults_test

import (
	"os"
	"strconv"
	"syscall"
	"testing"
	"time"
)

// A crash is detected every time, even on a busy machine: there is no second attempt here.
// MCPTEST_CRASHES sets the number of runs of each row.
func TestCrashes(t *testing.T) {
	n, err := strconv.Atoi(os.Getenv("MCPTEST_CRASHES"))
	if err != nil {
		n = 1
	}
	free := make(chan struct{}, lanes(t))
	for _, r := range crashRows() {
		t.Run(r.id, func(t *testing.T) {
			t.Parallel()
			free <- struct{}{}
			defer func() { <-free }()
			for range n {
				tr := newTrial(t, &r)
				tr.start()
				tr.checkEnd()
				tr.checkOutput()
				tr.checkVerdicts()
			}
		})
	}
}

// crashRows are servers that exit while no test waits for them: the run always fails, and
// so does a test with exclusive use of its session.
func crashRows() []row {
	after := func(end func(*stdio)) talk {
		return talk{act: func(s *stdio) { s.ok(); end(s) }}
	}
	each := func(end func(*stdio)) talk {
		return talk{at: "tools/call", act: func(s *stdio) { s.ok(); end(s) }}
	}
	segv, exit := killSelf(syscall.SIGSEGV), exitWith(6, "")
	const one = "servers: {s: {command: [\"$EXE\", --fault, \"$ID\"]}}\ntools: [{name: one, tool: t, args: {fault: true}}]\n"
	crash := func(id, what string, t talk, tests, says string) row {
		return row{id: "process/crash-" + id, what: what, stdio: t, exit: 1, tests: tests, says: []string{"server-crashed", says}}
	}
	with := func(r row, suite, more string) row {
		r.suite, r.more = suite, more
		return r
	}
	const signal, status = "signal: segmentation fault", "exit status 6"
	modern := after(segv)
	modern.found = goodFound
	return []row{
		with(crash("after-last", "the server crashes after its last answer", after(segv), "pass", signal), one, ""),
		with(crash("after-last-status", "the server ends with status 6 after its last answer", after(exit), "pass", status), one, ""),
		with(crash("after-last-sigkill", "the server is killed by another process after its last answer", after(killSelf(syscall.SIGKILL)), "pass", "signal: killed"), one, ""),
		with(crash("after-last-modern", "a server of revision 2026-07-28 crashes after its last answer", modern, "pass", signal), one, ""),
		with(crash("after-last-wrapped", "a server behind a shell ends with status 6 after its last answer", after(exit), "pass", "exit status 9"),
			"servers: {s: {command: [sh, -c, \"'$EXE' --fault $ID; exit 9\"]}}\ntools: [{name: one, tool: t, args: {fault: true}}]\n", ""),
		with(crash("before-teardown", "the server crashes after its last answer, and a teardown step is still to be run", after(segv), "pass", signal), one+"teardown: [{run: [sleep, \"0.1\"]}]\n", ""),
		with(crash("in-teardown", "the server crashes during a teardown step's call", talk{act: segv}, "pass", signal),
			"servers: {s: {command: [\"$EXE\", --fault, \"$ID\"]}}\ntools: [{name: one, tool: t}]\nteardown: [{call: {tool: t, args: {fault: true}}}]\n", ""),
		crash("between", "the server crashes between two calls", after(segv), "pass pass", signal),
		crash("between-status", "the server ends with status 6 between two calls", after(exit), "pass pass", status),
		crash("of-the-list", "the server crashes during tools/list, which no test sent", talk{at: "tools/list", act: segv, slow: true}, "pass pass", signal),
		with(crash("per-test", "the server crashes after every answer, and each test has a server of its own", each(segv), "fail fail", signal), "", "run_options: {restart_policy: per_test}\n"),
		with(crash("per-test-status", "the same with status 6", each(exit), "fail fail", status), "", "run_options: {restart_policy: per_test}\n"),
		with(crash("per-file", "the server crashes after every answer, and each file has a server of its own", each(segv), "pass pass", signal), "", "run_options: {restart_policy: per_file}\n"),
		with(crash("serial", "the server crashes after every answer, and the file is serial", each(segv), "fail fail", signal), "", "run_options: {parallel: false}\n"),
		with(crash("serial-status", "the same with status 6", each(exit), "fail fail", status), "", "run_options: {parallel: false}\n"),
		with(crash("in-bracket", "the server crashes after a response, and the tests have hooks", after(segv), "fail pass", signal), "", "hooks: {beforeEach: \"true\"}\n"),
		crash("at-the-end", "the server crashes when its input is closed", talk{at: "end", act: segv}, "pass pass", signal),
		{
			id: "process/crash-tolerated", what: "a crash between two calls that the suite tolerates", stdio: after(segv), server: "tolerate: [server-crashed]",
			tests: "pass pass", says: []string{"server-crashed", signal},
		},
		{
			id: "process/odd-busy", what: "odd: the server keeps computing after its answers", within: 4 * time.Second, tests: "pass pass",
			stdio: talk{act: func(s *stdio) {
				s.ok()
				go func() {
					for os.Getpid() > 0 {
					}
				}()
			}},
		},
	}
}
