package ci

import (
	"fmt"
	"io"
	"slices"
	"strings"

	"mcptest/internal/base/display"
	"mcptest/internal/base/lists"
	"mcptest/internal/report/explain"
	"mcptest/internal/report/render"
	"mcptest/internal/report/result"
)

// Limits of a Markdown report: GitHub accepts step summaries of up to 1 MiB.
const (
	mdFailures = 50
	mdTests    = 500
	mdText     = 12_000 // bytes of one explanation
	mdAsked    = 100    // tests with requests to upstreams
	mdRequests = 10     // of each of them
)

// WriteMarkdown writes GitHub Flavored Markdown, for step summaries and comments.
// Foreign text is only written in code spans and fenced blocks, which contain no
// links, mentions, headings or HTML.
func WriteMarkdown(w io.Writer, r *result.Run, o render.Options) error {
	all, err := explain.ListSections(r)
	if err != nil {
		return err
	}
	m := &markdown{
		Out:     render.NewOut(w),
		run:     r,
		Options: o,
		x:       explain.NewExplainer(r, render.Options{Headlined: true}),
	}
	m.writeHead()
	if err := m.writeFailures(); err != nil {
		return err
	}
	m.runLevel()
	m.writeSuites(all)
	if err := m.writeVariants(); err != nil {
		return err
	}
	if err := m.tests(all); err != nil {
		return err
	}
	if err := m.writeModels(); err != nil {
		return err
	}
	if err := m.writeTrials(); err != nil {
		return err
	}
	m.writeRollups()
	m.writeCoverage()
	m.writePhases()
	m.writeServers()
	return m.Flush()
}

type markdown struct {
	render.Out
	render.Options
	run *result.Run
	x   *explain.Explainer
}

// countTicks returns the length of the longest run of backticks in s.
func countTicks(s string) (most int) {
	n := 0
	for i := range len(s) {
		if s[i] != '`' {
			n = 0
			continue
		}
		n++
		most = max(most, n)
	}
	return most
}

// code writes foreign text as a code span. A pipe is escaped in
// tables and only there, because a parser splits cells before it reads spans.
func code(s string) string { return quoteSpan(s, false) }

func cell(s string) string { return quoteSpan(s, true) }

func quoteSpan(s string, table bool) string {
	s = render.OneLine(s, render.LongestLine)
	if strings.TrimSpace(s) == "" {
		return ""
	}
	fence := strings.Repeat("`", countTicks(s)+1)
	if strings.HasPrefix(s, "`") || strings.HasSuffix(s, "`") || strings.HasPrefix(s, " ") && strings.HasSuffix(s, " ") {
		s = " " + s + " "
	}
	if table {
		s = strings.ReplaceAll(s, "|", `\|`)
	}
	return fence + s + fence
}

// writeFenced writes escaped text of several lines as a block.
func writeFenced(text string) string {
	fence := strings.Repeat("`", max(3, countTicks(text)+1))
	return fence + "text\n" + text + "\n" + fence + "\n"
}

var statusIcon = map[result.Status]string{
	result.Pass:         "✅",
	result.Fail:         "❌",
	result.Error:        "💥",
	result.Skip:         "⚪",
	result.Inconclusive: "❔",
}

func (m *markdown) writeHead() {
	word, _ := explain.Verdict(m.run)
	icon := "✅"
	switch {
	case m.run.ExitCode == 7:
		icon = "🟠"
	case m.run.ExitCode != 0:
		icon = "❌"
	}
	p := render.NewPrinter(nil, m.run, render.Options{})
	_, counts, _ := strings.Cut(explain.Summary(p, m.run), "  ")
	m.Put("## ", icon, " ", strings.ToUpper(word[:1]), strings.ToLower(word[1:]), "\n\n", counts, "\n\n")
	if m.run.Command != "" {
		m.Put(code(m.run.Command), "\n\n")
	}
	for _, n := range m.run.Notes {
		m.Put("> **Note** ", code(n), "\n\n")
	}
}

// writeTable starts a table. A colon at the end of a name aligns the
// column to the right.
func (m *markdown) writeTable(names ...string) {
	rule := ""
	for i, n := range names {
		dashes := " --- |"
		if strings.HasSuffix(n, ":") {
			names[i], dashes = strings.TrimSuffix(n, ":"), " ---: |"
		}
		rule += dashes
	}
	m.Put("| ", strings.Join(names, " | "), " |\n|", rule, "\n")
}

