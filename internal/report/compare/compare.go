package compare

import (
	"cmp"
	"fmt"
	"io"
	"math"
	"slices"

	"mcptest/internal/base/display"
	"mcptest/internal/base/term"
	"mcptest/internal/report/explain"
	"mcptest/internal/report/render"
	"mcptest/internal/report/result"
)

// Change is the difference of one test between two runs.
type Change struct {
	Name        string        `json:"name"`
	File        string        `json:"file"`
	Before      result.Status `json:"before,omitempty"` // absent: the test is new
	After       result.Status `json:"after,omitempty"`  // absent: the test is gone
	Message     string        `json:"message,omitempty"`
	BeforeMS    float64       `json:"before_ms,omitempty"`
	AfterMS     float64       `json:"after_ms,omitempty"`
	BeforeScore *float64      `json:"before_score,omitempty"`
	AfterScore  *float64      `json:"after_score,omitempty"`
}

// MetricChange is the difference of the mean of a metric.
type MetricChange struct {
	Name   string   `json:"name"`
	Before *float64 `json:"before,omitempty"`
	After  *float64 `json:"after,omitempty"`
}

// Comparison is the difference between two runs. Tests match by suite and name, and by
// their order if several have the same name. A suite is the same if its file is, or if
// the file was renamed or moved, or the runs were started in different folders: see renamed.
type Comparison struct {
	Schema       string         `json:"schema"` // "mcptest.comparison/v1"
	Before       result.Summary `json:"before"`
	After        result.Summary `json:"after"`
	NewlyFailing []Change       `json:"newly_failing"` // did not pass now, but passed before, were skipped or did not exist, or failed for a lesser reason
	Fixed        []Change       `json:"fixed"`         // did not pass, and pass now
	StillFailing []Change       `json:"still_failing"`
	Slower       []Change       `json:"slower"`
	Faster       []Change       `json:"faster"`
	Scores       []Change       `json:"scores"`
	Skipped      []Change       `json:"skipped"` // ran before, and are skipped now
	Added        []Change       `json:"added"`   // new, and do not fail
	Removed      []Change       `json:"removed"`
	Metrics      []MetricChange `json:"metrics"`
	Pairs        []Pairs        `json:"trials,omitempty"`
	// Incomplete is the reason why the later record is not a complete verdict: it was
	// truncated, its run was interrupted, or it has no tests. That counts as a
	// regression.
	Incomplete string `json:"incomplete,omitempty"`
	// RunFailures are the run-level failures of the later run only.
	RunFailures []RunFailure `json:"run_failures"`
	Regression  bool         `json:"regression"`

	marks map[int]string // of the tests of the later run, by their index
}

// Page returns the options of an html report of the later run that shows the changes.
func (c *Comparison) Page() render.Options {
	return render.Options{Changed: c.counts(), Changes: c.marks}
}

// Options set the thresholds of differences.
type Options struct {
	Slower float64 // factor from which a test counts as slower; 0: 1.5
	MS     float64 // minimum difference in milliseconds; 0: 50
	Score  float64 // minimum change of a score; 0: 0.01
	// Variants are two variants of a server, the earlier and the later one, whose tests are
	// compared; "" is the server without a variant. Nil: all tests, by their names.
	Variants []string
}

// earlier is the data of a test of the older run.
type earlier struct {
	status     result.Status
	violations []string // kinds
	ms         float64
	score      *float64
	trials     []result.Status
	seen       bool
	change     Change
}

type testKey struct {
	file, name string
	n          int
}

// fillDefaults returns the options with the limits that are not given.
func (o Options) fillDefaults() Options {
	o.Slower = cmp.Or(o.Slower, 1.5)
	o.MS = cmp.Or(o.MS, 50)
	o.Score = cmp.Or(o.Score, 0.01)
	return o
}

// newComparison returns a comparison that found nothing. Its lists are not null in JSON.
func newComparison() *Comparison {
	return &Comparison{
		Schema:       "mcptest.comparison/v1",
		NewlyFailing: []Change{},
		Fixed:        []Change{},
		StillFailing: []Change{},
		Slower:       []Change{},
		Faster:       []Change{},
		Scores:       []Change{},
		Skipped:      []Change{},
		Added:        []Change{},
		Removed:      []Change{},
		RunFailures:  []RunFailure{},
		Metrics:      []MetricChange{},
		marks:        map[int]string{},
	}
}

