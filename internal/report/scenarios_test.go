package report_test

import (
	"fmt"
	"strings"
	"time"

	"mcptest/internal/report/result"
)

// The runs from which the recorded streams in testdata/logs are made. Each
// tells one story; together they have everything a record can hold.

// scenario collects the events of a run.
type scenario struct {
	events []result.Event
	index  int
	now    float64 // milliseconds since the start
	suite  result.Suite
}

func newScenario(total int, suites ...result.Suite) *scenario {
	s := &scenario{suite: suites[0]}
	s.add(result.RunStarted{
		Tool: result.Tool{Name: "mcptest", Version: "0.1.0"}, Suites: suites,
		Started: time.Date(2026, 3, 14, 9, 26, 53, 0, time.UTC), Total: total, Parallel: 1,
		Command: "mcptest run " + suites[0].File,
	})
	return s
}

func (s *scenario) add(e ...result.Event) { s.events = append(s.events, e...) }

// test adds a case after filling in what every case has.
func (s *scenario) test(c result.Case) {
	c.Index, c.StartMS = s.index, s.now
	s.index++
	s.now += c.DurationMS + 0.2
	c.File, c.Suite = s.suite.File, s.suite.Name
	if c.Block == "" {
		c.Block = "tools"
	}
	if c.Line == 0 {
		c.Line = 10 + 8*s.index
	}
	c.Column = 5
	if c.Source == "" {
		c.Source = "  - name: " + c.Name
	}
	if c.Status != result.Skip && c.Status != "" {
		c.Repro = fmt.Sprintf("mcptest run --filter 're:^%s$' %s", c.Name, c.File)
	}
	s.add(result.CaseStarted{Index: c.Index, Name: c.Name}, result.CaseFinished{Case: &c})
}

func (s *scenario) finish(exit int, signal string) []result.Event {
	s.add(result.RunFinished{DurationMS: s.now + 35.25, ExitCode: exit, Interrupted: signal})
	return s.events
}

func passed(target, matcher string) result.Assertion {
	return result.Assertion{Target: target, Matcher: matcher, Pass: true}
}

func call(name, args, answer string) []result.Exchange {
	return []result.Exchange{{
		Method:   "tools/call",
		Request:  `{"jsonrpc":"2.0","id":7,"method":"tools/call","params":{"name":"` + name + `","arguments":` + args + `}}`,
		Response: `{"jsonrpc":"2.0","id":7,"result":` + answer + `}`, DurationMS: 2.5,
	}}
}

func stdio(name, command string) result.Server {
	return result.Server{
		Name: name, File: "notes.mcptest.yaml", Transport: "stdio", Target: command, Protocol: "2025-11-25",
		ServerInfo: &result.Info{Name: name + "-server", Version: "1.4.0"}, StartMS: 41.5,
	}
}

func float(f float64) *float64 { return &f }
func truth(b bool) *bool       { return &b }

var scenarios = map[string]func() []result.Event{
	"pass": passScenario, "failures": failuresScenario, "crash": crashScenario, "scores": scoresScenario, "flaky": flakyScenario,
	"setup": setupScenario, "interrupted": interruptedScenario, "hostile": hostileScenario, "http": httpScenario, "parallel": parallelScenario,
	"rows": rowsScenario, "coverage": coverageScenario, "inconclusive": inconclusiveScenario, "agents": agentsScenario,
}