// writeSection writes a table under a heading, or nothing for one without rows.
func (m *markdown) writeSection(title string, columns []string, rows [][]string) {
	if len(rows) == 0 {
		return
	}
	m.Put("### ", title, "\n\n")
	m.writeTable(columns...)
	for _, cells := range rows {
		m.writeRow(cells...)
	}
	m.Put("\n")
}

func (m *markdown) writeRow(cells ...string) {
	for i, c := range cells {
		if c == "" {
			cells[i] = " "
		}
	}
	m.Put("| ", strings.Join(cells, " | "), " |\n")
}

func (m *markdown) writeFailures() error {
	n, more := 0, 0
	all, shown := explain.Causes{Verbose: m.Verbose}, map[*explain.Cause]bool{}
	var same []string
	for c, err := range m.run.Cases.NotPassed() {
		if err != nil {
			return err
		}
		why, first := all.Find(c)
		if !first && shown[why] && why.Others <= explain.MostNames {
			text := code(c.Name)
			if c.Row != nil || why.Rows && !slices.Contains(why.Messages, c.Message) {
				text += "  \n  " + code(explain.Reason(c))
			}
			same = append(same, text)
			continue
		}
		if !first || n == mdFailures && !m.Verbose {
			more++
			continue
		}
		shown[why] = true
		n++
		if n == 1 {
			m.Put("### Failures\n\n")
		}
		m.writeFailure(c)
	}
	if len(same) > 0 {
		m.Put("Failed for a reason given above:\n\n")
		for _, text := range same {
			m.Put("- ", text, "\n")
		}
		m.Put("\n")
	}
	if more > 0 {
		m.Put(fmt.Sprintf("… and %s not shown here.\n\n", display.Count(more, "more failure")))
	}
	return nil
}

func (m *markdown) writeFailure(c *result.Case) {
	file, line, _ := explain.FindLocation(c)
	m.Put("#### ", statusIcon[c.Status], " ", code(c.Name), "\n\n")
	m.Put(code(explain.Reason(c)), "  \n")
	m.Put(code(render.Place(file, line, 0)), "\n\n")
	text := m.x.TestCase(c)
	if len(text) > mdText && !m.Verbose {
		text = strings.ToValidUTF8(text[:mdText], "") + "\n…"
	}
	m.Put("<details><summary>Details</summary>\n\n", writeFenced(text), "\n</details>\n\n")
}

// runLevel writes failed hooks and steps, the warnings and the findings.
func (m *markdown) runLevel() {
	for i := range m.run.Phases {
		if ph := &m.run.Phases[i]; explain.Failed(ph.Status) {
			m.Put("#### ", statusIcon[ph.Status], " ", code(ph.Phase+": "+ph.Name), "\n\n")
			m.Put(writeFenced(m.x.Phase(ph)), "\n")
		}
	}
	m.writeWarnings()
	var rows [][]string
	for _, f := range explain.FoldFindings(m.run.Findings) {
		icon := "❌"
		switch f.Severity {
		case "warning":
			icon = "🟠"
		case "info":
			icon = "🔵"
		}
		rows = append(rows, []string{
			icon,
			cell(explain.KindOf(f)),
			cell(f.Server),
			strings.TrimSpace(cell(f.Message) + " " + cell(f.Excerpt)),
			cell(render.Place(f.File, f.Line, 0)),
		})
	}
	m.writeSection("Findings outside the tests", []string{"", "Kind", "Server", "Message", "Location"}, rows)
}

// writeWarnings lists the warnings of tests, equal ones once.
func (m *markdown) writeWarnings() {
	list, err := explain.Warnings(m.run)
	if err != nil {
		m.Fail(err)
		return
	}
	list = slices.DeleteFunc(list, func(w *explain.Warning) bool { return !w.Test })
	if len(list) == 0 {
		return
	}
	m.Put("### Warnings of tests\n\n")
	m.writeTable("Test", "Tests:", "Warning")
	most := len(list)
	if !m.Verbose {
		most = min(most, explain.MostWarnings)
	}
	for _, w := range list[:most] {
		m.writeRow(cell(w.Name), fmt.Sprint(w.More+1), cell(w.Text))
	}
	if more := len(list) - most; more > 0 {
		m.Put(fmt.Sprintf("\n… and %s not shown here.\n", display.Count(more, "more warning")))
	}
	m.Put("\n")
}

