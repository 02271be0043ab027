//go:build linux

package faults_test

import (
	"strings"
	"time"
)

// slowStart is the time before the servers of these rows write anything: longer than a
// client with a fixed delay would wait.
const slowStart = 3 * time.Second

// eras are the kinds of servers that a client must distinguish, with the protocol version
// to use.
var eras = []struct{ id, what, found, revision string }{
	{"session", "sessions (2025-11-25) only", "", "2025-11-25"},
	{"requests", "2026-07-28 only", goodFound, "2026-07-28"},
	{"dual", "both 2025-11-25 and 2026-07-28", strings.ReplaceAll(goodFound, `["2026-07-28"]`, `["2026-07-28","2025-11-25"]`), "2026-07-28"},
}

// eraRows are servers whose era is hard to detect.
func eraRows() []row {
	var rows []row
	for _, e := range eras {
		refused := refusal("$ID", -32022, "Unsupported protocol version")
		spoke := func(tr *trial) { recorded(`"protocol": "` + e.revision + `"`)(tr) }
		add := func(id, what string, r row) {
			r.id, r.what = "era/odd-"+id+"-"+e.id, "odd: "+what+"; it speaks "+e.what
			r.tests, r.after, r.within = "pass pass", spoke, 10*time.Second
			rows = append(rows, r)
		}
		tools := goodTools
		if e.found != "" {
			tools = modernTools
		}
		process := func(start func()) talk {
			t := talk{found: e.found, tools: tools, boot: start, lag: 200 * time.Millisecond}
			if e.id == "requests" {
				t.at, t.say = "initialize", refused
			}
			return t
		}
		add("slow", "the process needs 3 s to start, and then answers initialize first", row{stdio: process(func() { delay(slowStart) })})
		add("slow-noisy", "the same, and it logs at once", row{stdio: process(func() {
			println("starting") // on standard error
			delay(slowStart)
		})})
		add("slow-http", "the first HTTP response takes 3 s", row{http: &web{modern: e.found != "", any: func(v *visit) bool {
			if v.n == 0 {
				delay(slowStart)
			}
			switch {
			case v.method == "server/discover" && e.found != "":
				v.json(200, answer(v.id, e.found))
			case v.method == "initialize" && e.id == "requests":
				v.json(400, strings.ReplaceAll(refused, "$ID", v.id))
			default:
				return false
			}
			return true
		}}})
	}
	return rows
}
