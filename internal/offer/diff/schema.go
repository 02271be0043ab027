package diff

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"strings"

	"mcptest/internal/base/display"
	"mcptest/internal/base/jsonschema"
	"mcptest/internal/base/jsonv"
	"mcptest/internal/offer/contain"
)

// Limits of the comparison of two schemas. They bound its time by the sizes of the
// schemas, so that a verdict never depends on the speed of the machine.
const (
	maxEdits = 100                   // changes that are judged one by one
	maxSteps = 10 * contain.MaxSteps // for all of them
)

// schemaPair is the comparison of two versions of one schema. The roles follow the
// direction of the data: to should accept everything that from accepts.
type schemaPair struct {
	c        *comparer
	ctx      context.Context
	tool     string
	root     string // the pointer to the schema in the definition
	output   bool
	old, new jsonv.Value
	oldS     *contain.Schema
	newS     *contain.Schema
	worst    Class
	steps    int // left
}

// compareSchema compares two schemas: each edit, and as a whole.
func (c *comparer) compareSchema(tool, ptr string, old, new jsonv.Value, output bool, flagged map[string]bool) {
	p := &schemaPair{
		c:      c,
		ctx:    c.ctx,
		tool:   tool,
		root:   ptr,
		output: output,
		old:    acceptObjects(old, output),
		new:    acceptObjects(new, output),
		worst:  Safe,
		steps:  maxSteps,
	}
	w := &walker{noun: p.chooseNoun(), root: ptr}
	w.walk(old, new, "")
	for _, n := range w.notes {
		if !flagged[ptr+n.at] {
			c.add(Review, ptr+n.at, "", "%s", n.message)
		}
	}
	if !output {
		p.dropAllowed(w)
	}
	var oldErr, newErr error
	p.oldS, oldErr = contain.Compile(p.old)
	p.newS, newErr = contain.Compile(p.new)
	if oldErr != nil || newErr != nil {
		p.reportUnjudged(w.edits, oldErr, newErr)
		return
	}
	if output && new.IsAbsent() {
		c.add(Breaking, ptr, "no structuredContent", "outputSchema was removed: responses without structured content are allowed now")
		return
	}
	if len(w.edits) == 0 {
		return
	}
	verdict, witness := p.check(p.oldS, p.newS)
	all := ""
	if len(w.edits) <= maxEdits {
		for _, e := range w.edits {
			p.edit(e, verdict)
		}
	} else if all = nameEdits(w.edits); verdict == contain.Contained {
		c.add(Review, ptr, "", "%s has %d changes, too many to judge them one by one; together they keep what was declared%s", label(ptr), len(w.edits), all)
	}
	if verdict == contain.Escapes && p.worst != Breaking && (p.worst == Safe || !isBeyondSafe(witness)) {
		c.add(Breaking, ptr, p.show(witness), "%s%s", p.together("the changes together"), all)
	}
	if verdict == contain.Undecided && p.worst == Safe {
		c.add(Review, ptr, "", "%s: %s%s", label(ptr), p.explainUnproved(), all)
	}
}

// reportUnjudged reports the changes of a schema that the validator refuses, on one side at
// least: it is invalid, or larger than its limits.
func (p *schemaPair) reportUnjudged(edits []edit, oldErr, newErr error) {
	side, err := "new", newErr
	if err == nil {
		side, err = "old", oldErr
	}
	why := fmt.Sprintf("not judged, because the %s %s can't be compiled: %v", side, label(p.root), err)
	if limit := contain.ExplainTooLarge(err); limit != "" {
		why = fmt.Sprintf("not judged, because the %s %s is too large: %s", side, label(p.root), limit)
	}
	if len(edits) > maxEdits {
		p.c.add(Review, p.root, "", "%s has %d changes, %s%s", label(p.root), len(edits), why, nameEdits(edits))
		return
	}
	for _, e := range edits {
		p.c.add(Review, p.root+e.at, "", "%s; %s", e.message, why)
	}
}

// nameEdits names the first of many changes.
func nameEdits(edits []edit) string {
	const most = 20
	text := ""
	for i, e := range edits {
		if i == most {
			return text + fmt.Sprintf("; and %d more", len(edits)-most)
		}
		text += "; " + e.message
	}
	return text
}

func (p *schemaPair) chooseNoun() string {
	if p.output {
		return "field"
	}
	return "argument"
}

// dropAllowed removes the new optional arguments from a schema that allows any others:
// calls could pass them with any value, but none was declared.
func (p *schemaPair) dropAllowed(w *walker) {
	w.edits = slices.DeleteFunc(w.edits, func(e edit) bool {
		if e.allowed {
			p.c.add(Review, p.root+e.at, "", "%s: any value of it was accepted, as the schema allows arguments that it does not declare", e.message)
			p.old = e.apply(p.old)
		}
		return e.allowed
	})
}

