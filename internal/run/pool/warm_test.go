package pool_test

import (
	"context"
	"testing"
	"testing/synctest"

	"mcptest/internal/client/mcp"
	"mcptest/internal/run/pool"
	"mcptest/internal/spec/plan"
	"mcptest/internal/spec/suite"
)

// A session is kept for the next run unless it may contain state of this one, its server
// changed, or it must not be kept.
func TestWarmSessions(t *testing.T) {
	plain := &plan.Case{}
	for _, test := range []struct {
		name   string
		first  *plan.Case
		use    func(s *pool.Server, f *fake) // during the first run
		after  func(f *fake)                 // between the runs
		stamp  string                        // at the second run
		policy string
		starts int
	}{
		{name: "a plain case", first: plain, starts: 1},
		{name: "the program changed", first: plain, stamp: "new", starts: 2},
		{name: "a log level", first: &plan.Case{TestKeys: suite.TestKeys{LogLevel: "debug"}}, starts: 2},
		{name: "a protocol test", first: &plan.Case{Block: "protocol"}, starts: 2},
		{name: "raw bytes", first: &plan.Case{Ops: []*plan.Op{{Raw: []byte("{}")}}}, starts: 2},
		{name: "a cancelled call", first: &plan.Case{Ops: []*plan.Op{{CancelAfter: 1}}}, starts: 2},
		{name: "restart_policy: per_file", first: plain, policy: plan.PerFile, starts: 2},
		{name: "a call without a response", first: plain, use: func(s *pool.Server, _ *fake) {
			s.ReportLost(&mcp.Exchange{Cause: context.DeadlineExceeded})
		}, starts: 2},
		{name: "a server that ended", first: plain, use: func(_ *pool.Server, f *fake) { _ = f.conns[0].Close() }, starts: 2},
		{name: "a server that ended between the runs", first: plain, after: func(f *fake) { _ = f.conns[0].Close() }, starts: 2},
	} {
		t.Run(test.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				warm, sv := pool.NewWarm(), def("api")
				policy := test.policy
				if policy == "" {
					policy = plan.PerRun
				}
				f := &fake{}
				run := func(c *plan.Case, stamp string, use func(*pool.Server, *fake)) {
					warm.Keep(t.Context(), []*plan.Server{sv}, func(*plan.Server) string { return stamp })
					f.Pool = pool.New(t.Context(), f.deps(warm))
					s := f.ForCase(c, sv, file("s.yml", policy, sv))
					if _, err := s.First().Session(t.Context()); err != nil {
						t.Fatal(err)
					}
					if use != nil {
						use(s, f)
						synctest.Wait()
					}
					f.Close(t.Context())
				}
				run(test.first, "", test.use)
				if test.after != nil {
					test.after(f)
					synctest.Wait()
				}
				run(plain, test.stamp, nil)
				if len(f.conns) != test.starts {
					t.Errorf("the server was started %d times, want %d", len(f.conns), test.starts)
				}
				if f.downs != 2 {
					t.Errorf("%d ends of sessions were reported, want 2", f.downs)
				}
				warm.Keep(t.Context(), nil, nil)
				synctest.Wait()
				if len(f.ended) != test.starts {
					t.Errorf("%d servers ended, want %d", len(f.ended), test.starts)
				}
			})
		})
	}
}
