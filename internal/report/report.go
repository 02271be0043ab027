package report

import (
	"fmt"
	"io"
	"strings"

	"mcptest/internal/result"
	"mcptest/internal/term"
)

// Format is one way to write a record.
type Format struct {
	Name string // as given to --reporter
	Ext  string // usual file name extension, with the dot
	Doc  string // one line for help and reference
	// Write writes the whole report. It returns the first error of w or of
	// reading the cases.
	Write func(w io.Writer, r *result.Run, o Options) error
}

// Options are what a report may be told. The zero value suits a file.
type Options struct {
	Palette term.Palette // colours of the stream; zero: none
	Width   int          // columns of the terminal; 0: not a terminal, nothing is cut to fit
	Verbose bool         // show exchanges, assertions that passed, servers, whole texts
	Listed  bool         // the tests were listed already, by a Live, while the run went on
}

// Formats is the table of all formats, in the order in which help lists them.
// It is not to be changed.
var Formats = []Format{
	{"pretty", ".txt", "every test and its outcome, failures explained at the end (the default)", writePretty},
	{"minimal", ".txt", "one line for each failure, then the summary", writeMinimal},
	{"json", ".json", "the whole record, schema " + result.Schema, writeJSON},
	{"ndjson", ".ndjson", "the events of the run, one JSON object a line", writeNDJSON},
	{"junit", ".xml", "JUnit XML, as CI systems read it", writeJUnit},
	{"tap", ".tap", "Test Anything Protocol, version 14", writeTAP},
	{"md", ".md", "Markdown for step summaries and comments", writeMarkdown},
	{"html", ".html", "one self-contained page: charts, search, the raw exchange behind each test", writeHTML},
	{"sarif", ".sarif", "SARIF 2.1.0, for code scanning", writeSARIF},
	{"gitlab", ".json", "GitLab Code Quality", writeGitLab},
	{"github", ".txt", "GitHub annotations on the suite's lines", writeGitHub},
	{"matrix", ".txt", "tests by servers, with sums", writeMatrix},
	{"agent", ".txt", "the verdict and what failed, in few tokens", writeAgent},
	{"otlp", ".json", "OpenTelemetry spans as OTLP JSON", writeOTLP},
}

// Find returns the format of a name.
func Find(name string) (Format, error) {
	var names []string
	for _, f := range Formats {
		if f.Name == name {
			return f, nil
		}
		names = append(names, f.Name)
	}
	return Format{}, fmt.Errorf("unknown reporter %q: want one of %s", name, strings.Join(names, ", "))
}

func writeJSON(w io.Writer, r *result.Run, _ Options) error { return result.WriteJSON(w, r, true) }

func writeNDJSON(w io.Writer, r *result.Run, _ Options) error { return result.WriteLog(w, r) }
