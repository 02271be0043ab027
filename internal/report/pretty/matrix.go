package pretty

import (
	"cmp"
	"fmt"
	"io"
	"slices"
	"strings"

	"mcptest/internal/base/display"
	"mcptest/internal/base/lists"
	"mcptest/internal/base/term"
	"mcptest/internal/report/explain"
	"mcptest/internal/report/render"
	"mcptest/internal/report/result"
)

// WriteMatrix writes tests by servers: a row for each test, a column for each server,
// and below them the totals of each server. Tests with a list of servers have one
// row; without lists there is one column for each used server. Tests with a list of
// models have a column for each model and server.
func WriteMatrix(w io.Writer, r *result.Run, o render.Options) error {
	m := &matrix{
		Printer:  render.NewPrinter(w, r, o),
		column:   map[string]int{},
		of:       "server",
		findings: map[string]int{},
	}
	for _, f := range r.Findings {
		if f.Severity == "error" {
			m.findings[f.Server]++
		}
	}
	if err := m.read(); err != nil {
		return err
	}
	m.group()
	m.measure()
	writeBanner(m.Printer, r)
	listFailedPhases(m.Printer, r)
	m.Blank()
	m.writeHeader()
	for i := range m.rows {
		m.writeRow(&m.rows[i])
	}
	m.writeSums()
	m.writeRollups()
	m.Blank()
	preposition := "on"
	if m.of == "column" {
		preposition = "in"
	}
	legend := "✓ passed  ✗ failed  ! no response  - skipped  · not run " + preposition + " this " + m.of
	if r.Summary.Inconclusive > 0 {
		legend += "  ? inconclusive"
	}
	m.Line(0, m.Faint(legend))
	if m.differ > 0 {
		m.Line(0, m.Paint(term.Warn, fmt.Sprintf("≠ the %ss differ in %s", m.of, display.Count(m.differ, "test"))))
	}
	for _, f := range explain.FoldFindings(r.Findings) {
		if f.Severity == "error" {
			text := render.OneLine(explain.FormatFinding(f), render.LongestLine)
			m.Line(0, m.Paint(term.Bad, "FINDING  "), term.Escape(f.Kind), ": ", text)
		}
	}
	if err := explain.VisitWarnings(m.Printer, r, func(w *explain.Warning) {
		m.Line(0, m.Paint(term.Warn, "WARN  "), render.OneLine(w.MessageLine(), render.LongestLine))
	}); err != nil {
		return err
	}
	for _, line := range explain.Results(r) {
		m.Line(0, m.Faint("RESULT  "), render.OneLine(line, render.LongestLine))
	}
	for _, c := range explain.ListCoverages(r, false) {
		m.Line(0, c.String())
	}
	m.Line(0, explain.Summary(m.Printer, r))
	return m.Flush()
}

type matrix struct {
	*render.Printer
	servers []matrixServer
	column  map[string]int // server and model → index in servers
	of      string         // what a column is: a server, or a column if there are models
	// findings counts the findings of each server that made the run fail.
	findings map[string]int
	rows     []matrixRow
	name     int   // width of the first column
	widths   []int // widths of the others
	differ   int
}

// matrixServer is a column and its totals: of a server, or of a model on it.
type matrixServer struct {
	name, model   string
	passed, total int
	score         float64
	scores        int
	ms            float64
	metrics       map[string]*result.Rollup
}

// matrixRow is a test, or the title of a suite if it has no cells.
type matrixRow struct {
	name  string
	cells []matrixCell
}

type matrixCell struct {
	status result.Status // "" if the test does not run on this server
	score  *float64
	share  string // of trials or runs, with its interval
}

func (m *matrix) read() error {
	rows := map[string]int{}
	title := ""
	for c, err := range m.Run.Cases.All() {
		if err != nil {
			return err
		}
		suite := cmp.Or(c.Suite, explain.FindSuiteFile(c, m.Run.Suites))
		if suite != title || len(m.rows) == 0 {
			title = suite
			m.rows = append(m.rows, matrixRow{name: suite})
			clear(rows)
		}
		name, model := explain.SplitModel(c)
		i, ok := rows[name]
		if !ok {
			i = len(m.rows)
			rows[name] = i
			m.rows = append(m.rows, matrixRow{name: name, cells: []matrixCell{}})
		}
		m.add(&m.rows[i], c, model)
	}
	return nil
}