// applyEdit compiles the old schema with one edit. Definitions of the new schema that
// the edit refers to are copied.
func (p *schemaPair) applyEdit(e edit) (*contain.Schema, error) {
	doc := e.apply(p.old)
	if out, err := contain.Compile(doc); err == nil {
		return out, nil
	}
	for _, k := range []string{"$defs", "definitions"} {
		for name, def := range p.new.Lookup(k).Members() {
			if doc.Lookup(k).Lookup(name).IsAbsent() {
				doc = put(doc, []string{k, name}, def)
			}
		}
	}
	return contain.Compile(doc)
}

// check reports whether the data is still accepted: the arguments of old calls by the
// new schema, new results by the old one. A server may return any field that its schema
// does not forbid, but clients only pass declared arguments.
func (p *schemaPair) check(old, new *contain.Schema) (contain.Verdict, jsonv.Value) {
	if p.output {
		old, new = new, old
	}
	return contain.Check(p.ctx, old, new, contain.Options{Declared: !p.output, Steps: &p.steps})
}

// isConfirmed reports whether a witness holds for the two complete versions.
func (p *schemaPair) isConfirmed(witness jsonv.Value) bool {
	from, to := p.oldS, p.newS
	if p.output {
		from, to = to, from
	}
	return contain.Confirms(p.ctx, from, to, witness)
}

// edit reports one edit as if it were the only one, but with a witness that holds for
// all of them.
func (p *schemaPair) edit(e edit, whole contain.Verdict) {
	class, witness, note := Safe, "", ""
	if whole != contain.Contained {
		class, note = Review, "; "+p.explainUnproved()+e.explainIndistinct(p.old)
		if single, err := p.applyEdit(e); err == nil {
			verdict, v := p.check(p.oldS, single)
			switch {
			case verdict == contain.Contained:
				class, note = Safe, ""
			case verdict == contain.Escapes && e.isBound() && isBeyondSafe(v):
				note = ": it only concerns numbers beyond 2^53, which many JSON readers can't represent"
			case verdict == contain.Escapes && p.isConfirmed(v):
				class, note, witness = Breaking, "", p.show(v)
			}
		}
	}
	if class == Safe && e.lost {
		class = Review
		note = ": calls that pass it are still accepted, but it has no documented effect"
		if p.output {
			note = ": clients that read it no longer find it"
		}
	}
	if class == Safe {
		if note = p.explainReservation(e); note != "" {
			class = Review
		}
	}
	if rank(class) < rank(p.worst) {
		p.worst = class
	}
	p.c.add(class, p.root+e.at, witness, "%s%s", e.message, note)
}

// explainReservation returns the reason to review an edit that rejects no declared argument,
// or "".
func (p *schemaPair) explainReservation(e edit) string {
	if e.at == "/$schema" && p.oldS.Draft() != p.newS.Draft() {
		if k := cmp.Or(findDialectal(p.old), findDialectal(p.new)); k != "" {
			return ": the two dialects may differ in what " + k + " means, and so may clients"
		}
	}
	if e.at == "/properties" && !p.output && p.new.Lookup("properties").IsAbsent() {
		return ": some clients refuse an inputSchema without it (mcptest check names them)"
	}
	keyword := strings.TrimPrefix(e.at, "/")
	if !p.output && closing(keyword) && p.old.Lookup(keyword).IsAbsent() {
		single, err := contain.Compile(e.apply(p.old))
		if err != nil {
			return ""
		}
		if verdict, _ := contain.Check(p.ctx, p.oldS, single, contain.Options{Steps: &p.steps}); verdict != contain.Contained {
			return ": calls with arguments that it does not declare are rejected now, also with those that an earlier release declared"
		}
	}
	return ""
}

// findDialectal returns a keyword whose meaning depends on the schema's dialect.
func findDialectal(schema jsonv.Value) (found string) {
	words := []string{"dependencies", "dependentRequired", "dependentSchemas", "additionalItems", "prefixItems", "unevaluatedItems", "unevaluatedProperties", "minContains", "maxContains", "$recursiveRef", "$dynamicRef", "$anchor", "id", "format"}
	jsonschema.Walk(schema, "", func(_, keyword string, v jsonv.Value) bool {
		i := slices.IndexFunc(words, func(k string) bool { return !v.Lookup(k).IsAbsent() })
		switch {
		case found != "" || keyword == "contentSchema": // which constrains nothing
			return false
		case i >= 0:
			found = words[i]
		case !v.Lookup("$ref").IsAbsent() && v.Len() > 1:
			found = "$ref next to other keywords"
		case v.Lookup("items").Kind() == jsonv.KindArray:
			found = "a list of items"
		}
		return found == ""
	})
	return found
}

func (p *schemaPair) explainUnproved() string {
	if p.output {
		return "it could not be decided whether responses that were impossible are allowed now"
	}
	return "it could not be decided whether calls that were valid are rejected now"
}

func (p *schemaPair) together(what string) string {
	if p.output {
		return what + " allow a response that was impossible"
	}
	return what + " reject a call that was valid"
}

// show prints a witness: a call, or the structured content of a response.
func (p *schemaPair) show(v jsonv.Value) string {
	if p.output {
		return "structuredContent " + display.JSON(v.String())
	}
	return p.c.call(p.tool, v)
}