// Runs compares two runs.
func Runs(before, after *result.Run, o Options) (*Comparison, error) {
	o = o.fillDefaults()
	c := newComparison()
	old := map[testKey]*earlier{}
	var order []testKey
	count := map[[2]string]int{}
	for t, err := range before.Cases.All() {
		if err != nil {
			return nil, err
		}
		name, ok := o.testName(0, t)
		if !ok {
			continue
		}
		c.Before.Add(t)
		count[[2]string{t.File, name}]++
		k := testKey{t.File, name, count[[2]string{t.File, name}]}
		old[k] = &earlier{
			status:     t.Status,
			violations: listViolatedKinds(t),
			ms:         t.DurationMS,
			score:      t.Score,
			trials:     listOutcomes(t),
			change:     Change{Name: t.Name, File: t.File, Before: t.Status, BeforeMS: t.DurationMS},
		}
		order = append(order, k)
	}
	clear(count)
	names := findRenamedFiles(before, after)
	for t, err := range after.Cases.All() {
		if err != nil {
			return nil, err
		}
		name, ok := o.testName(1, t)
		if !ok {
			continue
		}
		c.After.Add(t)
		file := cmp.Or(names[t.File], t.File)
		count[[2]string{file, name}]++
		c.test(old[testKey{file, name, count[[2]string{file, name}]}], t, o)
	}
	if o.Variants == nil { // the metrics of a record are those of all its tests
		c.Before, c.After = before.Summary, after.Summary
		c.compareMetrics(before, after)
	}
	for _, k := range order {
		if !old[k].seen {
			c.Removed = append(c.Removed, old[k].change)
		}
	}
	c.Incomplete = after.DescribeUnfinished()
	if c.Incomplete == "" && c.After.Total == 0 && c.Before.Total > 0 {
		c.Incomplete = "it has no tests"
	}
	c.runs(before, after, names)
	c.Regression = len(c.NewlyFailing) > 0 || len(c.RunFailures) > 0 || c.Incomplete != ""
	return c, nil
}

func (c *Comparison) test(was *earlier, t *result.Case, o Options) {
	ch := Change{Name: t.Name, File: t.File, After: t.Status, AfterMS: t.DurationMS, AfterScore: t.Score}
	if t.Status != result.Pass {
		ch.Message = t.Message
	}
	if was == nil {
		c.marks[t.Index] = "new"
		if explain.Failed(t.Status) {
			c.NewlyFailing = append(c.NewlyFailing, ch)
		} else {
			c.Added = append(c.Added, ch)
		}
		return
	}
	was.seen = true
	c.addPair(was.trials, t)
	ch.Before, ch.BeforeMS, ch.BeforeScore = was.status, was.ms, was.score
	switch {
	case explain.Failed(t.Status) && explain.Failed(was.status) && !isWorse(was, t):
		c.StillFailing = append(c.StillFailing, ch)
	case explain.Failed(t.Status):
		c.NewlyFailing = append(c.NewlyFailing, ch)
		c.marks[t.Index] = "before: " + string(was.status)
	case t.Status == result.Pass && explain.Failed(was.status):
		c.Fixed = append(c.Fixed, ch)
		c.marks[t.Index] = "fixed"
	case t.Status == result.Skip && was.status != result.Skip:
		c.Skipped = append(c.Skipped, ch)
	}
	if t.Status == result.Pass && was.status == result.Pass {
		d := t.DurationMS - was.ms
		switch {
		case d >= o.MS && t.DurationMS >= o.Slower*was.ms:
			c.Slower = append(c.Slower, ch)
			c.marks[t.Index] = describeTimes(&ch)
		case -d >= o.MS && was.ms >= o.Slower*t.DurationMS:
			c.Faster = append(c.Faster, ch)
			c.marks[t.Index] = describeTimes(&ch)
		}
	}
	if was.score != nil && t.Score != nil && math.Abs(*was.score-*t.Score) >= o.Score-1e-12 {
		c.Scores = append(c.Scores, ch)
	}
}

// listViolatedKinds returns the kinds of violations that made a test fail.
func listViolatedKinds(t *result.Case) []string {
	var kinds []string
	for _, v := range t.Violations {
		if !v.Tolerated {
			kinds = append(kinds, v.Kind)
		}
	}
	return kinds
}

