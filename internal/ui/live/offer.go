package live

import (
	"context"
	"slices"
	"time"

	"mcptest/internal/base/jsonv"
	"mcptest/internal/offer/compat"
	"mcptest/internal/offer/surface"
)

// Offer is what a server listed.
type Offer struct {
	Lists map[surface.Kind][]jsonv.Value
	// Failed says which lists could not be read.
	Failed map[surface.Kind]string
	// Findings are those of `mcptest check`, by definition: "tool NAME", "prompt NAME".
	Findings map[string][]compat.Finding
	Changed  bool // the server has announced since that a list changed
}

// tool returns the definition of a tool, absent if the server does not list it.
func (o *Offer) tool(name string) jsonv.Value {
	if o == nil {
		return jsonv.Value{}
	}
	for _, t := range o.Lists[surface.Tool] {
		if t.Lookup("name").Text() == name {
			return t
		}
	}
	return jsonv.Value{}
}

// newOffer is what a server listed, not yet examined.
func newOffer(read *surface.Offer) *Offer {
	o := &Offer{Lists: read.Lists, Failed: map[surface.Kind]string{}, Findings: map[string][]compat.Finding{}}
	for kind, err := range read.Failed {
		o.Failed[kind] = err.Error()
	}
	return o
}

// Limits of what is examined: the rules compare definitions with each other, and look for
// patterns in their texts.
const (
	examinedTools = 2_000
	examinedBytes = 32 << 10 // of one definition
)

// examine returns the findings of `mcptest check` by definition: "tool NAME", "prompt NAME".
func examine(ctx context.Context, read *surface.Offer) map[string][]compat.Finding {
	found := map[string][]compat.Finding{}
	rules, err := compat.Builtin()
	if err != nil || len(read.Lists[surface.Tool]) > examinedTools {
		return found
	}
	short := *read
	short.Lists = map[surface.Kind][]jsonv.Value{}
	for kind, defs := range read.Lists {
		isLong := func(def jsonv.Value) bool { return len(def.Append(nil)) > examinedBytes }
		short.Lists[kind] = slices.DeleteFunc(slices.Clone(defs), isLong)
	}
	list := compat.Offered(short.Value())
	list.Handshake = read.Handshake
	report, err := compat.Check(ctx, []compat.List{list}, rules, time.Now())
	if err != nil {
		return found
	}
	for _, f := range report.Findings {
		subject := f.Subject
		if f.Tool != "" {
			subject = "tool " + f.Tool
		}
		found[subject] = append(found[subject], f)
	}
	return found
}

// examinedResult bounds the results that are held against the rules of clients.
const examinedResult = 1 << 20

// ofResult returns what the rules of clients say about a result.
func ofResult(ctx context.Context, tool, result jsonv.Value) []compat.Finding {
	rules, err := compat.Builtin()
	if err != nil || tool.IsAbsent() || len(tool.Append(nil)) > examinedBytes {
		return nil
	}
	report := func(list compat.List) []compat.Finding {
		r, err := compat.Check(ctx, []compat.List{list}, rules, time.Now())
		if err != nil {
			return nil
		}
		return r.Findings
	}
	list := compat.List{Tools: []jsonv.Value{tool}}
	known := map[string]bool{}
	for _, f := range report(list) {
		known[f.Rule+f.Message] = true
	}
	list.Results = []compat.Result{{Tool: tool.Lookup("name").Text(), Value: result}}
	var out []compat.Finding
	for _, f := range report(list) {
		if !known[f.Rule+f.Message] {
			out = append(out, f)
		}
	}
	return out
}
