package aql_test

import (
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"
	"time"

	"mcptest/internal/base/jsonv"
	"mcptest/internal/mcpaql/live/guard"
	"mcptest/internal/mcpaql/verdict"
)

// What changes by itself changes no verdict: whenever a clock ticks during a
// run, its report has the same rows.
func TestVerdictsAreStable(t *testing.T) {
	t.Parallel()
	const query = `[{"name":"limit","type":"integer","required":false,"default":2,"description":"How many."}]`
	list := func(params jsonv.Value) string {
		switch n, _ := params.Lookup("limit").Int64(); n {
		case 1:
			return `{"id":"b1"}`
		case 3:
			return `{"id":"b1"},{"id":"b2"},{"id":"b3"}`
		}
		return `{"id":"b1"},{"id":"b2"}`
	}
	for name, answer := range map[string]func(now int, r *rand.Rand, params jsonv.Value) string{
		"seconds in a text": func(now int, _ *rand.Rand, params jsonv.Value) string {
			return fmt.Sprintf(`{"items":[%s],"footer":"Up for %d seconds."}`, list(params), 100+now)
		},
		"a time in a text": func(now int, _ *rand.Rand, params jsonv.Value) string {
			return fmt.Sprintf(`{"items":[%s],"footer":"Made at 12:%02d:%02d PM"}`, list(params), now/60, now%60)
		},
		"a number": func(now int, _ *rand.Rand, params jsonv.Value) string {
			return fmt.Sprintf(`{"items":[%s],"age":%d}`, list(params), now)
		},
		"a log that grows": func(now int, _ *rand.Rand, params jsonv.Value) string {
			out := fmt.Sprintf(`{"items":[%s],"log":["started"`, list(params))
			for i := range now {
				out += fmt.Sprintf(`,"line %d"`, i)
			}
			return out + `]}`
		},
		"a word by chance": func(_ int, r *rand.Rand, params jsonv.Value) string {
			return fmt.Sprintf(`{"items":[%s],"tip":%q}`, list(params), []string{"read", "rest", "walk", "swim", "sing"}[r.IntN(5)])
		},
	} {
		t.Run(name, func(t *testing.T) {
			var first map[string]verdict.Result
			for offset := range 20 {
				calls, r := offset, rand.New(rand.NewPCG(uint64(offset), 7))
				s := small{ops: []smallOp{{"list_books", "READ", query, func(params jsonv.Value) string {
					calls++
					return answer(calls/4, r, params)
				}}}}
				report := s.look(t, guard.Options{})
				if first == nil {
					first = rows(report)
				}
				if report.ExitCode != 0 {
					t.Errorf("offset %d: exit %d\n%s", offset, report.ExitCode, report.FormatText())
				}
				for row, result := range rows(report) {
					if first[row] != result {
						t.Errorf("offset %d: %s is %s and was %s", offset, row, result, first[row])
					}
				}
			}
		})
	}
}

// A field that changes by itself is none that an update changed.
func TestUpdatesOfChangingValues(t *testing.T) {
	t.Parallel()
	for offset := range 6 {
		reads := offset
		s := notes(func(note jsonv.Value) jsonv.Value {
			reads++
			return note.With("age", jsonv.Int(int64(reads/2))).With("label", jsonv.String("Note: "+note.Lookup("title").Text()))
		})
		r := s.look(t, guard.Options{Mode: guard.ModeWrite})
		if row := rowsByID(r)["update"]; row.Result != verdict.Pass {
			t.Errorf("offset %d: %s: %s", offset, row.Result, row.Detail)
		}
	}
}

// Reads that only a clock or a log tells apart have no effect.
func TestLogsAndClocksAreNotEffects(t *testing.T) {
	t.Parallel()
	calls := 0
	s := notes(nil)
	s.hears = func(jsonv.Value) { calls++ }
	s.ops = append(s.ops, smallOp{"list_events", "READ", `[]`, func(jsonv.Value) string {
		return fmt.Sprintf(`{"items":[{"event_number":%d}]}`, calls/100)
	}}, smallOp{"get_build_info", "READ", `[]`, func(jsonv.Value) string {
		n := calls / 100 // as process.memoryUsage() of Node.js
		up := strings.ReplaceAll((time.Duration(20+45*n) * time.Second).String(), "m", "m ")
		return fmt.Sprintf(`{"content":[{"type":"text","text":"Heap: %d MB, up: %s, ready"}],"process":{"rss":%d},"memoryUsage":{"external":%d}}`, n, up, n, n)
	}})
	if row := rowsByID(s.look(t, guard.Options{Mode: guard.ModeWrite}))["consistency"]; row.Result != verdict.Pass {
		t.Errorf("%s: %s", row.Result, row.Detail)
	}
}
