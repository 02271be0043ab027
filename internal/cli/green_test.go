package cli_test

import (
	"bufio"
	"encoding/json"
	"fmt"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"mcptest/internal/base/testkit"
)

// greenMain is a server that makes a session and then answers as its argument says: silent,
// refused, crashed, cut or empty.
func greenMain() {
	in := bufio.NewScanner(os.Stdin)
	for in.Scan() {
		var m struct {
			ID     json.RawMessage
			Method string
		}
		if json.Unmarshal(in.Bytes(), &m) != nil || m.ID == nil {
			continue
		}
		result := map[string]string{
			"initialize": `{"protocolVersion":"2025-11-25","capabilities":{"tools":{},"resources":{},"prompts":{}},"serverInfo":{"name":"g","version":"1"}}`,
			"tools/list": `{"tools":[{"name":"t","inputSchema":{"type":"object"},"annotations":{"readOnlyHint":true}}]}`,
		}[m.Method]
		if result == "" {
			greenAnswer(os.Args[1], m.Method, m.ID)
			continue
		}
		fmt.Printf(`{"jsonrpc":"2.0","id":%s,"result":%s}`+"\n", m.ID, result)
	}
}

func greenAnswer(mode, method string, id json.RawMessage) {
	switch {
	case method == "server/discover":
		fmt.Printf(`{"jsonrpc":"2.0","id":%s,"error":{"code":-32601,"message":"no"}}`+"\n", id)
	case mode == "refused":
		fmt.Printf(`{"jsonrpc":"2.0","id":%s,"error":{"code":-32603,"message":"no"}}`+"\n", id)
	case mode == "crashed":
		os.Exit(3)
	case mode == "cut":
		fmt.Printf(`{"jsonrpc":"2.0","id":%s,"resu`, id)
		os.Exit(0)
	case mode == "empty":
		fmt.Printf(`{"jsonrpc":"2.0","id":%s,"result":{}}`+"\n", id)
	}
}

// weak are assertions that a value which is not there could pass.
var weak = []string{
	`{target: error, matcher: {exact: null}}`,
	`{target: result, matcher: {absent: true}}`,
	`{target: error, matcher: {exists: false}}`,
	`{target: text, matcher: {not: {contains: x}}}`,
	`{target: result.content, matcher: {not: {contains: x}}}`,
	`{target: refusal.code, matcher: {none-of: [{exact: 1}]}}`,
}

// greenTests returns the tests of one kind that examine nothing real, on a server in one
// condition. A condition that a kind does not have returns none.
func greenTests(kind, condition string) (tests []string) {
	add := func(form string, list ...string) {
		for _, item := range list {
			tests = append(tests, strings.ReplaceAll(form, "EXPECT", "["+item+"]"))
		}
	}
	missing := `{target: result, matcher: {exec: [no-such-program]}}`
	calls := map[string]string{
		"tools": "tool: t", "resources": `uri: "x://y"`, "prompts": "prompt: p", "protocol": "method: x/y",
		"flow": "steps: [{tool: t, expect: EXPECT}]", "until": "tool: t, until: {interval: 1ms, timeout: 5ms}",
		"repeat": "tool: t, repeat: {times: 3}", "retries": "tool: t, retries: 1", "raw": `raw: '{"jsonrpc":"2.0","id":7,"method":"x/y"}'`,
		"trials": "tool: t, trials: {want: 0.9, floor: 0.3}", "fails": "tool: t, expect_failure: known",
	}
	program := condition == "missing program"
	switch {
	case kind == "http" && !program:
		add(`request: {path: "/`+condition+`", body: {jsonrpc: "2.0", id: 1, method: ping}}, expect: EXPECT`, weak...)
	case kind == "start":
		started := []string{
			`{target: exit.code, matcher: {absent: true}}`, `{target: leftover, matcher: {length: 0}}`, `{target: stdout, matcher: {not: {contains: x}}}`,
			`{target: stderr, matcher: {exact: ""}}`, `{target: duration_ms, matcher: {lt: 60000}}`,
		}
		form := "after: ready, stdin: close, "
		if condition == "silent" || program {
			form = ""
		}
		if condition != "empty" {
			add(form+"timeout: 60ms, expect: EXPECT", started...)
		}
	case kind == "agents" && program:
		add(`prompt: x, script: [{say: x}], expect: EXPECT`, `{target: final, matcher: {exec: [no-such-program]}}`)
	case kind == "agents":
		add(`prompt: x, timeout: 60ms, script: [{call: {t: {}}}, {say: x}], expect: EXPECT`, `{target: 'calls["t"].refused', matcher: {exact: false}}`, `{target: 'calls["t"].text', matcher: {not: {contains: x}}}`)
	case kind == "surface":
		if !program {
			add("timeout: 60ms, expect: EXPECT", `{target: 'surface.resources', matcher: {not: {contains: x}}}`, `{target: 'surface.prompts', matcher: {length: 0}}`)
		}
	case kind == "http":
		add(`request: {path: /html, body: {jsonrpc: "2.0", id: 1, method: ping}}, expect: EXPECT`, `{target: http.body, matcher: {exec: [no-such-program]}}`)
	case program && kind == "flow":
		add("steps: [{tool: t, expect: EXPECT}]", missing)
	case program:
		add(calls[kind]+", expect: EXPECT", missing, `{target: result, matcher: {not: {exec: [no-such-program]}}}`)
	case kind == "flow":
		add(calls[kind], weak...)
	default:
		add(calls[kind]+", timeout: 60ms, expect: EXPECT", weak...)
	}
	return tests
}