// isWorse reports whether a test that failed before now fails for a more severe reason:
// it gets no response, or the server violates the protocol in another way.
func isWorse(was *earlier, t *result.Case) bool {
	return was.status == result.Fail && t.Status == result.Error ||
		slices.ContainsFunc(listViolatedKinds(t), func(kind string) bool {
			return !slices.Contains(was.violations, kind)
		})
}

func (c *Comparison) compareMetrics(before, after *result.Run) {
	at := map[string]int{}
	for _, m := range before.Rollups {
		at[m.Name] = len(c.Metrics)
		c.Metrics = append(c.Metrics, MetricChange{Name: m.Name, Before: new(m.Mean)})
	}
	for _, m := range after.Rollups {
		if i, ok := at[m.Name]; ok {
			c.Metrics[i].After = new(m.Mean)
			continue
		}
		c.Metrics = append(c.Metrics, MetricChange{Name: m.Name, After: new(m.Mean)})
	}
}

// WriteText writes a comparison for people.
func (c *Comparison) WriteText(w io.Writer, o render.Options) error {
	p := render.NewPrinter(w, &result.Run{}, o)
	status := func(ch *Change) string {
		return cmp.Or(string(ch.Before), "new") + " → " + cmp.Or(string(ch.After), "gone")
	}
	listRunFailures(p, c.RunFailures)
	printChanges(p, "Newly failing", term.Bad, "✗ ", c.NewlyFailing, status)
	printChanges(p, "Fixed", term.Good, "✓ ", c.Fixed, status)
	printChanges(p, "Slower", term.Warn, "▲ ", c.Slower, describeTimes)
	printChanges(p, "Faster", term.Good, "▼ ", c.Faster, describeTimes)
	printChanges(p, "Changed scores", term.Warn, "~ ", c.Scores, func(ch *Change) string {
		return fmt.Sprintf("%s → %s (%+.3f)", render.Number(*ch.BeforeScore), render.Number(*ch.AfterScore), *ch.AfterScore-*ch.BeforeScore)
	})
	printChanges(p, "No longer run", term.Faint, "- ", c.Skipped, status)
	printChanges(p, "Removed", term.Faint, "- ", c.Removed, status)
	listPairs(p, c.Pairs)
	printMetrics(p, c.Metrics)
	p.Blank()
	countTable(p, c)
	word, st := "NO REGRESSION", term.Good
	if c.Regression {
		word, st = "REGRESSION", term.Bad
	}
	p.Blank()
	if c.Incomplete != "" {
		p.Line(0, p.Paint(term.Bad, "The later record is incomplete: "), term.Escape(c.Incomplete))
	}
	p.Line(0, p.Paint(st, word), "  ", c.counts())
	return p.Flush()
}

func describeTimes(ch *Change) string {
	return fmt.Sprintf("%s → %s (%.1f×)", render.Duration(ch.BeforeMS), render.Duration(ch.AfterMS), ch.AfterMS/max(ch.BeforeMS, 0.001))
}

// counts sums up the changes. Tests that ran before and did not run now are named if
// there are some.
func (c *Comparison) counts() string {
	scores := display.Count(len(c.Scores), "changed score")
	text := fmt.Sprintf("%d newly failing, %d fixed, %d still failing, %d slower, %s",
		len(c.NewlyFailing), len(c.Fixed), len(c.StillFailing), len(c.Slower), scores)
	if n := len(c.Skipped); n > 0 {
		text += fmt.Sprintf(", %d no longer run", n)
	}
	if n := len(c.Removed); n > 0 {
		text += fmt.Sprintf(", %d removed", n)
	}
	return text
}

func printChanges(
	p *render.Printer, title string, st term.Style, mark string, list []Change, says func(*Change) string,
) {
	if len(list) == 0 {
		return
	}
	p.Heading(fmt.Sprintf("%s (%d)", title, len(list)))
	width := 0
	for i := range list {
		width = max(width, min(60, display.Width(term.Escape(list[i].Name))))
	}
	for i := range list {
		ch := &list[i]
		if i == explain.MostFailures && !p.Verbose {
			p.Line(2, p.Faint(fmt.Sprintf("… and %d more", len(list)-i)))
			return
		}
		name := term.Pad(term.Escape(ch.Name), width)
		p.Line(2, p.Paint(st, mark), name, "  ", says(ch), p.Faint("  "+term.Escape(ch.File)))
		if ch.Message != "" {
			p.Line(6, p.Faint(render.OneLine(ch.Message, render.LongestLine)))
		}
	}
}

