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
					p := &planted{versions: strings.Fields(versions), sessions: versions == older, busy: busy}
					p.outage = status
					rep := examine(t, p, true, func(o *probe.Options) { o.Only = []string{"lifecycle", "http", "session", "isolation"} })
					for _, line := range failed(rep, true) {
						t.Error(line)
					}
				})
			}
		}
	}
}

// A few refusals at the worst place accuse no server either.
func TestGatewayAtTheWorstPlace(t *testing.T) {
	t.Parallel()
	first := func(method string, times int) func(*http.Request, string) bool {
		return func(_ *http.Request, got string) bool {
			refused := got == method && times > 0
			if refused {
				times--
			}
			return refused
		}
	}
	left := 0
	fromOwnPage := func(r *http.Request, _ string) bool { // that request, and three after it
		if r.Header.Get("Origin") == "http://"+r.Host {
			left = 4
		}
		left--
		return left >= 0
	}
	for _, c := range []struct {
		name, versions, only string
		status               int
		refuses              func(*http.Request, string) bool
	}{
		{"initialize", modern, "lifecycle", http.StatusBadGateway, first("initialize", 1)},
		{"initialize, forbidden", modern, "lifecycle", http.StatusForbidden, first("initialize", 9)},
		{"initialize, both eras", dual, "lifecycle stateless http", http.StatusBadGateway, first("initialize", 1)},
		{"the list of resources", older, "resources", http.StatusServiceUnavailable, first("resources/list", 1)},
		{"the list of resources, 2026-07-28", modern, "resources", http.StatusForbidden, first("resources/list", 1)},
		{"the list of templates", older, "resources", http.StatusBadGateway, first("resources/templates/list", 1)},
		{"a page of the server", older, "http", http.StatusServiceUnavailable, fromOwnPage},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			p := &planted{versions: strings.Fields(c.versions), sessions: c.versions != modern, replays: c.versions == dual}
			p.outage, p.refuses = c.status, c.refuses
			rep := examine(t, p, true, func(o *probe.Options) { o.Only = strings.Fields(c.only) })
			for _, line := range failed(rep, true) {
				t.Error(line)
			}
		})
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

// A resource that is made for any name exists, although no list has it; a text that says
// that it is not there is no content.
func TestResourcesThatAreMadeForAnyName(t *testing.T) {
	t.Parallel()
	for text, accused := range map[string]bool{"Hello, %s!": false, "Resource %s not found": true} {
		for _, versions := range []string{older, modern} {
			p := &planted{versions: strings.Fields(versions), defect: "resource-missing/served"}
			p.alter = func(method string, res object) {
				if method == "resources/read" {
					res["contents"] = []object{{"uri": "x:1", "text": fmt.Sprintf(text, "mcptest-no-such-resource")}}
				}
			}
			rep := examine(t, p, false, func(o *probe.Options) { o.Only = []string{"resource-missing"} })
			found := strings.Join(failed(rep, true), "\n")
			if accused != strings.Contains(found, "resource-missing") {
				t.Errorf("%s, %s: %q", versions, text, found)
			}
		}
	}
}
