package report

import (
	"bytes"
	"encoding/json"
	"fmt"
	"html"
	"strings"

	"mcptest/internal/result"
	"mcptest/internal/term"
)

// openMost is up to how many failures are shown unfolded.
const openMost = 30

// tests writes the list of all tests, under their suites.
func (p *page) tests(all []*section) error {
	many := ""
	if p.many() { // what is not in view is not laid out
		many = ` class="many"`
	}
	p.put("<section aria-labelledby=\"tests\"", many, ">\n<h2 id=\"tests\">Tests</h2>\n")
	p.toolbar()
	open := false
	err := bySection(p.run, all, func(s *section, first bool, c *result.Case) error {
		if first {
			if open {
				p.put("</div></div>\n")
			}
			open = true
			file := ""
			if s.file != "" && s.file != s.title() {
				file = esc(s.file) + " · "
			}
			p.put(`<div class="suite"><h3>`, esc(s.title()), "<small>", file, count(s.total, "test"), " · ", duration(s.ms), "</small></h3>\n<div class=\"list\">\n")
		}
		p.testCase(c)
		return p.err
	})
	if err != nil {
		return err
	}
	if open {
		p.put("</div></div>\n")
	}
	hidden := " hidden"
	if p.run.Summary.Total == 0 {
		hidden = ""
	}
	p.put(`<p class="empty card" id="empty"`, hidden, ">No test to show.</p>\n</section>\n")
	return p.err
}

// many reports whether the page holds so many tests that it is written with
// fewer elements, in order to open fast.
func (p *page) many() bool { return p.run.Summary.Total > 500 }

func (p *page) toolbar() {
	s := p.run.Summary
	p.put(`<div class="tools" hidden role="search"><label for="search" class="skip">Search tests</label>`,
		`<input id="search" type="search" placeholder="Search names, messages, servers, tags" autocomplete="off" spellcheck="false">`, "<div class=\"chips\">")
	chip := func(key, name string, n int) {
		if n > 0 {
			p.put(fmt.Sprintf(`<button type="button" data-w="%s" aria-pressed="false">%s %d</button>`, key, name, n))
		}
	}
	chip("fail", "Failed", s.Failed)
	chip("error", "Error", s.Errored)
	chip("pass", "Passed", s.Passed)
	chip("skip", "Skipped", s.Skipped)
	chip("flaky", "Flaky", s.Flaky)
	p.put(`</div><button type="button" id="openall">Expand</button><span class="shown" id="shown" role="status"></span></div>`, "\n")
}

func (p *page) testCase(c *result.Case) {
	attrs := ""
	if c.Flaky {
		attrs += " data-f"
	}
	if broke(c.Status) && p.run.Summary.Failed+p.run.Summary.Errored <= openMost {
		attrs += " open"
	}
	p.put(fmt.Sprintf(`<details class="t" id="t%d" data-s="%s"`, c.Index, statusClass(c.Status)), attrs,
		` data-k="`, esc(strings.Join(append([]string{c.Server, c.Call, c.File}, c.Tags...), " ")), `"><summary>`, mark(c.Status), `<span class="n"><b>`, esc(c.Name), "</b>")
	p.tags(c)
	took := ""
	if c.DurationMS > 0 {
		took = duration(c.DurationMS)
	}
	p.put(`</span><span class="d">`, took, "</span>")
	if c.Message != "" {
		p.put(`<span class="m msg-`, statusClass(c.Status), `">`, html.EscapeString(oneLine(c.Message, longest)), "</span>")
	}
	p.put("</summary><div class=\"in\">")
	p.detail(c)
	p.put("</div></details>\n")
}

// tags are what a reader of a closed test must not overlook.
func (p *page) tags(c *result.Case) {
	tag := func(class, text string) { p.put(`<span class="tag`, class, `">`, html.EscapeString(text), "</span>") }
	if c.Score != nil {
		tag("", "score "+number(*c.Score))
	}
	for _, m := range c.DerivedMetrics {
		tag("", term.Escape(m.Name)+" "+number(m.Value))
	}
	switch {
	case c.Flaky:
		tag(" w", fmt.Sprintf("flaky: passed on try %d of %d", passedOn(c), len(c.Attempts)))
	case len(c.Attempts) > 1:
		tag("", fmt.Sprintf("%d tries", len(c.Attempts)))
	}
	if r := c.Repeat; r != nil {
		tag("", fmt.Sprintf("%d of %d runs passed, %s%% needed", r.Passed, r.Times, number(r.Rate*100)))
	}
	if c.AfterRestart {
		tag(" w", "after a restart of the server")
	}
	if len(c.Warnings) > 0 {
		tag(" w", count(len(c.Warnings), "warning"))
	}
	if n := tolerated(c); n > 0 {
		tag(" w", count(n, "violation")+" tolerated")
	}
	if c.Implicit && c.Status == result.Pass {
		tag("", "nothing asserted")
	}
}

