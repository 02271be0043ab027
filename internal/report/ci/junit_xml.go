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
	w.writeHead("testsuites", h)
}

func (w *junitWriter) end() { w.Put("</testsuites>\n") }

// beginSuite writes the start of a testsuite and its properties.
func (w *junitWriter) beginSuite(h junitHead, properties []junitProperty) {
	w.Put("  ")
	w.writeHead("testsuite", h)
	w.writeProperties("    ", properties)
}

func (w *junitWriter) endSuite() { w.Put("  </testsuite>\n") }

func (w *junitWriter) writeHead(element string, h junitHead) {
	w.Put("<", element)
	w.writeAttr("name", h.Name)
	w.writeNumber("tests", h.Tests)
	w.writeNumber("failures", h.Failed)
	w.writeNumber("errors", h.Errored)
	w.writeNumber("skipped", h.Skipped)
	w.writeTime(h.MS)
	if !h.Started.IsZero() {
		w.writeAttr("timestamp", h.Started.UTC().Format("2006-01-02T15:04:05"))
	}
	if h.File != "" {
		w.writeAttr("file", h.File)
	}
	w.Put(">\n")
}

func (w *junitWriter) writeProperties(indent string, all []junitProperty) {
	if len(all) == 0 {
		return
	}
	w.Put(indent, "<properties>\n")
	for _, p := range all {
		w.Put(indent, "  <property")
		w.writeAttr("name", p.Name)
		w.writeAttr("value", p.Value)
		w.Put("/>\n")
	}
	w.Put(indent, "</properties>\n")
}

func (w *junitWriter) writeCase(c junitCase) {
	w.Put("    <testcase")
	w.writeAttr("name", c.Name)
	w.writeAttr("classname", c.Class)
	w.writeTime(c.MS)
	if c.File != "" {
		w.writeAttr("file", c.File)
	}
	if c.Line > 0 {
		w.writeNumber("line", c.Line)
	}
	if len(c.Properties) == 0 && c.Outcome == nil {
		w.Put("/>\n")
		return
	}
	w.Put(">\n")
	w.writeProperties("      ", c.Properties)
	w.writeOutcome(c.Outcome)
	if c.Out != "" {
		w.Put("      <system-out>", escapeBody(c.Out), "</system-out>\n")
	}
	if c.Err != "" {
		w.Put("      <system-err>", escapeBody(c.Err), "</system-err>\n")
	}
	w.Put("    </testcase>\n")
}

func (w *junitWriter) writeOutcome(o *junitOutcome) {
	if o == nil {
		return
	}
	w.Put("      <", o.Element)
	w.writeAttr("message", o.Message)
	if o.Element == junitSkipped {
		w.Put("/>\n")
		return
	}
	w.writeAttr("type", o.Type)
	w.Put(">", escapeBody(o.Text), "</", o.Element, ">\n")
}

// xmlEscaper escapes markup. Characters that XML 1.0 does not allow (control
// characters, lone surrogates, non-characters) were replaced by term's functions.
var xmlEscaper = strings.NewReplacer("&", "&amp;", "<", "&lt;", ">", "&gt;", `"`, "&quot;", "'", "&apos;")

// writeAttr writes an attribute with a text, on one line.
func (w *junitWriter) writeAttr(name, text string) {
	w.Put(" ", name, `="`, xmlEscaper.Replace(term.Escape(text)), `"`)
}

func (w *junitWriter) writeNumber(name string, n int) { w.writeAttr(name, strconv.Itoa(n)) }

func (w *junitWriter) writeTime(ms float64) {
	if ms != 0 {
		w.writeAttr("time", strconv.FormatFloat(ms/1000, 'f', 6, 64))
	}
}

// escapeBody returns a text for an element: several lines.
func escapeBody(s string) string { return xmlEscaper.Replace(term.EscapeLines(s)) }
