//go:build linux

package faults_test

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"time"

	"mcptest/internal/base/testkit"
)

// suiteRows are invalid suites. Nothing is started for any of them.
func suiteRows() []row {
	file := func(id, what, text string, says ...string) row {
		return row{id: "suite/" + id, what: what, files: map[string]string{"s.yml": text}, exit: 2, says: says}
	}
	const server = "servers: {s: {command: [sh]}}\n"
	test := func(id, what, text string, says ...string) row {
		return file(id, what, server+"tools:\n  - name: one\n    tool: t\n"+indent(text, "    "), append(says, "s.yml:")...)
	}
	var bomb strings.Builder
	bomb.WriteString(server + "x0: &x0 [a, a, a, a, a, a, a, a, a, a]\n")
	for i := range 9 {
		bomb.WriteString(strings.NewReplacer("A", string(rune('0'+i)), "B", string(rune('1'+i))).Replace("xB: &xB [*xA, *xA, *xA, *xA, *xA, *xA, *xA, *xA, *xA, *xA]\n"))
	}
	special := func(id, what string, setup func(*trial), says ...string) row {
		return row{id: "suite/" + id, what: what, setup: setup, args: []string{"run", "special"}, exit: 2, says: append(says, "special")}
	}
	return []row{
		{id: "suite/missing", what: "the suite does not exist", args: []string{"run", "nowhere.yml"}, exit: 2, says: []string{"nowhere.yml"}},
		{id: "suite/none", what: "no suite is named and the folder has none", args: []string{"run"}, exit: 2, says: []string{"mcptest.yaml"}},
		special("folder-without", "a folder without suites", func(t *trial) { t.write("special/x.txt", "") }),
		{id: "suite/fifo", what: "the suite is a pipe without a writer", setup: fifo("special"), args: []string{"run", "special"}, exit: 2, says: []string{"special", "no process writes to this pipe"}, within: 14 * time.Second},
		special("device", "the suite is a device without an end", func(t *trial) { _ = os.Symlink("/dev/zero", filepath.Join(t.work, "special")) }),
		special("link-loop", "the suite is a symbolic link to itself", func(t *trial) { _ = os.Symlink("special", filepath.Join(t.work, "special")) }),
		file("empty", "an empty file", "", "empty"),
		file("only-comments", "a file of comments", "# nothing\n", "s.yml:1"),
		file("list", "a list", "- a\n- b\n", "s.yml:1:1"),
		file("no-servers", "a suite without servers", "tools: [{name: a, tool: t}]\n", "servers"),
		file("utf16", "a file in UTF-16", "\xff\xfes\x00e\x00r\x00", "UTF-8"),
		file("latin1", "a byte that is not UTF-8", server+"name: caf\xe9\n", "UTF-8"),
		file("nul", "a NUL byte", server+"name: \"a\x00b\"\n", "s.yml:2"),
		file("tab", "a tab as indentation", "servers:\n\ts: {command: [sh]}\n", "tab"),
		file("two-documents", "two documents", server+"---\n"+server, "document"),
		file("unclosed", "a quote that is not closed", server+"name: \"abc\n", "s.yml:2"),
		file("duplicate-key", "a key twice", server+"name: a\nname: b\n", "duplicate key", "s.yml:3"),
		file("alias-bomb", "aliases that multiply", bomb.String(), "alias"),
		file("alias-itself", "an alias inside its own anchor", server+"variables: &a {x: *a}\n", "s.yml:2"),
		file("too-deep", "20,000 levels", server+"variables: {x: "+strings.Repeat("[", 20000)+strings.Repeat("]", 20000)+"}\n", "deep"),
		file("too-big", "11 MB", server+"# "+strings.Repeat("x", 11<<20)+"\n", "10 MiB"),
		file("unknown-key", "an unknown key", server+"tols: []\n", "tols", "tools"),
		test("bad-type", "a number where text is expected", "timeout: [5]", "timeout"),
		test("bad-duration", "a duration without a unit", "timeout: 5", "timeout"),
		test("bad-regex", "a pattern that does not compile", "expect: [{target: text, matcher: {regex: \"(\"}}]", "regex"),
		test("bad-schema", "an invalid schema", "expect: [{target: result, matcher: {schema: {type: nonsense}}}]", "schema"),
		test("bad-path", "an invalid target", "expect: [{target: \"result[\", matcher: {exists: true}}]", "target"),
		test("bad-matcher", "an unknown matcher", "expect: [{target: text, matcher: {exakt: a}}]", "exakt", "exact"),
		test("two-matchers", "two matchers in one assertion", "expect: [{target: text, matcher: {exact: a, contains: b}}]", "matcher"),
		test("bad-server", "a server that is not declared", "server: q", "q"),
		test("negative-weight", "a negative weight", "threshold: 0.5\nexpect: [{target: text, matcher: {exact: a}, weight: -1}]", "weight"),
		test("bad-threshold", "a threshold of 1.5", "threshold: 1.5", "threshold"),
		test("unset-variable", "a variable that does not exist", "args: {a: \"${no_such_variable_here}\"}", "no_such_variable_here"),
		file("same-name", "two tests of one name", server+"tools: [{name: a, tool: t}, {name: a, tool: t}]\n", "s.yml:2"),
		file("shell-operator", "a shell's operator in a hook", server+"hooks: {beforeAll: \"a | b\"}\ntools: [{name: a, tool: t}]\n", "bash -c"),
		file("import-missing", "an import that does not exist", server+"imports: [nowhere.yml]\n", "nowhere.yml"),
		file("import-itself", "a suite that imports itself", server+"imports: [s.yml]\n", "s.yml:2"),
		file("import-outside", "an import outside the suite's folder", server+"imports: [../../x.yml]\n", "--allow-outside"),
		file("cases-missing", "rows in a file that does not exist", server+"tools: [{name: a, tool: t, cases: nowhere.csv}]\n", "nowhere.csv"),
		{id: "suite/cases-broken", what: "a line of rows that is not JSON", files: map[string]string{"s.yml": server + "tools: [{name: a, tool: t, cases: rows.jsonl}]\n", "rows.jsonl": "{\"a\":1}\n{\"a\":\n"}, exit: 2, says: []string{"rows.jsonl:2"}},
		{id: "suite/only-in-ci", what: "only: true under CI", files: map[string]string{"s.yml": server + "tools: [{name: a, tool: t, only: true}]\n"}, env: []string{"CI=true"}, exit: 2, says: []string{"only"}},
		{id: "suite/nothing-selected", what: "no test is selected", suite: echoServer, args: []string{"run", "s.yml", "--filter", "nothing-like-this"}, exit: 7, says: []string{"no test"}},
		{id: "suite/no-tests", what: "a suite without tests", files: map[string]string{"s.yml": server}, exit: 7, says: []string{"no test"}},
		{id: "suite/header-unset", what: "a header from a variable that is not set", files: map[string]string{"s.yml": "servers: {s: {url: \"http://127.0.0.1:9\", headers: {K: {env: NOT_SET_HERE}}}}\ntools: [{name: a, tool: t}]\n"}, exit: 2, says: []string{"NOT_SET_HERE"}},
		{id: "suite/bad-flag", what: "an unknown flag", suite: echoServer, args: []string{"run", "s.yml", "--paralel", "2"}, exit: 2, says: []string{"--paralel"}},
		{id: "suite/bad-var", what: "--var without a value", suite: echoServer, args: []string{"run", "s.yml", "--var", "x"}, exit: 2, says: []string{"--var"}},
		{id: "suite/bad-filter", what: "a filter whose pattern does not compile", suite: echoServer, args: []string{"run", "s.yml", "--filter", "re:("}, exit: 2, says: []string{"--filter"}},
		{id: "suite/bad-env-file", what: "an invalid environment file", suite: echoServer, files: map[string]string{".env": "A=1\nnonsense here\n"}, exit: 2, says: []string{".env:2"}},
		{id: "suite/loader-variable", what: "LD_PRELOAD in the environment file", suite: echoServer, files: map[string]string{".env": "LD_PRELOAD=/tmp/x.so\n"}, exit: 2, says: []string{"LD_PRELOAD"}},
	}
}