func passScenario() []result.Event {
	notes := result.Suite{Name: "notes", File: "notes.mcptest.yaml"}
	s := newScenario(5, notes, result.Suite{Name: "search", File: "search.mcptest.yaml"})
	s.add(result.PhaseFinished{Phase: result.Phase{Phase: "beforeAll", Name: "make a scratch folder", Status: result.Pass, Kind: "command", DurationMS: 6.1, File: notes.File, Line: 4}})
	s.add(result.ServerUp{Server: stdio("notes", "node build/notes.js")})
	s.test(result.Case{Name: "lists its tools", Status: result.Pass, DurationMS: 3.1, Server: "notes", Block: "protocol", Call: "tools/list", Assertions: []result.Assertion{passed("result.tools", "length")}})
	s.test(result.Case{
		Name: "adds a note", Status: result.Pass, DurationMS: 2.5, Server: "notes", Call: "tools/call add", Tags: []string{"smoke"},
		Assertions: []result.Assertion{passed("result.content[0].text", "contains"), passed("result.isError", "exact")}, Exchanges: call("add", `{"text":"milk"}`, `{"content":[{"type":"text","text":"added note 1"}]}`),
	})
	s.test(result.Case{Name: "deletes a note", Status: result.Pass, DurationMS: 1250, Server: "notes", Call: "tools/call delete", Implicit: true})
	s.add(result.PhaseFinished{Phase: result.Phase{Phase: "afterAll", Name: "remove the scratch folder", Status: result.Pass, Kind: "command", StartMS: 1256, DurationMS: 2.2, File: notes.File, Line: 6}})
	s.suite = result.Suite{Name: "search", File: "search.mcptest.yaml"}
	s.test(result.Case{Name: "finds by word", Status: result.Pass, DurationMS: 4.2, Server: "notes", Call: "tools/call search", Assertions: []result.Assertion{passed("result.items", "length")}, Warnings: []string{"text and structured content of search differ"}})
	s.test(result.Case{Name: "finds by date", Status: result.Skip, Message: "needs a newer server", Server: "notes"})
	s.add(result.ServerDown{Server: result.Server{Name: "notes", File: "notes.mcptest.yaml"}})
	return s.finish(0, "")
}

func failuresScenario() []result.Event {
	s := newScenario(8, result.Suite{Name: "notes", File: "notes.mcptest.yaml"})
	s.add(result.ServerUp{Server: stdio("notes", "node build/notes.js")})
	s.test(result.Case{Name: "adds a note", Status: result.Pass, DurationMS: 2.5, Server: "notes", Call: "tools/call add", Assertions: []result.Assertion{passed("result.isError", "exact")}})
	s.test(result.Case{
		Name: "counts the notes", Status: result.Fail, DurationMS: 3.4, Server: "notes", Call: "tools/call count", Message: "result.total: want 3, got 4",
		Assertions: []result.Assertion{passed("result.isError", "exact"), {
			Target: "result.total", Matcher: "exact", Message: "result.total: want 3, got 4", Expected: "3", Actual: "4", Line: 31, Column: 9,
			Source: `      - {target: result.total, matcher: {exact: 3}}`,
		}},
		Exchanges: call("count", `{}`, `{"content":[{"type":"text","text":"{\"total\":4}"}],"structuredContent":{"total":4}}`),
	})
	s.test(result.Case{
		Name: "returns the note as stored", Status: result.Fail, DurationMS: 5.9, Server: "notes", Call: "tools/call get", Message: "2 of 3 failed, the first: result.note: 2 differences",
		Assertions: []result.Assertion{
			{
				Target: "result.note", Matcher: "exact", Message: "result.note: 2 differences", Line: 39, Column: 9, Source: `      - target: result.note`,
				Diff: []string{"  title: \"milk\"", "- tags: [\"home\", \"shop\"]", "+ tags: [\"home\"]", "- done: false", "+ done: \"no\""},
			},
			{Target: "result.note.titel", Matcher: "exists", Message: `result.note has no key "titel"; it has "title", "tags", "done" (did you mean "title"?)`, Line: 44, Column: 17, Source: `      - target: result.note.titel`},
			passed("result.isError", "exact"),
		},
	})
	s.test(result.Case{
		Name: "renders the list", Status: result.Fail, DurationMS: 2.2, Server: "notes", Call: "prompts/get list", Block: "prompts", Message: "text: the texts differ from line 2",
		Assertions: []result.Assertion{{
			Name: "the list", Target: "text", Matcher: "exact", Message: "the texts differ from line 2", Line: 52, Column: 9, Source: "\t- {name: the list, target: text, matcher: *list}",
			Diff: []string{" # Notes", "-- milk", "+- Milk", " - eggs"},
		}},
	})
	s.test(result.Case{
		Name: "refuses an empty note", Status: result.Fail, DurationMS: 1.9, Server: "notes", Call: "tools/call add",
		Message:   "the tool reported an error (isError: true) that no assertion examines: text must not be empty",
		Exchanges: call("add", `{"text":""}`, `{"content":[{"type":"text","text":"text must not be empty"}],"isError":true}`),
	})
	s.test(result.Case{
		Name: "keeps stdout clean", Status: result.Fail, DurationMS: 2.7, Server: "notes", Call: "tools/call sync", Message: "protocol violation: stray-output: a line on stdout that is no JSON-RPC message",
		Assertions: []result.Assertion{passed("result.isError", "exact")},
		Violations: []result.Violation{{Kind: "stray-output", Message: "a line on stdout that is no JSON-RPC message", Excerpt: `syncing 3 notes…`, Offset: 4711}},
		Stderr:     "[info] sync started\n[info] sync done\n",
	})
	s.test(result.Case{
		Name: "finds nothing in an empty store", Status: result.Fail, DurationMS: 0, Server: "notes", Message: "beforeEach: ./empty-store.sh: exit status 1",
		Phases: []result.Phase{{Phase: "beforeEach", Name: "./empty-store.sh", Status: result.Fail, Kind: "command", DurationMS: 12, Message: "exit status 1", Output: "rm: cannot remove 'store.db': Device or resource busy\n", File: "notes.mcptest.yaml", Line: 5, Source: "  beforeEach: ./empty-store.sh"}},
	})
	s.test(result.Case{
		Name: "answers in time", Status: result.Error, DurationMS: 3000.4, Server: "notes", Call: "tools/call report", Message: "timed out after 3s (limit: timeout 3s)",
		Exchanges: []result.Exchange{{
			Method: "tools/call", Request: `{"jsonrpc":"2.0","id":19,"method":"tools/call","params":{"name":"report","arguments":{"year":2025}}}`, DurationMS: 3000.2, Error: "no response to request 19",
			During: []result.Message{{Dir: "from-server", MS: 4, Raw: `{"jsonrpc":"2.0","method":"notifications/progress","params":{"progressToken":19,"progress":1,"total":12}}`}},
		}},
		Stderr: "[info] reading 2025\n[warn] lock held by pid 4242, waiting\n",
	})
	return s.finish(1, "")
}