func (m *markdown) writeSuites(all []*explain.Section) {
	rows := lists.Map(all, func(s *explain.Section) []string {
		return append([]string{cell(s.Title()), cell(s.File)}, m.listTotals(s)...)
	})
	m.writeSection("Suites", append([]string{"Suite", "File"}, m.listTotalColumns()...), rows)
}

// listTotalColumns returns the columns of totals.
func (m *markdown) listTotalColumns() []string {
	names := []string{"Tests:", "Passed:", "Failed:", "Errors:", "Skipped:", "Time:"}
	if m.run.Summary.Inconclusive > 0 {
		names = slices.Insert(names, 4, "Inconclusive:")
	}
	return names
}

func (m *markdown) listTotals(s *explain.Section) []string {
	cells := []string{
		fmt.Sprint(s.Total),
		fmt.Sprint(s.Passed),
		fmt.Sprint(s.Failed),
		fmt.Sprint(s.Errored),
		fmt.Sprint(s.Skipped),
		render.Duration(s.MS),
	}
	if m.run.Summary.Inconclusive > 0 {
		cells = slices.Insert(cells, 4, fmt.Sprint(s.Inconclusive))
	}
	return cells
}

func (m *markdown) writeVariants() error {
	all, err := explain.ListVariants(m.run)
	var rows [][]string
	for _, v := range all {
		head := []string{statusIcon[v.Totals.Status()], cell(v.Server), cell(v.Name)}
		rows = append(rows, append(head, m.listTotals(&v.Totals)...))
	}
	m.writeSection("Variants", append([]string{"", "Server", "Variant"}, m.listTotalColumns()...), rows)
	return err
}

func (m *markdown) writeCoverage() {
	all := explain.ListCoverages(m.run, m.Verbose)
	var rows [][]string
	for _, c := range all {
		missing := strings.Join(lists.Map(c.Missing, cell), "; ")
		rows = append(rows, []string{cell(c.Server), cell(c.Line), missing})
	}
	m.writeSection("Coverage", []string{"Server", "Coverage", "Missing"}, rows)
	for _, c := range all {
		if c.Skeleton != "" {
			m.Put("<details><summary>Drafts of tests</summary>\n\n", writeFenced(c.Skeleton), "\n</details>\n\n")
		}
	}
}

func (m *markdown) writeRollups() {
	rows := lists.Map(m.run.Rollups, func(v result.Rollup) []string {
		return []string{cell(v.Name), render.Number(v.Mean), fmt.Sprint(v.Count)}
	})
	m.writeSection("Metric rollups", []string{"Metric", "Mean:", "Count:"}, rows)
}

func (m *markdown) writePhases() {
	columns := []string{"", "Phase", "Step", "Time:", "Message"}
	if len(m.run.Suites) > 1 {
		columns = slices.Insert(columns, 1, "File")
	}
	var rows [][]string
	for i := range m.run.Phases {
		ph := &m.run.Phases[i]
		cells := []string{
			statusIcon[ph.Status],
			cell(ph.Phase),
			cell(ph.Name),
			render.Duration(ph.DurationMS),
			cell(ph.Message),
		}
		if len(m.run.Suites) > 1 {
			cells = slices.Insert(cells, 1, cell(ph.File))
		}
		rows = append(rows, cells)
	}
	m.writeSection("Setup, hooks and teardown", columns, rows)
}

func (m *markdown) writeServers() {
	var rows [][]string
	for i := range m.run.Servers {
		s := &m.run.Servers[i]
		self, start := "", ""
		if s.ServerInfo != nil {
			self = strings.TrimSpace(s.ServerInfo.Name + " " + s.ServerInfo.Version)
		}
		if s.StartMS > 0 {
			start = render.Duration(s.StartMS)
		}
		var remarks []string
		if s.Insecure {
			remarks = append(remarks, "TLS certificate not verified")
		}
		if s.Starts > 1 {
			remarks = append(remarks, fmt.Sprintf("%d starts", s.Starts))
		}
		if s.Exit != "" {
			remarks = append(remarks, s.Exit)
		}
		rows = append(rows, []string{
			cell(s.Name),
			cell(self),
			cell(s.Transport),
			cell(s.Protocol),
			start,
			cell(strings.Join(remarks, ", ")),
		})
	}
	m.writeSection("Servers", []string{"Server", "Name and version", "Transport", "Protocol", "Start:", "Remarks"},
		rows)
}
