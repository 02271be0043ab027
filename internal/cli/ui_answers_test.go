package cli_test

import (
	"fmt"
	"strings"
	"testing"

	"mcptest/internal/base/jsonv"
	"mcptest/internal/base/testkit"
)

// askingManifest has a tool that asks for input three times, one after the other, and one that asks for a
// model.
const askingManifest = `mock_server:
  name: asking
  tools:
    - name: three
      annotations: {readOnlyHint: true}
      response:
        steps:
          - ask: {as: a, elicitation: {message: "Name?", requestedSchema: {type: object, properties: {name: {type: string}}, required: [name]}}}
          - ask: {as: b, sampling: "A greeting, please"}
          - ask: {as: c, elicitation: {message: "Color?", requestedSchema: {type: object, properties: {color: {type: string}}, required: [color]}}}
        text: "${ask.b.content.text} ${ask.a.content.name}, who likes ${ask.c.content.color}"
    - name: model
      annotations: {readOnlyHint: true}
      response:
        steps: [ask: {as: b, sampling: "Where to?"}]
        text: "${ask.b.content.text}"
`

// Questions of a call that a person answers, three rounds of them and a model's, are in the kept test
// as they were answered, which passes without a person: in a session, and with input requests.
func TestUIKeepsAnswers(t *testing.T) {
	t.Parallel()
	for _, version := range []string{"2025-11-25", "2026-07-28"} {
		t.Run(version, func(t *testing.T) {
			t.Parallel()
			e := exploreFiles(t, map[string]string{
				"asking.yaml":  askingManifest,
				"mcptest.yaml": "servers: {m: {command: [mcptest, mock, --tools-from, asking.yaml], protocol: " + version + "}}\ntools: []\n",
			})
			e.post("connect", `{"server":0,"protocol":""}`)
			e.await("the lists", func(state jsonv.Value) bool {
				e.offer = state.Lookup("servers").At(0).Lookup("offers").String()
				return state.Lookup("servers").At(0).Lookup("listed").Bool()
			})
			const greets = `{"role":"assistant","model":"a person","content":{"type":"text","text":"Hello"}}`
			e.keepAnswered(0, "Hello Ada, who likes green",
				[2]string{"Name?", `{"name":"Ada"}`}, [2]string{"A greeting, please", greets}, [2]string{"Color?", `{"color":"green"}`})
			e.keepAnswered(1, "Hello", [2]string{"Where to?", greets})
			if suite := e.read("mcptest.yaml"); !strings.Contains(suite, "color: green") || !strings.Contains(suite, "sampling:") {
				t.Errorf("the answers are not in the suite:\n%s", suite)
			}
		})
	}
}

// keepAnswered calls a tool, answers its questions, each of which contains a text, and keeps the call: its
// test passes.
func (e *explored) keepAnswered(tool int, want string, answers ...[2]string) {
	e.t.Helper()
	id := e.post("call", fmt.Sprintf(`{"server":0,"version":%s,"list":"tool","item":%d,"arguments":{}}`, e.offer, tool)).Lookup("call").String()
	for _, a := range answers {
		ask := jsonv.Value{}
		e.await("the question "+a[0], func(state jsonv.Value) bool {
			ask = state.Lookup("asks").At(0)
			return strings.Contains(ask.String(), a[0])
		})
		testkit.Equal(e.t, "the call that asks", ask.Lookup("call").String(), id)
		e.post("answer", `{"ask":`+ask.Lookup("id").String()+`,"action":"accept","value":`+a[1]+`}`)
	}
	e.ended(id)
	if got := e.post("result", `{"call":`+id+`}`).Lookup("blocks").At(0).Lookup("text").Text(); got != want {
		e.t.Errorf("got %q, want %q", got, want)
	}
	choice := `"call":` + id + `,"file":0,"name":"","leave":[]`
	shown := e.post("draft", "{"+choice+"}").Lookup("shown").Text()
	kept := e.post("insert", "{"+choice+`,"shown":"`+shown+`"}`)
	if verdict := e.post("run", `{"insertion":`+kept.Lookup("insertion").String()+`}`); !verdict.Lookup("passed").Bool() {
		e.t.Errorf("the kept test: %s %s\n%s", kept, verdict, e.read("mcptest.yaml"))
	}
}