func fifo(name string) func(*trial) {
	return func(t *trial) { _ = syscall.Mkfifo(filepath.Join(t.work, name), 0o600) }
}

func stdoutTo(path string) func(*exec.Cmd, *trial) {
	return func(c *exec.Cmd, t *trial) {
		f, err := os.OpenFile(path, os.O_WRONLY, 0)
		if err != nil {
			t.tb.Fatal(err)
		}
		t.tb.Cleanup(func() { f.Close() })
		c.Stdout = f
	}
}

// stdoutGone is a pipe whose reading end is closed.
func stdoutGone(c *exec.Cmd, t *trial) {
	r, w, err := os.Pipe()
	if err != nil {
		t.tb.Fatal(err)
	}
	r.Close()
	t.tb.Cleanup(func() { w.Close() })
	c.Stdout = w
}

// signalRows are signals to the program, while a call hangs and a teardown has not run yet.
func signalRows() []row {
	at := func(id, what string, exit int, within time.Duration, sigs ...syscall.Signal) row {
		return row{
			id: "signal/" + id, what: what, stdio: talk{act: func(*stdio) {}}, more: "setup: [{run: [touch, begun]}]\nteardown: [{run: [sh, -c, \"echo down >> torn\"]}]\n",
			exit: exit, tests: "skip skip", says: []string{"interrupted"}, within: within, leaves: []string{"begun", "torn"}, during: send(sigs...), after: func(t *trial) {
				if _, err := os.Stat(filepath.Join(t.work, "torn")); err != nil && len(sigs) == 1 && sigs[0] != syscall.SIGKILL {
					t.tb.Error("teardown was not run")
				}
			},
		}
	}
	rows := []row{
		at("int", "SIGINT during a call", 130, 4*time.Second, syscall.SIGINT),
		at("term", "SIGTERM during a call", 143, 4*time.Second, syscall.SIGTERM),
		at("hup", "SIGHUP during a call", 129, 4*time.Second, syscall.SIGHUP),
		at("int-with-deaf-server", "SIGINT while the server ignores everything", 130, 7*time.Second, syscall.SIGINT),
		at("int-twice", "SIGINT twice, with a teardown that hangs", 130, 4*time.Second, syscall.SIGINT, syscall.SIGINT),
		at("kill", "SIGKILL during a call", 9, 5*time.Second, syscall.SIGKILL),
		at("kill-with-deaf-server", "SIGKILL while the server ignores everything", 9, 5*time.Second, syscall.SIGKILL),
	}
	rows[3].stdio.act, rows[6].stdio.act = deaf, deaf
	rows[4].more, rows[4].tests, rows[4].says = "setup: [{run: [touch, begun]}]\nteardown: [{run: [sleep, \"300\"]}]\n", "", nil
	for _, i := range []int{5, 6} {
		rows[i].dead, rows[i].tests, rows[i].says = true, "", nil
	}
	return rows
}

func deaf(*stdio) {
	c := exec.Command("sh", "-c", "trap '' TERM INT HUP; while :; do sleep 300; done")
	c.Stdout, c.Stderr = os.Stdout, os.Stderr
	_ = c.Start()
	hang(nil)
}

// send sends signals, the first after setup, the others soon after.
func send(sigs ...syscall.Signal) func(*os.Process, *trial) {
	return func(p *os.Process, t *trial) {
		go func() {
			testkit.Poll(4*time.Second, func() bool {
				_, err := os.Stat(filepath.Join(t.work, "begun"))
				return err == nil
			})
			delay(400 * time.Millisecond)
			for _, s := range sigs {
				_ = p.Signal(s)
				delay(300 * time.Millisecond)
			}
		}()
	}
}
