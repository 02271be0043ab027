package elsewhere

import "fmt"

// A Row is a word of other tools.
type Row struct {
	Word string // without dashes
	From string // the tools that have it
	Here string // what to write here, a command line; "" if nothing here does it
	Why  string // what is different, or why there is nothing
}

// Say returns the hint for the word: "write mcptest run --retries 2".
func (r Row) Say() string {
	switch {
	case r.Here == "":
		return r.Why
	case r.Why == "":
		return "write " + r.Here
	}
	return fmt.Sprintf("write %s; %s", r.Here, r.Why)
}

// flags are flags of other tools.
var flags = []Row{
	{"retry", "Vitest, Jest", "--retries 2", ""},
	{"rerun", "pytest", "--retries 2", ""},
	{"reruns", "pytest", "--retries 2", ""},
	{"flaky", "Playwright", "--fail-on-flaky", ""},
	{"fail-on-flaky-tests", "Playwright", "--fail-on-flaky", ""},
	{"no-parallel", "many", "--parallel 1", "one call at a time"},
	{"no-file-parallelism", "Vitest", "--parallel 1", "one call at a time"},
	{"globalTimeout", "Playwright", "--timeout 10s", "it is the limit of each test"},
	{"coverage.enabled", "Vitest", "--coverage", "of what the servers offer, not of code"},
	{"config-file", "many", "--config mcptest.yaml", ""},
	{"ignore", "pytest", "--filter '!a name'", "or name the files to run"},
	{"sw", "pytest", "--fail-fast", "then --last-failed"},
	{"strict", "many", "--fail-on-warnings", ""},
	{"headless", "Playwright", "", "leave it out: no browser is used"},
	{"allow-empty", "many", "", "a selection without a test always exits with 7; accept that code where it may happen"},
	{"cache-clear", "pytest", "", "leave it out: a run never uses the result of an earlier one"},
	{"clearCache", "Jest", "", "leave it out: a run never uses the result of an earlier one"},
	{"fix", "linters", "", "a suite is never changed: each mistake has its line and a hint"},
	{"html", "pytest", "--reporter html=report.html", ""},
	{"self-contained-html", "pytest", "--reporter html=report.html", "the page is always one file"},
	{"cov-report", "pytest", "--coverage --reporter html=report.html", "of what the servers offer, not of code"},
	{"coverageReporters", "Jest", "--coverage --reporter json=run.json", "each report has the coverage"},
	{"coverage.reporter", "Vitest", "--coverage --reporter json=run.json", "each report has the coverage"},
	{"tb", "pytest", "--verbose", "a failure always shows the call and the difference"},
	{"showlocals", "pytest", "--verbose", ""},
	{"pdb", "pytest", "--verbose", "there is no debugger; --record FOLDER keeps what passes"},
	{"inspect", "node", "--verbose", "there is no debugger; --record FOLDER keeps what passes"},
	{"inspect-brk", "node", "--verbose", "there is no debugger; --record FOLDER keeps what passes"},
	{"capture", "pytest", "--verbose", "the standard error of servers is shown with each failure"},
	{"output-dir", "Playwright", "--reporter html=report.html", "each report names its file"},
	{"outputDir", "Playwright", "--reporter html=report.html", "each report names its file"},
	{"last-failed-only", "many", "--last-failed", ""},
	{"failed-first", "pytest", "--last-failed", ""},
	{"stepwise", "pytest", "--fail-fast", "then --last-failed"},
	{"filter-first-n", "promptfoo", "--filter 'a name'", ""},
	{"filter-failing", "promptfoo", "--last-failed", ""},
	{"filter-providers", "promptfoo", "--server api", ""},
	{"providers", "promptfoo", "", "servers and models are declared in the suite; --server and --model choose among them"},
	{"prompts", "promptfoo", "", "prompts are tests of the suite: prompts: of the server, agents: for models"},
	{"assertions", "promptfoo", "", "assertions are in the suite: expect: [{target: text, matcher: {contains: …}}]"},
	{"share", "promptfoo", "--reporter html=report.html", "the page needs no server: send the file"},
	{"no-progress-bar", "promptfoo", "--no-progress", ""},
	{"race", "go test", "", "leave it out: the servers are other programs, which have their own checks"},
	{"short", "go test", "--skip-tag slow", ""},
	{"benchmem", "go test", "", "mcptest load measures calls, mcptest leak memory"},
	{"bench", "go test", "", "write mcptest load --tool NAME --rate 10/s -- command of the server"},
	{"browser", "Playwright", "", "leave it out: no browser is used"},
	{"testPathPattern", "Jest", "", "name the files: mcptest run tests/a.mcptest.yaml"},
	{"rootdir", "pytest", "", "name the folder: mcptest run tests/"},
	{"dir", "Vitest", "", "name the folder: mcptest run tests/"},
	{"globals", "Vitest", "", "leave it out: a suite is data"},
	{"environment", "Vitest", "", "leave it out: the servers of the suite have env:"},
	{"setupFiles", "Jest", "", "write setup: or hooks: in the suite"},
	{"detectOpenHandles", "Jest", "", "leave it out: a process that stays after the run is always reported"},
	{"forceExit", "Jest", "", "leave it out: every process is ended"},
	{"logHeapUsage", "Jest", "", "mcptest leak finds what a server keeps"},
	{"strict-markers", "pytest", "--fail-on-warnings", "a tag that no test has is a warning"},
	{"W", "pytest", "--fail-on-warnings", ""},
	{"quiet-mode", "many", "--quiet", ""},
	{"json", "go test, Jest", "--reporter json=run.json", ""},
	{"json-report", "pytest", "--reporter json=run.json", ""},
	{"junit", "many", "--reporter junit=junit.xml", ""},
	{"junitxml", "pytest", "--reporter junit=junit.xml", ""},
	{"junit-xml", "pytest", "--reporter junit=junit.xml", ""},
	{"tap", "node", "--reporter tap", ""},
	{"sarif", "linters", "--reporter sarif=run.sarif", ""},
	{"report", "many", "--reporter json=FILE", ""},
	{"reporters", "Jest", "--reporter json=run.json", "it may be repeated"},
	{"format", "many", "--reporter json", ""},
	{"outputFile", "Vitest, Jest", "--reporter json=run.json", ""},
	{"output-file", "Vitest", "--reporter json=run.json", ""},
	{"no-color", "many", "--color never", "the variable NO_COLOR works, too"},
	{"no-colors", "many", "--color never", "the variable NO_COLOR works, too"},
	{"colors", "Jest", "--color always", ""},
	{"list-tests", "Jest", "--list", ""},
	{"listTests", "Jest", "--list", ""},
	{"collect-only", "pytest", "--list", ""},
	{"co", "pytest", "--list", ""},
	{"only", "Jest", "--filter 'a name'", "in a suite: only: true on the test"},
	{"onlyFailures", "Jest", "--last-failed", ""},
	{"only-changed", "Playwright", "--changed main", ""},
	{"onlyChanged", "Jest", "--changed main", ""},
	{"changedSince", "Jest", "--changed main", ""},
	{"grep", "Playwright, mocha", "--filter 'a name'", ""},
	{"g", "Playwright, mocha", "--filter 'a name'", ""},
	{"t", "Jest, Vitest", "--filter 'a name'", ""},
	{"match", "many", "--filter 'a name'", ""},
	{"name", "many", "--filter 'a name'", ""},
	{"testNamePattern", "Jest, Vitest", "--filter 'a name'", ""},
	{"test-name-pattern", "node", "--filter 'a name'", ""},
	{"filter-pattern", "promptfoo", "--filter 'a name'", ""},
	{"run", "go test", "--filter 're:^a name'", ""},
	{"grep-invert", "Playwright", "--filter '!a name'", ""},
	{"invert", "mocha", "--filter '!a name'", ""},
	{"deselect", "pytest", "--filter '!a name'", ""},
	{"exclude", "many", "--filter '!a name'", "or --skip-tag slow"},
	{"skip", "go test", "--filter '!a name'", "or --skip-tag slow"},
	{"m", "pytest", "--tag smoke", ""},
	{"tags", "many", "--tag smoke", ""},
	{"ui", "Playwright, Vitest", "--watch", "mcptest ui shows a page to call tools and keep calls as tests"},
	{"headed", "Playwright", "--verbose", "there is no browser"},
	{"debug", "Playwright", "--verbose", ""},
	{"trace", "Playwright", "--verbose", "it shows every exchange; --record FOLDER keeps what passes"},
	{"video", "Playwright", "--record recordings", "it keeps what passes between mcptest and the servers"},
	{"repeat-each", "Playwright", "", "write repeat: 20 in the test, or trials for what is a matter of chance"},
	{"repeat", "promptfoo", "", "write repeat: 20 in the test, or trials for what is a matter of chance"},
	{"count", "go test", "", "write repeat: 20 in the test; a result is never cached"},
	{"sequence.shuffle", "Vitest", "--shuffle", ""},
	{"random-order", "pytest", "--shuffle", ""},
	{"randomize", "Jest", "--shuffle", ""},
	{"seed", "Jest", "--shuffle=7", ""},
	{"bail", "Jest, Vitest", "--fail-fast", ""},
	{"x", "pytest", "--fail-fast", ""},
	{"exitfirst", "pytest", "--fail-fast", ""},
	{"failfast", "go test", "--fail-fast", ""},
	{"maxfail", "pytest", "--fail-fast", "it stops at the first failure"},
	{"max-failures", "Playwright", "--fail-fast", "it stops at the first failure"},
	{"forbid-only", "Playwright, mocha", "", "only: true in a suite is an error wherever CI=true is set, without a flag"},
	{"pass-with-no-tests", "Playwright, Vitest", "", "a selection without a test always exits with 7; accept that code where it may happen"},
	{"passWithNoTests", "Jest, Vitest", "", "a selection without a test always exits with 7; accept that code where it may happen"},
	{"project", "Playwright, Vitest", "--server api", "or a suite for each: mcptest run a.yaml b.yaml"},
	{"cov", "pytest", "--coverage", "of what the servers offer, not of code"},
	{"cover", "go test", "--coverage", "of what the servers offer, not of code"},
	{"workers", "Playwright", "--parallel 4", ""},
	{"w", "Jest", "--parallel 4", ""},
	{"jobs", "many", "--parallel 4", ""},
	{"j", "many", "--parallel 4", ""},
	{"n", "pytest", "--parallel 4", ""},
	{"numprocesses", "pytest", "--parallel 4", ""},
	{"max-concurrency", "promptfoo", "--parallel 4", ""},
	{"maxWorkers", "Jest, Vitest", "--parallel 4", ""},
	{"runInBand", "Jest", "--parallel 1", ""},
	{"i", "Jest", "--parallel 1", ""},
	{"fully-parallel", "Playwright", "--parallel auto", ""},
	{"lf", "pytest", "--last-failed", ""},
	{"ff", "pytest", "--last-failed", ""},
	{"failed", "many", "--last-failed", ""},
	{"u", "Playwright, Vitest, Jest", "--update-snapshots", ""},
	{"update", "Vitest", "--update-snapshots", ""},
	{"updateSnapshot", "Jest", "--update-snapshots", ""},
	{"snapshot-update", "pytest", "--update-snapshots", ""},
	{"watchAll", "Jest", "--watch", ""},
	{"view", "promptfoo", "--reporter html=report.html --open", ""},
	{"no-cache", "promptfoo, Jest", "", "leave it out: a run never uses the result of an earlier one"},
	{"testTimeout", "Jest, Vitest", "--timeout 10s", ""},
	{"test-timeout", "Vitest", "--timeout 10s", ""},
	{"global-timeout", "Playwright", "--timeout 10s", "it is the limit of each test"},
	{"durations", "pytest", "--verbose", "each test shows its duration"},
	{"s", "pytest", "--verbose", ""},
	{"silent", "Jest, Vitest", "--quiet", ""},
	{"vv", "pytest", "--verbose", ""},
	{"var-file", "many", "--env-file .env", ""},
	{"env-path", "promptfoo", "--env-file .env", ""},
	{"set", "many", "--var name=value", ""},
}

