package probe_test

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"mcptest/internal/base/testkit"
	"mcptest/internal/client/mcp"
	"mcptest/internal/offer/ruleset"
	"mcptest/internal/run/probe"
	"mcptest/internal/run/probe/verdict"
	"mcptest/internal/spec/plan"
)

const (
	dual   = "2026-07-28 2025-11-25 2025-06-18"
	modern = "2026-07-28"
	older  = "2025-11-25 2025-06-18"
)

// examine probes a planted server, over HTTP or a stream.
func examine(t *testing.T, p *planted, http bool, change func(*probe.Options)) verdict.Report {
	t.Helper()
	o := optionsFor(t, p, http)
	if change != nil {
		change(&o)
	}
	return examineWithin(t, o, time.Minute)
}

// optionsFor starts a planted server if it speaks HTTP, and returns how it is probed.
func optionsFor(t *testing.T, p *planted, http bool) probe.Options {
	t.Helper()
	o := probe.Options{
		Server: &plan.Server{
			Name: "planted", Argv: []string{"planted"}, Transport: "auto", Protocol: mcp.Auto, Timeout: time.Minute, ConnectTimeout: 20 * time.Second,
			Tolerate: map[string]bool{}, ValidateOutput: true,
		},
		Client: mcp.Implementation{Name: "test", Version: "1"}, Dial: p.dial, Seed: 1, Reply: time.Second,
	}
	if http {
		s := p.web()
		t.Cleanup(s.CloseClientConnections)
		t.Cleanup(s.Close)
		o.Server.URL, o.Server.Argv, o.Dial = s.URL+"/mcp", nil, nil
		if p.token != "" && !p.public {
			o.Server.Headers = []plan.Header{{Name: "Authorization", Value: "Bearer " + p.token}}
		}
	}
	return o
}

// examineWithin runs the rules with a limit on the time.
func examineWithin(t *testing.T, o probe.Options, limit time.Duration) verdict.Report {
	t.Helper()
	ctx, cancel := context.WithTimeout(context.Background(), limit)
	defer cancel()
	rep, err := probe.Run(ctx, o)
	if err != nil {
		t.Fatal(err)
	}
	return rep
}

// failed lists the failed rules with their messages.
func failed(rep verdict.Report, practice bool) (out []string) {
	for _, x := range rep.Results {
		if x.Verdict == verdict.Fail && (practice || x.Level != ruleset.Practice) {
			f := x.Failures[0]
			out = append(out, fmt.Sprintf("%s %s %s: %s %s", x.Level, x.Revision, x.Rule, f.Subject, f.Message))
			for _, e := range f.Evidence {
				out = append(out, "  → "+e.Sent, "  ← "+e.Received)
			}
		}
	}
	return out
}

// Correct servers have no failed rule.
func TestSoundServersPass(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		name string
		http bool
		p    *planted
	}{
		{"both eras", false, &planted{versions: strings.Fields(dual)}},
		{"2026-07-28 only", false, &planted{versions: strings.Fields(modern)}},
		{"2025 only", false, &planted{versions: strings.Fields(older)}},
		{"2025-06-18 only", false, &planted{versions: []string{"2025-06-18"}}},
		{"2025-03-26 only", false, &planted{versions: []string{"2025-03-26"}}},
		{"tools that write", false, &planted{versions: strings.Fields(dual), bare: true}},
		{"tools only", false, &planted{versions: strings.Fields(dual), only: "tools"}},
		{"resources only", false, &planted{versions: strings.Fields(dual), only: "resources"}},
		{"a list that changes", false, &planted{versions: strings.Fields(dual), grows: true}},
		{"HTTP, streams that are resumed", true, &planted{versions: strings.Fields(older), sessions: true, replays: true}},
		{"HTTP, streams that are polled", true, &planted{versions: []string{"2025-11-25"}, sessions: true, replays: true, polls: true}},
		{"HTTP, both eras, streams that are resumed", true, &planted{versions: strings.Fields(dual), sessions: true, replays: true}},
		{"prompts only", false, &planted{versions: strings.Fields(older), only: "prompts"}},
		{"HTTP, both eras, sessions", true, &planted{versions: strings.Fields(dual), sessions: true}},
		{"HTTP, both eras, no sessions", true, &planted{versions: strings.Fields(dual)}},
		{"HTTP, event streams", true, &planted{versions: strings.Fields(dual), sessions: true, events: true}},
		{"HTTP, 2026-07-28 only", true, &planted{versions: strings.Fields(modern)}},
		{"HTTP, 2025 only, sessions", true, &planted{versions: strings.Fields(older), sessions: true}},
		{"HTTP, 2025-06-18 only", true, &planted{versions: []string{"2025-06-18"}, sessions: true}},
		{"HTTP, 2025-03-26 only", true, &planted{versions: []string{"2025-03-26"}, sessions: true}},
		{"HTTP, token", true, &planted{versions: strings.Fields(dual), token: "good"}},
		{"HTTP, token and sessions", true, &planted{versions: strings.Fields(older), token: "good", sessions: true}},
		{"HTTP, token for some", true, &planted{versions: strings.Fields(dual), token: "good", public: true}},
		{"HTTP, gateway that limits rates", true, &planted{versions: strings.Fields(dual), busy: 7}},
		{"HTTP, tools that write", true, &planted{versions: strings.Fields(dual), bare: true, sessions: true}},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			rep := examine(t, c.p, c.http, func(o *probe.Options) { o.Reply = 10 * time.Second }) // as users have it
			for _, line := range failed(rep, true) {
				t.Error(line)
			}
			if c.p.writes > 0 {
				t.Errorf("tools that may write were called %d times", c.p.writes)
			}
			if tally := rep.Tally(""); tally.Passed < 15 && !strings.Contains(c.name, "2025-03-26") {
				t.Errorf("only %d rules passed", tally.Passed)
			}
			t.Log(rep.Summary())
		})
	}
}

