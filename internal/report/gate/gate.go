package gate

import (
	"encoding/json"
	"io"
	"path/filepath"
	"strings"

	"mcptest/internal/base/display"
	"mcptest/internal/report/html"
)

// A Finding is one problem that a gate has found.
type Finding struct {
	Rule    string // a stable identifier
	Level   string // error, warning or note
	Subject string // what it is about: "tool create_issue"
	Pointer string // a JSON pointer in the definition of the subject; may be empty
	Message string
	File    string // the file to which it is attached; may be empty
	Line    int    // in the file, from 1; 0: unknown
}

// A Rule describes the findings with its ID.
type Rule struct {
	ID, Text, Help, URL string
}

// A Document is the result of a gate in every format.
type Document struct {
	Title    string // of annotations, before the rule: mcptest check
	Version  string // of mcptest
	Rules    []Rule
	Findings []Finding
	// What is the gate's own: text for people, and all that it knows as JSON.
	Text, Markdown, JSON func(*strings.Builder)
	// The page for people; Write names the tool on it.
	Page func() html.Sheet
}

// Formats are the names of the formats of Write.
func Formats() []string { return []string{"text", "md", "html", "json", "sarif", "github"} }

// Write prints the document in a format.
func (d Document) Write(w io.Writer, format string) error {
	var b strings.Builder
	switch format {
	case "md":
		d.Markdown(&b)
	case "html":
		return d.writePage(w)
	case "json":
		d.JSON(&b)
	case "sarif":
		d.writeSARIF(&b)
	case "github":
		d.writeGitHub(&b)
	default:
		d.Text(&b)
	}
	_, err := io.WriteString(w, b.String())
	return err
}

func (d Document) writePage(w io.Writer) error {
	page := d.Page()
	page.Tool = strings.TrimSpace("mcptest " + d.Version)
	return page.Write(w)
}

// WriteJSON writes a value as JSON for people.
func WriteJSON(w io.Writer, v any) error {
	enc := json.NewEncoder(w)
	enc.SetIndent("", "  ")
	enc.SetEscapeHTML(false)
	return enc.Encode(v)
}

// writeSARIF writes one run of SARIF 2.1.0. A finding whose rule is not among the rules gets
// a rule with its id.
func (d Document) writeSARIF(w io.Writer) {
	rules, results := []SARIFRule{}, []SARIFResult{}
	index := map[string]int{} // of the rules, by id
	add := func(r Rule) {
		if _, twice := index[r.ID]; !twice {
			index[r.ID] = len(rules)
		}
		rules = append(rules, SARIFRule{
			ID:               r.ID,
			ShortDescription: SARIFText(display.Escape(r.Text)),
			Help:             SARIFText(display.Escape(r.Help)),
			HelpURI:          r.URL,
		})
	}
	for _, r := range d.Rules {
		add(r)
	}
	for _, f := range d.Findings {
		if _, described := index[f.Rule]; !described {
			add(Rule{ID: f.Rule, Text: f.Rule})
		}
		results = append(results, SARIFResult{
			RuleID:              f.Rule,
			RuleIndex:           index[f.Rule],
			Level:               f.Level,
			Message:             SARIFText(display.Escape(f.formatHeadline())),
			Locations:           []SARIFLocation{f.makeLocation()},
			PartialFingerprints: map[string]string{"finding/v1": Fingerprint(f.Rule, f.Subject, f.Pointer)},
		})
	}
	driver := SARIFDriver{Name: "mcptest", Rules: rules, Version: d.Version}
	run := SARIFRun{Results: results, Tool: SARIFTool{Driver: driver}}
	_ = WriteJSON(w, SARIFLog{Schema: SARIFSchema, Runs: []SARIFRun{run}, Version: "2.1.0"}) // a strings.Builder does not fail
}

func (f Finding) formatHeadline() string {
	if f.Subject == "" {
		return f.Message
	}
	return f.Subject + ": " + f.Message
}

// makeLocation returns the file and line, because code scanning refuses a whole report for one
// result without them, and the place in the definition.
func (f Finding) makeLocation() SARIFLocation {
	at := SARIFLocation{PhysicalLocation: SARIFPhysicalLocation{
		ArtifactLocation: newArtifact(f.File),
		Region:           &SARIFRegion{StartLine: max(f.Line, 1)},
	}}
	if f.Subject != "" {
		at.LogicalLocations = []SARIFLogicalLocation{{display.Escape(f.Subject + f.Pointer)}}
	}
	return at
}

// writeGitHub writes a workflow command for each finding.
func (d Document) writeGitHub(b *strings.Builder) {
	for _, f := range d.Findings {
		level := f.Level
		if level == "note" {
			level = "notice"
		}
		file := display.Escape(filepath.ToSlash(f.File))
		title, text := display.Escape(d.Title+" "+f.Rule), display.Escape(f.formatHeadline())
		b.WriteString(FormatGitHubCommand(level, title, file, f.Line, 0, text))
	}
}
