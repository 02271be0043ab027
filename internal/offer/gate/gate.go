package gate

import (
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"
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

// Program is the tool that reports.
type Program struct{ Name, Version string }

// text is the text of a SARIF message.
type text struct {
	Text string `json:"text"`
}

type sarifRule struct {
	ID      string `json:"id"`
	Short   text   `json:"shortDescription"`
	Help    *text  `json:"help,omitempty"`
	HelpURI string `json:"helpUri,omitempty"`
}

type sarifResult struct {
	RuleID       string            `json:"ruleId"`
	RuleIndex    int               `json:"ruleIndex"`
	Level        string            `json:"level"`
	Message      text              `json:"message"`
	Locations    []map[string]any  `json:"locations,omitempty"`
	Fingerprints map[string]string `json:"partialFingerprints"`
}

// WriteSARIF writes one run of SARIF 2.1.0. A finding whose rule is not among the
// rules gets a rule with its id.
func WriteSARIF(w io.Writer, p Program, rules []Rule, findings []Finding) error {
	listed := []sarifRule{}
	for _, r := range rules {
		rule := sarifRule{ID: r.ID, Short: text{display.Escape(r.Text)}, HelpURI: r.URL}
		if r.Help != "" {
			rule.Help = &text{display.Escape(r.Help)}
		}
		listed = append(listed, rule)
	}
	results := []sarifResult{}
	for _, f := range findings {
		i := slices.IndexFunc(listed, func(r sarifRule) bool { return r.ID == f.Rule })
		if i < 0 {
			i = len(listed)
			listed = append(listed, sarifRule{ID: f.Rule, Short: text{f.Rule}})
		}
		sum := sha256.Sum256([]byte(f.Rule + "\x00" + f.Subject + "\x00" + f.Pointer))
		results = append(results, sarifResult{
			RuleID: f.Rule, RuleIndex: i, Level: f.Level, Message: text{display.Escape(f.headline())}, Locations: f.locations(),
			Fingerprints: map[string]string{"finding/v1": hex.EncodeToString(sum[:16])},
		})
	}
	enc := json.NewEncoder(w)
	enc.SetIndent("", "  ")
	enc.SetEscapeHTML(false)
	return enc.Encode(map[string]any{
		"$schema": "https://json.schemastore.org/sarif-2.1.0.json",
		"version": "2.1.0",
		"runs": []any{map[string]any{
			"tool":    map[string]any{"driver": map[string]any{"name": p.Name, "version": p.Version, "rules": listed}},
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
func (f Finding) locations() []map[string]any {
	loc := map[string]any{}
	if f.File != "" {
		physical := map[string]any{"artifactLocation": map[string]any{"uri": (&url.URL{Path: filepath.ToSlash(f.File)}).EscapedPath()}}
		if f.Line > 0 {
			physical["region"] = map[string]any{"startLine": f.Line}
		}
		loc["physicalLocation"] = physical
	}
	if f.Subject != "" {
		loc["logicalLocations"] = []any{map[string]any{"fullyQualifiedName": display.Escape(f.Subject + f.Pointer)}}
	}
	if len(loc) == 0 {
		return nil
	}
	return []map[string]any{loc}
}

// WriteGitHub writes a workflow command for each finding.
func WriteGitHub(w io.Writer, title string, findings []Finding) error {
	for _, f := range findings {
		command := f.Level
		if command == "note" {
			command = "notice"
		}
		properties := ""
		if f.File != "" {
			properties = "file=" + property(filepath.ToSlash(f.File)) + ","
			if f.Line > 0 {
				properties += fmt.Sprintf("line=%d,", f.Line)
			}
		}
		if _, err := fmt.Fprintf(w, "::%s %stitle=%s::%s\n", command, properties, property(title+" "+f.Rule), data(f.headline())); err != nil {
			return err
		}
	}
	return nil
}

// data escapes the message of a workflow command as documented by GitHub.
func data(s string) string {
	return strings.NewReplacer("%", "%25", "\r", "%0D", "\n", "%0A").Replace(display.Escape(s))
}

// property escapes a property of a workflow command.
func property(s string) string {
	return strings.NewReplacer(":", "%3A", ",", "%2C").Replace(data(s))
}