func printMetrics(p *render.Printer, list []MetricChange) {
	if len(list) == 0 {
		return
	}
	p.Heading("Metric rollups")
	width := 0
	for _, m := range list {
		width = max(width, display.Width(term.Escape(m.Name)))
	}
	for _, m := range list {
		value := func(v *float64) string {
			if v == nil {
				return "–"
			}
			return render.Number(*v)
		}
		change := ""
		if m.Before != nil && m.After != nil {
			change = fmt.Sprintf(" (%+.3f)", *m.After-*m.Before)
		}
		p.Line(2, term.Pad(term.Escape(m.Name), width), "  mean ", value(m.Before), " → ", value(m.After), p.Faint(change))
	}
}

// countTable writes the counts of both runs.
func countTable(p *render.Printer, c *Comparison) {
	p.Line(2, p.Faint("             before    after"))
	row := func(name string, a, b int) {
		p.Line(2, term.Pad(name, 10), term.PadLeft(fmt.Sprint(a), 9), term.PadLeft(fmt.Sprint(b), 9))
	}
	row("tests", c.Before.Total, c.After.Total)
	row("passed", c.Before.Passed, c.After.Passed)
	row("failed", c.Before.Failed, c.After.Failed)
	row("errors", c.Before.Errored, c.After.Errored)
	if c.Before.Inconclusive+c.After.Inconclusive > 0 {
		row("undecided", c.Before.Inconclusive, c.After.Inconclusive)
	}
	row("skipped", c.Before.Skipped, c.After.Skipped)
}

// runs finds the failures of only the later run. names maps its files to those of the
// earlier run.
func (c *Comparison) runs(before, after *result.Run, names map[string]string) {
	key := func(f RunFailure, file string) RunFailure {
		if f.Name != "" { // a failed hook or step is the same failure even if its message differs
			return RunFailure{Kind: f.Kind, Name: f.Name, File: file}
		}
		return RunFailure{Kind: f.Kind, Server: f.Server, Message: maskNumbers(f.Message)}
	}
	known := map[RunFailure]bool{}
	for _, f := range runFailures(before) {
		known[key(f, f.File)] = true
	}
	all := runFailures(after)
	for _, f := range all {
		if k := key(f, cmp.Or(names[f.File], f.File)); !known[k] {
			known[k] = true
			c.RunFailures = append(c.RunFailures, f)
		}
	}
	explained := len(all) > 0 || after.Summary.Failed+after.Summary.Errored+after.Summary.Inconclusive > 0 || c.Incomplete != ""
	if after.ExitCode != 0 && after.ExitCode != before.ExitCode && !explained {
		c.RunFailures = append(c.RunFailures, RunFailure{
			Kind: "exit-code", Message: fmt.Sprintf("the exit code is %d, and was %d", after.ExitCode, before.ExitCode),
		})
	}
}

// lists returns the lists of changes.
func (c *Comparison) lists() []*[]Change {
	return []*[]Change{
		&c.NewlyFailing,
		&c.Fixed,
		&c.StillFailing,
		&c.Slower,
		&c.Faster,
		&c.Scores,
		&c.Skipped,
		&c.Added,
		&c.Removed,
	}
}

// WriteJSON writes a comparison as JSON.
func (c *Comparison) WriteJSON(w io.Writer) error {
	o := render.NewJSON(w)
	safe := *c
	for _, list := range safe.lists() {
		clean := make([]Change, len(*list))
		for i, ch := range *list {
			ch.Name, ch.File, ch.Message = term.Escape(ch.Name), term.Escape(ch.File), term.Escape(ch.Message)
			clean[i] = ch
		}
		*list = clean
	}
	safe.Pairs = slices.Clone(c.Pairs)
	for i := range safe.Pairs {
		pair := &safe.Pairs[i]
		pair.Name = term.Escape(pair.Name)
		pair.File = term.Escape(pair.File)
	}
	safe.RunFailures = make([]RunFailure, len(c.RunFailures))
	for i, f := range c.RunFailures {
		f.Kind, f.Name, f.Server = term.Escape(f.Kind), term.Escape(f.Name), term.Escape(f.Server)
		f.Message, f.File = term.Escape(f.Message), term.Escape(f.File)
		safe.RunFailures[i] = f
	}
	o.Value(safe)
	o.Put("\n")
	return o.Flush()
}
