package gate

import (
	"cmp"
	"net/url"
	"path/filepath"
	"strings"

	"mcptest/internal/base/display"
)

// SARIFSchema is the address of the JSON Schema of SARIF 2.1.0.
const SARIFSchema = "https://json.schemastore.org/sarif-2.1.0.json"

// The objects of SARIF 2.1.0 (OASIS) that reports contain, with the names of the standard.
// Text in them must be escaped.

// SARIFLog is the whole document.
type SARIFLog struct {
	Schema  string     `json:"$schema"`
	Runs    []SARIFRun `json:"runs"`
	Version string     `json:"version"`
}

// SARIFRun is one run of a tool.
type SARIFRun struct {
	Results []SARIFResult `json:"results"`
	Tool    SARIFTool     `json:"tool"`
}

// SARIFTool is the tool that found the results.
type SARIFTool struct {
	Driver SARIFDriver `json:"driver"`
}

// SARIFDriver names the tool and its rules.
type SARIFDriver struct {
	Name    string      `json:"name"`
	Rules   []SARIFRule `json:"rules"`
	Version string      `json:"version"`
}

// SARIFRule describes the results with its id.
type SARIFRule struct {
	ID               string        `json:"id"`
	ShortDescription *SARIFMessage `json:"shortDescription,omitempty"`
	Help             *SARIFMessage `json:"help,omitempty"`
	HelpURI          string        `json:"helpUri,omitempty"`
}

// SARIFMessage is a text. Objects leave out an empty one.
type SARIFMessage struct {
	Text string `json:"text"`
}

// SARIFText returns the message with a text, nil if it is empty.
func SARIFText(text string) *SARIFMessage {
	if text == "" {
		return nil
	}
	return &SARIFMessage{text}
}

// SARIFResult is one finding.
type SARIFResult struct {
	RuleID              string            `json:"ruleId"`
	RuleIndex           int               `json:"ruleIndex"` // in the rules of the driver
	Level               string            `json:"level"`     // error, warning or note
	Message             *SARIFMessage     `json:"message,omitempty"`
	Locations           []SARIFLocation   `json:"locations,omitempty"`
	PartialFingerprints map[string]string `json:"partialFingerprints"`
	Properties          any               `json:"properties,omitempty"` // a property bag: what it contains is the tool's own
}

// SARIFLocation is where a finding is: in an object, in a file, or both.
type SARIFLocation struct {
	LogicalLocations []SARIFLogicalLocation `json:"logicalLocations,omitempty"`
	PhysicalLocation SARIFPhysicalLocation  `json:"physicalLocation"`
}

// SARIFLogicalLocation is a place that is not in a file.
type SARIFLogicalLocation struct {
	FullyQualifiedName string `json:"fullyQualifiedName"`
}

// SARIFPhysicalLocation is a file, and a place in it if the line is known.
type SARIFPhysicalLocation struct {
	ArtifactLocation SARIFArtifact `json:"artifactLocation"`
	Region           *SARIFRegion  `json:"region,omitempty"`
}

// SARIFArtifact is the address of a file.
type SARIFArtifact struct {
	URI       string `json:"uri"`
	URIBaseID string `json:"uriBaseId,omitempty"`
}

// SARIFRegion is a place in a file. Lines and columns begin at 1.
type SARIFRegion struct {
	StartLine   int           `json:"startLine"`
	StartColumn int           `json:"startColumn,omitempty"`
	Snippet     *SARIFMessage `json:"snippet,omitempty"`
}

// NoFile is the artifact of findings about a server that no file describes. Code scanning
// accepts files only, no addresses; it need not exist in the repository.
const NoFile = "mcp-server"

// newArtifact returns the artifact of a file: relative to the sources unless it is absolute.
func newArtifact(file string) SARIFArtifact {
	name := display.Escape(filepath.ToSlash(cmp.Or(file, NoFile)))
	u := url.URL{Path: name}
	drive := len(name) > 2 && name[1] == ':' && name[2] == '/'
	switch {
	case drive:
		u.Scheme, u.Path = "file", "/"+name
	case strings.HasPrefix(name, "/"):
		u.Scheme = "file"
	}
	return SARIFArtifact{URI: u.String()}
}
