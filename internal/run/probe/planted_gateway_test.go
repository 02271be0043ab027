package probe_test

import (
	"fmt"
	"net/http"
	"strings"
	"testing"

	"mcptest/internal/run/connect"
	"mcptest/internal/run/probe"
)

// A gateway that refuses a request now and then accuses no server, whichever request that is.
func TestGatewaysAccuseNoServer(t *testing.T) {
	t.Parallel()
	for _, status := range []int{http.StatusTooManyRequests, http.StatusServiceUnavailable} {
		for busy := 4; busy < 10; busy++ {
			for _, versions := range []string{older, modern} {
				t.Run(fmt.Sprintf("%d, %d, %s", status, busy, versions), func(t *testing.T) {
					t.Parallel()
					p := &planted{versions: strings.Fields(versions), sessions: versions == older, busy: busy, outage: status}
					rep := examine(t, p, true, func(o *probe.Options) { o.Only = []string{"lifecycle", "http", "session", "isolation"} })
					for _, line := range failed(rep, true) {
						t.Error(line)
					}
				})
			}
		}
	}
}

// A server whose new session ends the one before it breaks one rule by that, and does not
// answer for a request of another session.
func TestNewSessionEndsTheOther(t *testing.T) {
	t.Parallel()
	p := &planted{versions: strings.Fields(older), sessions: true, newest: true}
	rep := examine(t, p, true, func(o *probe.Options) { o.Only = []string{"lifecycle", "isolation"} })
	second := false
	for _, line := range failed(rep, true) {
		switch {
		case strings.Contains(line, "lifecycle-second"):
			second = true
		case !strings.HasPrefix(line, "  "): // no evidence
			t.Error(line)
		}
	}
	if !second {
		t.Error("lifecycle-second did not fail")
	}
}

// A server without sessions refuses the handshake of one: not a second session.
func TestServerWithoutSessionsRefusesNoSecondOne(t *testing.T) {
	t.Parallel()
	for _, web := range []bool{false, true} {
		rep := examine(t, &planted{versions: strings.Fields(modern)}, web, func(o *probe.Options) {
			o.Only, o.Connect.Sessions = []string{"result-type"}, connect.NewSessions()
		})
		absent := strings.Join(rep.Absent, "\n")
		if !strings.Contains(absent, "2025-11-25 is not spoken: ") || strings.Contains(absent, "second session") {
			t.Errorf("over HTTP %v: %s", web, absent)
		}
	}
}
