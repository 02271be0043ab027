package aql_test

import (
	"bytes"
	"context"
	"fmt"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"mcptest/internal/mcpaql/aql"
	"mcptest/internal/mcpaql/demo"
	"mcptest/internal/mcpaql/evidence"
	"mcptest/internal/mcpaql/live"
	"mcptest/internal/mcpaql/live/guard"
	"mcptest/internal/mcpaql/rule"
	"mcptest/internal/mcpaql/verdict"
	"mcptest/internal/server/mcpserver"
)

// A run that its own limits end holds nothing against a conformant adapter.
func TestOwnLimitsAreNotFailures(t *testing.T) {
	t.Parallel()
	for _, n := range []int{1, 2, 3, 8, 20, 40, 90, 150, 400} {
		for _, mode := range []string{guard.ModeSafe, guard.ModeWrite} {
			e := collect(t, guard.Options{Dial: library(t, demo.Options{}), Mode: mode, MaxCalls: n})
			noneFails(t, fmt.Sprint(mode, " ", n), e)
			if n == 1 && !strings.Contains(e.Live.Lookup("ended").Text(), "--max-calls 1") {
				t.Errorf("ended: %s", e.Live.Lookup("ended"))
			}
		}
	}
	slow := func(string) mcpserver.Handler {
		return spoiled(t, demo.Options{}, func(int, *mcpserver.Request, func() *mcpserver.Reply) *mcpserver.Reply {
			<-time.After(3 * time.Millisecond)
			return nil
		})
	}
	for _, budget := range []time.Duration{30 * time.Millisecond, 150 * time.Millisecond, 400 * time.Millisecond} {
		e := collect(t, guard.Options{Dial: dialer(t, slow), Mode: guard.ModeWrite, Budget: budget})
		noneFails(t, budget.String(), e)
		if !strings.Contains(e.Live.Lookup("ended").Text(), "--budget "+budget.String()) {
			t.Errorf("ended: %s", e.Live.Lookup("ended"))
		}
	}
	for _, after := range []int64{2, 30, 120} {
		synctest.Test(t, func(t *testing.T) {
			ctx, cancel := context.WithCancel(context.Background())
			defer cancel()
			dial := dialer(t, func(string) mcpserver.Handler {
				return spoiled(t, demo.Options{}, func(n int, _ *mcpserver.Request, _ func() *mcpserver.Reply) *mcpserver.Reply {
					if int64(n) == after {
						cancel()
						<-time.After(hang)
					}
					return nil
				})
			})
			e, err := live.Collect(ctx, guard.Options{Spread: time.Millisecond, Dial: dial, Mode: guard.ModeWrite})
			if err != nil {
				t.Fatal(err)
			}
			noneFails(t, fmt.Sprint("ended in call ", after), readBundle(t, "live.json", e.JSON().Indent("", " ")))
			<-time.After(2 * hang)
		})
	}
}

func noneFails(t *testing.T, what string, e *evidence.Evidence) {
	t.Helper()
	for _, level := range []int{1, 2} {
		r := aql.Evaluate(e, aql.Options{Level: level, Rules: rule.Strict})
		for _, c := range r.Categories {
			for _, row := range c.Tests {
				if row.Result == verdict.Failed || row.Result == verdict.Warned {
					t.Errorf("%s: level %d: %s %s: %s", what, level, row.Result, row.Name, row.Detail)
				}
			}
			if c.Result == verdict.Failed {
				t.Errorf("%s: level %d: %s is %s: %s", what, level, c.Name, c.Result, c.Note)
			}
		}
		if r.ExitCode == verdict.ExitFailed {
			t.Errorf("%s: level %d: exit %d", what, level, r.ExitCode)
		}
		if out := string(r.FormatText()); !r.Complete && strings.Contains(out, fmt.Sprintf("Conformance level: %d\n", level)) {
			t.Errorf("%s: the report claims level %d on incomplete evidence", what, level)
		}
	}
}

// An adapter that has nothing to create is not held to round trips.
func TestNothingToCreate(t *testing.T) {
	t.Parallel()
	dial := dialer(t, func(variant string) mcpserver.Handler {
		return spoiled(t, demo.Options{}, func(_ int, req *mcpserver.Request, answer func() *mcpserver.Reply) *mcpserver.Reply {
			r := answer()
			if !bytes.Contains(req.Params, []byte(`"query":"operations"`)) || bytes.Contains(req.Params, []byte(`"name":"create`)) {
				return r
			}
			r.Result = withoutCreates(r.Result)
			return r
		})
	})
	r := judgeLive(collect(t, guard.Options{Dial: dial, Mode: guard.ModeWrite}))
	if got := categories(r)[rule.RoundTrip]; got != verdict.Skipped {
		t.Errorf("round trips are %s", got)
	}
}

// withoutCreates takes the operations that create out of a list.
func withoutCreates(result []byte) []byte {
	s := string(result)
	for {
		i := strings.Index(s, `{\"name\":\"create_`)
		if i < 0 {
			return []byte(s)
		}
		end := i + strings.Index(s[i:], "}") + 1
		if end < len(s) && s[end] == ',' {
			end++
		}
		s = s[:i] + s[end:]
	}
}

// A hang is reported as a missing answer, and not as a wrong one.
func TestHangsAreNotResponses(t *testing.T) {
	t.Parallel()
	dial := dialer(t, func(variant string) mcpserver.Handler {
		if variant != "" {
			return nil
		}
		return spoiled(t, demo.Options{}, func(_ int, req *mcpserver.Request, _ func() *mcpserver.Reply) *mcpserver.Reply {
			if bytes.Contains(req.Params, []byte(`"operation":"get_book"`)) {
				<-time.After(hang)
			}
			return nil
		})
	})
	rows := rowsByID(judgeLive(collect(t, guard.Options{Dial: dial, CallTimeout: time.Second})))
	for id, row := range rows {
		if want := id == "conduct" || id == "accuracy"; row.Result == verdict.Failed != want {
			t.Errorf("%s is %s: %s", id, row.Result, row.Detail)
		}
	}
	if s := rows["accuracy"].Detail; !strings.Contains(s, "get_book does not respond") {
		t.Error(s)
	}
}