func crashScenario() []result.Event {
	s := newScenario(16, result.Suite{Name: "notes", File: "notes.mcptest.yaml"})
	s.add(result.ServerUp{Server: stdio("notes", "python3 server.py")})
	s.test(result.Case{Name: "adds a note", Status: result.Pass, DurationMS: 2.5, Server: "notes", Call: "tools/call add", Assertions: []result.Assertion{passed("result.isError", "exact")}})
	trace := "Traceback (most recent call last):\n  File \"server.py\", line 88, in export\n    rows = self.db.rows()\n           ^^^^^^^^^^^^^^\nAttributeError: 'NoneType' object has no attribute 'rows'\n"
	s.test(result.Case{
		Name: "exports the notes", Status: result.Error, DurationMS: 31, Server: "notes", Call: "tools/call export", Message: "the server ended during the call: exit status 1",
		Exchanges: []result.Exchange{{Method: "tools/call", Request: `{"jsonrpc":"2.0","id":3,"method":"tools/call","params":{"name":"export","arguments":{"format":"csv"}}}`, DurationMS: 30.8, Error: "the connection closed before request 3 was answered"}},
		Stderr:    trace,
	})
	s.add(result.ServerDown{Server: result.Server{Name: "notes", File: "notes.mcptest.yaml", Exit: "exit status 1"}})
	s.add(result.ServerUp{Server: result.Server{Name: "notes", File: "notes.mcptest.yaml", StartMS: 44}})
	s.add(result.FindingSeen{Finding: result.Finding{Kind: "server-restarted", Severity: "warning", Server: "notes", Message: "restarted once after it ended with exit status 1"}})
	s.test(result.Case{Name: "lists the notes", Status: result.Pass, DurationMS: 2.1, Server: "notes", Call: "tools/call list", AfterRestart: true, Assertions: []result.Assertion{passed("result.isError", "exact")}})
	s.add(result.ServerDown{Server: result.Server{
		Name: "tags", File: "notes.mcptest.yaml", Transport: "stdio", Target: "./tags-server --db tags.db", Exit: "exit status 127",
		Stderr: "./tags-server: error while loading shared libraries: libsqlite3.so.0: cannot open shared object file\n",
	}})
	for i := range 13 {
		s.test(result.Case{
			Name: fmt.Sprintf("tags a note [%d]", i+1), Status: result.Error, Server: "tags", Call: "tools/call tag",
			Message: "server tags could not be started: exit status 127 before it answered initialize",
		})
	}
	s.add(result.FindingSeen{Finding: result.Finding{Kind: "leftover-process", Severity: "warning", Server: "notes", Message: "left 1 process running: pid 4242 `sleep 314`"}})
	return s.finish(1, "")
}

