package report

import (
	"bufio"
	"crypto/sha256"
	_ "embed"
	"encoding/base64"
	"fmt"
	"html"
	"io"
	"strings"

	"mcptest/internal/result"
	"mcptest/internal/term"
)

//go:embed page/report.css
var pageCSS string

//go:embed page/report.js
var pageJS string

// writeHTML writes one page that needs nothing else: no network, no other
// file. Everything can be read without JavaScript, which adds search, filters
// and copying. Its policy allows exactly its own style and its own script, so
// markup that got past the escaping would still not run.
func writeHTML(w io.Writer, r *result.Run, o Options) error {
	st, err := survey(r)
	if err != nil {
		return err
	}
	all, err := sections(r)
	if err != nil {
		return err
	}
	bw := bufio.NewWriterSize(w, 64<<10)
	p := &page{out: out{w: bw}, Options: o, run: r, stats: st, p: newPrinter(nil, r, Options{})}
	p.head()
	p.banner()
	p.put("<main>\n")
	p.failures()
	p.findings()
	p.charts()
	if err := p.tests(all); err != nil {
		return err
	}
	p.phases()
	p.servers()
	p.put("</main>\n<footer>", esc(strings.TrimSpace(r.Tool.Name+" "+r.Tool.Version)),
		` <span class="js-only">· Press <kbd>/</kbd> to search.</span></footer>`, "\n</div>\n<script>", pageJS, "</script>\n</body>\n</html>\n")
	if p.err != nil {
		return p.err
	}
	return bw.Flush()
}

type page struct {
	out
	Options
	run   *result.Run
	stats *stats
	p     *printer // for its wording
}

// esc is foreign text for the middle of a line or an attribute.
func esc(s string) string { return html.EscapeString(term.Escape(s)) }

// escLines is foreign text of several lines.
func escLines(s string) string { return html.EscapeString(term.EscapeLines(s)) }

func sri(s string) string {
	sum := sha256.Sum256([]byte(s))
	return "'sha256-" + base64.StdEncoding.EncodeToString(sum[:]) + "'"
}

func (p *page) head() {
	title := p.title()
	word, _ := verdict(p.run)
	p.put("<!DOCTYPE html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\">\n",
		`<meta http-equiv="Content-Security-Policy" content="default-src 'none'; style-src `, sri(pageCSS), "; script-src ", sri(pageJS), `; base-uri 'none'; form-action 'none'">`, "\n",
		`<meta name="viewport" content="width=device-width, initial-scale=1">`, "\n<meta name=\"referrer\" content=\"no-referrer\">\n<title>",
		html.EscapeString(sentence(word)), " · ", esc(title), "</title>\n<style>", pageCSS, "</style>\n</head>\n<body>\n",
		`<a class="skip" href="#tests">Skip to the tests</a>`, "\n<div class=\"wrap\">\n")
}

// title names what was tested.
func (p *page) title() string {
	switch n := len(p.run.Suites); {
	case n == 1:
		return orElse(p.run.Suites[0].Name, p.run.Suites[0].File)
	case n > 1:
		return count(n, "suite")
	}
	return "Test run"
}

// sentence writes a word in capitals as the start of a sentence.
func sentence(word string) string {
	head, rest, has := strings.Cut(word, " ")
	if head == "" {
		return word
	}
	head = head[:1] + strings.ToLower(head[1:])
	if has {
		return head + " " + strings.ToLower(rest)
	}
	return head
}

func (p *page) banner() {
	word, st := verdict(p.run)
	class := map[term.Style]string{term.Good: "good", term.Bad: "bad", term.Warn: "warn"}[st]
	p.put("<header>\n<div class=\"top\"><div>\n<h1><span class=\"v ", class, "\">", html.EscapeString(sentence(word)), "</span> ", esc(p.title()), "</h1>\n<p class=\"sub\">")
	if !p.run.Started.IsZero() {
		p.put(`<time datetime="`, p.run.Started.UTC().Format("2006-01-02T15:04:05Z"), `">`, p.run.Started.UTC().Format("2 January 2006, 15:04:05 UTC"), "</time> · ")
	}
	p.put("took ", duration(p.run.DurationMS))
	if p.run.Parallel > 1 {
		p.put(fmt.Sprintf(" · %d calls in flight per server", p.run.Parallel))
	}
	p.put("</p>\n")
	if p.run.Command != "" {
		p.put(`<p class="sub"><code>`, esc(p.run.Command), "</code></p>\n")
	}
	for _, n := range p.run.Notes {
		p.put(`<p class="sub"><span class="tag w">note</span> `, esc(n), "</p>\n")
	}
	p.put("</div><button type=\"button\" id=\"theme\" class=\"js-only\">Light / dark</button></div>\n")
	p.tiles()
	p.contents()
	p.put("</header>\n")
}

