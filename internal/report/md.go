package report

import (
	"bufio"
	"fmt"
	"io"
	"slices"
	"strings"

	"mcptest/internal/display"
	"mcptest/internal/result"
	"mcptest/internal/term"
)

// How much a Markdown report shows: a step summary of GitHub may have 1 MiB.
const (
	mdFailures = 50
	mdTests    = 500
	mdText     = 12_000 // bytes of one explanation
)

// writeMarkdown writes GitHub Flavored Markdown, for step summaries and
// comments. Foreign text is written in code spans and fenced blocks
// only, where nothing is a link, a mention, a heading or HTML.
func writeMarkdown(w io.Writer, r *result.Run, o Options) error {
	all, err := sections(r)
	if err != nil {
		return err
	}
	bw := bufio.NewWriter(w)
	m := &markdown{out: out{w: bw}, run: r, Options: o, x: newExplainer(r, Options{Headlined: true})}
	m.head()
	if err := m.failures(); err != nil {
		return err
	}
	m.runLevel()
	m.suites(all)
	if err := m.tests(all); err != nil {
		return err
	}
	m.rollups()
	m.phases()
	m.servers()
	if m.err != nil {
		return m.err
	}
	return bw.Flush()
}

type markdown struct {
	out
	Options
	run *result.Run
	x   *explainer
}

