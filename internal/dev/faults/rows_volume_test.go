//go:build linux

package faults_test

import (
	"fmt"
	"os"
	"strings"
	"time"
)

// volumeRows are servers that send too much. They test the use of memory.
func volumeRows() []row {
	const mib = 1 << 20
	says := func(id, what, tests string, exit int, act func(*stdio), words ...string) row {
		return row{id: "volume/" + id, what: what, stdio: talk{act: act}, exit: exit, tests: tests, says: words, within: 10 * time.Second, memory: 256}
	}
	text := func(s *stdio, size int) {
		s.write(`{"jsonrpc":"2.0","id":` + s.id + `,"result":{"content":[{"type":"text","text":"`)
		s.flood("x", size)
		s.write(`"}]}}` + "\n")
	}
	patient := func(r row) row { // the server has to be stopped for what it says, not for its time
		r.test = "timeout: 2m"
		return r
	}
	hurry := func(r row) row { // no response comes
		r.test = "timeout: 3s"
		return r
	}
	return []row{
		says("over-the-limit", "a response of 20 MB", "fail pass", 1, func(s *stdio) { text(s, 20*mib) }, "oversize", "over the limit of 16 MiB"),
		says("over-the-limit-id-last", "a response of 20 MB that names its request at the end", "fail pass", 1, func(s *stdio) {
			s.write(`{"jsonrpc":"2.0","result":{"x":"`)
			s.flood("x", 20*mib)
			s.write(`"},"id":` + s.id + "}\n")
		}, "oversize"),
		says("just-below", "a response of 15 MB that fails", "fail pass", 1, func(s *stdio) { text(s, 15*mib) }, "exact"),
		patient(says("endless-line", "a line without an end", "error pass", 1, func(s *stdio) { s.flood("x", -1) }, "endless line without a newline")),
		says("many-lines", "a million lines of noise", "pass pass", 1, func(s *stdio) { s.flood("noise noise noise\n", 1000000); s.ok() }, "stray-output", "flood"),
		hurry(says("endless-lines", "noise without an end", "error pass", 1, func(s *stdio) { s.flood("noise noise noise\n", -1) }, "stray-output", "(limit: timeout 3s)")),
		says("many-notifications", "200,000 log notifications during a call", "pass pass", 0, func(s *stdio) {
			s.flood(`{"jsonrpc":"2.0","method":"notifications/message","params":{"level":"info","data":"hello hello"}}`+"\n", 200000)
			s.ok()
		}),
		says("big-notifications", "100 notifications of 1 MB each", "pass pass", 0, func(s *stdio) {
			big := `{"jsonrpc":"2.0","method":"notifications/message","params":{"level":"info","data":"` + strings.Repeat("x", mib) + `"}}` + "\n"
			for range 100 {
				s.write(big)
			}
			s.ok()
		}),
		says("stderr", "200 MB on standard error", "pass pass", 0, func(s *stdio) {
			chunk := strings.Repeat("log line\n", mib/9)
			for range 200 {
				os.Stderr.WriteString(chunk)
			}
			s.ok()
		}),
		says("stderr-one-line", "50 MB on standard error in one line, then a crash", "error pass", 1, func(*stdio) {
			chunk := strings.Repeat("x", mib)
			for range 50 {
				os.Stderr.WriteString(chunk)
			}
			os.Exit(3)
		}, "exit status 3"),
		says("wide", "an object of 500,000 members", "fail pass", 1, func(s *stdio) {
			var b strings.Builder
			for i := range 500000 {
				fmt.Fprintf(&b, `"k%d":1,`, i)
			}
			s.write(`{"jsonrpc":"2.0","id":` + s.id + `,"result":{"structuredContent":{` + b.String() + `"z":1},"content":[]}}` + "\n")
		}),
		says("many-blocks", "100,000 content blocks", "fail pass", 1, func(s *stdio) {
			s.write(`{"jsonrpc":"2.0","id":` + s.id + `,"result":{"content":[`)
			s.flood(`{"type":"text","text":"x"},`, 100000)
			s.write(`{"type":"text","text":"x"}]}}` + "\n")
		}),
		says("deep", "a result 900 levels deep", "fail pass", 1, func(s *stdio) {
			s.write(`{"jsonrpc":"2.0","id":` + s.id + `,"result":{"content":[],"structuredContent":` + strings.Repeat("[", 900) + strings.Repeat("]", 900) + "}}\n")
		}),
		says("long-number", "a number of a million digits", "fail pass", 1, func(s *stdio) {
			s.write(`{"jsonrpc":"2.0","id":` + s.id + `,"result":{"content":[],"n":`)
			s.flood("9", mib)
			s.write("}}\n")
		}),
		says("long-key", "a key of 5 MB, twice", "fail pass", 1, func(s *stdio) {
			key := `"` + strings.Repeat("k", 5*mib) + `":1`
			s.write(`{"jsonrpc":"2.0","id":` + s.id + `,"result":{"content":[],` + key + "}}\n")
		}),
		says("long-error", "an error whose message has 10 MB", "fail pass", 1, func(s *stdio) {
			s.write(`{"jsonrpc":"2.0","id":` + s.id + `,"error":{"code":-32000,"message":"`)
			s.flood("no ", 3*mib)
			s.write(`"}}` + "\n")
		}, "-32000", "no no"),
		says("long-id", "a response to an id of 1 MB", "pass pass", 1, func(s *stdio) {
			s.write(`{"jsonrpc":"2.0","result":{},"id":"`)
			s.flood("i", mib)
			s.write(`"}` + "\n")
			s.ok()
		}, "unknown-id"),
		says("many-progress", "100,000 progress notifications for unknown requests", "pass pass", 1, func(s *stdio) {
			s.flood(`{"jsonrpc":"2.0","method":"notifications/progress","params":{"progressToken":"zz","progress":1}}`+"\n", 100000)
			s.ok()
		}, "progress-token"),
		says("many-answers", "100,000 responses to ids that were never sent", "pass pass", 1, func(s *stdio) {
			s.flood(`{"jsonrpc":"2.0","id":77777,"result":{}}`+"\n", 100000)
			s.ok()
		}, "unknown-id", "flood"),
		{id: "volume/tool-list", what: "a list of 20,000 tools", stdio: talk{at: "tools/list", act: func(s *stdio) {
			var b strings.Builder
			for i := range 20000 {
				fmt.Fprintf(&b, `{"name":"t%d","inputSchema":{"type":"object"}},`, i)
			}
			s.write(answer(s.id, `{"tools":[`+b.String()+`{"name":"t","inputSchema":{"type":"object"}}]}`))
		}}, tests: "pass pass", says: []string{"tool-list", "more than 10000 tools"}, memory: 256, within: 8 * time.Second},
		{id: "volume/tool-pages", what: "a list of tools without an end", stdio: talk{at: "tools/list", act: func(s *stdio) {
			s.write(answer(s.id, fmt.Sprintf(`{"tools":[],"nextCursor":"c%d"}`, time.Now().UnixNano())))
		}}, tests: "pass pass", memory: 256, within: 8 * time.Second},
		{id: "volume/huge-schema", what: "a tool's output schema of 5 MB", stdio: talk{at: "tools/list", act: func(s *stdio) {
			var b strings.Builder
			for i := range 100000 {
				fmt.Fprintf(&b, `"p%d":{"type":["string","null"],"minLength":1},`, i)
			}
			s.write(answer(s.id, strings.Replace(goodTools, `"inputSchema"`, `"outputSchema":{"type":"object","properties":{`+b.String()+`"z":{}}},"inputSchema"`, 1)))
		}}, tests: "pass pass", says: []string{"more than 2000 subschemas"}, memory: 256, within: 15 * time.Second},
	}
}
