package gate

import (
	"encoding/json"
	"io"
	"path/filepath"
	"slices"
	"strings"

	"mcptest/internal/base/display"
	"mcptest/internal/base/jsonv"
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
	var ids []string
	var listed, results []jsonv.Value
	add := func(r Rule) {
		ids = append(ids, r.ID)
		listed = append(listed, SARIFRule(r.ID, display.Escape(r.Text), display.Escape(r.Help), r.URL))
	}
	for _, r := range d.Rules {
		add(r)
	}
	for _, f := range d.Findings {
		if !slices.Contains(ids, f.Rule) {
			add(Rule{ID: f.Rule, Text: f.Rule})
		}
		results = append(results, jsonv.ObjectOf(
			"ruleId", f.Rule,
			"ruleIndex", slices.Index(ids, f.Rule),
			"level", f.Level,
			"message", SARIFText(display.Escape(f.headline())),
			"locations", f.locations(),
			"partialFingerprints", jsonv.ObjectOf("finding/v1", Fingerprint(f.Rule, f.Subject, f.Pointer)),
		))
	}
	_ = WriteJSON(w, map[string]any{ // a strings.Builder does not fail
		"$schema": SARIFSchema,
		"version": "2.1.0",
		"runs": []any{map[string]any{
			"tool":    map[string]any{"driver": map[string]any{"name": "mcptest", "version": d.Version, "rules": jsonv.Array(listed...)}},
			"results": jsonv.Array(results...),
		}},
	})
}

func (f Finding) headline() string {
	if f.Subject == "" {
		return f.Message
	}
	return f.Subject + ": " + f.Message
}

// locations returns the file and line, because code scanning refuses a whole report for one
// result without them, and the place in the definition.
func (f Finding) locations() jsonv.Value {
	logical := jsonv.Array(jsonv.ObjectOf("fullyQualifiedName", display.Escape(f.Subject+f.Pointer)))
	place := SARIFPlace(SARIFFile(f.File), max(f.Line, 1), 0, "")
	return jsonv.Array(jsonv.ObjectOf(
		"logicalLocations", logical.If(f.Subject != ""),
		"physicalLocation", place,
	))
}

// github writes a workflow command for each finding.
func (d Document) github(b *strings.Builder) {
	for _, f := range d.Findings {
		level := f.Level
		if level == "note" {
			level = "notice"
		}
		file := display.Escape(filepath.ToSlash(f.File))
		title, text := display.Escape(d.Title+" "+f.Rule), display.Escape(f.headline())
		b.WriteString(GitHubCommand(level, title, file, f.Line, 0, text))
	}
}