// contents links to the sections that are there, so that nobody has to get past
// a long list of failures to see a chart.
func (p *page) contents() {
	p.put("<nav aria-label=\"On this page\"><ul>\n")
	link := func(there bool, id, name string) {
		if there {
			p.put(`<li><a href="#`, id, `">`, name, "</a></li>\n")
		}
	}
	link(p.hasFailures(), "why", "What failed")
	link(len(p.run.Findings) > 0, "findings", "Findings")
	link(p.hasCharts(), "overview", "Charts")
	link(true, "tests", "Tests")
	link(len(p.run.Phases) > 0, "phases", "Hooks and steps")
	link(len(p.run.Servers) > 0, "servers", "Servers")
	p.put("</ul></nav>\n")
}

func (p *page) hasFailures() bool { return len(p.stats.failures) > 0 || failedPhases(p.run) > 0 }

func (p *page) hasCharts() bool { return len(p.stats.bars) > 0 || len(p.stats.metrics) > 0 }

func (p *page) tiles() {
	s := p.run.Summary
	p.put("<ul class=\"tiles\">\n")
	tile := func(class string, n int, name string) {
		if n == 0 {
			class = "none"
		}
		p.put(fmt.Sprintf("<li class=\"%s\"><b>%d</b> <span>%s</span></li>\n", class, n, name))
	}
	tile("", s.Total, plural(s.Total, "test"))
	tile("pass", s.Passed, "passed")
	tile("fail", s.Failed, "failed")
	tile("error", s.Errored, plural(s.Errored, "error")+" (no answer)")
	tile("", s.Skipped, "skipped")
	if s.Flaky > 0 {
		tile("warnn", s.Flaky, "flaky")
	}
	if n := errorFindings(p.run); n > 0 {
		tile("fail", n, plural(n, "finding"))
	}
	if n := failedPhases(p.run); n > 0 {
		tile("fail", n, hooksOrSteps(n)+" failed")
	}
	if s.Warnings > 0 {
		tile("warnn", s.Warnings, plural(s.Warnings, "warning"))
	}
	p.put("</ul>\n")
	if s.Total == 0 {
		return
	}
	p.put(`<svg class="ratio" viewBox="0 0 1000 8" preserveAspectRatio="none" aria-hidden="true">`)
	x := 0.0
	for _, part := range []struct {
		n     int
		class string
	}{{s.Passed, "pass"}, {s.Failed, "fail"}, {s.Errored, "error"}, {s.Skipped, "skip-f"}} {
		width := 1000 * float64(part.n) / float64(s.Total)
		if part.n > 0 {
			p.put(fmt.Sprintf(`<rect class="%s" x="%.1f" width="%.1f" height="8"/>`, part.class, x, width))
		}
		x += width
	}
	p.put("</svg>\n")
}

// failures lists why the run failed, each with a link to its test.
func (p *page) failures() {
	if !p.hasFailures() {
		return
	}
	p.put("<section aria-labelledby=\"why\">\n<h2 id=\"why\">What failed</h2>\n<ul class=\"why card\">\n")
	for i := range p.run.Phases {
		if ph := &p.run.Phases[i]; broke(ph.Status) {
			p.put("<li>", mark(ph.Status), `<a href="#phases">`, esc(ph.Phase+": "+ph.Name), "</a>")
			p.because(ph.Status, ph.Message, place(ph.File, ph.Line, 0))
			p.put("</li>\n")
		}
	}
	for _, f := range p.stats.failures {
		p.put("<li>", mark(f.status), fmt.Sprintf(`<a href="#t%d">`, f.index), esc(f.name), "</a>")
		at := f.at
		if f.others > 0 {
			at += " · and " + f.alike()
		}
		p.because(f.status, f.message, at)
		p.put("</li>\n")
	}
	if n := p.stats.dropped; n > 0 {
		p.put("<li><span></span><span>… and ", count(n, "more failure"), " in the list of tests</span></li>\n")
	}
	p.put("</ul>\n</section>\n")
}

// alike says how many more failed like this one.
func (f *failureLink) alike() string {
	if f.rows {
		return count(f.others, "other row") + " in the same way"
	}
	return count(f.others, "other test") + " for the same reason"
}

func (p *page) because(st result.Status, message, at string) {
	if message != "" {
		p.put(`<p class="msg-`, string(st), `">`, html.EscapeString(oneLine(message, longest)), "</p>")
	}
	if at != "" {
		p.put(`<p class="at">`, html.EscapeString(at), "</p>")
	}
}

