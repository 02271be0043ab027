package cli_test

import (
	"bufio"
	"encoding/json"
	"fmt"
	"os"
	"os/signal"
	"strings"
	"syscall"
	"time"
)

// countingMain is a server that writes to the file in its first argument that it was started
// and which of its tools were called. It is for tests of `mcptest ui`, which count there what
// a page did.
func countingMain() {
	s := &countingServer{log: os.Args[1], out: bufio.NewWriter(os.Stdout)}
	s.note(fmt.Sprintf("start %d", os.Getpid()))
	s.hostile = len(os.Args) > 2 && os.Args[2] == "hostile"
	s.oversize = len(os.Args) > 2 && os.Args[2] == "oversize"
	if len(os.Args) > 2 && os.Args[2] == "mute" { // it never answers
		time.Sleep(time.Hour)
	}
	in := bufio.NewScanner(os.Stdin)
	in.Buffer(nil, 64<<20)
	for in.Scan() {
		var m countedMessage
		if json.Unmarshal(in.Bytes(), &m) == nil {
			s.handle(m)
		}
	}
	s.note("end")
	if len(os.Args) > 2 && !s.hostile && !s.oversize { // one that does not end by itself
		signal.Ignore(os.Interrupt, syscall.SIGTERM)
		time.Sleep(time.Hour)
	}
}

type countedMessage struct {
	ID     json.RawMessage `json:"id"`
	Method string          `json:"method"`
	Params struct {
		Name      string          `json:"name"`
		Arguments json.RawMessage `json:"arguments"`
	} `json:"params"`
	Result json.RawMessage `json:"result"`
}

type countingServer struct {
	log     string
	out     *bufio.Writer
	ask     json.RawMessage // the id of the call that waits for an answer
	hostile bool            // everything is a payload

	oversize bool // the list of tools is a message over the limit
}

// note appends a line to the log.
func (s *countingServer) note(line string) {
	f, err := os.OpenFile(s.log, os.O_APPEND|os.O_CREATE|os.O_WRONLY, 0o600)
	if err != nil {
		return
	}
	fmt.Fprintln(f, line)
	_ = f.Close()
}

func (s *countingServer) write(line string) {
	_, _ = s.out.WriteString(line + "\n")
	_ = s.out.Flush()
}

func (s *countingServer) result(id json.RawMessage, result string) {
	s.write(`{"jsonrpc":"2.0","id":` + string(id) + `,"result":` + result + `}`)
}

func (s *countingServer) text(id json.RawMessage, text string) {
	quoted, _ := json.Marshal(text)
	s.result(id, `{"content":[{"type":"text","text":`+string(quoted)+`}]}`)
}

// hostile is markup that must never become more than text.
const hostile = `<img src=x onerror="window.hacked=1"><script>window.hacked=1</script>javascript:window.hacked=1`

// countedTools are the tools of the server: their names, and whether they are read-only.
var countedTools = []struct {
	name     string
	readOnly bool
}{
	{"read", true},
	{"write", false},
	{"ask", true},
	{"bad", true},
	{"hang", true},
	{"crash", true},
	{"flood", true},
	{"big", true},
	{"hostile", true},
	{"image", true},
	{"secret", true},
	{"slow", true},
	{"faulty", true},
	{hostileName, true},
}

// faultyLines are lines with one violation each, and its kind. ID is that of the call.
var faultyLines = []struct{ kind, line string }{
	{"stray-output", "listening"},
	{"bad-json", `{"jsonrpc":"2.0","method":`},
	{"invalid-utf8", "{\"jsonrpc\":\"2.0\",\"method\":\"notifications/message\",\"params\":{\"level\":\"info\",\"data\":\"\xff\"}}"},
	{"lone-surrogate", `{"jsonrpc":"2.0","method":"notifications/message","params":{"level":"info","data":"\ud800"}}`},
	{"bom", "\ufeff" + `{"jsonrpc":"2.0","method":"notifications/message","params":{"level":"info","data":"x"}}`},
	{"nul-byte", "\x00" + `{"jsonrpc":"2.0","method":"notifications/message","params":{"level":"info","data":"x"}}`},
	{"duplicate-key", `{"jsonrpc":"2.0","method":"notifications/message","params":{"level":"info","level":"info","data":"x"}}`},
	{"batch", `[{"jsonrpc":"2.0","method":"notifications/message","params":{"level":"info","data":"x"}}]`},
	{"bad-jsonrpc", `{"method":"notifications/message","params":{"level":"info","data":"x"}}`},
	{"bad-jsonrpc", `{"jsonrpc":"1.0","method":"notifications/message","params":{"level":"info","data":"x"}}`},
	{"bad-message", `{"jsonrpc":"2.0","method":"notifications/message","params":7}`},
	{"unknown-id", `{"jsonrpc":"2.0","id":987654321,"result":{}}`},
	{"unknown-id", `{"jsonrpc":"2.0","id":"none","result":{}}`},
	{"missing-id", `{"jsonrpc":"2.0","result":{}}`},
	{"null-id", `{"jsonrpc":"2.0","id":null,"error":{"code":-32600,"message":"x"}}`},
	{"progress-token", `{"jsonrpc":"2.0","method":"notifications/progress","params":{"progressToken":"nobody","progress":1}}`},
	{"stray-output", "Traceback (most recent call last):"},
	{"bad-json", `{"jsonrpc":"2.0",}`},
	{"stray-output", "42"},
	{"unknown-id", `{"jsonrpc":"2.0","id":987654322,"error":{"code":-32603,"message":"x"}}`},
}

