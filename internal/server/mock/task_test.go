package mock_test

import (
	"fmt"
	"strings"
	"testing"

	"mcptest/internal/base/jsonv"
	"mcptest/internal/base/testkit"
	"mcptest/internal/server/mock"
)

const jobs = `
mock_server:
  name: jobs
  tools:
    - name: quick
      response: done
    - name: job
      task: {support: optional, ttl: 1m, poll: 20ms}
      response: {steps: [{log: working}, {delay: 30ms}], text: "job ${args.n:-0}"}
    - name: fails
      task: required
      response: {is_error: true, text: it failed}
    - name: breaks
      task: required
      response: {error: {code: -32050, message: it broke}}
    - name: asks
      task: required
      response:
        steps:
          - ask: [{as: who, elicitation: Who?}, {as: where, roots: {}}]
        text: "${ask.who.content.name} ${ask.where.roots}"
    - name: endless
      task: required
      response: {steps: [{hang: true}]}
`

// cut is a part of a response, as JSON.
func cut(answer string, keys ...string) string {
	v, err := jsonv.Parse([]byte("{" + answer))
	if err != nil {
		return err.Error()
	}
	return v.Lookup(keys...).String()
}

// text returns the text of a member without quotes.
func plain(answer string, keys ...string) string { return strings.Trim(cut(answer, keys...), `"`) }

// until requests a task until it has the status.
func (w *lineClient) until(status, params string, keys ...string) (got string) {
	w.t.Helper()
	testkit.Wait(w.t, "the task to be "+status, func() bool {
		got, _ = w.call("tasks/get", params)
		return plain(got, append(keys, "status")...) == status
	})
	return got
}

// after reads the next line that is not such a notification.
func (w *lineClient) after(method string) string {
	w.t.Helper()
	for {
		l, ok := w.read()
		if !ok || !strings.Contains(l, `"method":"`+method+`"`) {
			return l
		}
	}
}

// hello begins a session of the newest revision that has them.
func (w *lineClient) hello(capabilities string) string {
	w.t.Helper()
	got, _ := w.call("initialize", `{"protocolVersion":"2025-11-25","capabilities":`+capabilities+`,"clientInfo":{"name":"w","version":"1"}}`)
	return got
}

func TestTaskInSession(t *testing.T) {
	t.Parallel()
	w := connect(t, load(t, jobs), mock.Options{}, "{}")
	same(t, "capabilities", cut(w.hello("{}"), "result", "capabilities", "tasks"), `{"list":{},"cancel":{},"requests":{"tools":{"call":{}}}}`)
	listed, _ := w.call("tools/list", "")
	if !strings.Contains(listed, `"name":"job","inputSchema":{"type":"object"},"execution":{"taskSupport":"optional"}`) || strings.Count(listed, "execution") != 5 {
		t.Errorf("the list: %s", listed)
	}

	created, _ := w.call("tools/call", `{"name":"job","arguments":{"n":7},"task":{"ttl":30000}}`)
	id := plain(created, "result", "task", "taskId")
	if got := plain(created, "result", "task", "status"); got != "working" || cut(created, "result", "task", "ttl") != "30000" || cut(created, "result", "task", "pollInterval") != "20" {
		t.Errorf("created: %s", created)
	}
	params := fmt.Sprintf(`{"taskId":%q}`, id)
	result, _ := w.call("tasks/result", params)
	same(t, "result", result, `"result":{"content":[{"type":"text","text":"job 7"}],"_meta":{"io.modelcontextprotocol/related-task":{"taskId":"`+id+`"}}}}`)
	w.until("completed", params, "result")
	again, _ := w.call("tasks/cancel", params)
	same(t, "cancel after the end", cut(again, "error", "code"), "-32602")

	for _, c := range [][2]string{
		{`{"name":"job"}`, text("job 0")},
		{`{"name":"quick","task":{}}`, `"error":{"code":-32601,"message":"Tool quick does not support tasks"}}`},
		{`{"name":"fails"}`, `"error":{"code":-32601,"message":"Tool fails must be called as a task"}}`},
	} {
		got, _ := w.call("tools/call", c[0])
		same(t, c[0], got, c[1])
	}
	all, _ := w.call("tasks/list", "")
	if strings.Count(all, `"taskId":`) != 1 || !strings.Contains(all, `"taskId":"`+id+`","status":"completed"`) {
		t.Errorf("the list of tasks: %s", all)
	}
	for _, method := range []string{"tasks/get", "tasks/result", "tasks/cancel"} {
		got, _ := w.call(method, `{"taskId":"none"}`)
		same(t, method, got, `"error":{"code":-32602,"message":"Unknown task: none"}}`)
	}
	got, _ := w.call("tasks/update", params)
	same(t, "update", cut(got, "error", "code"), "-32601")
}