func (m *matrix) add(row *matrixRow, c *result.Case, model string) {
	key := c.Server + "\x00" + model
	at, ok := m.column[key]
	if !ok {
		at = len(m.servers)
		m.column[key] = at
		m.servers = append(m.servers, matrixServer{name: c.Server, model: model, metrics: map[string]*result.Rollup{}})
		if model != "" {
			m.of = "column"
		}
	}
	for len(row.cells) <= at {
		row.cells = append(row.cells, matrixCell{})
	}
	if have := &row.cells[at]; have.status == "" || explain.Failed(c.Status) {
		have.status, have.score, have.share = c.Status, c.Score, ""
		if share, ok := explain.ShareOf(c); ok {
			have.share = " " + share.String()
		}
	}
	s := &m.servers[at]
	s.ms += c.DurationMS
	if c.Status != result.Skip {
		s.total++
	}
	if c.Status == result.Pass {
		s.passed++
	}
	if c.Score != nil {
		s.score += *c.Score
		s.scores++
	}
	for _, v := range c.DerivedMetrics {
		if s.metrics[v.Name] == nil {
			s.metrics[v.Name] = &result.Rollup{Name: v.Name}
		}
		roll := s.metrics[v.Name]
		roll.Mean = (roll.Mean*float64(roll.Count) + v.Value) / float64(roll.Count+1)
		roll.Count++
	}
}

const (
	matrixNameMost   = 60
	matrixServerMost = 24
)

func (m *matrix) measure() {
	m.name = len("time in calls")
	for i := range m.rows {
		m.name = max(m.name, min(matrixNameMost, display.Width(term.Escape(m.rows[i].name))+2))
	}
	for i := range m.servers {
		width := max(8, min(matrixServerMost, display.Width(m.fitServerName(i))))
		for _, row := range m.rows {
			if i < len(row.cells) && row.cells[i].share != "" {
				width = max(width, len("✓ ≠")+display.Width(row.cells[i].share))
			}
		}
		m.widths = append(m.widths, width)
	}
}

// group groups the columns of the variants of a server.
func (m *matrix) group() {
	order := make([]int, len(m.servers)) // original order of the columns
	first := map[string]int{}
	for i := range order {
		order[i] = i
		if server, _ := explain.SplitVariant(m.servers[i].name); first[server] == 0 {
			first[server] = i + 1
		}
	}
	place := func(i int) int {
		server, _ := explain.SplitVariant(m.servers[i].name)
		return first[server]
	}
	slices.SortStableFunc(order, func(a, b int) int { return cmp.Compare(place(a), place(b)) })
	m.servers = lists.Map(order, func(from int) matrixServer { return m.servers[from] })
	for r := range m.rows {
		row := &m.rows[r]
		if row.cells == nil {
			continue
		}
		cells := make([]matrixCell, len(order))
		for to, from := range order {
			if from < len(row.cells) {
				cells[to] = row.cells[from]
			}
		}
		row.cells = cells
	}
}

// fitServerName returns the title of a column: only the variant if there is one, because
// the server is in the line above, and the model.
func (m *matrix) fitServerName(i int) string {
	name := cmp.Or(m.servers[i].name, "(no server)")
	if _, variant := explain.SplitVariant(name); variant != "" {
		name = "@" + variant
	}
	return term.Escape(strings.TrimSpace(name + " " + m.servers[i].model))
}

// write writes a line of the table; paint colors a cell after padding.
func (m *matrix) write(name string, cells []string, paint func(i int, s string) string) {
	text := name
	for i, c := range cells {
		text += "  " + paint(i, term.Pad(display.Truncate(c, m.widths[i]), m.widths[i]))
	}
	m.Line(0, text)
}

func (m *matrix) fitName(s string) string {
	return term.Pad(display.Truncate(term.Escape(s), m.name), m.name)
}

