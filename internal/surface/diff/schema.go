package diff

import (
	"context"
	"strings"
	"time"

	"mcptest/internal/jsonv"
	"mcptest/internal/surface/contain"
)

// Bounds of the comparison of two schemas.
const (
	maxEdits   = 100
	schemaTime = 5 * time.Second
)

// schemaPair is the comparison of two versions of one schema. The roles follow
// the direction of the data: what from accepts, to should accept.
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
}

// schema compares two schemas: edit by edit, and as a whole.
func (c *comparer) schema(tool, ptr string, old, new jsonv.Value, output bool, flagged map[string]bool) {
	ctx, cancel := context.WithTimeout(c.ctx, schemaTime)
	defer cancel()
	p := &schemaPair{c: c, ctx: ctx, tool: tool, root: ptr, output: output, old: ofObjects(old, output), new: ofObjects(new, output), worst: Safe}
	w := &walker{noun: p.noun(), root: ptr, formats: strings.Contains(old.Lookup("$schema").Text()+new.Lookup("$schema").Text(), "/draft-0")}
	w.walk(old, new, "")
	for _, n := range w.notes {
		if !flagged[ptr+n.at] {
			c.add(Review, ptr+n.at, "", "%s", n.message)
		}
	}
	var err error
	if p.oldS, err = contain.Compile(p.old); err != nil {
		c.add(Review, ptr, "", "the old %s can't be compiled, so its changes can't be proved: %v", label(ptr), err)
		return
	}
	if p.newS, err = contain.Compile(p.new); err != nil {
		c.add(Review, ptr, "", "the new %s can't be compiled, so clients may reject the tool: %v", label(ptr), err)
		return
	}
	if len(w.edits) == 0 {
		return
	}
	verdict, witness := p.check(p.oldS, p.newS)
	if len(w.edits) <= maxEdits {
		for _, e := range w.edits {
			p.edit(e, verdict)
		}
	}
	if verdict == contain.Escapes && p.worst != Breaking && (p.worst == Safe || !beyondSafe(witness)) {
		c.add(Breaking, ptr, p.show(witness), "%s", p.together("the changes together"))
	}
	if verdict == contain.Undecided && p.worst == Safe {
		c.add(Review, ptr, "", "%s: %s", label(ptr), p.unproved())
	}
}

// ofObjects adds what MCP requires of arguments and structured content: that
// they are objects. A tool without outputSchema may return any object.
func ofObjects(v jsonv.Value, output bool) jsonv.Value {
	if v.IsAbsent() || !output && v.Kind() == jsonv.KindObject && v.Lookup("type").IsAbsent() && v.Lookup("$ref").IsAbsent() {
		return v.With("type", jsonv.String("object"))
	}
	return v
}

func (p *schemaPair) noun() string {
	if p.output {
		return "field"
	}
	return "argument"
}

// check reports whether data in the direction of the schema still fits: the
// arguments of old calls the new schema, new results the old one.
func (p *schemaPair) check(old, new *contain.Schema) (contain.Verdict, jsonv.Value) {
	if p.output {
		old, new = new, old
	}
	return contain.Check(p.ctx, old, new, contain.Options{Declared: true})
}

// confirmed reports whether a witness holds for the two versions themselves.
func (p *schemaPair) confirmed(witness jsonv.Value) bool {
	from, to := p.oldS, p.newS
	if p.output {
		from, to = to, from
	}
	return contain.Confirms(p.ctx, from, to, witness)
}

// edit reports one edit: as if it were the only one, and with a witness that
// holds for all of them.
func (p *schemaPair) edit(e edit, whole contain.Verdict) {
	class, witness, note := Safe, "", ""
	if whole != contain.Contained {
		class, note = Review, "; "+p.unproved()
		single, err := contain.Compile(e.apply(p.old))
		if err == nil {
			switch verdict, v := p.check(p.oldS, single); {
			case verdict == contain.Contained:
				class, note = Safe, ""
			case verdict == contain.Escapes && e.beyondSafe():
				note = ": it only concerns numbers beyond 2^53, which many JSON readers can't represent"
			case verdict == contain.Escapes && p.confirmed(v):
				class, note, witness = Breaking, "", p.show(v)
			}
		}
	}
	if class == Safe && e.lost {
		class = Review
		if note = ": calls that pass it are still accepted, but it has no documented effect"; p.output {
			note = ": clients that read it no longer find it"
		}
	}
	if rank(class) < rank(p.worst) {
		p.worst = class
	}
	p.c.add(class, p.root+e.at, witness, "%s%s", e.message, note)
}

func (p *schemaPair) unproved() string {
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
		return "structuredContent " + printable(v)
	}
	return p.c.call(p.tool, v)
}

// someArguments are arguments that a schema accepts.
func someArguments(ctx context.Context, schema jsonv.Value) jsonv.Value {
	ctx, cancel := context.WithTimeout(ctx, schemaTime)
	defer cancel()
	any, err := contain.Compile(ofObjects(schema, false))
	none, err2 := contain.Compile(jsonv.Bool(false))
	if err != nil || err2 != nil {
		return jsonv.Object()
	}
	_, v := contain.Check(ctx, any, none, contain.Options{Declared: true})
	return v
}
