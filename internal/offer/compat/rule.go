package compat

import (
	"mcptest/internal/base/jsonschema"
	"mcptest/internal/base/jsonv"
	"mcptest/internal/base/source"
	"mcptest/internal/client/toolresult"
	"mcptest/internal/offer/apps"
	"mcptest/internal/offer/opening"
)

// An Effect is what a client does with a server that breaks a rule.
type Effect string

// The effects, worst first. For a directory, "session lost" means that it
// rejects the server.
const (
	SessionLost Effect = "session lost"
	ToolLost    Effect = "tool lost"
	Degraded    Effect = "degraded"
	Advice      Effect = "advice"
)

// Effects lists the effects, worst first.
func Effects() []Effect { return []Effect{SessionLost, ToolLost, Degraded, Advice} }

// A Level decides whether a finding fails the check.
type Level string

// The levels, worst first.
const (
	LevelError   Level = "error"
	LevelWarning Level = "warning"
	LevelAdvice  Level = "advice"
)

// Levels lists the levels, worst first.
func Levels() []Level { return []Level{LevelError, LevelWarning, LevelAdvice} }

// The groups of profiles.
const (
	GroupClients  = "clients"
	GroupStores   = "stores"
	GroupLint     = "lint"
	GroupSecurity = "security"
	// GroupBundles is about bundles (.mcpb), and examines nothing else.
	GroupBundles = "bundles"
	// GroupOpenings stands for the openings that check replays; no profile has it.
	GroupOpenings = "openings"
	// GroupApps stands for the rules about MCP Apps; findings have it in place of a profile.
	GroupApps = "apps"
	// GroupResults stands for the rules about results of tools; findings have it in place of a profile.
	GroupResults = "results"
)

// Groups lists the groups in the order of reports.
func Groups() []string {
	return []string{GroupClients, GroupStores, GroupLint, GroupSecurity, GroupBundles}
}

// A Profile is a client, an app directory, or a built-in set of rules.
type Profile struct {
	Pos       source.Pos
	Name      string `yaml:"name,required"`
	Group     string `yaml:"group,required" enum:"clients|stores|lint|security|bundles"`
	Title     string `yaml:"title,required"`
	Qualified string `yaml:"qualified_name"` // how the client names a tool to its model; holds {server} and {tool}
	Installs  string `yaml:"server_name"`    // a pattern: names under which the client installs a server; all if empty
	Client    string `yaml:"client_name"`    // the name to connect with, if servers answer this client differently
}

// isChosenByFor reports whether the profile is a client or a store, among which
// --for chooses.
func (p Profile) isChosenByFor() bool { return p.Group == GroupClients || p.Group == GroupStores }

// A Rule is one fact about a profile.
type Rule struct {
	Pos       source.Pos `json:"-"`
	ID        string     `yaml:"id,required" json:"id"`
	Profile   string     `yaml:"profile,required" json:"profile"`
	Effect    Effect     `yaml:"effect,required" enum:"session lost|tool lost|degraded|advice" json:"effect"`
	Level     Level      `yaml:"level,required" enum:"error|warning|advice" json:"level"`
	Evidence  `yaml:",inline"`
	Condition `yaml:",inline"`
	Message   string `yaml:"message,required" json:"message"`
	Fix       string `yaml:"fix,required" json:"fix"`
	Examples  `yaml:",inline"`

	declared Level // before Only lowered it, if the rule is of a directory that was not chosen
}

// Evidence says how a rule is known.
type Evidence struct {
	Basis    string `yaml:"basis,required" enum:"documented|observed" json:"basis"`
	Source   string `yaml:"source,required" json:"source"`      // where the fact is documented
	Seen     string `yaml:"seen,required" json:"seen"`          // the day on which it was last confirmed: 2026-08-05
	Versions string `yaml:"versions" json:"versions,omitempty"` // of the client
	Expires  string `yaml:"expires" json:"expires,omitempty"`   // required if observed
}

// How a rule is known.
const (
	documented = "documented"
	observed   = "observed"
)

// Condition says what breaks a rule: Must or Detect, or each of both. A rule that is applied
// elsewhere, such as that of an opening, has none.
type Condition struct {
	On     string      `yaml:"on" json:"-"`     // the values that must match; see selectors
	Must   jsonv.Value `yaml:"must" json:"-"`   // a JSON Schema
	Words  []string    `yaml:"words" json:"-"`  // texts without any of these are not examined, to save time
	Detect string      `yaml:"detect" json:"-"` // see detectors

	schema func() (*jsonschema.Schema, error) // of Must, compiled at the first call
}

// Examples prove a rule: a tool, a list of tools, or an object; see readExample.
type Examples struct {
	Fails  jsonv.Value `yaml:"fails,required" json:"-"` // breaks the rule
	Passes jsonv.Value `yaml:"passes,required" json:"-"`
}

// Rules are the profiles and their rules.
type Rules struct {
	Profiles []Profile `yaml:"profiles"`
	Rules    []Rule    `yaml:"rules"`
	// Openings are how clients open a connection; a server is needed to replay them.
	Openings []opening.Script `yaml:"openings"`
	// Apps are about MCP Apps; package apps applies them.
	Apps []apps.Rule `yaml:"-"`
	// Results are about results of tools; package toolresult applies them.
	Results []toolresult.Rule `yaml:"-"`

	counted bool // the openings were chosen with --only or --for
}