// A server that stops answering costs no more than the time, and no panic.
func TestSilentServers(t *testing.T) {
	t.Parallel()
	silent := func(http bool) probe.Options {
		o := optionsFor(t, &planted{versions: strings.Fields(older), defect: "hostile/silent"}, http)
		o.Reply, o.Server.ConnectTimeout = 200*time.Millisecond, 5*time.Second
		return o
	}
	isLate := func(x verdict.Result) bool { return strings.HasPrefix(x.Reason, "time: ") }
	for _, http := range []bool{false, true} {
		rep := examineWithin(t, silent(http), 6*time.Second)
		if !slices.ContainsFunc(rep.Results, isLate) {
			t.Errorf("no rule was too late; failed: %q", failed(rep, false))
		}
		// With one rule alone, none before it uses the time up.
		o := silent(http)
		o.Only = []string{"message-unanswered"}
		rep = examineWithin(t, o, 2*time.Minute)
		if !strings.Contains(strings.Join(failed(rep, false), "\n"), "message-unanswered") {
			t.Errorf("silence is no failure: %+v", rep.Results)
		}
	}
}

// A second sighting that shows nothing, because a gateway limits rates, is made again.
func TestSecondSightingThatShowsNothing(t *testing.T) {
	t.Parallel()
	for busy := 4; busy < 12; busy++ {
		p := &planted{versions: strings.Fields(older), sessions: true, busy: busy, defect: "http-version-header/served"}
		rep := examine(t, p, true, func(o *probe.Options) { o.Only = []string{"http-version-header"} })
		for _, x := range rep.Results {
			if strings.HasPrefix(x.Reason, "not repeatable") {
				t.Errorf("every %d. request is refused: %s", busy, x.Reason)
			}
		}
	}
}

// A server that sends no request of its own has no wrong ids, whenever others send theirs.
func TestNoRequestHasNoWrongID(t *testing.T) {
	t.Parallel()
	rep := examine(t, &planted{versions: strings.Fields(older), only: "prompts"}, false, func(o *probe.Options) { o.Only = []string{"request-id"} })
	if len(rep.Results) != 1 || rep.Results[0].Verdict != verdict.Pass {
		t.Errorf("%+v", rep.Results)
	}
}

// Progress is examined whether or not the response of a long call comes in time.
func TestProgressOfALongCall(t *testing.T) {
	t.Parallel()
	rep := examine(t, &planted{versions: strings.Fields(older), defect: "late/count"}, false, func(o *probe.Options) { o.Only = []string{"utilities"} })
	for _, x := range rep.Results {
		if (x.Rule == "progress-increases" || x.Rule == "progress-token") && x.Verdict != verdict.Pass || x.Rule == "progress-after" && x.Verdict == verdict.Pass {
			t.Errorf("%s: %s %s", x.Rule, x.Verdict, x.Reason)
		}
	}
}

