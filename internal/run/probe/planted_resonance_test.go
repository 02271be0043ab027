package probe_test

import (
	"net/http"
	"slices"
	"strings"
	"testing"

	"mcptest/internal/run/probe"
)

// A gateway that refuses what follows the end of a session whenever that happens, and now and
// then another request, accuses no server: whether it is the gateway shows only in several
// requests of a living session.
func TestGatewayInStepWithTheProbe(t *testing.T) {
	t.Parallel()
	for _, period := range []int{2, 5, 9} {
		p := &planted{versions: strings.Fields(older), sessions: true}
		ended, alive := false, 0
		p.outage = http.StatusServiceUnavailable
		p.refuses = func(r *http.Request, _ string) bool {
			if r.Method == http.MethodDelete {
				ended = true
				return false
			}
			if ended {
				ended = false
				return true
			}
			alive++
			return alive%period == 0 && r.Method == http.MethodPost && alive > 30
		}
		rep := examine(t, p, true, func(o *probe.Options) { o.Only = []string{"session-ended"} })
		for _, line := range failed(rep, true) {
			t.Errorf("1 in %d: %s", period, line)
		}
	}
	p := &planted{versions: strings.Fields(older), sessions: true}
	ended := false
	p.outage = http.StatusServiceUnavailable
	p.refuses = func(r *http.Request, _ string) bool {
		was := ended
		ended = r.Method == http.MethodDelete
		return was
	}
	rep := examine(t, p, true, func(o *probe.Options) { o.Only = []string{"session-ended"} })
	accused := func(line string) bool { return strings.Contains(line, "session-ended") }
	if !slices.ContainsFunc(failed(rep, true), accused) {
		t.Error("a server that always answers 503 in an ended session is not accused")
	}
}