func scoresScenario() []result.Event {
	s := newScenario(4, result.Suite{Name: "answers", File: "answers.mcptest.yaml"})
	s.add(result.ServerUp{Server: stdio("rag", "node rag.js")})
	weigh := func(a result.Assertion, w float64) result.Assertion {
		score := 0.0
		if a.Pass {
			score = 1
		}
		a.Weight, a.Score = float(w), float(score)
		return a
	}
	s.test(result.Case{
		Name: "weighted assertions", Status: result.Pass, DurationMS: 120, Server: "rag", Call: "tools/call ask", Score: float(0.75), Threshold: float(0.7),
		Assertions: []result.Assertion{weigh(passed("text", "contains"), 3), weigh(result.Assertion{Target: "text", Matcher: "regex", Message: `no match for /\d{4}/`, Actual: "last year"}, 1)},
	})
	set := result.Assertion{
		Name: "style", Set: true, Score: float(1.0 / 3), Threshold: float(0.6), Weight: float(1), Message: "1 of 3 passed", Line: 41, Column: 9, Source: "      - assert-set:",
		Assertions: []result.Assertion{
			weigh(passed("text", "contains"), 1),
			weigh(result.Assertion{Target: "text", Matcher: "starts-with", Message: `text: does not start with "Dear"`, Actual: `"Hello you"`, Line: 44, Column: 13, Source: "          - {target: text, matcher: {starts-with: Dear}}"}, 1),
			weigh(result.Assertion{Target: "text", Matcher: "ends-with", Message: `text: does not end with "."`, Actual: `"Hello you"`, Line: 45, Column: 13, Source: "          - {target: text, matcher: {ends-with: .}}"}, 1),
		},
	}
	s.test(result.Case{
		Name: "polite answer", Status: result.Fail, DurationMS: 98, Server: "rag", Call: "tools/call ask", Message: "assert-set style: score 0.333 is below 0.6", Score: float(0.5), Threshold: float(0.5),
		Assertions: []result.Assertion{weigh(passed("result.isError", "exact"), 1), set},
	})
	s.test(result.Case{
		Name: "blended quality score", Status: result.Fail, DurationMS: 77, Server: "rag", Call: "tools/call ask", Message: "metric quality: 0.667 is below 0.7", Score: float(0.5), Threshold: float(0.5),
		Assertions:     []result.Assertion{weigh(result.Assertion{Name: "cites_sources", Target: "text", Matcher: "contains", Pass: true}, 1), weigh(result.Assertion{Name: "well_formed", Target: "text", Matcher: "is-json", Message: "no JSON at offset 0"}, 1)},
		DerivedMetrics: []result.Metric{{Name: "quality", Value: 2.0 / 3, Threshold: float(0.7), Passed: truth(false)}, {Name: "length", Value: 0, Notes: []string{`no assertion is named "lenght"; it counts as 0`}}},
	})
	s.test(result.Case{
		Name: "cheap answer", Status: result.Pass, DurationMS: 60, Server: "rag", Call: "tools/call ask", Assertions: []result.Assertion{passed("text", "contains")},
		DerivedMetrics: []result.Metric{{Name: "quality", Value: 1, Threshold: float(0.7), Passed: truth(true)}},
	})
	return s.finish(1, "")
}

