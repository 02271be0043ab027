package report

import (
	"fmt"
	"io"
	"path/filepath"
	"slices"
	"strings"

	"mcptest/internal/base/elsewhere"
	"mcptest/internal/base/source"
	"mcptest/internal/report/ci"
	"mcptest/internal/report/explain"
	"mcptest/internal/report/html"
	"mcptest/internal/report/pretty"
	"mcptest/internal/report/render"
	"mcptest/internal/report/result"
)

// Format is a report format.
type Format struct {
	Name string // as in --reporter
	Ext  string // usual file name extension, with the dot
	Doc  string // one line for help and reference
	// Write writes the whole report. It returns the first error of w or of
	// reading the cases.
	Write func(w io.Writer, r *result.Run, o render.Options) error
}

// Formats is the table of all formats, in the order in which help lists them. It must
// not be changed.
var Formats = []Format{
	{"pretty", ".txt", "every test and its outcome, with failures explained at the end (the default)", pretty.Write},
	{"minimal", ".txt", "one line per failure, then the summary", pretty.WriteMinimal},
	{"json", ".json", "the complete record, schema " + result.Schema, writeJSON},
	{"ndjson", ".ndjson", "the events of the run, one JSON object per line", writeNDJSON},
	{"junit", ".xml", "JUnit XML for CI systems", ci.WriteJUnit},
	{"tap", ".tap", "Test Anything Protocol, version 14", ci.WriteTAP},
	{"md", ".md", "Markdown for step summaries and comments", ci.WriteMarkdown},
	{"html", ".html", "one self-contained page: failures first, search, the raw exchange behind each test", html.Write},
	{"sarif", ".sarif", "SARIF 2.1.0, for code scanning", ci.WriteSARIF},
	{"gitlab", ".json", "GitLab Code Quality", ci.WriteGitLab},
	{"github", ".txt", "GitHub annotations on the suite's lines", ci.WriteGitHub},
	{"matrix", ".txt", "a table of tests by servers, with totals", pretty.WriteMatrix},
	{"agent", ".txt", "the verdict and the failures, in few tokens", pretty.WriteAgent},
	{"otlp", ".json", "OpenTelemetry spans as OTLP JSON", ci.WriteOTLP},
}

// Find returns the format called name.
func Find(name string) (Format, error) {
	var names []string
	for _, f := range Formats {
		if f.Name == name {
			return f, nil
		}
		names = append(names, f.Name)
	}
	if row, ok := elsewhere.Reporter(name); ok {
		return Format{}, fmt.Errorf("unknown reporter %q (%s): expected one of %s", name, row.Say(), strings.Join(names, ", "))
	}
	if several := splitFormats(name); several != "" {
		return Format{}, fmt.Errorf("unknown reporter %q (repeat the flag, with files: %s)", name, several)
	}
	near := source.FindNearest(name, names)
	for _, f := range Formats {
		if near == "" && f.Ext == filepath.Ext(name) { // a path without a format
			near = f.Name + "=" + name
		}
	}
	return Format{}, fmt.Errorf("unknown reporter %q%s: expected one of %s", name, source.Parenthesis(source.Suggest(near)), strings.Join(names, ", "))
}

// splitFormats returns the flags for formats that are listed in one word, "html,json", or "" if
// the word is no such list.
func splitFormats(word string) string {
	names := strings.Split(word, ",")
	if len(names) == 1 {
		return ""
	}
	flags := make([]string, len(names))
	for i, name := range names {
		at := slices.IndexFunc(Formats, func(f Format) bool { return f.Name == strings.TrimSpace(name) })
		if at < 0 {
			return ""
		}
		flags[i] = "--reporter " + Formats[at].Name + "=report" + Formats[at].Ext
	}
	return strings.Join(flags, " ")
}

func writeJSON(w io.Writer, r *result.Run, _ render.Options) error { return result.WriteJSON(w, r) }

// NewLog returns a writer of the ndjson format during a run.
func NewLog(w io.Writer) *result.LogWriter {
	l := result.NewLogWriter(w)
	l.Explain = explain.Text
	return l
}

func writeNDJSON(w io.Writer, r *result.Run, _ render.Options) error {
	return result.WriteLog(w, r, explain.Text)
}