// detail is what is behind a test.
func (p *page) detail(c *result.Case) {
	p.put(`<p class="meta">`, html.EscapeString(p.p.whereabouts(c)))
	for _, t := range c.Tags {
		p.put(`<span class="tag">`, esc(t), "</span>")
	}
	p.put("</p>")
	if strings.Contains(strings.TrimSpace(c.Message), "\n") || len(c.Message) > longest {
		p.pre("", escLines(c.Message))
	}
	failed := failing(c.Assertions)
	if len(failed) > 0 {
		p.put(`<ul class="as">`)
		for i := range failed {
			p.assertion(c, &failed[i], alone(c, failed))
		}
		p.put("</ul>")
	}
	p.scores(c)
	p.passed(c)
	for _, v := range c.Violations {
		word := "violation"
		if v.Tolerated {
			word = "tolerated violation"
		}
		p.put("<h4>", word, "</h4><p><strong>", esc(v.Kind), "</strong> ", html.EscapeString(oneLine(v.Message, longest)), "</p>")
		if v.Excerpt != "" {
			p.pre("", escLines(v.Excerpt))
		}
	}
	p.attempts(c)
	for _, w := range c.Warnings {
		p.put(`<p><span class="tag w">warning</span> `, html.EscapeString(oneLine(w, longest)), "</p>")
	}
	for i := range c.Phases {
		ph := &c.Phases[i]
		p.put("<h4>", esc(ph.Phase), "</h4><p>", mark(ph.Status), " ", esc(ph.Name), ` <span class="meta">`, duration(ph.DurationMS), " ", html.EscapeString(oneLine(ph.Message, longest)), "</span></p>")
		if ph.Output != "" {
			p.pre("", escLines(ph.Output))
		}
	}
	if text := p.p.stderr(c); text != "" {
		p.put("<h4>server stderr</h4>")
		p.pre("", escLines(strings.TrimRight(text, "\n")))
	}
	for i := range c.Exchanges {
		p.exchange(&c.Exchanges[i])
	}
	if c.Repro != "" {
		p.put(`<div class="repro"><code>`, esc(c.Repro), `</code><button type="button" class="js-only" data-copy>Copy</button></div>`)
	}
}

// pre writes a block; the text must be escaped. A long one scrolls, and so it
// can be reached by the keyboard.
func (p *page) pre(class, text string) {
	attrs := ""
	if class != "" {
		attrs = ` class="` + class + `"`
	}
	if len(text) > 1200 || strings.Count(text, "\n") > 18 || class != "" {
		attrs += ` tabindex="0"`
	}
	p.put("<pre", attrs, ">", text, "</pre>")
}

func (p *page) assertion(c *result.Case, a *result.Assertion, said bool) {
	message, values := wording(a)
	p.put("<li>")
	if !said {
		p.put(mark(result.Fail), " <strong>", html.EscapeString(label(a)), "</strong>", html.EscapeString(p.p.weighed(a)))
		if message != "" && (!values || len(a.Diff) > 0 || !tells(a)) {
			p.put(`<p class="msg-fail">`, html.EscapeString(oneLine(message, 4*longest)), "</p>")
		}
	}
	switch {
	case len(a.Diff) > 0:
		p.diff(a.Diff)
	case values || said && (a.Expected != "" || a.Actual != ""):
		p.put(`<dl class="ea">`)
		if a.Expected != "" {
			p.put(`<dt>expected</dt><dd class="n-pass"><code>`, escLines(a.Expected), "</code></dd>")
		}
		if a.Actual != "" {
			p.put(`<dt>actual</dt><dd class="n-fail"><code>`, escLines(term.Truncate(a.Actual, 4000)), "</code></dd>")
		}
		p.put("</dl>")
	}
	for _, n := range a.Notes {
		p.put(`<p class="meta">note: `, html.EscapeString(oneLine(n, longest)), "</p>")
	}
	if a.Line > 0 {
		p.source(orElse(a.File, c.File), a.Line, a.Column, a.Source)
	}
	if inner := failing(a.Assertions); len(inner) > 0 {
		p.put(`<ul class="as">`)
		for i := range inner {
			p.assertion(c, &inner[i], false)
		}
		p.put("</ul>")
	}
	p.put("</li>")
}

func (p *page) diff(lines []string) {
	p.put(`<p class="meta">− expected  + actual</p><pre>`)
	for _, l := range lines {
		class := "eq"
		switch {
		case strings.HasPrefix(l, "-"):
			class = "del"
		case strings.HasPrefix(l, "+"):
			class = "add"
		}
		p.put(`<span class="`, class, `">`, html.EscapeString(orElse(oneLine(l, 4*longest), " ")), "</span>")
	}
	p.put("</pre>")
}

