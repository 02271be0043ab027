package gate

import (
	"encoding/json"
	"io"
	"net/url"
	"path/filepath"
	"slices"
	"strings"

	"mcptest/internal/base/display"
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
}

// Formats are the names of the formats of Write.
func Formats() []string { return []string{"text", "md", "json", "sarif", "github"} }

// Write prints the document in a format.
func (d Document) Write(w io.Writer, format string) error {
	var b strings.Builder
	switch format {
	case "md":
		d.Markdown(&b)
	case "json":
		d.JSON(&b)
	case "sarif":
		d.sarif(&b)
	case "github":
		d.github(&b)
	default:
		d.Text(&b)
	}
	_, err := io.WriteString(w, b.String())
	return err
}

// WriteJSON writes a value as JSON for people.
func WriteJSON(w io.Writer, v any) error {
	enc := json.NewEncoder(w)
	enc.SetIndent("", "  ")
	enc.SetEscapeHTML(false)
	return enc.Encode(v)
}

// sarif writes one run of SARIF 2.1.0. A finding whose rule is not among the rules gets
// a rule with its id.
func (d Document) sarif(w io.Writer) {
	listed := []SARIFRule{}
	for _, r := range d.Rules {
		rule := SARIFRule{ID: r.ID, Short: SARIFText{display.Escape(r.Text)}, HelpURI: r.URL}
		if r.Help != "" {
			rule.Help = &SARIFText{display.Escape(r.Help)}
		}
		listed = append(listed, rule)
	}
	results := []SARIFResult{}
	for _, f := range d.Findings {
		i := slices.IndexFunc(listed, func(r SARIFRule) bool { return r.ID == f.Rule })
		if i < 0 {
			i = len(listed)
			listed = append(listed, SARIFRule{ID: f.Rule, Short: SARIFText{f.Rule}})
		}
		results = append(results, SARIFResult{
			RuleID: f.Rule, RuleIndex: i, Level: f.Level, Message: SARIFText{display.Escape(f.headline())}, Locations: f.locations(),
			Fingerprints: map[string]string{"finding/v1": Fingerprint(f.Rule, f.Subject, f.Pointer)},
		})
	}
	_ = WriteJSON(w, map[string]any{ // a strings.Builder does not fail
		"$schema": SARIFSchema,
		"version": "2.1.0",
		"runs": []any{map[string]any{
			"tool":    map[string]any{"driver": map[string]any{"name": "mcptest", "version": d.Version, "rules": listed}},
			"results": results,
		}},
	})
}

func (f Finding) headline() string {
	if f.Subject == "" {
		return f.Message
	}
	return f.Subject + ": " + f.Message
}

// locations returns the file, so that a service can show the finding in it, and the
// place in the definition.
func (f Finding) locations() []SARIFLocation {
	var loc SARIFLocation
	if f.File != "" {
		loc.Physical = &SARIFPhysical{Artifact: SARIFArtifact{URI: (&url.URL{Path: filepath.ToSlash(f.File)}).EscapedPath()}}
		if f.Line > 0 {
			loc.Physical.Region = &SARIFRegion{StartLine: f.Line}
		}
	}
	if f.Subject != "" {
		loc.Logical = []SARIFLogical{{display.Escape(f.Subject + f.Pointer)}}
	}
	if loc.Physical == nil && loc.Logical == nil {
		return nil
	}
	return []SARIFLocation{loc}
}

// github writes a workflow command for each finding.
func (d Document) github(b *strings.Builder) {
	for _, f := range d.Findings {
		level := f.Level
		if level == "note" {
			level = "notice"
		}
		file := display.Escape(filepath.ToSlash(f.File))
		b.WriteString(GitHubCommand(level, display.Escape(d.Title+" "+f.Rule), file, f.Line, 0, display.Escape(f.headline())))
	}
}