// ticks is the longest run of backticks in s.
func ticks(s string) (most int) {
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
func code(s string) string { return span(s, false) }

func cell(s string) string { return span(s, true) }

func span(s string, table bool) string {
	s = oneLine(s, longest)
	if strings.TrimSpace(s) == "" {
		return ""
	}
	fence := strings.Repeat("`", ticks(s)+1)
	if strings.HasPrefix(s, "`") || strings.HasSuffix(s, "`") || strings.HasPrefix(s, " ") && strings.HasSuffix(s, " ") {
		s = " " + s + " "
	}
	if table {
		s = strings.ReplaceAll(s, "|", `\|`)
	}
	return fence + s + fence
}

// fenced writes escaped text of several lines as a block.
func fenced(text string) string {
	fence := strings.Repeat("`", max(3, ticks(text)+1))
	return fence + "text\n" + text + "\n" + fence + "\n"
}

var statusIcon = map[result.Status]string{result.Pass: "✅", result.Fail: "❌", result.Error: "💥", result.Skip: "⚪"}

func (m *markdown) head() {
	word, _ := verdict(m.run)
	icon := "✅"
	switch {
	case m.run.ExitCode == 7:
		icon = "🟠"
	case m.run.ExitCode != 0:
		icon = "❌"
	}
	p := newPrinter(nil, m.run, Options{})
	_, counts, _ := strings.Cut(summary(p, m.run), "  ")
	m.put("## ", icon, " ", strings.ToUpper(word[:1]), strings.ToLower(word[1:]), "\n\n", counts, "\n\n")
	if m.run.Command != "" {
		m.put(code(m.run.Command), "\n\n")
	}
	for _, n := range m.run.Notes {
		m.put("> **Note** ", code(n), "\n\n")
	}
}

// table starts a table. A colon at the end of a name aligns the
// column to the right.
func (m *markdown) table(names ...string) {
	rule := ""
	for i, n := range names {
		dashes := " --- |"
		if strings.HasSuffix(n, ":") {
			names[i], dashes = strings.TrimSuffix(n, ":"), " ---: |"
		}
		rule += dashes
	}
	m.put("| ", strings.Join(names, " | "), " |\n|", rule, "\n")
}

func (m *markdown) row(cells ...string) {
	for i, c := range cells {
		if c == "" {
			cells[i] = " "
		}
	}
	m.put("| ", strings.Join(cells, " | "), " |\n")
}

func (m *markdown) failures() error {
	n, more := 0, 0
	all, shown := causes{verbose: m.Verbose}, map[*cause]bool{}
	var same []string
	for c, err := range result.Select(m.run.Cases, result.Fail, result.Error) {
		if err != nil {
			return err
		}
		why, explain := all.of(c)
		if !explain && shown[why] && why.others <= mostNames {
			text := code(c.Name)
			if why.rows && !slices.Contains(why.messages, c.Message) {
				text += "  \n  " + code(failureReason(c))
			}
			same = append(same, text)
			continue
		}
		if !explain || n == mdFailures && !m.Verbose {
			more++
			continue
		}
		shown[why] = true
		if n++; n == 1 {
			m.put("### Failures\n\n")
		}
		m.failure(c)
	}
	if len(same) > 0 {
		m.put("Failed for a reason given above:\n\n")
		for _, text := range same {
			m.put("- ", text, "\n")
		}
		m.put("\n")
	}
	if more > 0 {
		m.put(fmt.Sprintf("… and %s not shown here.\n\n", display.Count(more, "more failure")))
	}
	return m.err
}

func (m *markdown) failure(c *result.Case) {
	file, line, _ := location(c)
	m.put("#### ", statusIcon[c.Status], " ", code(c.Name), "\n\n", code(failureReason(c)), "  \n", code(place(file, line, 0)), "\n\n")
	text := m.x.testCase(c)
	if len(text) > mdText && !m.Verbose {
		text = strings.ToValidUTF8(text[:mdText], "") + "\n…"
	}
	m.put("<details><summary>Details</summary>\n\n", fenced(text), "\n</details>\n\n")
}

// runLevel writes failed hooks and steps, the warnings and the findings.
func (m *markdown) runLevel() {
	for i := range m.run.Phases {
		if ph := &m.run.Phases[i]; broke(ph.Status) {
			m.put("#### ", statusIcon[ph.Status], " ", code(ph.Phase+": "+ph.Name), "\n\n", fenced(m.x.phase(ph)), "\n")
		}
	}
	m.warnings()
	if len(m.run.Findings) == 0 {
		return
	}
	m.put("### Findings outside the tests\n\n")
	m.table("", "Kind", "Server", "Message", "Location")
	for _, f := range folded(m.run.Findings) {
		icon := "❌"
		switch f.Severity {
		case "warning":
			icon = "🟠"
		case "info":
			icon = "🔵"
		}
		m.row(icon, cell(f.Kind), cell(f.Server), strings.TrimSpace(cell(f.Message)+" "+cell(f.Excerpt)), cell(place(f.File, f.Line, 0)))
	}
	m.put("\n")
}

// warnings lists the warnings of tests, equal ones once.
func (m *markdown) warnings() {
	list, err := warnings(m.run)
	if err != nil {
		m.err = err
		return
	}
	list = slices.DeleteFunc(list, func(w *warned) bool { return !w.test })
	if len(list) == 0 {
		return
	}
	m.put("### Warnings of tests\n\n")
	m.table("Test", "Tests:", "Warning")
	most := len(list)
	if !m.Verbose {
		most = min(most, mostWarned)
	}
	for _, w := range list[:most] {
		m.row(cell(w.name), fmt.Sprint(w.more+1), cell(w.text))
	}
	if more := len(list) - most; more > 0 {
		m.put(fmt.Sprintf("\n… and %s not shown here.\n", display.Count(more, "more warning")))
	}
	m.put("\n")
}

func (m *markdown) suites(all []*section) {
	if len(all) == 0 {
		return
	}
	m.put("### Suites\n\n")
	m.table("Suite", "File", "Tests:", "Passed:", "Failed:", "Errors:", "Skipped:", "Time:")
	for _, s := range all {
		passed := s.total - s.failed - s.errored - s.skipped
		m.row(cell(s.title()), cell(s.file), fmt.Sprint(s.total), fmt.Sprint(passed), fmt.Sprint(s.failed), fmt.Sprint(s.errored), fmt.Sprint(s.skipped), duration(s.ms))
	}
	m.put("\n")
}

func (m *markdown) rollups() {
	if len(m.run.Rollups) == 0 {
		return
	}
	m.put("### Metric rollups\n\n")
	m.table("Metric", "Mean:", "Count:")
	for _, v := range m.run.Rollups {
		m.row(cell(v.Name), number(v.Mean), fmt.Sprint(v.Count))
	}
	m.put("\n")
}

func (m *markdown) phases() {
	if len(m.run.Phases) == 0 {
		return
	}
	m.put("### Setup, hooks and teardown\n\n")
	if len(m.run.Suites) < 2 {
		m.table("", "Phase", "Step", "Time:", "Message")
	} else {
		m.table("", "File", "Phase", "Step", "Time:", "Message")
	}
	for i := range m.run.Phases {
		ph := &m.run.Phases[i]
		cells := []string{statusIcon[ph.Status], cell(ph.Phase), cell(ph.Name), duration(ph.DurationMS), cell(ph.Message)}
		if len(m.run.Suites) > 1 {
			cells = slices.Insert(cells, 1, cell(ph.File))
		}
		m.row(cells...)
	}
	m.put("\n")
}

func (m *markdown) servers() {
	if len(m.run.Servers) == 0 {
		return
	}
	m.put("### Servers\n\n")
	m.table("Server", "Name and version", "Transport", "Protocol", "Start:", "Remarks")
	for i := range m.run.Servers {
		s := &m.run.Servers[i]
		self, start := "", ""
		if s.ServerInfo != nil {
			self = strings.TrimSpace(s.ServerInfo.Name + " " + s.ServerInfo.Version)
		}
		if s.StartMS > 0 {
			start = duration(s.StartMS)
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
		m.row(cell(s.Name), cell(self), cell(s.Transport), cell(s.Protocol), start, cell(strings.Join(remarks, ", ")))
	}
	m.put("\n")
}

func (m *markdown) tests(all []*section) error {
	if len(all) == 0 {
		return nil
	}
	n := 0
	m.put("<details><summary>All tests</summary>\n\n")
	m.table("", "Test", "Server", "Time:", "Score:", "Remarks")
	p := newPrinter(nil, m.run, Options{})
	for c, err := range m.run.Cases.All() {
		if err != nil {
			return err
		}
		if n++; n > mdTests && !m.Verbose {
			break
		}
		score, remarks := "", strings.TrimSpace(remarks(p, c))
		if c.Score != nil {
			score = number(*c.Score)
		}
		if c.Status == result.Skip {
			remarks = failureReason(c)
		}
		m.row(statusIcon[c.Status], cell(c.Name), cell(c.Server), duration(c.DurationMS), score, cell(term.Escape(remarks)))
	}
	if n > mdTests && !m.Verbose {
		m.put(fmt.Sprintf("\n… and %s.\n", display.Count(m.run.Cases.Len()-mdTests, "more test")))
	}
	m.put("\n</details>\n\n")
	return m.err
}
