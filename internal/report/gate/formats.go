package gate

import (
	"crypto/sha256"
	"encoding/hex"
	"strconv"
	"strings"
)

// SARIFSchema is the address of the JSON Schema of SARIF 2.1.0.
const SARIFSchema = "https://json.schemastore.org/sarif-2.1.0.json"

// The parts of SARIF 2.1.0 (OASIS) that reports use, with the names of the standard.
// Their texts must be escaped.
type (
	// SARIFText is a message in plain text.
	SARIFText struct {
		Text string `json:"text"`
	}
	// SARIFRule describes a rule.
	SARIFRule struct {
		ID      string     `json:"id"`
		Short   SARIFText  `json:"shortDescription"`
		Help    *SARIFText `json:"help,omitempty"`
		HelpURI string     `json:"helpUri,omitempty"`
	}
	// SARIFResult is one finding.
	SARIFResult struct {
		RuleID       string            `json:"ruleId"`
		RuleIndex    int               `json:"ruleIndex"`
		Level        string            `json:"level"`
		Message      SARIFText         `json:"message"`
		Locations    []SARIFLocation   `json:"locations,omitempty"`
		Fingerprints map[string]string `json:"partialFingerprints"`
		Properties   map[string]any    `json:"properties,omitempty"`
	}
	// SARIFLocation is the place of a finding.
	SARIFLocation struct {
		Logical  []SARIFLogical `json:"logicalLocations,omitempty"`
		Physical *SARIFPhysical `json:"physicalLocation,omitempty"`
	}
	// SARIFLogical is a place by name.
	SARIFLogical struct {
		Name string `json:"fullyQualifiedName"`
	}
	// SARIFPhysical is a place in a file.
	SARIFPhysical struct {
		Artifact SARIFArtifact `json:"artifactLocation"`
		Region   *SARIFRegion  `json:"region,omitempty"`
	}
	// SARIFArtifact is a file.
	SARIFArtifact struct {
		URI       string `json:"uri"`
		URIBaseID string `json:"uriBaseId,omitempty"`
	}
	// SARIFRegion is a range of lines.
	SARIFRegion struct {
		StartLine   int        `json:"startLine"`
		StartColumn int        `json:"startColumn,omitempty"`
		Snippet     *SARIFText `json:"snippet,omitempty"`
	}
)

// Fingerprint identifies a finding by what does not change with its place in a file.
func Fingerprint(identity ...string) string {
	sum := sha256.Sum256([]byte(strings.Join(identity, "\x00")))
	return hex.EncodeToString(sum[:16])
}

// Escapes that the workflow commands of GitHub decode in their text and properties.
var (
	githubText     = strings.NewReplacer("%", "%25", "\r", "%0D", "\n", "%0A")
	githubProperty = strings.NewReplacer("%", "%25", "\r", "%0D", "\n", "%0A", ":", "%3A", ",", "%2C")
)

// GitHubCommand returns a workflow command that annotates a line of a file. Text of
// others can't end it or begin another, if it is escaped for people.
func GitHubCommand(level, title, file string, line, column int, text string) string {
	var properties []string
	add := func(name, value string) {
		if value != "" && value != "0" {
			properties = append(properties, name+"="+githubProperty.Replace(value))
		}
	}
	if add("file", file); file != "" {
		add("line", strconv.Itoa(line))
		add("col", strconv.Itoa(column))
	}
	add("title", title)
	return "::" + level + " " + strings.Join(properties, ",") + "::" + githubText.Replace(text) + "\n"
}