// commands are commands of other tools.
var commands = []Row{
	{"test", "Playwright, go", "mcptest run", ""},
	{"tests", "many", "mcptest run", ""},
	{"check-types", "many", "mcptest validate", ""},
	{"fmt", "go", "mcptest validate", "it changes nothing"},
	{"format", "many", "mcptest validate", "it changes nothing"},
	{"share", "promptfoo", "mcptest run --reporter html=report.html", "the page needs no server: send the file"},
	{"update-snapshots", "many", "mcptest run --update-snapshots", ""},
	{"eval", "promptfoo", "mcptest run", ""},
	{"exec", "many", "mcptest run", ""},
	{"watch", "Vitest", "mcptest run --watch", ""},
	{"dev", "many", "mcptest run --watch", ""},
	{"coverage", "many", "mcptest run --coverage", ""},
	{"cov", "many", "mcptest run --coverage", ""},
	{"snapshot", "many", "mcptest run --update-snapshots", "or mcptest lock, for what a server offers"},
	{"show-report", "Playwright", "mcptest run --reporter html=report.html --open", "or mcptest ui, to call tools by hand"},
	{"view", "promptfoo", "mcptest run --reporter html=report.html --open", "or mcptest ui, to call tools by hand"},
	{"show-trace", "Playwright", "mcptest cassette show recording.cassette.ndjson", ""},
	{"codegen", "Playwright", "mcptest init -- command of the server", "or mcptest ui, or mcptest call TOOL --keep SUITE, for one call"},
	{"generate", "promptfoo", "mcptest init -- command of the server", ""},
	{"new", "many", "mcptest init -- command of the server", ""},
	{"create", "many", "mcptest init -- command of the server", ""},
	{"list", "many", "mcptest run --list", "or mcptest tools -- command of the server"},
	{"ls", "many", "mcptest run --list", "or mcptest tools -- command of the server"},
	{"lint", "many", "mcptest validate", ""},
	{"inspect", "the Inspector", "mcptest tools -- command of the server", ""},
	{"inspector", "the Inspector", "mcptest tools -- command of the server", ""},
	{"ping", "the Inspector", "mcptest doctor -- command of the server", ""},
	{"connect", "the Inspector", "mcptest doctor -- command of the server", ""},
	{"merge-reports", "Playwright", "mcptest report merge a.json b.json", ""},
	{"bench", "many", "mcptest load --tool NAME --rate 10/s -- command of the server", ""},
	{"benchmark", "many", "mcptest load --tool NAME --rate 10/s -- command of the server", ""},
	{"stress", "many", "mcptest load --tool NAME --rate 10/s -- command of the server", ""},
	{"stub", "many", "mcptest mock --tools-from tools.yaml", ""},
	{"auth", "many", "mcptest login URL", ""},
	{"list-tools", "the Inspector", "mcptest tools -- command of the server", ""},
	{"tools/list", "the Inspector", "mcptest tools -- command of the server", ""},
	{"call-tool", "the Inspector", "mcptest call TOOL -- command of the server", ""},
	{"tools/call", "the Inspector", "mcptest call TOOL -- command of the server", ""},
	{"resources/list", "the Inspector", "mcptest resources -- command of the server", ""},
	{"resources/read", "the Inspector", "mcptest resources -- command of the server", ""},
	{"prompts/list", "the Inspector", "mcptest prompts -- command of the server", ""},
	{"prompts/get", "the Inspector", "mcptest prompts -- command of the server", ""},
	{"redteam", "promptfoo", "mcptest probe -- command of the server", "and mcptest check, for descriptions that hide instructions"},
	{"verify", "many", "mcptest probe -- command of the server", "or mcptest lock --check"},
	{"audit", "npm", "mcptest check -- command of the server", ""},
	{"show", "many", "mcptest report run.json", ""},
	{"open", "many", "mcptest run --reporter html=report.html --open", ""},
	{"update", "many", "mcptest run --update-snapshots", "mcptest itself is updated by what installed it"},
	{"upgrade", "many", "", "mcptest is updated by what installed it, such as npm, pip or brew"},
	{"self-update", "many", "", "mcptest is updated by what installed it, such as npm, pip or brew"},
	{"install", "Playwright", "", "nothing is to be installed: mcptest init -- command of the server writes a first suite"},
	{"config", "many", "", "there is no configuration: a suite is mcptest.yaml, and mcptest init writes one"},
	{"cache", "many", "", "results are not cached"},
	{"run-tests", "many", "mcptest run", ""},
	{"start", "many", "mcptest mock --preset echo", "or mcptest serve, which answers from a recording"},
}

