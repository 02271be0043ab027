package ruleset

import (
	"fmt"
	"slices"

	"mcptest/internal/base/source"
	"mcptest/internal/report/gate"
)

// ProbeKeys are the keys of an entry of `probe:` that choose what is examined.
type ProbeKeys struct {
	// Families and rules; all that apply to the server when left out.
	Only []string `yaml:"only" example:"[http, tools]"`
	// Tools without readOnlyHint that may be called with generated arguments, by their exact names.
	AllowWrites []string `yaml:"allow_writes" example:"[create_note]"`
	// The lowest level that fails. Failed rules below it are warnings.
	FailOn Level `yaml:"fail_on" enum:"must|should" default:"must" example:"should"`
	// A YAML file of accepted failures, each with a reason.
	Baseline string `yaml:"baseline" example:"probe-baseline.yaml" schema:"minLength: 1"`
	// The number that fixes generated values and their order.
	Seed int `yaml:"seed" default:"1" example:"7" range:"0-1000000"`
	// Calls that are made again as if their response was lost, and must have their effect once.
	Retry []*Retry `yaml:"retry" title:"A call whose response is lost" example:"[{tool: create_note, args: {text: a, key: k1}, effects: {tool: list_notes, count: structured.total}}]"`

	base *gate.Baseline
	read []string // files
}

// Retry is a call that is made twice with equal arguments.
type Retry struct {
	Pos source.Pos
	// The tool. Naming it here permits these two calls.
	Tool string `yaml:"tool,required" example:"create_note" schema:"minLength: 1"`
	// Its arguments, with what makes the call idempotent.
	Args *source.Node `yaml:"args"`
	// How its effects are counted.
	Effects Effects `yaml:"effects,required" title:"How effects are counted" example:"{upstream: api, method: POST}" rules:"oneOf: [{required: [tool, count]}, {required: [upstream]}]"`
}

// Effects counts the effects of a call: by a tool that is read-only, or by the requests to
// an upstream.
type Effects struct {
	Pos source.Pos
	// A tool with readOnlyHint: true.
	Tool string `yaml:"tool" example:"list_notes" schema:"minLength: 1"`
	// Its arguments.
	Args *source.Node `yaml:"args"`
	// The target in its result: a number, or a list whose length counts.
	Count string `yaml:"count" example:"structured.total" schema:"minLength: 1"`
	// The upstream whose requests are counted.
	Upstream string `yaml:"upstream" example:"api" schema:"minLength: 1"`
	// Only requests with this method.
	Method string `yaml:"method" example:"POST"`
	// Only requests with this path.
	Path string `yaml:"path" example:"/notes"`
}

// Check reports mistakes of the keys that a schema cannot find, and reads the baseline.
func (k *ProbeKeys) Check(n *source.Node, path string, d *source.Decoder) {
	rules, err := Builtin()
	if err != nil {
		d.Errorf(n, path, "%v", err)
		return
	}
	names := rules.Names()
	for i, name := range k.Only {
		if !slices.Contains(names, name) {
			diag := d.Errorf(n.Get("only").Items[i], source.PathIndex(path+".only", i), "there is no family or rule %q", name)
			diag.Hint = source.DidYouMean(name, names)
		}
	}
	for i, r := range k.Retry {
		at := source.PathIndex(path+".retry", i)
		if r != nil && (r.Effects.Upstream == "") == (r.Effects.Tool == "" || r.Effects.Count == "") {
			d.Errorf(n.Get("retry").Items[i], at+".effects", "effects: counts either with tool: and count:, or with upstream:")
		}
	}
	hasRetry := slices.Contains(k.Only, "retry") || slices.Contains(k.Only, "retry-once")
	if len(k.Retry) > 0 && len(k.Only) > 0 && !hasRetry {
		d.Errorf(n.Get("retry"), path+".retry", "retry: has no effect, because only: leaves out the rule retry-once").Hint = "add retry to only:"
	}
	k.base = new(gate.Baseline)
	if k.Baseline != "" {
		f := d.ReadBeside(n.Get("baseline"), path+".baseline", k.Baseline, func(name string) {
			k.read = append(k.read, name)
		})
		if f != nil {
			base, ds := gate.LoadBaseline(f, rules.Unknown, rules.Revisions()...)
			d.Add(ds...)
			k.base = base
		}
	}
}

// Accepted is the baseline of the entry.
func (k *ProbeKeys) Accepted() *gate.Baseline { return k.base }

// Unknown returns the message for a rule that does not exist, "" for one that does.
func (r Rules) Unknown(rule string) string {
	if _, ok := r.Rule(rule); ok {
		return ""
	}
	return fmt.Sprintf("there is no rule %q; mcptest probe --list lists them", rule)
}

// Probe is the action of a test that probes its server.
type Probe struct{ *ProbeKeys }

// Files are those that the verdict depends on.
func (p Probe) Files() []string { return p.read }

// Name is what reports show in place of a method.
func (Probe) Name() string { return "probe" }

// Plan says what is done.
func (Probe) Plan() string { return "hold the server against the rules of the protocol" }

// Connects is false: a probe opens its own sessions.
func (Probe) Connects() bool { return false }

// Refuses nothing.
func (Probe) Refuses(bool) (why, hint string) { return "", "" }