// source writes a line of the suite with a caret.
func (p *page) source(file string, line, column int, source string) {
	p.put(`<p class="meta">`, html.EscapeString(place(file, line, column)), "</p>")
	if strings.TrimSpace(source) == "" {
		return
	}
	number := fmt.Sprint(line)
	source = strings.ReplaceAll(source, "\t", " ")
	head, rest := splitAt(source, column)
	shown := strings.TrimLeft(source, " ")
	text := number + " │ " + esc(strings.TrimRight(shown, "\r\n "))
	if column > 0 && rest != "" {
		before := term.Escape(head[min(len(head), len(source)-len(shown)):])
		text += "\n" + strings.Repeat(" ", len(number)) + " │ " + strings.Repeat(" ", term.Width(before)) + `<span class="caret">^</span>`
	}
	p.pre("src", text)
}

func (p *page) scores(c *result.Case) {
	if c.Score == nil && len(c.DerivedMetrics) == 0 {
		return
	}
	p.put("<table><thead><tr><th scope=\"col\">Score or metric</th><th scope=\"col\" class=\"num\">Value</th><th scope=\"col\" class=\"num\">Needs</th></tr></thead><tbody>")
	row := func(name string, value float64, needs *float64, bad bool, notes []string) {
		class, need := "num", ""
		if needs != nil {
			need = number(*needs)
		}
		if bad {
			class += " n-fail"
		}
		p.put(`<tr><th scope="row">`, esc(name))
		for _, n := range notes {
			p.put(`<br><span class="meta">`, html.EscapeString(oneLine(n, longest)), "</span>")
		}
		p.put(`</th><td class="`, class, `">`, number(value), `</td><td class="num">`, need, "</td></tr>")
	}
	if c.Score != nil {
		row("score", *c.Score, c.Threshold, c.Threshold != nil && *c.Score < *c.Threshold-1e-9, nil)
	}
	for _, m := range c.DerivedMetrics {
		row(m.Name, m.Value, m.Threshold, m.Passed != nil && !*m.Passed, m.Notes)
	}
	p.put("</tbody></table>")
}

// passed lists the assertions that held, a line each.
func (p *page) passed(c *result.Case) {
	var lines []string
	for i := range c.Assertions {
		if a := &c.Assertions[i]; a.Pass {
			lines = append(lines, html.EscapeString("✓ "+label(a)+p.p.weighed(a)))
		}
	}
	if len(lines) > 0 {
		p.put(`<p class="ok">`, strings.Join(lines, "\n"), "</p>")
	}
}

func (p *page) attempts(c *result.Case) {
	if len(c.Attempts) < 2 {
		return
	}
	p.put("<h4>tries</h4><ul class=\"as\">")
	for _, a := range c.Attempts {
		p.put("<li>", mark(a.Status), " ", duration(a.DurationMS), ` <span class="meta">`, html.EscapeString(oneLine(a.Message, longest)), "</span></li>")
	}
	p.put("</ul>")
}

func (p *page) phase(ph *result.Phase) {
	p.put(`<p class="meta">`, html.EscapeString(strings.TrimPrefix(place(ph.File, ph.Line, 0)+" · "+term.Escape(ph.Kind), " · ")), "</p>")
	if ph.Source != "" {
		p.pre("src", fmt.Sprintf("%d │ ", ph.Line)+esc(strings.TrimSpace(ph.Source)))
	}
	for _, w := range ph.Warnings {
		p.put(`<p><span class="tag w">warning</span> `, html.EscapeString(oneLine(w, longest)), "</p>")
	}
	if ph.Output != "" {
		p.pre("", escLines(strings.TrimRight(ph.Output, "\n")))
	}
}

// exchange writes the frames of a call as they were on the wire, JSON
// indented.
func (p *page) exchange(x *result.Exchange) {
	title := strings.TrimSpace(term.Escape(x.Step) + " " + term.Escape(x.Method))
	if x.HTTP != nil {
		title += fmt.Sprintf(" · HTTP %d", x.HTTP.Status)
	}
	p.put(`<details class="x"><summary>Exchange `, html.EscapeString(title), " · ", duration(x.DurationMS), "</summary><div>")
	if p.many() {
		p.pre("", escLines(exchangeLines(x)))
		p.put("</div></details>")
		return
	}
	p.frame("→ to the server", x.Request)
	for _, m := range x.During {
		if m.Dir == "to-server" {
			p.frame("→ to the server, after "+duration(m.MS), m.Raw)
		} else {
			p.frame("← from the server, after "+duration(m.MS), m.Raw)
		}
	}
	p.frame("← from the server", x.Response)
	if x.Error != "" {
		p.put(`<p class="msg-error">`, html.EscapeString(oneLine(x.Error, longest)), "</p>")
	}
	if x.Truncated {
		p.put(`<p class="meta">Frames were shortened for the record.</p>`)
	}
	p.put("</div></details>")
}

// indentMost is the size up to which a frame is indented.
const indentMost = 64 << 10

func (p *page) frame(title, raw string) {
	if raw == "" {
		return
	}
	p.put(`<p class="arrow">`, title, "</p>")
	var b bytes.Buffer
	if len(raw) <= indentMost && json.Indent(&b, []byte(raw), "", "  ") == nil {
		raw = b.String()
	}
	p.pre("", escLines(raw))
}