func (m *matrix) writeHeader() {
	strong := func(_ int, s string) string { return m.Paint(term.Strong, s) }
	above, cells, last, some := []string{}, []string{}, "", false
	for i := range m.servers {
		server, variant := explain.SplitVariant(m.servers[i].name)
		above = append(above, "")
		if variant != "" && server != last {
			above[i], last, some = term.Escape(server), server, true
		}
		cells = append(cells, m.fitServerName(i))
	}
	if some {
		m.write(m.fitName(""), above, strong)
	}
	m.write(m.fitName(""), cells, strong)
}

func (m *matrix) writeRow(row *matrixRow) {
	if row.cells == nil {
		if row.name != "" {
			m.Line(0, m.Paint(term.Strong, render.OneLine(row.name, render.LongestLine)))
		}
		return
	}
	var cells []string
	seen := map[result.Status]bool{}
	for i := range m.servers {
		var c matrixCell
		if i < len(row.cells) {
			c = row.cells[i]
		}
		if c.status == "" {
			cells = append(cells, "·")
			continue
		}
		seen[c.status] = true
		_, mark := render.StyleVerdict(c.status)
		if c.score != nil {
			mark += " " + render.Number(*c.score)
		}
		cells = append(cells, mark+c.share)
	}
	delete(seen, result.Skip)
	if len(seen) > 1 {
		m.differ++
		last := len(cells) - 1
		cells[last] = term.Pad(cells[last], m.widths[last]-2) + " ≠"
	}
	m.write(m.fitName("  "+row.name), cells, func(i int, s string) string {
		if i < len(row.cells) && row.cells[i].status != "" {
			st, _ := render.StyleVerdict(row.cells[i].status)
			return m.Paint(st, s)
		}
		return m.Faint(s)
	})
}

// writeSums writes the totals of each server.
func (m *matrix) writeSums() {
	if len(m.servers) == 0 {
		return
	}
	m.Blank()
	line := func(name string, value func(s *matrixServer) string) {
		var cells []string
		some := false
		for i := range m.servers {
			v := value(&m.servers[i])
			some = some || v != ""
			cells = append(cells, v)
		}
		if some {
			m.write(m.fitName(name), cells, func(_ int, s string) string { return s })
		}
	}
	line("passed", func(s *matrixServer) string { return fmt.Sprintf("%d/%d", s.passed, s.total) })
	line("findings", func(s *matrixServer) string {
		if n := m.findings[s.name]; n > 0 {
			return fmt.Sprintf("✗ %d", n)
		}
		return ""
	})
	line("score, mean", func(s *matrixServer) string {
		if s.scores == 0 {
			return ""
		}
		return render.Number(s.score / float64(s.scores))
	})
	line("time in calls", func(s *matrixServer) string { return render.Duration(s.ms) })
}

// writeRollups writes the metrics of the run: name, mean and count, and the mean on
// each server if there are several.
func (m *matrix) writeRollups() {
	if len(m.Run.Rollups) == 0 {
		return
	}
	m.Heading("Metric rollups")
	width := len("metric")
	for _, r := range m.Run.Rollups {
		width = max(width, display.Width(render.OneLine(r.Name, render.LongestLine)))
	}
	row := func(paint term.Style, name, mean, count string, on func(i int) string) {
		text := "  " + term.Pad(name, width) + "  " + term.Pad(mean, 8) + "  " + term.Pad(count, 5)
		for i := 0; i < len(m.servers) && len(m.servers) > 1; i++ {
			text += "  " + term.Pad(display.Truncate(on(i), m.widths[i]), m.widths[i])
		}
		m.Line(0, m.Paint(paint, strings.TrimRight(text, " ")))
	}
	row(term.Strong, "metric", "mean", "count", m.fitServerName)
	for _, r := range m.Run.Rollups {
		name := render.OneLine(r.Name, render.LongestLine)
		row(term.Plain, name, render.Number(r.Mean), fmt.Sprint(r.Count), func(i int) string {
			if v := m.servers[i].metrics[r.Name]; v != nil {
				return render.Number(v.Mean)
			}
			return "·"
		})
	}
}
