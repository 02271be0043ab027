package html

import (
	"bytes"
	"fmt"
	"strings"
	"testing"

	"mcptest/internal/report/render"
	"mcptest/internal/report/result"
)

// TestManyFramesFitInAPage: a test of 500 calls has 1,000 frames, and the page
// has at most 2 MB.
func TestManyFramesFitInAPage(t *testing.T) {
	c := &result.Case{Name: "long flow", Status: result.Fail, DurationMS: 500, StartMS: 10, File: "s.yaml", Line: 3, Message: "no", Assertions: []result.Assertion{}}
	for i := range 500 {
		c.Exchanges = append(c.Exchanges, result.Exchange{
			Step: fmt.Sprintf("step %d", i), Method: "tools/call", StartMS: 10 + float64(i), DurationMS: 0.5,
			Request:  fmt.Sprintf(`{"jsonrpc":"2.0","id":%d,"method":"tools/call","params":{"name":"search","arguments":{"query":%q,"limit":10}}}`, i, strings.Repeat("word ", 20)),
			Response: fmt.Sprintf(`{"jsonrpc":"2.0","id":%d,"result":{"content":[{"type":"text","text":%q}],"isError":false}}`, i, strings.Repeat("found ", 60)),
		})
	}
	var page bytes.Buffer
	r := &result.Run{Cases: result.NewStored(c), Summary: result.Summary{Total: 1, Failed: 1}}
	if err := Write(&page, r, render.Options{}); err != nil {
		t.Fatal(err)
	}
	if frames := strings.Count(page.String(), `<span class="dir">`); frames != 1000 {
		t.Errorf("the timeline has %d frames, expected 1000", frames)
	}
	if page.Len() > 2<<20 {
		t.Errorf("the page has %d bytes, at most %d are allowed", page.Len(), 2<<20)
	}
	t.Logf("%d bytes", page.Len())
}

// TestTimelineOrder: what the server sent during a call is between request and
// response, what it sent after the response is after it, and hooks are around it.
func TestTimelineOrder(t *testing.T) {
	c := &result.Case{
		StartMS: 100, Phases: []result.Phase{{Phase: "beforeEach", Name: "a", StartMS: 101}, {Phase: "afterEach", Name: "b", StartMS: 130}},
		Exchanges: []result.Exchange{{
			Method: "tools/call", StartMS: 110, DurationMS: 10, Request: `{"id":1,"method":"tools/call"}`, Response: `{"id":1,"error":{"code":-32602,"message":"no"}}`,
			During: []result.Message{{Dir: "from-server", MS: 5, Raw: `{"method":"notifications/progress"}`}, {Dir: "from-server", MS: 15, Raw: `{"method":"notifications/message"}`}},
		}},
	}
	c.Upstream = []result.UpstreamRequest{{Upstream: "api", StartMS: 112, Method: "GET", URL: "/x", Status: 200}}
	c.Stderr, c.StderrMS = "asked\n  twice\nlate", []float64{113, 113, 125}
	var got []string
	for _, s := range (testView{Case: c, page: &htmlPage{Run: &result.Run{}}}).Stages() {
		for _, m := range s.Moments {
			got = append(got, s.Tab+" "+m.At+" "+m.Arrow+" "+m.Label)
		}
	}
	want := []string{
		"before +1.0 ms · beforeEach a 0.0 ms",
		"call 1 +10 ms → tools/call · 30 B",
		"call 1 +12 ms ↗ GET /x → 200 (api)",
		"call 1 +13 ms ! stderr: asked",
		"call 1 +15 ms ← notifications/progress (notification) · 35 B",
		"call 1 +20 ms ← error -32602: no · 47 B",
		"call 1 +25 ms ← notifications/message (notification) · 34 B",
		"call 1 +25 ms ! stderr: late",
		"after +30 ms · afterEach b 0.0 ms",
	}
	if strings.Join(got, "\n") != strings.Join(want, "\n") {
		t.Errorf("got:\n%s\nexpected:\n%s", strings.Join(got, "\n"), strings.Join(want, "\n"))
	}
}

