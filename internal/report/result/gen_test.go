package result_test

import (
	"fmt"
	"time"

	"pgregory.net/rapid"

	"mcptest/internal/report/result"
)

// Generators of records with everything a record may hold.

var texts = rapid.OneOf(
	rapid.SampledFrom([]string{"", "a", "héllo", "line\nline", "\x1b[31m", "\u202e", "\x00\x7f\u0085", "##[error]", "a ## b", `"\`, "\xff\xfe", "\xed\xa0\x80", "\U000e0041", "日本", "</script>&"}),
	rapid.String(),
)

var words = rapid.StringMatching(`[a-z]{1,8}`)

func optional[T any](t *rapid.T, g *rapid.Generator[T], label string) *T {
	if rapid.Bool().Draw(t, label+"?") {
		return nil
	}
	v := g.Draw(t, label)
	return &v
}

func few[T any](t *rapid.T, label string, one func() T) []T {
	n := rapid.SampledFrom([]int{0, 0, 0, 1, 2}).Draw(t, label)
	var out []T
	for range n {
		out = append(out, one())
	}
	return out
}

var (
	statuses = rapid.SampledFrom([]result.Status{result.Pass, result.Fail, result.Error, result.Skip})
	millis   = rapid.OneOf(rapid.Float64Range(0, 1e6), rapid.SampledFrom([]float64{0, 1, 1e-7, 1e21, 0.001}))
	numbers  = rapid.Float64()
)

func drawAssertion(t *rapid.T, depth int) result.Assertion {
	s := func(l string) string { return texts.Draw(t, l) }
	a := result.Assertion{
		Name: s("name"), Set: rapid.Bool().Draw(t, "set"), Target: s("target"), Matcher: s("matcher"),
		Pass: rapid.Bool().Draw(t, "pass"), Score: optional(t, numbers, "score"), Weight: optional(t, numbers, "weight"),
		Threshold: optional(t, numbers, "threshold"), Message: s("message"), Expected: s("expected"), Actual: s("actual"),
		Diff:  few(t, "diff", func() string { return s("line") }),
		Notes: few(t, "notes", func() string { return s("note") }),
		File:  s("file"), Line: rapid.IntRange(0, 99).Draw(t, "line"), Column: rapid.IntRange(0, 9).Draw(t, "col"), Source: s("source"),
	}
	if depth > 0 {
		a.Assertions = few(t, "inner", func() result.Assertion { return drawAssertion(t, depth-1) })
	}
	return a
}

func drawPhase(t *rapid.T) result.Phase {
	s := func(l string) string { return texts.Draw(t, l) }
	return result.Phase{
		Phase: s("phase"), Name: s("name"), Status: statuses.Draw(t, "status"), Kind: s("kind"),
		StartMS: millis.Draw(t, "start"), DurationMS: millis.Draw(t, "duration"), Message: s("message"), Output: s("output"),
		Warnings: few(t, "warnings", func() string { return s("warning") }),
		File:     s("file"), Line: rapid.IntRange(0, 9).Draw(t, "line"), Source: s("source"),
	}
}

func drawExchange(t *rapid.T) result.Exchange {
	s := func(l string) string { return texts.Draw(t, l) }
	x := result.Exchange{
		Step: s("step"), Method: s("method"), Request: s("request"), Response: s("response"),
		During: few(t, "during", func() result.Message {
			return result.Message{Dir: s("dir"), MS: millis.Draw(t, "ms"), Raw: s("raw")}
		}),
		DurationMS: millis.Draw(t, "duration"), Error: s("error"), Truncated: rapid.Bool().Draw(t, "cut"),
	}
	if rapid.Bool().Draw(t, "http") {
		x.HTTP = &result.HTTPExchange{Status: rapid.IntRange(0, 599).Draw(t, "code"), Attempts: rapid.IntRange(0, 3).Draw(t, "attempts")}
		if rapid.Bool().Draw(t, "headers") {
			x.HTTP.Headers = map[string]string{"content-type": s("type"), words.Draw(t, "header"): s("value")}
		}
	}
	return x
}

func drawCase(t *rapid.T, index int) *result.Case {
	s := func(l string) string { return texts.Draw(t, l) }
	c := &result.Case{
		Index: index, Name: s("name"), Status: statuses.Draw(t, "status"), DurationMS: millis.Draw(t, "duration"),
		StartMS: millis.Draw(t, "start"), File: s("file"), Line: rapid.IntRange(0, 999).Draw(t, "line"),
		Column: rapid.IntRange(0, 9).Draw(t, "column"), Source: s("source"), Suite: s("suite"), Block: s("block"),
		Server: s("server"), Call: s("call"), Tags: few(t, "tags", func() string { return s("tag") }), Message: s("message"),
		Assertions: few(t, "assertions", func() result.Assertion { return drawAssertion(t, 1) }),
		Implicit:   rapid.Bool().Draw(t, "implicit"), Score: optional(t, numbers, "score"), Threshold: optional(t, numbers, "threshold"),
		DerivedMetrics: few(t, "metrics", func() result.Metric {
			return result.Metric{
				Name: rapid.SampledFrom([]string{"accuracy", "cost", "é"}).Draw(t, "metric"), Value: numbers.Draw(t, "value"),
				Threshold: optional(t, numbers, "threshold"), Passed: optional(t, rapid.Bool(), "passed"),
				Notes: few(t, "notes", func() string { return s("note") }),
			}
		}),
		Flaky: rapid.Bool().Draw(t, "flaky"),
		Attempts: few(t, "attempts", func() result.Attempt {
			return result.Attempt{Status: statuses.Draw(t, "status"), DurationMS: millis.Draw(t, "ms"), Message: s("message"), Phases: few(t, "phases", func() result.Phase { return drawPhase(t) }), Exchanges: few(t, "exchanges", func() result.Exchange { return drawExchange(t) })}
		}),
		AfterRestart: rapid.Bool().Draw(t, "restart"),
		Violations: few(t, "violations", func() result.Violation {
			return result.Violation{
				Kind: s("kind"), Message: s("message"), Excerpt: s("excerpt"),
				Offset: rapid.Int64Range(0, 1<<50).Draw(t, "offset"), Tolerated: rapid.Bool().Draw(t, "tolerated"),
			}
		}),
		Warnings:  few(t, "warnings", func() string { return s("warning") }),
		Phases:    few(t, "phases", func() result.Phase { return drawPhase(t) }),
		Exchanges: few(t, "exchanges", func() result.Exchange { return drawExchange(t) }),
		Stderr:    s("stderr"), Repro: s("repro"), Searched: few(t, "searched", func() string { return s("folder") }),
	}
	if rapid.Bool().Draw(t, "row") {
		c.Row = &result.Row{File: s("row file"), Line: rapid.IntRange(0, 9).Draw(t, "row line"), Values: s("row values")}
	}
	if rapid.Bool().Draw(t, "known") {
		c.KnownFailure = &result.KnownFailure{Status: result.Fail, Reason: rapid.SampledFrom([]string{"", "slow", "a\nb"}).Draw(t, "reason")}
	}
	if rapid.Bool().Draw(t, "repeat") {
		c.Repeat = &result.Repeat{Times: 3, Passed: 2, Rate: numbers.Draw(t, "rate")}
	}
	return c
}

func drawServer(t *rapid.T) result.Server {
	s := func(l string) string { return texts.Draw(t, l) }
	v := result.Server{
		Name: rapid.SampledFrom([]string{"api", "db"}).Draw(t, "server"), File: s("file"), Transport: "stdio", Target: s("target"),
		Protocol: s("protocol"), StartMS: millis.Draw(t, "start"), Starts: rapid.IntRange(0, 2).Draw(t, "starts"), Exit: s("exit"),
		Stderr: s("stderr"), Insecure: rapid.Bool().Draw(t, "insecure"), Tolerated: few(t, "tolerated", func() string { return s("kind") }),
	}
	if rapid.Bool().Draw(t, "info") {
		v.ServerInfo = &result.Info{Name: s("info name"), Version: s("info version")}
	}
	return v
}

// drawEvents draws the stream of a run whose cases end in any order.
func drawEvents(t *rapid.T) []result.Event {
	s := func(l string) string { return texts.Draw(t, l) }
	n := rapid.IntRange(0, 6).Draw(t, "cases")
	order := rapid.Permutation(count(n)).Draw(t, "order")
	events := []result.Event{result.RunStarted{
		Tool:    result.Tool{Name: "mcptest", Version: s("version")},
		Suites:  few(t, "suites", func() result.Suite { return result.Suite{Name: s("suite"), File: s("file")} }),
		Started: time.Unix(rapid.Int64Range(0, 4e9).Draw(t, "started"), 123456789).In(time.FixedZone("x", 3600)),
		Total:   n, Parallel: rapid.IntRange(0, 4).Draw(t, "parallel"), Command: s("command"), Origin: &result.Origin{Commit: s("commit"), Branch: s("branch"), URL: s("url")},
	}}
	if rapid.Bool().Draw(t, "sharded") {
		events[0] = shardOf(events[0].(result.RunStarted), rapid.IntRange(1, 3).Draw(t, "shard"))
	}
	other := func() {
		switch rapid.IntRange(0, 6).Draw(t, "other") {
		case 0:
			events = append(events, result.ServerUp{Server: drawServer(t)})
		case 1:
			events = append(events, result.ServerDown{Server: drawServer(t)})
		case 2:
			events = append(events, result.PhaseFinished{Phase: drawPhase(t)})
		case 3:
			events = append(events, result.FindingSeen{Finding: result.Finding{
				Kind: s("kind"), Server: s("server"),
				Severity: rapid.SampledFrom([]string{"error", "warning", "info"}).Draw(t, "severity"), Message: s("message"), Excerpt: s("excerpt"),
				File: s("file"), Line: rapid.IntRange(0, 9).Draw(t, "line"),
			}})
		case 4:
			events = append(events, result.Noted{Note: s("note")})
		case 5:
			events = append(events, result.CoverageMeasured{Coverage: drawCoverage(t)})
		}
	}
	for _, i := range order {
		other()
		c := drawCase(t, i)
		events = append(events, result.CaseStarted{Index: i, Name: c.Name}, result.CaseFinished{Case: c})
	}
	other()
	return append(events, result.RunFinished{DurationMS: millis.Draw(t, "duration"), ExitCode: rapid.IntRange(0, 7).Draw(t, "exit"), Interrupted: s("signal")})
}

func drawCoverage(t *rapid.T) *result.Coverage {
	s := func(l string) string { return texts.Draw(t, l) }
	list := func(l string) []string { return few(t, l, func() string { return s(l) }) }
	return &result.Coverage{Partial: s("partial"), Servers: append([]result.ServerCoverage{}, few(t, "covered servers", func() result.ServerCoverage {
		return result.ServerCoverage{
			Server: s("server"), File: s("file"), Unknown: s("unknown"), Unasserted: list("unasserted"),
			Parts: few(t, "parts", func() result.Covered {
				return result.Covered{
					Of: rapid.SampledFrom(result.ListMeasured()).Draw(t, "of"), Covered: rapid.IntRange(0, 9).Draw(t, "have"), Total: rapid.IntRange(0, 9).Draw(t, "of all"),
					Minimum: optional(t, rapid.IntRange(0, 100), "minimum"), Missing: list("missing"),
				}
			}),
			Skeletons: few(t, "skeletons", func() result.Skeleton { return result.Skeleton{Of: s("of"), Name: s("name"), YAML: s("yaml")} }),
		}
	})...)}
}

// shardOf makes the begin of a run that of a shard of three.
func shardOf(e result.RunStarted, index int) result.RunStarted {
	e.Shard = &result.Shard{Index: index, Total: 3, Tests: 3 * e.Total, Digest: "d1", Places: []int{}}
	for i := range e.Total {
		e.Shard.Places = append(e.Shard.Places, 3*i+index-1)
	}
	return e
}

func count(n int) []int {
	out := make([]int, n)
	for i := range out {
		out[i] = i
	}
	return out
}

// smallCase is what most tests of a big run look like.
func smallCase(i int) *result.Case {
	return &result.Case{
		Index: i, Name: fmt.Sprintf("echo returns its text [%d]", i), Status: result.Pass, DurationMS: 0.412, StartMS: float64(i) * 0.5,
		File: "suites/echo.mcptest.yaml", Line: 12, Column: 5, Source: "  - name: echo returns its text", Suite: "echo", Block: "tools", Server: "echo",
		Call: "tools/call echo",
		Assertions: []result.Assertion{
			{Target: "result.content[0].text", Matcher: "exact", Pass: true},
			{Target: "result.isError", Matcher: "exact", Pass: true},
		},
		Exchanges: []result.Exchange{{
			Method:     "tools/call",
			Request:    `{"jsonrpc":"2.0","id":12,"method":"tools/call","params":{"name":"echo","arguments":{"text":"hello"}}}`,
			Response:   `{"jsonrpc":"2.0","id":12,"result":{"content":[{"type":"text","text":"hello"}],"isError":false}}`,
			DurationMS: 0.401,
		}},
		Repro: `mcptest run --filter 're:^echo returns its text$' suites/echo.mcptest.yaml`,
	}
}