// mark is the sign of a status, with its name for those who do not see it.
func mark(st result.Status) string {
	_, glyph := verdictStyle(st)
	name := map[result.Status]string{result.Pass: "passed", result.Fail: "failed", result.Skip: "skipped"}[st]
	return `<span class="g g-` + statusClass(st) + `" role="img" aria-label="` + orElse(name, "no answer") + `">` + glyph + "</span>"
}

func statusClass(st result.Status) string {
	switch st {
	case result.Pass, result.Fail, result.Skip:
		return string(st)
	}
	return "error"
}

func (p *page) findings() {
	if len(p.run.Findings) == 0 {
		return
	}
	p.put("<section aria-labelledby=\"findings\">\n<h2 id=\"findings\">Findings outside the tests</h2>\n<div class=\"card scroll\"><table>\n<thead><tr><th scope=\"col\">Severity</th><th scope=\"col\">Kind</th><th scope=\"col\">Server</th><th scope=\"col\">What was seen</th></tr></thead>\n<tbody>\n")
	for _, f := range folded(p.run.Findings) {
		class := map[string]string{"error": "msg-fail", "warning": "n-warn"}[f.Severity]
		p.put(`<tr><td class="`, class, `">`, esc(f.Severity), "</td><td>", esc(f.Kind), "</td><td>", esc(f.Server), "</td><td>", html.EscapeString(oneLine(f.Message, 4*longest)))
		if f.Excerpt != "" {
			p.put("<br><code>", html.EscapeString(oneLine(f.Excerpt, longest)), "</code>")
		}
		p.put("</td></tr>\n")
	}
	p.put("</tbody></table></div>\n</section>\n")
}

func (p *page) phases() {
	if len(p.run.Phases) == 0 {
		return
	}
	p.put("<section aria-labelledby=\"phases\">\n<h2 id=\"phases\">Setup, hooks and teardown</h2>\n<div class=\"list\">\n")
	for i := range p.run.Phases {
		ph := &p.run.Phases[i]
		open := ""
		if broke(ph.Status) {
			open = " open"
		}
		p.put(`<details class="t"`, open, "><summary>", mark(ph.Status), `<span class="n"><b>`, esc(ph.Name), `</b><span class="tag">`, esc(ph.Phase), `</span></span><span class="d">`, duration(ph.DurationMS), "</span>")
		if ph.Message != "" {
			p.put(`<span class="m msg-`, statusClass(ph.Status), `">`, html.EscapeString(oneLine(ph.Message, longest)), "</span>")
		}
		p.put("</summary><div class=\"in\">")
		p.phase(ph)
		p.put("</div></details>\n")
	}
	p.put("</div>\n</section>\n")
}

func (p *page) servers() {
	if len(p.run.Servers) == 0 {
		return
	}
	p.put("<section aria-labelledby=\"servers\">\n<h2 id=\"servers\">Servers</h2>\n<div class=\"card scroll\"><table>\n<thead><tr><th scope=\"col\">Server</th><th scope=\"col\">Names itself</th><th scope=\"col\">Transport</th><th scope=\"col\">Protocol</th><th scope=\"col\" class=\"num\">Start</th><th scope=\"col\">Target</th></tr></thead>\n<tbody>\n")
	for i := range p.run.Servers {
		s := &p.run.Servers[i]
		self, start := "", ""
		if s.ServerInfo != nil {
			self = strings.TrimSpace(s.ServerInfo.Name + " " + s.ServerInfo.Version)
		}
		if s.StartMS > 0 {
			start = duration(s.StartMS)
		}
		p.put("<tr><th scope=\"row\">", esc(s.Name), "</th><td>", esc(self), "</td><td>", esc(s.Transport), "</td><td>", esc(s.Protocol), `</td><td class="num">`, start, "</td><td><code>", esc(s.Target), "</code>")
		for _, remark := range serverRemarks(s) {
			p.put(`<span class="tag w">`, esc(remark), "</span>")
		}
		if s.Stderr != "" {
			p.put("<details class=\"x\"><summary>stderr</summary><div>")
			p.pre("", escLines(s.Stderr))
			p.put("</div></details>")
		}
		p.put("</td></tr>\n")
	}
	p.put("</tbody></table></div>\n</section>\n")
}

func serverRemarks(s *result.Server) (out []string) {
	if s.Insecure {
		out = append(out, "TLS certificate not verified")
	}
	if s.Starts > 1 {
		out = append(out, fmt.Sprintf("%d starts", s.Starts))
	}
	if s.Exit != "" {
		out = append(out, s.Exit)
	}
	if len(s.Tolerated) > 0 {
		out = append(out, "tolerated: "+strings.Join(s.Tolerated, ", "))
	}
	return out
}