// examinesFacts are tests of a kind and condition that examine something after all: an error
// response has no result, and an empty result is no error.
func examinesFacts(kind, condition, test string) bool {
	switch condition {
	case "refused":
		return kind == "fails" || kind == "agents" || strings.Contains(test, "target: refusal")
	case "empty":
		return strings.Contains(test, "target: error,") || kind == "surface" || kind == "fails"
	}
	return false
}

// No kind of test passes, or is skipped as an expected failure, if what it examines is not
// there: no response, a refusal, a crash, a message that is cut, an empty one, a missing
// program.
func TestNoGreenOverNothing(t *testing.T) {
	t.Parallel()
	web := httptest.NewServer(http.HandlerFunc(greenWeb))
	defer web.Close()
	blocks := map[string]string{"flow": "tools", "until": "tools", "repeat": "tools", "retries": "tools", "raw": "protocol", "trials": "tools", "fails": "tools", "surface": "tools"}
	kinds := []string{"tools", "resources", "prompts", "protocol", "raw", "flow", "until", "repeat", "retries", "trials", "fails", "http", "start", "agents", "surface"}
	conditions := []string{"silent", "refused", "crashed", "cut", "empty", "missing program"}
	lists := map[string][]string{}
	facts := map[string]bool{}
	for _, kind := range kinds {
		block := blocks[kind]
		if block == "" {
			block = kind
		}
		for _, condition := range conditions {
			for i, test := range greenTests(kind, condition) {
				if i%3 != 0 && !testkit.Deep() {
					continue // one in three shows that the kind and the condition meet
				}
				name := fmt.Sprintf("%s %s %d", kind, condition, i)
				facts[name] = examinesFacts(kind, condition, test)
				lists[block] = append(lists[block], fmt.Sprintf("  - {name: %q, server: %s, %s}", name, greenServer(kind, condition), test))
			}
		}
	}
	suite := strings.Builder{}
	suite.WriteString("run_options: {parallel: 4, restart_policy: per_test, timeout: 60ms, inconclusive: fail}\nservers:\n")
	for _, condition := range conditions[:5] {
		fmt.Fprintf(&suite, "  %s: {command: [greenserver, %s], protocol: \"2025-11-25\"}\n", condition, condition)
	}
	suite.WriteString("  web: {url: " + web.URL + "/mcp}\n")
	suite.WriteString("  mute: {command: [sh, -c, 'exec sleep 60']}\n")
	suite.WriteString(`  refuses: {command: [sh, -c, 'read l; echo "{\"jsonrpc\":\"2.0\",\"id\":1,\"error\":{\"code\":-1}}"; read l']}` + "\n")
	suite.WriteString("  exits: {command: [sh, -c, 'exit 0']}\n  halves: {command: [sh, -c, 'printf \"{\"; exit 0']}\n  absent: {command: [no-such-program]}\n")
	for block, list := range lists {
		suite.WriteString(block + ":\n" + strings.Join(list, "\n") + "\n")
	}
	dir := t.TempDir()
	file := filepath.Join(dir, "mcptest.yaml")
	if err := os.WriteFile(file, []byte(suite.String()), 0o600); err != nil {
		t.Fatal(err)
	}
	record, _, out := runExample(t, dir, file)
	if len(record.Tests) != len(facts) {
		t.Fatalf("%d tests, want %d:\n%s", len(record.Tests), len(facts), out)
	}
	for _, test := range record.Tests {
		if green := test.Status == "pass" || test.Status == "skip"; green && !facts[test.Name] {
			t.Errorf("%s: %s, and it examined nothing: %s", test.Name, test.Status, test.Message)
		}
	}
}

// greenServer is the server of a kind of test in a condition.
func greenServer(kind, condition string) string {
	switch {
	case kind == "http":
		return "web"
	case kind == "start":
		return map[string]string{"silent": "mute", "refused": "refuses", "crashed": "exits", "cut": "halves", "missing program": "absent"}[condition]
	case condition == "missing program":
		return "empty"
	}
	return condition
}

// greenWeb answers as its path says.
func greenWeb(w http.ResponseWriter, r *http.Request) {
	switch r.URL.Path {
	case "/silent":
		w.WriteHeader(http.StatusAccepted)
	case "/refused":
		http.Error(w, "no", http.StatusInternalServerError)
	case "/crashed":
		if c, _, err := w.(http.Hijacker).Hijack(); err == nil {
			c.Close()
		}
	case "/cut":
		w.Header().Set("Content-Type", "text/event-stream")
		fmt.Fprint(w, `data: {"jsonrpc":"2.0","id":1,"resu`)
	case "/empty":
		w.Header().Set("Content-Type", "application/json")
		fmt.Fprint(w, `{"jsonrpc":"2.0","id":1}`)
	default:
		w.Header().Set("Content-Type", "text/html")
		fmt.Fprint(w, "<html>")
	}
}
