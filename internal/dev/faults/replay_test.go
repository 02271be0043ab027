//go:build linux

package faults_test

import (
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"mcptest/internal/dev/flaky"
)

// replayed are the families of faults that a cassette must reproduce: those of the protocol
// and of its transports.
var replayed = []string{"era", "crash", "framing", "message", "result", "volume", "http", "sse", "session", "replay"}

// notReplayed are faults of which a cassette contains less than the client received:
// session ids are masked, and a failed connection is only recorded as text. If a server
// sends too many requests, the ones that the client answers depend on timing.
var notReplayed = []string{"session/bad-id", "http/self-signed", "http/no-such-host", "message/endless-asking"}

// exchanges are the other messages between client and server. Responses may arrive in
// another order than the calls.
func exchanges() []row {
	both := make(chan struct{})
	progress := `{"jsonrpc":"2.0","method":"notifications/message","params":{"level":"info","data":"both"}}`
	return []row{
		{id: "replay/busy-once", what: "the server is busy once (429) and says when to come back", server: "retry_http: 2", http: &web{call: func(v *visit) {
			if v.seen.Add(1) > 1 {
				v.ok()
				return
			}
			v.Header().Set("Retry-After", "0")
			v.send(429, "text/plain", "Too Many Requests")
		}}, tests: "pass pass"},
		{id: "replay/unauthorized", what: "a token is refused (401)", server: "auth: {bearer_token_env: TOKEN}", env: []string{"TOKEN=planted-1234567890"}, http: &web{call: func(v *visit) {
			v.send(401, "text/plain", "who are you?")
		}}, exit: 1, tests: "error pass"},
		{id: "replay/overlap", what: "two calls at the same time, of which the later one is answered first", more: "run_options: {parallel: 2}\n", http: &web{call: func(v *visit) {
			v.sse(event(progress))
			<-both
			v.sse(event(progress) + event(v.good()))
		}, any: func(v *visit) bool {
			if v.method == "tools/call" && !v.marked {
				v.ok()
				close(both)
				return true
			}
			return false
		}}, tests: "pass pass"},
		{id: "replay/cancelled", what: "a call that the client cancels, and one after it", test: "timeout: 200ms", http: &web{call: func(v *visit) {
			v.sse(event(progress))
			v.hang()
		}}, exit: 1, tests: "error pass"},
	}
}

// always are replayed by every run of this test.
var always = []string{"sse/odd-resumed", "sse/endless-line", "session/lost", "session/lost-for-good", "session/modern-404", "message/echo", "framing/pretty", "framing/no-newline", "message/id-list"}

// TestReplayOfFaults checks that the replay of a recorded fault, without the server, has
// the same statuses and messages.
func TestReplayOfFaults(t *testing.T) {
	free := make(chan struct{}, lanes(t))
	chosen := readPart(t, part{of: 20})
	n := 0
	for _, r := range append(table(), exchanges()...) {
		family, _, _ := strings.Cut(r.id, "/")
		if !slices.Contains(replayed, family) || slices.Contains(notReplayed, r.id) || r.args != nil || r.dead || r.during != nil || r.tests == "" {
			continue
		}
		if n++; !chosen.has(n) && family != "replay" && !slices.Contains(always, r.id) {
			continue
		}
		t.Run(r.id, func(t *testing.T) {
			t.Parallel()
			free <- struct{}{}
			defer func() { <-free }()
			// The program also lists tools while the test calls one: the messages that were sent
			// when a server crashed differ between runs.
			flaky.Retry(t, "replay of "+r.id, func(tb testing.TB) { replayFault(tb, r, family) })
		})
	}
}

// replayFault records a run of a row, and compares it with a replay.
func replayFault(tb testing.TB, r row, family string) {
	tb.Helper()
	stop := func() {}
	if r.http != nil {
		var url string
		url, stop = r.http.open()
		r.files = map[string]string{"s.yml": strings.ReplaceAll(r.yaml(), "$URL", url)}
		r.http = nil
	}
	record := newTrial(tb, &r)
	r.args = []string{"run", "s.yml", "--record", "../rec"}
	record.start()
	stop()
	recorded := outcomes(tb, record)
	if family == "replay" { // TestFaults has the other ones
		record.checkVerdicts()
	}
	r.args = []string{"run", "s.yml", "--replay", "../rec"}
	replay := newTrial(tb, &r)
	replay.dir, replay.work = record.dir, record.work
	if text, err := os.ReadFile(filepath.Join(record.work, "s.yml")); err == nil { // the program does not exist any more
		replay.write("s.yml", strings.ReplaceAll(string(text), self, "/nowhere/server"))
	}
	replay.start()
	again := outcomes(tb, replay)
	if recorded != again || record.state.ExitCode() != replay.state.ExitCode() {
		tb.Errorf("%s\nrecorded (exit %d):\n%sreplayed (exit %d):\n%s%s", r.what, record.state.ExitCode(), recorded, replay.state.ExitCode(), again, short(replay.err.String()))
	}
}

// outcomes are the verdicts of a trial, with their reasons.
func outcomes(tb testing.TB, tr *trial) string {
	tb.Helper()
	raw, err := os.ReadFile(filepath.Join(tr.dir, "run.json"))
	if err != nil {
		tb.Fatalf("%v\n%s", err, short(tr.err.String()))
	}
	var rec struct {
		Tests []struct {
			Name, Status, Message string
			Violations            []struct{ Code string }
			Exchanges             []struct{ Response, Error string }
		}
	}
	if err := json.Unmarshal(raw, &rec); err != nil {
		tb.Fatal(err)
	}
	// Differences between any two runs of the same tests: whether the program was reading the
	// list of tools, and the size of an abandoned message, which is unknown if no other call
	// is waiting.
	varying := regexp.MustCompile(`(tools/list, )?tools/call(, tools/list)? (was|were) in flight|( of [\d.]+ MiB,)? over the limit|\b\d+(\.\d+)?\s?(ms|µs|s|MiB)\b|\b\d{4,5}\b|/nowhere/server|` + regexp.QuoteMeta(self))
	text := varying.ReplaceAllString(fmt.Sprintf("%+v", rec.Tests), "…")
	// A replay has no process that could be alive, nor the time of its last line.
	process := regexp.MustCompile(`; (the server is|its last line on stderr|mcptest then sent)[^\n]*?( Violations:|\}\]\})`)
	return process.ReplaceAllString(text, "$2") + "\n"
}