// TestStepMarks: the tab of each step of a flow says whether it passed; many steps
// are no tabs. Nothing is marked if the record does not say which step failed.
func TestStepMarks(t *testing.T) {
	flow := func(steps int, status result.Status, message string) string {
		c := &result.Case{Name: "flow", Status: status, DurationMS: 1, File: "s.yaml", Message: message}
		for i := range steps {
			c.Exchanges = append(c.Exchanges, result.Exchange{Step: fmt.Sprintf("step %d", i+1), Method: "tools/call", Request: "{}"})
		}
		return page(t, c)
	}
	failed := flow(2, result.Fail, "step 2: text: other")
	passed := flow(2, result.Pass, "")
	unknown := flow(2, result.Fail, "text: other")
	many := flow(13, result.Fail, "step 13: text: other")
	for _, c := range []struct{ name, page, text string }{
		{"failed", failed, `data-tab="✓ step 1"`},
		{"failed", failed, `data-tab="✗ step 2"`},
		{"passed", passed, `data-tab="✓ step 2"`},
		{"unknown", unknown, `data-tab="step 2"`},
		{"many", many, `<details class="x"><summary>✓ step 12 · tools/call`},
		{"many", many, `<details class="x" open><summary>✗ step 13 · tools/call`},
	} {
		if !strings.Contains(c.page, c.text) {
			t.Errorf("%s: the page lacks %s", c.name, c.text)
		}
	}
	if strings.Contains(many, "data-tab=") {
		t.Error("13 steps became tabs")
	}
}

// TestOtherTries: a try that is not the shown one has its own timeline; if the
// record lacks its frames, the page says so.
func TestOtherTries(t *testing.T) {
	first := result.Attempt{Status: result.Fail, DurationMS: 2}
	flaky := func() string {
		return page(t, &result.Case{Name: "flaky", Status: result.Pass, DurationMS: 3, Attempts: []result.Attempt{first, {Status: result.Pass, DurationMS: 3}}})
	}
	if n := strings.Count(flaky(), "The record has no frames of this try."); n != 1 {
		t.Errorf("said of %d tries, expected 1", n)
	}
	first.Phases = []result.Phase{{Phase: "beforeEach", Name: "reset", Status: result.Pass, StartMS: 8}}
	first.Exchanges = []result.Exchange{{Method: "tools/call", Request: `{"method":"tools/call","id":7}`, Response: `{"id":7,"result":{}}`, StartMS: 10, DurationMS: 2}}
	text := flaky()
	for _, want := range []string{"beforeEach reset", ">&#43;2.0 ms<", "tools/call · 30 B", ">&#43;4.0 ms<", "result · 20 B"} {
		if !strings.Contains(text, want) {
			t.Errorf("the page lacks %q", want)
		}
	}
	if strings.Contains(text, "The record has no frames") {
		t.Error("the page says that frames are missing")
	}
}

// TestVariants: the page has the totals of each variant of a server.
func TestVariants(t *testing.T) {
	r := &result.Run{
		Servers: []result.Server{{Name: "api@old"}, {Name: "api@new"}},
		Cases: result.NewStored(
			&result.Case{Name: "a", Server: "api@old", Status: result.Pass, DurationMS: 2},
			&result.Case{Name: "a", Server: "api@new", Status: result.Fail},
			&result.Case{Name: "b", Server: "api@new", Status: result.Pass, DurationMS: 1},
		),
	}
	var b bytes.Buffer
	if err := Write(&b, r, render.Options{}); err != nil {
		t.Fatal(err)
	}
	for _, want := range []string{`<a href="#variants">`, `old</th><td class="num">1</td><td class="num">1</td><td class="num">0</td>`, `new</th><td class="num">2</td><td class="num">1</td><td class="num n-fail">1</td>`} {
		if !strings.Contains(b.String(), want) {
			t.Errorf("the page lacks %s", want)
		}
	}
	if strings.Contains(page(t, &result.Case{Name: "a", Status: result.Pass}), "Variants") {
		t.Error("a run without variants has a table of them")
	}
}

// TestOtherServers: the same failure on another server is no other row.
func TestOtherServers(t *testing.T) {
	fails := func(server string) *result.Case {
		return &result.Case{Name: "a @" + server, Status: result.Fail, File: "s.yaml", Line: 3, Server: server, Message: "no", Assertions: []result.Assertion{{Target: "text", Line: 4}}}
	}
	var same []result.Case
	for range 4 {
		same = append(same, *fails("x"))
	}
	if text := page(t, &same[0], &same[1], &same[2], fails("y")); strings.Contains(text, "other server") || !strings.Contains(text, "other row") {
		t.Error("rows are called servers")
	}
	if text := page(t, fails("x"), fails("y")); !strings.Contains(text, "and on 1 other server<") {
		t.Error("the page lacks the other server")
	}
}

// page is the page of a run of some tests.
func page(t *testing.T, cases ...*result.Case) string {
	t.Helper()
	r := &result.Run{Cases: result.NewStored(cases...), Summary: result.Summary{Total: len(cases), Failed: 1}}
	var b bytes.Buffer
	if err := Write(&b, r, render.Options{}); err != nil {
		t.Fatal(err)
	}
	return b.String()
}