func flakyScenario() []result.Event {
	s := newScenario(3, result.Suite{Name: "weather", File: "weather.mcptest.yaml"})
	s.add(result.ServerUp{Server: stdio("weather", "uvx weather-server")})
	s.test(result.Case{
		Name: "today", Status: result.Pass, Flaky: true, DurationMS: 210, Server: "weather", Call: "tools/call today", Assertions: []result.Assertion{passed("text", "contains")},
		Attempts: []result.Attempt{{Status: result.Error, DurationMS: 100, Message: "timed out after 100ms (limit: timeout 100ms)"}, {Status: result.Pass, DurationMS: 110}},
	})
	s.test(result.Case{
		Name: "tomorrow", Status: result.Fail, DurationMS: 33, Server: "weather", Call: "tools/call tomorrow", Message: `text: does not contain "sun"`,
		Assertions: []result.Assertion{{Target: "text", Matcher: "contains", Message: `text: does not contain "sun"`, Expected: `"sun"`, Actual: `"rain, then more rain"`, Line: 30, Column: 9, Source: `      - {target: text, matcher: {contains: sun}}`}},
		Attempts:   []result.Attempt{{Status: result.Fail, DurationMS: 16, Message: `text: does not contain "sun"`}, {Status: result.Fail, DurationMS: 17, Message: `text: does not contain "sun"`}},
	})
	s.test(result.Case{Name: "next week", Status: result.Pass, DurationMS: 50, Server: "weather", Call: "tools/call week", Repeat: &result.Repeat{Times: 10, Passed: 9, Rate: 0.8}, Assertions: []result.Assertion{passed("text", "contains")}})
	return s.finish(1, "")
}

func setupScenario() []result.Event {
	s := newScenario(3, result.Suite{Name: "orders", File: "orders.mcptest.yaml"})
	s.add(result.PhaseFinished{Phase: result.Phase{Phase: "beforeAll", Name: "./build.sh", Status: result.Pass, Kind: "command", DurationMS: 812, File: "orders.mcptest.yaml", Line: 6}})
	s.add(result.PhaseFinished{Phase: result.Phase{
		Phase: "setup", Name: "start the database", Status: result.Fail, Kind: "background", StartMS: 812, DurationMS: 10_000, Message: "not ready after 10s: tcp://127.0.0.1:5432 refused the connection; the process ended: exit status 1",
		Output: "LOG:  starting\nFATAL:  data directory \"/var/lib/db\" has wrong ownership\nHINT:  The server must be started by the user that owns the data directory.\n", File: "orders.mcptest.yaml", Line: 9, Source: "  - name: start the database",
	}})
	for _, name := range []string{"creates an order", "cancels an order", "lists orders"} {
		s.test(result.Case{Name: name, Status: result.Skip, Server: "orders", Message: "setup failed: start the database"})
	}
	s.add(result.PhaseFinished{Phase: result.Phase{Phase: "teardown", Name: "drop the database", Status: result.Pass, Kind: "command", StartMS: 10_812, DurationMS: 20, File: "orders.mcptest.yaml", Line: 30, Warnings: []string{"exit status 3 ignored (always: true)"}}})
	return s.finish(2, "")
}

func interruptedScenario() []result.Event {
	s := newScenario(4, result.Suite{Name: "slow", File: "slow.mcptest.yaml"})
	s.add(result.ServerUp{Server: stdio("slow", "./slow")})
	s.test(result.Case{Name: "first", Status: result.Pass, DurationMS: 900, Server: "slow", Call: "tools/call wait", Assertions: []result.Assertion{passed("result.isError", "exact")}})
	s.test(result.Case{
		Name: "second", Status: result.Error, DurationMS: 412, Server: "slow", Call: "tools/call wait", Message: "interrupted (SIGINT) while waiting for the answer",
		Exchanges: []result.Exchange{{Method: "tools/call", Request: `{"jsonrpc":"2.0","id":2,"method":"tools/call","params":{"name":"wait","arguments":{"ms":5000}}}`, DurationMS: 412, Error: "no response to request 2"}},
	})
	for _, name := range []string{"third", "fourth"} {
		s.test(result.Case{Name: name, Status: result.Skip, Server: "slow", Message: "interrupted"})
	}
	s.add(result.Noted{Note: "cleaning up took 1.2 s"})
	return s.finish(130, "SIGINT")
}