func TestTaskEndsInSession(t *testing.T) {
	t.Parallel()
	w := connect(t, load(t, jobs), mock.Options{}, "{}")
	w.hello(`{"elicitation":{},"roots":{}}`)
	begin := func(tool string) string {
		got, _ := w.call("tools/call", `{"name":"`+tool+`","task":{}}`)
		return fmt.Sprintf(`{"taskId":%s}`, cut(got, "result", "task", "taskId"))
	}
	failing, breaking, endless := begin("fails"), begin("breaks"), begin("endless")
	w.until("failed", failing, "result")
	got, _ := w.call("tasks/result", failing)
	same(t, "a tool's failure", cut(got, "result", "isError"), "true")
	w.until("failed", breaking, "result")
	got, _ = w.call("tasks/result", breaking)
	same(t, "an error", got, `"error":{"code":-32050,"message":"it broke"}}`)
	got, _ = w.call("tasks/cancel", endless)
	same(t, "cancelled", plain(got, "result", "status"), "cancelled")
	got, _ = w.call("tasks/result", endless)
	same(t, "result of a cancelled task", cut(got, "error", "code"), "-32602")

	// The requests of a task are sent while the client waits for its result.
	asking := begin("asks")
	w.until("input_required", asking, "result")
	w.send(`{"jsonrpc":"2.0","id":"r","method":"tasks/result","params":` + asking + `}`)
	for range 2 {
		l := w.after("notifications/tasks/status")
		q, _ := jsonv.Parse([]byte(l))
		if !strings.Contains(l, `"io.modelcontextprotocol/related-task":`+asking) {
			t.Errorf("asked %s", l)
		}
		answer := `{"roots":[]}`
		if q.Lookup("method").Text() == "elicitation/create" {
			answer = `{"action":"accept","content":{"name":"ada"}}`
		}
		w.send(`{"jsonrpc":"2.0","id":` + q.Lookup("id").String() + `,"result":` + answer + `}`)
	}
	l := w.after("notifications/tasks/status")
	if !strings.Contains(l, `"id":"r"`) || !strings.Contains(l, `ada []`) {
		t.Errorf("result %s", l)
	}
}

// Older protocol versions do not support tasks.
func TestNoTasksBefore(t *testing.T) {
	t.Parallel()
	w := connect(t, load(t, jobs), mock.Options{}, "{}") // 2025-06-18
	listed, _ := w.call("tools/list", "")
	if strings.Contains(listed, "execution") {
		t.Errorf("the list: %s", listed)
	}
	got, _ := w.call("tools/call", `{"name":"fails","task":{}}`)
	same(t, "call", got, failed("it failed"))
	got, _ = w.call("tasks/list", "")
	same(t, "list", cut(got, "error", "code"), "-32601")
}

// meta returns the _meta of a stateless request.
func meta(capabilities string) string {
	return `"_meta":{"io.modelcontextprotocol/protocolVersion":"2026-07-28","io.modelcontextprotocol/clientCapabilities":` + capabilities + `}`
}

func TestTaskWithoutSession(t *testing.T) {
	t.Parallel()
	w := connect(t, load(t, jobs), mock.Options{}, "{}")
	know := meta(`{"elicitation":{},"roots":{},"extensions":{"io.modelcontextprotocol/tasks":{}}}`)
	got, _ := w.call("server/discover", "{"+know+"}")
	same(t, "capabilities", cut(got, "result", "capabilities", "extensions"), `{"io.modelcontextprotocol/tasks":{}}`)

	created, _ := w.call("tools/call", `{"name":"asks",`+know+`}`)
	id := cut(created, "result", "taskId")
	same(t, "created", plain(created, "result", "resultType")+" "+plain(created, "result", "status"), "task working")
	params := `{"taskId":` + id + `,` + know + `}`
	got = w.until("input_required", params, "result")
	same(t, "asked", cut(got, "result", "inputRequests", "where"), `{"method":"roots/list","params":{}}`)
	update := func(responses string) {
		got, _ := w.call("tasks/update", `{"taskId":`+id+`,"inputResponses":`+responses+`,`+know+`}`)
		same(t, "update", got, `"result":{"resultType":"complete"}}`)
	}
	update(`{"where":{"roots":[]},"else":{}}`)
	got, _ = w.call("tasks/get", params)
	same(t, "half", plain(got, "result", "status")+cut(got, "result", "inputRequests", "where"), "input_requirednull")
	update(`{"who":{"action":"accept","content":{"name":"ada"}}}`)
	got = w.until("completed", params, "result")
	same(t, "result", cut(got, "result", "result", "content"), `[{"type":"text","text":"ada []"}]`)
	got, _ = w.call("tasks/cancel", params)
	same(t, "cancel", got, `"result":{"resultType":"complete"}}`)

	for _, c := range [][3]string{
		{"tools/call", `{"name":"fails",` + meta("{}") + `}`, "-32021"},
		{"tasks/get", `{"taskId":` + id + `,` + meta("{}") + `}`, "-32021"},
		{"tasks/get", `{"taskId":"none",` + know + `}`, "-32602"},
		{"tasks/update", `{"taskId":` + id + `,` + know + `}`, "-32602"},
		{"tasks/result", params, "-32601"},
		{"tasks/list", "{" + know + "}", "-32601"},
	} {
		got, _ := w.call(c[0], c[1])
		same(t, c[0]+c[1], cut(got, "error", "code"), c[2])
	}
	got, _ = w.call("tools/call", `{"name":"job",`+meta("{}")+`}`)
	same(t, "a client that knows no tasks", cut(got, "result", "content"), `[{"type":"text","text":"job 0"}]`)
}
