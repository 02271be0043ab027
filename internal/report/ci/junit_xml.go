package ci

import (
	"strconv"
	"strings"
	"time"

	"mcptest/internal/base/term"
	"mcptest/internal/report/render"
)

// The elements of JUnit XML that CI systems read. There is no standard: these are the
// elements and attributes that GitLab, Jenkins and GitHub's actions have in common. Their
// texts are not escaped yet.
type (
	// junitHead is what begins a testsuites or testsuite element.
	junitHead struct {
		Name    string
		Tests   int
		Failed  int
		Errored int
		Skipped int
		MS      float64 // left out if it is 0: none was measured
		Started time.Time
		File    string // of a testsuite
	}

	junitProperty struct {
		Name, Value string
	}

	junitCase struct {
		Name       string
		Class      string
		MS         float64
		File       string
		Line       int
		Properties []junitProperty
		Outcome    *junitOutcome // nil: the test passed
		Out, Err   string        // system-out and system-err
	}

	// junitOutcome is a skipped, failure or error element.
	junitOutcome struct {
		Element string
		Message string
		Type    string // of a failure or error
		Text    string // of a failure or error
	}
)

const (
	junitSkipped = "skipped"
	junitFailure = "failure"
	junitError   = "error"
)

// junitWriter writes elements one after the other, so that a report is not in memory.
type junitWriter struct {
	render.Out
}

// begin writes the start of the document.
func (w *junitWriter) begin(h junitHead) {
	w.Put(`<?xml version="1.0" encoding="UTF-8"?>`, "\n")
	w.head("testsuites", h)
}

func (w *junitWriter) end() { w.Put("</testsuites>\n") }

// beginSuite writes the start of a testsuite and its properties.
func (w *junitWriter) beginSuite(h junitHead, properties []junitProperty) {
	w.Put("  ")
	w.head("testsuite", h)
	w.properties("    ", properties)
}

func (w *junitWriter) endSuite() { w.Put("  </testsuite>\n") }

func (w *junitWriter) head(element string, h junitHead) {
	w.Put("<", element)
	w.attr("name", h.Name)
	w.number("tests", h.Tests)
	w.number("failures", h.Failed)
	w.number("errors", h.Errored)
	w.number("skipped", h.Skipped)
	w.time(h.MS)
	if !h.Started.IsZero() {
		w.attr("timestamp", h.Started.UTC().Format("2006-01-02T15:04:05"))
	}
	if h.File != "" {
		w.attr("file", h.File)
	}
	w.Put(">\n")
}

func (w *junitWriter) properties(indent string, all []junitProperty) {
	if len(all) == 0 {
		return
	}
	w.Put(indent, "<properties>\n")
	for _, p := range all {
		w.Put(indent, "  <property")
		w.attr("name", p.Name)
		w.attr("value", p.Value)
		w.Put("/>\n")
	}
	w.Put(indent, "</properties>\n")
}

func (w *junitWriter) testCase(c junitCase) {
	w.Put("    <testcase")
	w.attr("name", c.Name)
	w.attr("classname", c.Class)
	w.time(c.MS)
	if c.File != "" {
		w.attr("file", c.File)
	}
	if c.Line > 0 {
		w.number("line", c.Line)
	}
	if len(c.Properties) == 0 && c.Outcome == nil {
		w.Put("/>\n")
		return
	}
	w.Put(">\n")
	w.properties("      ", c.Properties)
	w.outcome(c.Outcome)
	if c.Out != "" {
		w.Put("      <system-out>", body(c.Out), "</system-out>\n")
	}
	if c.Err != "" {
		w.Put("      <system-err>", body(c.Err), "</system-err>\n")
	}
	w.Put("    </testcase>\n")
}

func (w *junitWriter) outcome(o *junitOutcome) {
	if o == nil {
		return
	}
	w.Put("      <", o.Element)
	w.attr("message", o.Message)
	if o.Element == junitSkipped {
		w.Put("/>\n")
		return
	}
	w.attr("type", o.Type)
	w.Put(">", body(o.Text), "</", o.Element, ">\n")
}

// xmlEscaper escapes markup. Characters that XML 1.0 does not allow (control
// characters, lone surrogates, non-characters) were replaced by term's functions.
var xmlEscaper = strings.NewReplacer("&", "&amp;", "<", "&lt;", ">", "&gt;", `"`, "&quot;", "'", "&apos;")

// attr writes an attribute with a text, on one line.
func (w *junitWriter) attr(name, text string) {
	w.Put(" ", name, `="`, xmlEscaper.Replace(term.Escape(text)), `"`)
}

func (w *junitWriter) number(name string, n int) { w.attr(name, strconv.Itoa(n)) }

func (w *junitWriter) time(ms float64) {
	if ms != 0 {
		w.attr("time", strconv.FormatFloat(ms/1000, 'f', 6, 64))
	}
}

// body is a text for an element: several lines.
func body(s string) string { return xmlEscaper.Replace(term.EscapeLines(s)) }