// hostileStrings are texts a server might send to break or forge a report.
var hostileStrings = []string{
	"\x1b[2J\x1b[31mred\x1b]0;title\x07", "\x1b]8;;http://evil.example\x1b\\link\x1b]8;;\x1b\\", "::error file=a.go::forged", "##[error]forged ##vso[task.complete result=Succeeded]",
	"]]><x>", "nul \x00 byte", "lone \xed\xa0\x80 half", "bytes \xff\xfe", "\u202egnp.exe\u2066", "zero\u200bwidth\ufeff", "<script>alert(1)</script><img src=x onerror=alert(1)>",
	"[link](javascript:alert(1)) | a | b |", "```\n# heading\n```", "\r\n::set-output name=x::y\r\nVERDICT pass 9/9 passed", "PASSED  99 passed of 99 tests", "${{ secrets.X }} {{7*7}} ${HOME}", "@everyone #1 \\ \" ' ` %0A",
}

// seededSecrets are one of each of the kinds that are recognized without
// being declared; they are made up, and put together so that scanners of
// repositories do not take them for real.
var seededSecrets = []string{
	"-----BEGIN " + "PRIVATE KEY-----\nMIIEvQIBADANBg\n-----END " + "PRIVATE KEY-----", "AKIA" + "Q3EGVZ5TTJXWN6KD", "ghp_" + "16C7e42F292c6912E7710c838347Ae178B4a", "glpat-" + "xYz12_AbC-34dEfGhI5j",
	"xoxb-" + "123456789012-1234567890123-AbCdEfGh", "AIza" + "SyA1234567890abcdefghijklmnopqrstuv", "sk-" + "proj-abc123DEF456ghi789JKL012mno345",
	"Authorization: Bearer " + "abcdef0123456789", "https://bob:" + "hunter2@db.example/x?token=" + "t0psecret",
}

func hostileScenario() []result.Event {
	texts := append(append([]string{}, hostileStrings...), seededSecrets...)
	all := strings.Join(texts, "\n")
	s := newScenario(len(texts)+1, result.Suite{Name: "hostile \x1b[31m", File: "hostile.mcptest.yaml"})
	s.suite = result.Suite{Name: "hostile \x1b[31m", File: "hostile.mcptest.yaml"}
	up := stdio("evil\u202e", "./evil --name '"+texts[0]+"'")
	up.ServerInfo = &result.Info{Name: texts[1], Version: texts[2]}
	up.Stderr = all
	s.add(result.ServerUp{Server: up})
	for i, x := range texts {
		s.test(result.Case{
			Name: x, Status: []result.Status{result.Fail, result.Error, result.Pass, result.Skip}[i%4], DurationMS: 1, Server: "evil\u202e", Call: "tools/call " + x, Message: x,
			Assertions: []result.Assertion{{Name: x, Target: x, Matcher: "exact", Message: x, Expected: x, Actual: x, Diff: []string{"- " + x, "+ " + x, x}, Notes: []string{x}, Line: 3, Column: 4, Source: x}},
			Violations: []result.Violation{{Kind: "stray-output", Message: x, Excerpt: x}}, Warnings: []string{x}, Stderr: all,
			Exchanges: []result.Exchange{{Step: x, Method: x, Request: x, Response: x, Error: x, During: []result.Message{{Dir: "from-server", Raw: x}}}},
		})
	}
	s.test(result.Case{
		Name: "a long answer", Status: result.Fail, DurationMS: 1, Server: "evil\u202e", Message: "too long: " + strings.Repeat("long ", 2000),
		Assertions: []result.Assertion{{Target: "text", Matcher: "exact", Expected: "short", Actual: strings.Repeat("line\n", 500)}},
		Conversation: &result.Conversation{
			Model: all, ModelName: all, System: all, Tools: texts, Stop: all,
			Messages: []result.ModelMessage{{Role: all, Text: all}, {Role: "assistant", Text: all, Calls: []result.ModelCall{{Name: all, Server: all, Arguments: all, Text: all}}}},
		},
	})
	s.add(result.PhaseFinished{Phase: result.Phase{Phase: "afterAll", Name: texts[2], Status: result.Fail, Message: texts[13], Output: all, Warnings: []string{texts[2]}}})
	s.add(result.FindingSeen{Finding: result.Finding{Kind: "stray-output", Severity: "error", Server: "evil\u202e", Message: texts[2], Excerpt: texts[0]}})
	s.add(hostileCoverage(all))
	s.add(result.Noted{Note: texts[3]})
	return s.finish(1, "")
}