// A server that answers in one place otherwise: one difference; the same server in the other era: none.
func TestUIShowsOneDifference(t *testing.T) {
	t.Parallel()
	manifest := func(zone string) string {
		return "mock_server: {name: m, tools: [{name: slot, annotations: {readOnlyHint: true}, response: {text: zone " + zone + "}}]}\n"
	}
	e := exploreFiles(t, map[string]string{
		"a.yaml": manifest("UTC"), "b.yaml": manifest("CET"),
		"mcptest.yaml": "default_server: a\nservers: {a: {command: [mcptest, mock, --tools-from, a.yaml]}, b: {command: [mcptest, mock, --tools-from, b.yaml]}}\n",
	})
	for i := range 2 {
		e.post("connect", fmt.Sprintf(`{"server":%d,"protocol":""}`, i))
	}
	e.await("the lists", func(state jsonv.Value) bool {
		servers := state.Lookup("servers")
		e.offer = servers.At(0).Lookup("offers").String()
		return servers.At(0).Lookup("listed").Bool() && servers.At(1).Lookup("listed").Bool()
	})
	id := e.post("call", `{"server":0,"version":`+e.offer+`,"list":"tool","item":0,"arguments":{}}`).Lookup("call").String()
	e.ended(id)
	for _, c := range []struct{ server, protocol, want string }{
		{"1", "", "UTC CET"}, {"0", "2025-11-25", ""},
	} {
		body := `{"call":` + id + `,"server":` + c.server + `,"protocol":"` + c.protocol + `"`
		made := e.post("also-on", body+"}")
		if token := made.Lookup("confirm").Text(); token != "" {
			made = e.post("also-on", body+`,"confirm":"`+token+`"}`)
		}
		other := made.Lookup("call").String()
		e.ended(other)
		var values []string
		for _, line := range e.post("differences", `{"first":`+id+`,"other":`+other+`}`).Lookup("lines").Texts() {
			for _, zone := range []string{"UTC", "CET"} {
				if strings.Contains(line, zone) {
					values = append(values, zone)
				}
			}
		}
		testkit.Equal(t, "differences on "+c.server+" "+c.protocol, strings.Join(values, " "), c.want)
	}
}

// loginSuite is a suite for a server that wants a login, which follows the redirects itself.
func loginSuite(url string) string {
	return "servers:\n  api:\n    url: " + url + "/mcp\n    auth: {oauth: {grant: authorization_code, headless: true}}\n"
}

// The token of a login reaches neither the page, nor standard error, nor a file.
func TestUILogsIn(t *testing.T) {
	t.Parallel()
	srv := newOAuthServer().start()
	t.Cleanup(srv.Close) // after the page, whose connection it waits for
	e := exploreFiles(t, map[string]string{"mcptest.yaml": loginSuite(srv.URL)}, "--record", "rec", "mcptest.yaml")
	all := e.post("connect", `{"server":0,"protocol":""}`).String()
	e.await("the lists", func(state jsonv.Value) bool {
		all += state.String()
		e.offer = state.Lookup("servers").At(0).Lookup("offers").String()
		return state.Lookup("servers").At(0).Lookup("listed").Bool()
	})
	offer := e.post("offer", `{"server":0}`)
	item := -1
	for i, tool := range offer.Lookup("tool").Elems() {
		if tool.Lookup("name").Text() == "echo" {
			item = i
		}
	}
	body := fmt.Sprintf(`{"server":0,"version":%s,"list":"tool","item":%d,"arguments":{"text":"it is canary-access-1"}`, e.offer, item)
	made := e.post("call", body+"}")
	if token := made.Lookup("confirm").Text(); token != "" {
		made = e.post("call", body+`,"confirm":"`+token+`"}`)
	}
	id := made.Lookup("call").String()
	e.ended(id)
	result := e.post("result", `{"call":`+id+`}`)
	if !strings.Contains(result.String(), "it is [redacted]") {
		t.Errorf("a token in a result is not masked: %s", result)
	}
	all += offer.String() + result.String() + e.rows().String()
	for seq := 1; ; seq++ {
		status, text := e.send("/api/frame", fmt.Sprintf(`{"seq":%d,"from":0}`, seq), nil)
		if status != 200 {
			break
		}
		all += text
	}
	saved := e.post("save", `{"server":0}`).Lookup("file").Text()
	all += e.read(saved) + e.read("stderr") + e.read("mcptest.yaml")
	if strings.Contains(all, "canary-") || !strings.Contains(e.read(saved), "tools/call") {
		i := strings.Index(all, "canary-")
		t.Errorf("a token is there: %s", all[max(0, i-200):min(len(all), i+100)])
	}
}