// reporters are reporters of other tools.
var reporters = []Row{
	{"dot", "Playwright, Vitest, mocha", "--reporter minimal", ""},
	{"line", "Playwright", "--reporter minimal", ""},
	{"basic", "Vitest", "--reporter minimal", ""},
	{"list", "Playwright", "--reporter pretty --verbose", ""},
	{"spec", "mocha, node", "--reporter pretty --verbose", ""},
	{"verbose", "Vitest", "--reporter pretty --verbose", ""},
	{"tree", "Vitest", "--reporter pretty --verbose", ""},
	{"default", "Vitest, Jest", "--reporter pretty", ""},
	{"text", "many", "--reporter pretty", ""},
	{"console", "many", "--reporter pretty", ""},
	{"xml", "many", "--reporter junit=junit.xml", ""},
	{"xunit", "mocha", "--reporter junit=junit.xml", ""},
	{"markdown", "many", "--reporter md", ""},
	{"github-actions", "Vitest", "--reporter github", ""},
	{"blob", "Playwright", "--reporter json=run.json", "mcptest report merge combines records"},
	{"jsonl", "many", "--reporter ndjson", ""},
	{"tap-flat", "Vitest", "--reporter tap", ""},
	{"csv", "promptfoo", "--reporter json=run.json", ""},
	{"un", "go test", "--filter 're:^a name'", "-r names a reporter, so -run is -r un"},
	{"A", "pytest", "--verbose", "-r names a reporter"},
	{"a", "pytest", "--verbose", "-r names a reporter"},
	{"fA", "pytest", "--verbose", "-r names a reporter"},
	{"lcov", "Jest", "--coverage --reporter json=run.json", ""},
	{"teamcity", "many", "--reporter junit=junit.xml", ""},
	{"allure", "many", "--reporter junit=junit.xml", ""},
	{"min", "mocha", "--reporter minimal", ""},
	{"nyan", "mocha", "--reporter minimal", ""},
	{"progress", "mocha", "--reporter pretty", ""},
	{"hanging-process", "Vitest", "--reporter pretty", "a process that stays after the run is always reported"},
	{"yaml", "many", "--reporter json=run.json", ""},
	{"null", "Playwright", "--quiet", ""},
	{"silent", "many", "--quiet", ""},
}

// Flag returns the row of a flag.
func Flag(name string) (Row, bool) { return find(flags, name) }

// Command returns the row of a command.
func Command(name string) (Row, bool) { return find(commands, name) }

// Reporter returns the row of a reporter.
func Reporter(name string) (Row, bool) { return find(reporters, name) }

// Words returns all rows: flags, with their dashes, commands and reporters.
func Words() (out []Row) {
	for _, row := range flags {
		row.Word = "--" + row.Word
		if len(row.Word) == len("--x") {
			row.Word = row.Word[1:]
		}
		out = append(out, row)
	}
	out = append(out, commands...)
	return append(out, reporters...)
}

func find(rows []Row, word string) (Row, bool) {
	for _, row := range rows {
		if row.Word == word {
			return row, true
		}
	}
	return Row{}, false
}