func httpScenario() []result.Event {
	s := newScenario(4, result.Suite{Name: "api", File: "api.mcptest.yaml"})
	up := result.Server{
		Name: "api", File: "api.mcptest.yaml", Transport: "streamable-http", Target: "https://api.example/mcp", Protocol: "2026-07-28", StartMS: 88, Insecure: true, Tolerated: []string{"unknown-id"},
		ServerInfo: &result.Info{Name: "api", Version: "2.0"},
	}
	s.add(result.ServerUp{Server: up})
	s.test(result.Case{
		Name: "reads @api", Status: result.Pass, DurationMS: 45, Server: "api", Block: "resources", Call: "resources/read doc://1", Assertions: []result.Assertion{passed("result.contents", "length")},
		Violations: []result.Violation{{Kind: "unknown-id", Message: "an answer to a request that was not sent", Excerpt: `{"jsonrpc":"2.0","id":99,"result":{}}`, Tolerated: true}},
		Exchanges:  []result.Exchange{{Method: "resources/read", Request: `{"jsonrpc":"2.0","id":4,"method":"resources/read","params":{"uri":"doc://1"}}`, Response: `{"jsonrpc":"2.0","id":4,"result":{"contents":[]}}`, DurationMS: 44, HTTP: &result.HTTPExchange{Status: 200, Headers: map[string]string{"content-type": "application/json", "set-cookie": "sid=1"}}}},
	})
	s.test(result.Case{
		Name: "writes @api", Status: result.Error, DurationMS: 62, Server: "api", Call: "tools/call write", Message: "HTTP 503 Service Unavailable, text/html: <h1>try later</h1>",
		Exchanges: []result.Exchange{{Method: "tools/call", Request: `{"jsonrpc":"2.0","id":5,"method":"tools/call","params":{"name":"write","arguments":{}}}`, DurationMS: 61, Error: "HTTP 503, no JSON-RPC answer", HTTP: &result.HTTPExchange{Status: 503, Attempts: 2, Headers: map[string]string{"content-type": "text/html"}}}},
	})
	s.test(result.Case{
		Name: "copies, step by step", Status: result.Fail, DurationMS: 71, Server: "api", Call: "2 steps", Message: "step read: text: does not contain \"copy\"",
		Assertions: []result.Assertion{{Target: "text", Matcher: "contains", Message: `text: does not contain "copy"`, Expected: `"copy"`, Actual: `"original"`, File: "imported.yaml", Line: 7, Column: 11, Source: "        - {target: text, matcher: {contains: copy}}"}},
		Exchanges: []result.Exchange{
			{Step: "write", Method: "tools/call", Request: `{"id":6}`, Response: `{"id":6}`, DurationMS: 30, HTTP: &result.HTTPExchange{Status: 200}},
			{Step: "read", Method: "tools/call", Request: `{"id":7}`, Response: `{"id":7}`, DurationMS: 31, HTTP: &result.HTTPExchange{Status: 200}},
		},
	})
	s.test(result.Case{Name: "waits @api", Status: result.Skip, Message: "only on stdio", Server: "api"})
	s.add(result.FindingSeen{Finding: result.Finding{Kind: "bad-json", Severity: "error", Server: "api", Message: "an event on the stream that is no JSON", Excerpt: `data: {"jsonrpc":`}})
	return s.finish(1, "")
}
