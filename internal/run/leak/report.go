package leak

import (
	"fmt"
	"math"
	"strconv"
	"strings"
	"time"

	"mcptest/internal/base/display"
	"mcptest/internal/client/wire"
	"mcptest/internal/process/usage"
)

// Schema names the form of the JSON report.
const Schema = "mcptest.leak/v1"

// Report is the result of a run.
type Report struct {
	Schema      string    `json:"schema"`
	Version     string    `json:"version"`
	Server      string    `json:"server"` // address or command
	Protocol    string    `json:"protocol"`
	Verdict     Verdict   `json:"verdict"`
	Summary     []string  `json:"summary"`
	Unit        string    `json:"unit"`            // session or call
	Leave       string    `json:"leave,omitempty"` // how sessions were left
	Units       int       `json:"units"`
	Seconds     float64   `json:"seconds"`
	Wait        float64   `json:"wait_after,omitempty"` // seconds
	Measures    []Measure `json:"measures"`
	Remained    string    `json:"remained,omitempty"` // processes that stayed after the end
	Settings    []string  `json:"settings"`           // environment of the program that makes memory settle
	Interrupted bool      `json:"interrupted,omitempty"`
	Failure     string    `json:"failure,omitempty"` // why the run ended early

	Err error `json:"-"` // of Failure
}

// Measure is one thing that was measured, with its verdict.
type Measure struct {
	Name    string `json:"name"`
	Unit    string `json:"unit,omitempty"`
	Unknown bool   `json:"unknown,omitempty"` // not measured on this system
	Bounds  Bounds `json:"bounds"`
	Estimated
	Added *float64  `json:"added,omitempty"` // per unit, by the round after the wait
	Every int       `json:"every"`           // units between two values of Trace
	Trace []float64 `json:"trace"`

	of      func(usage.Usage) float64
	samples []float64
}

// traced is the number of samples that a report keeps.
const traced = 600

// Finish completes a report that is to be written, with the version of the program, what
// remained of the server, and the settings of its environment. Texts are masked.
func (r *Report) Finish(version, remained string, settings []string, mask func(string) string) {
	r.Schema, r.Version, r.Remained, r.Settings = Schema, version, mask(remained), []string{}
	r.Server, r.Failure = mask(r.Server), mask(r.Failure)
	for _, kv := range settings {
		r.Settings = append(r.Settings, mask(kv))
	}
	if remained != "" {
		r.Verdict = Leaks
	}
	for i := range r.Measures {
		m := &r.Measures[i]
		m.Every, m.Trace = 1+len(m.samples)/traced, []float64{}
		for j := 0; j < len(m.samples) && !m.Unknown; j += m.Every {
			m.Trace = append(m.Trace, m.samples[j])
		}
	}
	r.Summary = r.summarize()
}

// summarize says in sentences what was found, and what would decide what is not.
func (r *Report) summarize() (lines []string) {
	if r.Remained != "" {
		lines = append(lines, r.Remained)
	}
	held := false
	for _, m := range r.Measures {
		if m.Verdict == Leaks {
			lines = append(lines, m.grows(r))
			held = held || m.Added == nil && r.Leave != "close" && r.Leave != ""
		}
	}
	if held {
		lines = append(lines, fmt.Sprintf("or the server keeps sessions whose client vanished for longer than %s: --wait-after with a longer time decides", formatSeconds(r.Seconds)))
	}
	for _, m := range r.Measures {
		switch {
		case m.Unknown:
			lines = append(lines, m.Name+": not measured on this system")
		case m.Added != nil && m.Verdict != Leaks:
			lines = append(lines, fmt.Sprintf("%s: %s a %s in the first round, %s in the second, after %s",
				m.Name, m.formatValue(m.Later.Value), r.Unit, m.formatValue(*m.Added), formatSeconds(r.Wait)))
		case m.Verdict == Inconclusive && r.Verdict == Inconclusive && r.Failure == "":
			said := m.formatInterval(r)
			switch {
			case m.Later == (Slope{}) && m.Name == "memory":
				said = "is not clear after " + r.count(r.Units)
			case m.Later == (Slope{}):
				said = "are not clear after " + r.count(r.Units)
			case m.Later.Value == 0 && m.Later.Low == 0 && m.Later.High == 0:
				said = "did not grow so far"
			}
			enough := m.CountEnough(r.Units, m.Bounds)
			lines = append(lines, fmt.Sprintf("%s %s; %s would decide: --sessions %d", m.Name, said, r.count(enough), enough))
		}
	}
	if r.Verdict == NoneShown {
		lines = append([]string{"no growth shown by " + r.count(r.Units)}, lines...)
	}
	return lines
}

// grows is the sentence about a leak.
func (m *Measure) grows(r *Report) string {
	text := fmt.Sprintf("%s %s, %s", m.Name, m.formatInterval(r), r.count(r.Units))
	if m.Added != nil {
		text += fmt.Sprintf("; a second round after %s added %s each", formatSeconds(r.Wait), m.formatValue(*m.Added))
	}
	return text
}

// formatInterval is the growth per unit: "grows by 10.9 KiB a session (10.9 to 11.0)".
func (m *Measure) formatInterval(r *Report) string {
	verb := "grows"
	if m.Name != "memory" {
		verb = "grow"
	}
	low, high := m.formatBare(m.Later.Low, m.Later.Value), m.formatBare(m.Later.High, m.Later.Value)
	return fmt.Sprintf("%s by %s a %s (%s to %s)", verb, m.formatValue(m.Later.Value), r.Unit, low, high)
}

// formatValue formats an amount.
func (m *Measure) formatValue(v float64) string {
	switch {
	case m.Unit == "" && v == math.Trunc(v):
		return strconv.Itoa(int(v))
	case m.Unit == "":
		return fmt.Sprintf("%.2f", v)
	case v < 0:
		return "-" + wire.FormatByteSize(int64(-v))
	}
	return wire.FormatByteSize(int64(v))
}

// formatBare formats an amount without its unit, if that is the one of another amount.
func (m *Measure) formatBare(v, other float64) string {
	text := m.formatValue(v)
	number, unit, _ := strings.Cut(text, " ")
	if _, same, _ := strings.Cut(m.formatValue(other), " "); same == unit {
		return number
	}
	return text
}

// count formats a number of units: 8,000 sessions.
func (r *Report) count(n int) string {
	return display.Thousands(n) + " " + display.Plural(n, r.Unit)
}

func formatSeconds(s float64) string {
	return wire.Duration(time.Duration(s * float64(time.Second)).Round(100 * time.Millisecond))
}
