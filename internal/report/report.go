package report

import (
	"fmt"
	"io"
	"path/filepath"
	"strings"

	"mcptest/internal/result"
	"mcptest/internal/source"
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

// Options configure a report. The zero value suits a file.
type Options struct {
	Palette   term.Palette // colours of the stream; zero: none
	Width     int          // columns of the terminal; 0: not a terminal, nothing is cut to fit
	Verbose   bool         // show exchanges, assertions that passed, servers, whole texts
	Listed    bool         // the tests were listed already, by a Live, while the run went on
	Headlined bool         // the format writes the message of a failure itself
	Written   []Spec       // reports that were written to files, which the pretty report names
}

// Formats is the table of all formats, in the order in which help lists them.
// It is not to be changed.
var Formats = []Format{
	{"pretty", ".txt", "every test and its outcome, with failures explained at the end (the default)", writePretty},
	{"minimal", ".txt", "one line per failure, then the summary", writeMinimal},
	{"json", ".json", "the complete record, schema " + result.Schema, writeJSON},
	{"ndjson", ".ndjson", "the events of the run, one JSON object per line", writeNDJSON},
	{"junit", ".xml", "JUnit XML for CI systems", writeJUnit},
	{"tap", ".tap", "Test Anything Protocol, version 14", writeTAP},
	{"md", ".md", "Markdown for step summaries and comments", writeMarkdown},
	{"html", ".html", "one self-contained page: charts, search, the raw exchange behind each test", writeHTML},
	{"sarif", ".sarif", "SARIF 2.1.0, for code scanning", writeSARIF},
	{"gitlab", ".json", "GitLab Code Quality", writeGitLab},
	{"github", ".txt", "GitHub annotations on the suite's lines", writeGitHub},
	{"matrix", ".txt", "a table of tests by servers, with totals", writeMatrix},
	{"agent", ".txt", "the verdict and the failures, in few tokens", writeAgent},
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
	near := source.Nearest(name, names)
	for _, f := range Formats {
		if near == "" && f.Ext == filepath.Ext(name) { // the path of a file alone
			near = f.Name + "=" + name
		}
	}
	return Format{}, fmt.Errorf("unknown reporter %q%s: expected one of %s", name, source.Aside(source.Suggest(near)), strings.Join(names, ", "))
}

func writeJSON(w io.Writer, r *result.Run, _ Options) error { return result.WriteJSON(w, r, true) }

func writeNDJSON(w io.Writer, r *result.Run, _ Options) error { return result.WriteLog(w, r) }
