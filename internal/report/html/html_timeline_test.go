package html

import (
	"bytes"
	"fmt"
	"strings"
	"testing"

	"mcptest/internal/report/render"
	"mcptest/internal/result"
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
	r := &result.Run{Cases: result.Slice{c}, Summary: result.Summary{Total: 1, Failed: 1}}
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
	var got []string
	for _, s := range (testView{Case: c}).Stages() {
		for _, m := range s.Moments {
			got = append(got, s.Tab+" "+m.At+" "+m.Arrow+" "+m.Label)
		}
	}
	want := []string{
		"before +1.0 ms · beforeEach a 0.0 ms",
		"call 1 +10 ms → tools/call · 30 B",
		"call 1 +12 ms ↗ GET /x → 200 (api)",
		"call 1 +15 ms ← notifications/progress (notification) · 35 B",
		"call 1 +20 ms ← error -32602: no · 47 B",
		"call 1 +25 ms ← notifications/message (notification) · 34 B",
		"after +30 ms · afterEach b 0.0 ms",
	}
	if strings.Join(got, "\n") != strings.Join(want, "\n") {
		t.Errorf("got:\n%s\nexpected:\n%s", strings.Join(got, "\n"), strings.Join(want, "\n"))
	}
}