// hostileName is the name of a tool that refuses every call.
const hostileName = `<img src=x onerror=window.hacked=1> \u202e`

func (s *countingServer) tools() string {
	var list []string
	for _, t := range countedTools {
		title := ""
		switch t.name {
		case "hostile":
			quoted, _ := json.Marshal(hostile)
			title = `,"title":` + string(quoted) + `,"description":` + string(quoted)
		case hostileName:
			title = `,"icons":[{"src":"javascript:window.hacked=1"}],"description":"` + strings.Repeat("long ", 1<<20/5) + `"`
		}
		name, _ := json.Marshal(t.name)
		list = append(list, fmt.Sprintf(
			`{"name":%s,"annotations":{"readOnlyHint":%t},"inputSchema":{"type":"object","properties":{"text":{"type":"string"},"n":{"type":"integer"}}}%s}`,
			name, t.readOnly, title))
	}
	return `{"tools":[` + strings.Join(list, ",") + `]}`
}

func (s *countingServer) handle(m countedMessage) {
	switch {
	case m.Method == "initialize":
		s.result(m.ID, `{"protocolVersion":"2025-11-25","capabilities":{"tools":{}},"serverInfo":{"name":"counting","version":"1"}}`)
	case m.Method == "tools/list" && s.hostile:
		s.result(m.ID, hostileTools())
	case m.Method == "tools/call" && s.hostile:
		s.hostileCall(m)
	case m.Method == "tools/list" && s.oversize:
		s.write(`{"jsonrpc":"2.0","id":` + string(m.ID) + `,"result":{"tools":[],"_meta":{"x":"` + strings.Repeat("x", 17<<20) + `"}}}`)
	case m.Method == "tools/list":
		s.result(m.ID, s.tools())
	case m.Method == "tools/call":
		s.note("call " + m.Params.Name + " " + string(m.Params.Arguments))
		s.call(m)
	case m.Method == "" && s.ask != nil: // the answer to the question
		s.text(s.ask, "you said "+string(m.Result))
		s.ask = nil
	case m.Method != "" && m.ID != nil:
		s.write(`{"jsonrpc":"2.0","id":` + string(m.ID) + `,"error":{"code":-32601,"message":"Method not found"}}`)
	}
}

func (s *countingServer) call(m countedMessage) {
	switch m.Params.Name {
	case "ask":
		s.ask = m.ID
		s.write(`{"jsonrpc":"2.0","id":"q1","method":"elicitation/create","params":{"message":"Which <b>color</b>?",` +
			`"requestedSchema":{"type":"object","properties":{"color":{"type":"string","title":"Color"}},"required":["color"]}}}`)
		return
	case "bad":
		s.write("a log line on standard output")
		s.write(`{"jsonrpc":"2.0","id":987654321,"result":{}}`)
	case "faulty":
		for _, f := range faultyLines {
			s.write(`{"jsonrpc":"2.0","method":"notifications/message","params":{"level":"info","data":"fine"}}`)
			s.write(strings.ReplaceAll(f.line, "ID", string(m.ID)))
		}
	case "hang":
		return
	case hostileName:
		quoted, _ := json.Marshal(hostile)
		s.write(`{"jsonrpc":"2.0","id":` + string(m.ID) + `,"error":{"code":-32000,"message":` + string(quoted) + `}}`)
		return
	case "crash":
		fmt.Fprintln(os.Stderr, "fatal: the database is gone")
		os.Exit(3)
	case "flood":
		for i := range 3000 {
			s.write(fmt.Sprintf(`{"jsonrpc":"2.0","method":"notifications/message","params":{"level":"info","data":"line %d"}}`, i))
		}
	case "big":
		s.text(m.ID, strings.Repeat("0123456789abcdef", 10<<20/16))
		return
	case "hostile":
		s.text(m.ID, hostile+" \u202e reversed")
		return
	case "image":
		s.result(m.ID, `{"content":[{"type":"image","mimeType":"image/svg+xml","data":"PHN2ZyB4bWxucz0iaHR0cDovL3d3dy53My5vcmcvMjAwMC9zdmciPjxzY3JpcHQ+cGFyZW50LmhhY2tlZD0xPC9zY3JpcHQ+PC9zdmc+"},`+
			`{"type":"resource_link","uri":"javascript:alert(1)","name":"link"}]}`)
		return
	case "secret":
		s.text(m.ID, "the token is "+os.Getenv("API_TOKEN"))
		return
	case "slow":
		for i := range 3 {
			s.write(fmt.Sprintf(`{"jsonrpc":"2.0","method":"notifications/message","params":{"level":"info","data":"step %d"}}`, i))
			time.Sleep(300 * time.Millisecond)
		}
	}
	s.text(m.ID, "done "+m.Params.Name)
}