// defects are servers with one defect each, by how they are reached. The rule that must
// fail is the part before the slash.
var defects = []struct {
	http     bool
	versions string
	change   func(*planted)
	list     string
}{
	{false, dual, nil, `
		discover-present/no-versions discover-present/no-capabilities discover-present/absent
		message-id/number message-id/text message-id/null message-jsonrpc/absent message-jsonrpc/both message-error/code-text message-error/no-message
		message-utf8/latin1 message-stdout/log message-stdout/pretty message-duplicate/twice message-unanswered/unknown message-unknown-method/params
		message-unknown-method/result message-notification/answered message-reserved-code/used message-schema/tools message-schema/prompts meta-key/form
		capability-tools/undeclared capability-resources/undeclared capability-prompts/undeclared capability-completions/unserved capability-logging/unserved capability-listen/unserved
		capability-served/tools/list capability-served/resources/list capability-served/prompts/list logging-undeclared/sends extension-key/bare
		list-cursor-end/same list-cursor-invalid/ignored list-unique/twice list-unique-others/twice list-order/turns client-info-list/name list-stable/connection
		tool-name/space tool-name/long tool-schema/null tool-schema/no-type tool-schema/invalid tool-header-param/twice tool-header-param/empty
		tool-unknown/served tool-required/served tool-output-schema/absent tool-output-schema/invalid tool-structured-text/absent
		tool-content/base64 tool-content/type tool-content-mime/none
		resource-uri/absent resource-body/neither resource-base64/text resource-uri-syntax/relative resource-missing/served resource-missing/code
		resource-missing-empty/empty resource-listed-readable/missing
		prompt-unknown/internal prompt-unknown/served prompt-arguments/served prompt-message/role prompt-content/mime
		completion-limit/many completion-limit/absent completion-invalid/served logging-level/accepted logging-filter/ignored logging-unasked/sends
		progress-increases/stays progress-token/other progress-after/late cancel-unknown/answered listen-ack/late listen-filter/prompts listen-tag/absent
		version-unsupported/code version-unsupported/no-list version-unsupported/served meta-required/capabilities client-info-optional/required
		stateless-first-request/discover result-type/absent result-type/unknown result-server-info/absent
		cache-hints/absent cache-hints/negative cache-hints/scope cache-scope-pages/differs
		input-content/empty input-declared/elicitation input-kind/ping server-request/roots cancel-by-server/sends
		argument-crash/type argument-crash/list argument-trace/stack fuzz-crash/pattern`},
	{true, older, nil, `argument-crash/gone fuzz-crash/gone`},
	{false, "2025-03-26", nil, `message-batch/refused`},
	{false, modern, nil, `lifecycle-modern-initialize/unnamed meta-required/version`},
	{false, older, nil, `
		lifecycle-result/no-server-info lifecycle-result/no-version-of-server lifecycle-result/no-protocol lifecycle-result/capabilities lifecycle-version-offer/confirmed
		lifecycle-version-error/unnamed lifecycle-early-request/roots ping/unknown ping-empty/member undeclared-request/sampling task-unknown/result`},
	{false, dual, nil, `lifecycle-version-echo/newest unsubscribed/sends listen-only/subscription stateless-capabilities/remembers input-mode/url
		input-sampling-tools/tools task-ignored/refused task-ignored/created`},
	{false, older, nil, `request-id/again request-id/null request-id/fraction input-mode/url input-sampling-tools/tools`},
	{true, older, func(p *planted) { p.sessions, p.replays = true, true }, `
		get-no-response/moved no-broadcast/all event-id-unique/counter replay-own-stream/all http-stream-response/ends`},
	{true, modern, nil, `stream-related/sends header-param/absent header-param/differs header-param-absent/expected header-invalid-chars/served`},
	{true, dual, func(p *planted) { p.sessions = true }, `
		http-origin/served http-origin-status/404 http-host/served http-origin-own/refused http-get/200 http-content-type/html http-notification/200 http-notification/body
		http-version-header/served http-error-trace/path http-error-trace/json
		session-ended/served session-ended/400 session-random/counter session-random/same session-ascii/umlaut session-fixation/adopted session-missing/404 isolation-data/shared
		header-mismatch/method header-mismatch/version header-missing/method header-code/params header-base64/compared header-method-404/200 header-no-session/minted
		version-unsupported/200 meta-required/200`},
	{true, modern, nil, `http-modern-get/404 header-missing/version`},
	{true, dual, func(p *planted) { p.token = "good" }, `
		auth-401/404 auth-401/served auth-anonymous/500 auth-challenge/absent auth-metadata/no-servers auth-metadata-resource/absent auth-discovery/nowhere`},
}

// unseen are defects that a probe does not find, and why.
var unseen = map[string]string{}

// Each defect fails its rule.
func TestDefectsAreFlagged(t *testing.T) {
	t.Parallel()
	n, found, family := 0, 0, 0
	done := make(chan [2]bool, 1000)
	t.Run("each", func(t *testing.T) {
		for _, group := range defects {
			for _, defect := range strings.Fields(group.list) {
				n++
				t.Run(defect, func(t *testing.T) {
					t.Parallel()
					p := &planted{versions: strings.Fields(group.versions), defect: defect}
					if group.change != nil {
						group.change(p)
					}
					rule, _, _ := strings.Cut(defect, "/")
					rules, err := ruleset.Builtin()
					if err != nil {
						t.Fatal(err)
					}
					r, ok := rules.Rule(rule)
					if !ok {
						t.Fatalf("there is no rule %s", rule)
					}
					rep := examine(t, p, group.http, func(o *probe.Options) {
						if !testkit.Deep() {
							o.Only = []string{r.Family}
						}
					})
					exact, near := false, false
					for _, x := range rep.Results {
						if x.Verdict == verdict.Fail {
							exact, near = exact || x.Rule == rule, near || x.Family == r.Family
						}
					}
					done <- [2]bool{exact, near}
					if !exact && unseen[defect] == "" {
						t.Errorf("not found; failed: %q", failed(rep, true))
						for _, x := range rep.Results {
							if x.Rule == rule {
								t.Errorf("%s: %s %s", x.Revision, x.Verdict, x.Reason)
							}
						}
					}
				})
			}
		}
	})
	close(done)
	for d := range done {
		if d[0] {
			found++
		}
		if d[1] {
			family++
		}
	}
	t.Logf("%d of %d defects fail their rule, %d fail a rule of the family", found, n, family)
}
