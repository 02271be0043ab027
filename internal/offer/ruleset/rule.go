package ruleset

import (
	_ "embed"
	"fmt"
	"slices"
	"strings"
	"sync"

	"mcptest/internal/base/source"
)

// A Level says how binding a rule is.
type Level string

// The levels, worst first. Practice has an incident as its source, not a clause, and
// never changes the score.
const (
	Must     Level = "must"
	Should   Level = "should"
	Practice Level = "practice"
)

// A Claim is what one or more revisions say about a rule.
type Claim struct {
	Revisions []string `yaml:"revisions,required" json:"revisions"`
	Level     Level    `yaml:"level,required" enum:"must|should|practice" json:"level"`
	Clause    string   `yaml:"clause" json:"clause,omitempty"`     // page and anchor in the specification, or an address
	Sentence  string   `yaml:"sentence" json:"sentence,omitempty"` // of the clause
}

// URL is the address of the clause in a revision.
func (c Claim) URL(revision string) string {
	if c.Clause == "" || strings.HasPrefix(c.Clause, "https://") {
		return c.Clause
	}
	if c.Clause == "schema" && revision < firstSchemaPage {
		return "https://github.com/modelcontextprotocol/modelcontextprotocol/tree/main/schema/" + revision
	}
	return "https://modelcontextprotocol.io/specification/" + revision + "/" + c.Clause
}

// firstSchemaPage is the first revision whose specification has a page about the schema.
const firstSchemaPage = "2025-06-18"

// A Rule is one requirement of servers.
type Rule struct {
	Pos       source.Pos `json:"-"`
	ID        string     `yaml:"id,required" json:"id"`
	Family    string     `yaml:"family,required" json:"family"`
	Transport string     `yaml:"transport" enum:"stdio|http" json:"transport,omitempty"` // both if empty
	Needs     string     `yaml:"needs" json:"needs,omitempty"`                           // the capability without which it does not concern a server
	Traffic   bool       `yaml:"traffic" json:"-"`                                       // it is about messages of other families, too
	Decides   bool       `yaml:"decides" json:"decides,omitempty"`                       // a failure fails at every level, and leaves no A
	Text      string     `yaml:"text,required" json:"text"`                              // what a correct server does
	Fix       string     `yaml:"fix,required" json:"fix"`
	In        []Claim    `yaml:"in,required" json:"in"`
}

// Claim returns what a revision says; ok is false if it says nothing.
func (r Rule) Claim(revision string) (c Claim, ok bool) {
	for _, c := range r.In {
		if slices.Contains(c.Revisions, revision) {
			return c, true
		}
	}
	return Claim{}, false
}

// A Family is a group of rules about one subject.
type Family struct {
	Name      string `yaml:"name,required"`
	Text      string `yaml:"text,required"`
	Extension string `yaml:"extension"` // its rules concern only servers that declare it
}

// Rules are the families and their rules.
type Rules struct {
	Families []Family `yaml:"families,required"`
	Rules    []Rule   `yaml:"rules,required"`
}

//go:embed rules.yaml
var builtin []byte

// Builtin returns the rules. They are decoded once.
var Builtin = sync.OnceValues(func() (Rules, error) {
	var r Rules
	node, ds := source.Parse(&source.File{Name: "rules.yaml", Data: builtin})
	var d source.Decoder
	if !ds.HasErrors() {
		d.Decode(node, "", &r)
		ds = append(ds, d.Diagnostics()...)
	}
	if ds.HasErrors() {
		return r, fmt.Errorf("built-in rules: %s", ds[0].Msg)
	}
	return r, nil
})

// Rule returns the rule with an id.
func (r Rules) Rule(id string) (Rule, bool) {
	i := slices.IndexFunc(r.Rules, func(rule Rule) bool { return rule.ID == id })
	if i < 0 {
		return Rule{}, false
	}
	return r.Rules[i], true
}

// Extension is the one that the rules of a family are about, "" if they are of the protocol.
func (r Rules) Extension(family string) string {
	for _, f := range r.Families {
		if f.Name == family {
			return f.Extension
		}
	}
	return ""
}

// Names are what --only accepts: the families, then the rules.
func (r Rules) Names() (out []string) {
	for _, f := range r.Families {
		out = append(out, f.Name)
	}
	for _, rule := range r.Rules {
		out = append(out, rule.ID)
	}
	return out
}

// Span names the revisions: "2025-06-18, 2025-11-25".
func (c Claim) Span() string { return strings.Join(c.Revisions, ", ") }

// Revisions are those that rules are about, the oldest first.
func (r Rules) Revisions() []string {
	var out []string
	for _, rule := range r.Rules {
		for _, c := range rule.In {
			out = append(out, c.Revisions...)
		}
	}
	slices.Sort(out)
	return slices.Compact(out)
}
