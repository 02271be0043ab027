package ci

import (
	"fmt"
	"slices"
	"strings"

	"mcptest/internal/base/display"
	"mcptest/internal/base/term"
	"mcptest/internal/report/explain"
	"mcptest/internal/report/render"
	"mcptest/internal/report/result"
)

func (m *markdown) tests(all []*explain.Section) error {
	if len(all) == 0 {
		return nil
	}
	n := 0
	var asked []*result.Case // by the server, of upstreams
	m.Put("<details><summary>All tests</summary>\n\n")
	m.writeTable("", "Test", "Server", "Time:", "Score:", "Remarks")
	p := render.NewPrinter(nil, m.run, render.Options{})
	for c, err := range m.run.Cases.All() {
		if err != nil {
			return err
		}
		n++
		if n > mdTests && !m.Verbose {
			break
		}
		if len(c.Upstream) > 0 && len(asked) < mdAsked {
			asked = append(asked, c)
		}
		score, remarks := "", strings.TrimSpace(explain.WriteRemarks(p, c))
		if c.Score != nil {
			score = render.Number(*c.Score)
		}
		if c.Status == result.Skip {
			remarks = explain.Reason(c)
		}
		m.writeRow(statusIcon[c.Status], cell(c.Name), cell(c.Server), render.Duration(c.DurationMS), score, cell(term.Escape(remarks)))
	}
	if n > mdTests && !m.Verbose {
		m.Put(fmt.Sprintf("\n… and %s.\n", display.Count(m.run.Cases.Len()-mdTests, "more test")))
	}
	m.Put("\n</details>\n\n")
	m.writeRequests(asked)
	return nil
}

// writeRequests lists what servers requested of upstreams. A test that failed also has
// it in its explanation.
func (m *markdown) writeRequests(tests []*result.Case) {
	if len(tests) == 0 {
		return
	}
	m.Put("<details><summary>Requests to upstreams</summary>\n\n")
	m.writeTable("Test", "Request")
	for _, c := range tests {
		for i := range c.Upstream[:min(len(c.Upstream), mdRequests)] {
			m.writeRow(cell(c.Name), cell(explain.FormatUpstream(&c.Upstream[i])))
		}
		if more := len(c.Upstream) - mdRequests; more > 0 {
			m.writeRow(cell(c.Name), "… and "+display.Count(more, "more request"))
		}
	}
	m.Put("\n</details>\n\n")
}

// writeTrials lists the shares of tests with trials or repeat, with their intervals: one row
// for each test and server or model.
func (m *markdown) writeTrials() error {
	var rows [][]string
	for c, err := range m.run.Cases.All() {
		if err != nil {
			return err
		}
		s, ok := explain.ShareOf(c)
		if !ok || len(rows) == mdTests && !m.Verbose {
			continue
		}
		wanted := ""
		if d := c.Trials; d != nil {
			wanted = render.Number(d.Want) + ", floor " + render.Number(d.Floor)
		} else {
			wanted = render.Number(c.Repeat.Rate)
		}
		rows = append(rows, []string{
			statusIcon[c.Status],
			cell(c.Name),
			cell(c.Server),
			fmt.Sprintf("%d of %d", s.Passed, s.N),
			render.Bound(s.Low) + " to " + render.Bound(s.High),
			wanted,
		})
	}
	m.writeSection("Shares of passes", []string{"", "Test", "Server", "Passed:", "95 % interval:", "Wanted:"}, rows)
	return nil
}

// writeModels writes a table of the tests that ran with several models: a row for each test, a
// column for each model, or model and server. A share has its number and interval.
func (m *markdown) writeModels() error {
	var tests [][2]string // file and name
	head, columns, texts := []string{"Test"}, []string{}, map[[3]string]string{}
	for c, err := range m.run.Cases.All() {
		if err != nil {
			return err
		}
		name, model := explain.SplitModel(c)
		test := [2]string{c.File, name}
		listed := slices.Contains(tests, test)
		if model == "" || !listed && len(tests) == mdTests && !m.Verbose {
			continue
		}
		if !listed {
			tests = append(tests, test)
		}
		if strings.HasSuffix(c.Name, " @"+c.Server) {
			model += " @" + c.Server
		}
		if !slices.Contains(columns, model) {
			head, columns = append(head, cell(model)), append(columns, model)
		}
		text := statusIcon[c.Status]
		if s, ok := explain.ShareOf(c); ok {
			text += " " + s.String()
		} else if c.Status == result.Pass || c.Status == result.Fail { // others are no trials
			text += " 1 trial"
		}
		texts[[3]string{c.File, name, model}] = text
	}
	var rows [][]string
	for _, test := range tests {
		row := []string{cell(test[1])}
		for _, model := range columns {
			row = append(row, texts[[3]string{test[0], test[1], model}])
		}
		rows = append(rows, row)
	}
	m.writeSection("Models", head, rows)
	return nil
}
