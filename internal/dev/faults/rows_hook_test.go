//go:build linux

package faults_test

import (
	"os"
	"path/filepath"
	"strings"
	"time"
)

const echoServer = "servers: {s: {command: [\"$EXE\", --fault, start/odd-stderr-banner]}}\ntools: [{name: one, tool: t}, {name: two, tool: t}]\n"

// hookRows are hooks that fail, hang, flood or leave things behind.
func hookRows() []row {
	hook := func(id, what, hooks, tests string, exit int, says ...string) row {
		return row{id: "hook/" + id, what: what, suite: echoServer + "hooks:\n" + indent(hooks, "  "), exit: exit, tests: tests, says: says, within: 5 * time.Second}
	}
	context := func(id, what, prints string, says ...string) row {
		r := hook("context-"+id, what, "beforeAll: [{command: sh hook.sh, mode: context}]", "fail fail", 1, says...)
		r.files = map[string]string{"hook.sh": prints + "\n"}
		return r
	}
	return []row{
		hook("before-all-fails", "beforeAll ends with status 3", "beforeAll: sh -c 'echo no database >&2; exit 3'", "fail fail", 1, "beforeAll", "exit status 3", "no database"),
		hook("before-each-fails", "beforeEach ends with status 3", "beforeEach: sh -c 'exit 3'", "fail fail", 1, "beforeEach", "exit status 3"),
		hook("after-each-fails", "afterEach ends with status 3", "afterEach: sh -c 'exit 3'", "pass pass", 0, "afterEach", "exit status 3"),
		hook("after-all-fails", "afterAll ends with status 3", "afterAll: sh -c 'exit 3'", "pass pass", 0, "afterAll", "exit status 3"),
		hook("not-found", "the hook's program does not exist", "beforeAll: no-such-hook-here", "fail fail", 1, "no-such-hook-here"),
		hook("hangs", "beforeAll hangs", "timeout: 500ms\nbeforeAll: sleep 300", "fail fail", 1, "500ms", "beforeAll"),
		hook("deaf", "beforeAll hangs and ignores SIGTERM", "timeout: 500ms\nbeforeAll: sh -c 'trap \"\" TERM INT; while :; do sleep 1; done'", "fail fail", 1, "500ms"),
		hook("after-all-hangs", "afterAll hangs", "timeout: 500ms\nafterAll: sleep 300", "pass pass", 0, "500ms", "afterAll"),
		hook("killed", "the hook is ended by a signal", "beforeAll: sh -c 'kill -9 $$'", "fail fail", 1, "killed"),
		hook("floods", "the hook writes 100 MB", "beforeAll: head -c 100000000 /dev/zero", "pass pass", 0),
		hook("floods-and-fails", "the hook writes 20 MB of escapes and fails", "beforeAll: sh -c 'yes \"\\033[31m\" | head -c 20000000; exit 1'", "fail fail", 1, "exit status 1"),
		hook("leaves-child", "the hook leaves a process that holds its pipes", "beforeAll: sh -c 'sleep 300 &'", "pass pass", 0, "sleep 300"),
		hook("leaves-daemon", "the hook leaves a process in a session of its own", "beforeAll: setsid -f sleep 300", "pass pass", 0, "sleep 300"),
		hook("closes-streams", "the hook closes its streams and works on", "beforeAll: sh -c 'exec <&- >&- 2>&-; sleep 0.2'", "pass pass", 0),
		hook("reads-input", "odd: the hook reads its input to the end", "beforeAll: cat", "pass pass", 0),
		hook("kills-its-group", "the hook sends SIGTERM to its process group", "beforeAll: sh -c 'kill -TERM 0; sleep 300'", "fail fail", 1, "terminated"),
		context("text", "a context hook prints a text", "echo hello", "JSON"),
		context("list", "a context hook prints a list", "echo '[]'", "beforeAll"),
		context("two", "a context hook prints two values", "echo '{}{}'", "beforeAll"),
		context("unknown-key", "a context hook prints an unknown key", "echo '{\"enw\": {}}'", "enw", "env"),
		context("duplicate", "a context hook prints a key twice", "echo '{\"env\": {}, \"env\": {}}'", "env"),
		context("huge", "a context hook prints 2 MB", "printf '{\"vars\":{\"x\":\"'; head -c 2000000 /dev/zero | tr '\\0' x; echo '\"}}'", "over 1048576 bytes"),
		context("bad-env", "a context hook sets a variable with = in its name", "echo '{\"env\": {\"A=B\": \"x\"}}'", "A=B"),
		context("fails", "a context hook prints a patch and fails", "echo '{}'; exit 4", "exit status 4"),
	}
}

