package report_test

import (
	"fmt"

	"mcptest/internal/report/result"
)

// parallelScenario is a run of a list of servers, several calls in flight on
// each, with scores and metrics: what the matrix and the charts are for.
func parallelScenario() []result.Event {
	servers := []string{"node", "python", "rust"}
	pace := map[string]float64{"node": 1, "python": 2.3, "rust": 0.4}
	tests := []string{"lists its tools", "creates an order", "refuses an order without items", "cancels an order", "finds orders by customer", "exports a month", "summarizes an order", "answers in the customer's language"}
	s := newScenario(len(tests)*len(servers), result.Suite{Name: "orders", File: "orders.mcptest.yaml"})
	started := s.events[0].(result.RunStarted)
	started.Parallel = 3
	s.events[0] = started
	s.add(result.PhaseFinished{Phase: result.Phase{Phase: "setup", Name: "load 500 orders", Status: result.Pass, Kind: "command", DurationMS: 180, File: "orders.mcptest.yaml", Line: 9}})
	for _, name := range servers {
		up := stdio(name, "./servers/"+name+"/orders")
		up.File = "orders.mcptest.yaml"
		s.add(result.ServerUp{Server: up})
	}
	free := map[string][]float64{}
	for _, name := range servers {
		free[name] = []float64{230, 230, 230}
	}
	index := 0
	for i, test := range tests {
		for _, server := range servers {
			c := result.Case{
				Index: index, Name: test + " @" + server, Status: result.Pass, File: "orders.mcptest.yaml", Suite: "orders", Line: 14 + 9*i, Column: 5, Block: "tools",
				Server: server, Call: "tools/call " + []string{"list", "create", "create", "cancel", "find", "export", "summarize", "answer"}[i], Tags: []string{[]string{"smoke", "slow"}[i%2]},
				DurationMS: pace[server] * float64(6+(i*37)%90), Assertions: []result.Assertion{passed("result.isError", "exact"), passed("text", "contains")},
				Exchanges: call("order", fmt.Sprintf(`{"id":%d}`, 4000+i), `{"content":[{"type":"text","text":"order"}],"isError":false}`),
				Repro:     fmt.Sprintf("mcptest run --filter 're:^%s @%s$' orders.mcptest.yaml", test, server),
			}
			lane := i % 3
			c.StartMS = free[server][lane]
			free[server][lane] += c.DurationMS + 1.5
			finishParallel(&c, i, server)
			index++
			s.add(result.CaseStarted{Index: c.Index, Name: c.Name}, result.CaseFinished{Case: &c})
		}
	}
	s.add(result.PhaseFinished{Phase: result.Phase{Phase: "teardown", Name: "drop the orders", Status: result.Pass, Kind: "command", StartMS: 760, DurationMS: 40, File: "orders.mcptest.yaml", Line: 90}})
	s.now = 800
	return s.finish(1, "")
}

func finishParallel(c *result.Case, i int, server string) {
	if i >= 6 {
		score := map[string]float64{"node": 0.9, "python": 0.55, "rust": 0.8}[server] - 0.05*float64(i-6)
		c.Score, c.Threshold = float(score), float(0.6)
		c.DerivedMetrics = []result.Metric{{Name: "fluency", Value: score * 0.95, Threshold: float(0.5), Passed: truth(score*0.95 >= 0.5)}, {Name: "coverage", Value: min(1, score+0.08)}}
		if score < 0.6 {
			c.Status, c.Message = result.Fail, "score "+fmt.Sprint(score)+" is below 0.6"
			c.Assertions = []result.Assertion{passed("result.isError", "exact"), {Target: "text", Matcher: "similar", Score: float(score), Weight: float(1), Message: "text: 12 of 22 words are as expected", Line: c.Line + 5, Column: 9, Source: "        - {target: text, matcher: {similar: {to: summary.txt, min: 0.6}}}"}}
		}
	}
	if server == "node" && i < 3 {
		c.Upstream = []result.UpstreamRequest{{Upstream: "db", Method: "GET", URL: "/orders?q=a|`b`", Status: 200, StartMS: c.StartMS + 1}}
		for range 11 * (i % 2) {
			c.Upstream = append(c.Upstream, result.UpstreamRequest{Upstream: "db", Method: "POST", URL: "/orders", Unmatched: true, StartMS: c.StartMS + 2})
		}
	}
	switch {
	case i == 2 && server == "rust":
		c.Status, c.Message = result.Fail, `error.code: want -32602, got -32603`
		c.Assertions = []result.Assertion{{Target: "error.code", Matcher: "exact", Message: c.Message, Expected: "-32602", Actual: "-32603", Line: c.Line + 4, Column: 9, Source: "        - {target: error.code, matcher: {exact: -32602}}"}}
	case i == 5 && server == "python":
		c.Status, c.Message, c.Stderr = result.Error, "timed out after 250ms (limit: timeout 250ms)", "INFO exporting 2026-02\nWARNING 31 of 500 orders\n"
		c.DurationMS = 250
		c.Assertions = nil
		c.Exchanges[0].Response, c.Exchanges[0].Error = "", "no response to request 7"
	case i == 3 && server == "node":
		c.Flaky = true
		c.Attempts = []result.Attempt{{Status: result.Fail, DurationMS: 20, Message: `text: does not contain "cancelled"`, Exchanges: call("order", `{"id":4003}`, `{"content":[],"isError":false}`)}, {Status: result.Pass, DurationMS: 22}}
	case i == 4 && server == "rust":
		c.Status, c.Message, c.DurationMS, c.Exchanges, c.Assertions = result.Skip, "not offered by this server", 0, nil, nil
	}
}