// fixtureRows are steps that fail, hang or lie.
func fixtureRows() []row {
	step := func(id, what, keys, tests string, exit int, says ...string) row {
		return row{id: "fixture/" + id, what: what, suite: echoServer + keys + "\n", exit: exit, tests: tests, says: says, within: 5 * time.Second}
	}
	return []row{
		step("setup-fails", "a step of setup ends with status 3", `setup: [{run: [sh, -c, "echo no disk >&2; exit 3"]}]`, "skip skip", 2, "setup failed", "exit status 3", "no disk"),
		step("setup-not-found", "a step's program does not exist", `setup: [{run: [no-such-step]}]`, "skip skip", 2, "no-such-step"),
		step("setup-hangs", "a step of setup hangs", `setup: [{run: [sleep, "300"], timeout: 500ms}]`, "skip skip", 2, "500ms"),
		step("setup-deaf", "a step hangs and ignores SIGTERM", `setup: [{run: [sh, -c, "trap '' TERM INT; while :; do sleep 1; done"], timeout: 500ms}]`, "skip skip", 2, "500ms"),
		{id: "fixture/setup-call-hangs", what: "a step calls a tool that does not answer", stdio: talk{at: "tools/call", act: func(*stdio) {}}, more: "setup: [{call: {tool: t}, timeout: 500ms}]\n", exit: 2, tests: "skip skip", says: []string{"timeout", "500ms"}},
		step("capture-failure", "a failing step with a text of its own", `setup: [{run: [sh, -c, "echo 1f3a9 >&2; exit 3"], capture_failure: the shop database is not running}]`, "skip skip", 2, "the shop database is not running"),
		step("background-dies", "a background step ends before it is ready", `setup: [{run: [sh, -c, "echo port taken >&2; exit 5"], background: true, wait_for: "tcp://127.0.0.1:$PORT", timeout: 5s}]`, "skip skip", 2, "exit status 5", "port taken"),
		step("never-ready", "a background step is never ready", `setup: [{run: [sleep, "300"], background: true, wait_for: "tcp://127.0.0.1:$PORT", timeout: 700ms}]`, "skip skip", 2, "127.0.0.1:$PORT", "700ms"),
		step("log-never", "the awaited log line is never written", `setup: [{run: [sh, -c, "echo almost; sleep 300"], background: true, wait_for: "log:/ready/", timeout: 700ms}]`, "skip skip", 2, "700ms", "almost"),
		step("background-deaf", "a background step ignores SIGTERM", `setup: [{run: [sh, -c, "trap '' TERM INT; echo up; while :; do sleep 1; done"], background: true, wait_for: "log:/up/"}]`, "pass pass", 0, "killed"),
		step("background-ends", "a background step ends while tests run", `setup: [{run: [sh, -c, "sleep 0.1; exit 3"], background: true}]`+"\n"+`setup_per_test: [{run: [sleep, "0.3"]}]`, "pass pass", 0, "exit status 3"),
		step("per-test-fails", "a step of setup_per_test fails", `setup_per_test: [{run: [sh, -c, "exit 3"]}]`, "fail fail", 1, "exit status 3"),
		step("teardown-fails", "a step of teardown fails", `teardown: [{run: [sh, -c, "exit 3"]}]`, "pass pass", 0, "exit status 3", "teardown"),
		step("teardown-hangs", "a step of teardown hangs", `teardown: [{run: [sleep, "300"], timeout: 500ms}]`, "pass pass", 0, "500ms"),
		step("floods", "a step writes 100 MB", `setup: [{run: [head, -c, "100000000", /dev/zero]}]`, "pass pass", 0),
		{id: "fixture/port-owned", what: "another process listens on the port of a background step", suite: echoServer + `setup: [{run: [sleep, "300"], background: true, wait_for: "tcp://127.0.0.1:$PORT"}]` + "\n", setup: plainOnPort, exit: 2, tests: "skip skip", says: []string{"127.0.0.1:$PORT"}},
		{id: "fixture/probe-500", what: "the probe answers HTTP 404 forever", suite: echoServer + `setup: [{run: ["true"], wait_for: "http://127.0.0.1:$PORT/health", timeout: 2s}]` + "\n", setup: plainOnPort, exit: 2, tests: "skip skip", says: []string{"404", "timeout 2s"}, within: 5 * time.Second},
	}
}

// outputRows are places that can't be written to.
func outputRows() []row {
	to := func(id, what, reporter string, exit int, says ...string) row {
		return row{id: "output/" + id, what: what, suite: echoServer, args: []string{"run", "s.yml", "--reporter", reporter}, exit: exit, says: says}
	}
	with := func(r row, change func(*trial)) row { r.setup = change; return r }
	rows := []row{
		to("no-folder", "the report's folder does not exist", "json=nowhere/run.json", 4, "nowhere"),
		to("below-a-file", "the report's folder is a file", "json=s.yml/run.json", 4, "s.yml"),
		with(to("is-folder", "the report's path is a folder", "json=out", 4, "out"), func(t *trial) { t.write("out/x", "") }),
		with(to("symlink", "the report's path is a symbolic link", "json=out.json", 4, "out.json", "link"), func(t *trial) {
			_ = os.Symlink("/tmp/elsewhere", filepath.Join(t.work, "out.json"))
		}),
		to("device-full", "the report's device is full", "json=/dev/full", 4, "/dev/full"),
		to("proc", "the report's folder is read-only", "json=/proc/run.json", 4, "/proc/run.json"),
		to("long-name", "the report's name has 300 letters", "json="+strings.Repeat("n", 300), 4, "too long"),
		to("same-twice", "two reports go to one file", "json=a.out", 2, "a.out"),
		to("unknown", "an unknown reporter", "jsom", 2, "jsom", "json"),
	}
	rows[7].args = append(rows[7].args, "--reporter", "junit=a.out")
	return append(rows,
		row{id: "output/no-tmp", what: "TMPDIR does not exist", suite: echoServer, env: []string{"TMPDIR=/no/such/tmp"}, args: []string{"run", "s.yml", "--reporter", "json=run.json"}, leaves: []string{"run.json"}},
		row{id: "output/state-is-file", what: ".mcptest is a file", suite: echoServer, files: map[string]string{".mcptest": "hello"}, tests: "pass pass"},
		row{id: "output/stdout-full", what: "standard output is full", suite: echoServer, exit: 4, change: stdoutTo("/dev/full"), says: []string{"no space left on device"}},
		row{id: "output/stdout-closed", what: "the reader of standard output is gone", suite: echoServer, exit: 0, change: stdoutGone},
		row{id: "output/fifo", what: "the report's path is a pipe without a reader", suite: echoServer, setup: fifo("out.json"), args: []string{"run", "s.yml", "--reporter", "json=out.json"}, exit: 4, says: []string{"out.json", "no process reads from this pipe"}, within: 6 * time.Second},
	)
}
