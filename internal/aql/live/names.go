package live

import (
	"slices"
	"strings"

	"mcptest/internal/jsonv"
)

// Operations that belong together are found by their names: a verb, an
// underscore, a resource.

var verbs = map[string][]string{
	"create": {"create", "add", "register", "insert", "upload", "import"},
	"get":    {"get", "read", "fetch", "show"},
	"list":   {"list", "search", "find", "query"},
	"update": {"update", "edit", "patch", "modify", "set", "rename"},
	"delete": {"delete", "remove", "unregister", "clear"},
}

// splitName reads create_book as the verb "create" and the resource "book".
// An unknown verb stands for itself.
func splitName(name string) (verb, resource string) {
	word, rest, ok := strings.Cut(name, "_")
	if !ok {
		return "", name
	}
	if v := verbOf(word); v != "" {
		return v, rest
	}
	return word, rest
}

// verbOf finds the verb that a word stands for, "" when it is none of ours.
func verbOf(word string) string {
	for v, words := range verbs {
		if slices.Contains(words, word) {
			return v
		}
	}
	return ""
}

// sameResource compares resource names, in the plural or not.
func sameResource(a, b string) bool {
	if a == b {
		return true
	}
	for _, s := range singulars(a) {
		if slices.Contains(singulars(b), s) {
			return true
		}
	}
	return false
}

func singulars(s string) []string {
	out := []string{s}
	for _, p := range [][2]string{{"ies", "y"}, {"ves", "f"}, {"ves", "fe"}, {"es", ""}, {"s", ""}} {
		if stem, ok := strings.CutSuffix(s, p[0]); ok && stem != "" {
			out = append(out, stem+p[1])
		}
	}
	return out
}

// remover is the operation that removes what a create makes, nil when there
// is none that may be called.
func (g *gate) remover(op *liveOp) *liveOp {
	remove, _ := g.removal(op)
	return remove
}

// removal is remover, with the reason where there is none.
func (g *gate) removal(op *liveOp) (remove *liveOp, why string) {
	d := g.run.catalog.partner("delete", "DELETE", op.resource)
	one := g.run.catalog.atMostOne(op)
	if one {
		d = g.run.catalog.exact("delete", "DELETE", op.resource)
	}
	switch {
	case d == nil:
		return nil, "no DELETE operation of its resource was found"
	case !one && d.idParam() == nil:
		return nil, d.name + " requires no identifier"
	case matchesAny(d.name, g.run.o.Deny):
		return nil, d.name + " is denied by --deny-op"
	case d.risk > riskDelete && !matchesAny(d.name, g.run.o.Allow):
		return nil, d.name + " is only called when --allow-op names it"
	}
	return d, ""
}

// isIdentifier says that a parameter names one of an operation's resources.
func (o *liveOp) isIdentifier(p liveParam) bool {
	if !p.required || o.category == "CREATE" {
		return false
	}
	switch {
	case strings.HasSuffix(p.name, "_id"), slices.Contains([]string{"id", "slug", "key", "uuid", "path"}, p.name):
		return true
	case p.name == "name", p.name == o.resource+"_name":
		return o.verb == "get" || o.verb == "update" || o.verb == "delete"
	}
	return false
}

// idParam is the parameter that says which resource is meant.
func (o *liveOp) idParam() *liveParam {
	for i, p := range o.params {
		if o.isIdentifier(p) {
			return &o.params[i]
		}
	}
	return nil
}

// items finds the list of objects in an answer's data, looking a few levels
// deep; nil when there is none.
func items(data jsonv.Value, depth int) []jsonv.Value {
	switch data.Kind() {
	case jsonv.KindArray:
		var out []jsonv.Value
		for _, e := range data.Elems() {
			if node := e.Lookup("node"); node.Kind() == jsonv.KindObject {
				e = node
			}
			if e.Kind() == jsonv.KindObject {
				out = append(out, e)
			}
		}
		return out
	case jsonv.KindObject:
		if depth == 0 {
			return nil
		}
		for _, m := range data.Members() {
			if list := items(m, depth-1); len(list) > 0 {
				return list
			}
		}
	}
	return nil
}

const (
	listDepth    = 3
	maxHarvested = 20
)

// harvestLists calls the operations that list things, and keeps what they
// answer as identifiers for other operations.
func (b *builder) harvestLists() {
	for _, op := range b.run.catalog.ops {
		if op.category != "READ" || b.run.skipped[op.name] != "" || op.idParam() != nil || op.name == "introspect" {
			continue
		}
		if op.verb != "list" && op.verb != "get" && op.verb != "search" && !strings.HasSuffix(op.resource, "s") {
			continue
		}
		params, why := b.params(op)
		if why != "" {
			continue
		}
		r := b.run.caller.call(op, params)
		if !r.ok() {
			continue
		}
		b.first[op.name] = r
		keys := b.harvest[op.resource]
		if keys == nil {
			keys = map[string][]jsonv.Value{}
			b.harvest[op.resource] = keys
		}
		for _, item := range items(r.data(), listDepth) {
			for k, v := range item.Members() {
				if kind := v.Kind(); (kind == jsonv.KindString || kind == jsonv.KindNumber) && len(keys[k]) < maxHarvested {
					keys[k] = append(keys[k], v)
				}
			}
		}
	}
}

// harvested finds an identifier that the adapter itself gave.
func (b *builder) harvested(op *liveOp, p liveParam) (jsonv.Value, bool) {
	resource := op.resource
	if stem, ok := strings.CutSuffix(p.name, "_id"); ok && stem != "" {
		resource = stem
	}
	// The collector's maps are walked in the order of the operations, so that
	// the same adapter gets the same requests.
	for _, lister := range b.run.catalog.ops {
		keys := b.harvest[lister.resource]
		if keys == nil || !sameResource(lister.resource, resource) {
			continue
		}
		for _, key := range []string{p.name, "id", "name", "slug"} {
			if len(keys[key]) > 0 && b.run.catalog.fits(p, keys[key][0]) == "" {
				return keys[key][0], true
			}
		}
	}
	return jsonv.Value{}, false
}

// params builds the required parameters of an operation; why says what is in
// the way.
func (b *builder) params(op *liveOp) (out jsonv.Value, why string) {
	out = jsonv.Object()
	if (op.category == "UPDATE" || op.category == "DELETE") && b.run.catalog.atMostOne(op) {
		if _, err := b.ownThing(op, func(createdThing) bool { return true }); err != nil {
			return out, err.Error()
		}
	}
	for _, p := range op.params {
		if !p.required {
			continue
		}
		v, err := b.required(op, p)
		if err != nil {
			return out, err.Error()
		}
		out = out.With(p.name, v)
	}
	return b.run.maker.marking(op, out, ""), ""
}

func (b *builder) required(op *liveOp, p liveParam) (jsonv.Value, error) {
	if v, ok := b.run.o.Values.Lookup(op.name).Get(p.name); ok {
		return v, nil
	}
	if x := op.executionParam(); x != nil && x.name == p.name {
		if v, err := b.run.executor.someExecution(op); err == nil || op.category != "READ" {
			return v, err
		}
	}
	switch {
	case op.isIdentifier(p) && (op.category == "UPDATE" || op.category == "DELETE"):
		return b.own(op, p)
	case op.isIdentifier(p) && op.category == "EXECUTE" && b.run.catalog.creator(op) != nil:
		return b.own(op, p)
	case op.isIdentifier(p):
		if v, ok := b.harvested(op, p); ok {
			return v, nil
		}
	case op.category == "UPDATE" && p.name == "input":
		return b.someInput(op), nil
	}
	return b.run.maker.value(op, p, p.name)
}

// someInput is an object with one field that the resource has.
func (b *builder) someInput(op *liveOp) jsonv.Value {
	if create := b.run.catalog.creator(op); create != nil {
		for _, p := range create.params {
			if b.run.catalog.jsonKind(p) == "string" && p.v.Lookup("enum").IsAbsent() && !p.sensitive {
				if v, err := b.run.maker.value(create, p, "changed"); err == nil {
					return jsonv.Object(jsonv.Member{Key: p.name, Value: v})
				}
			}
		}
	}
	return jsonv.Object()
}

// builder builds the required parameters of an operation, with identifiers that the
// adapter listed or that the run created.
type builder struct {
	run     *collector
	harvest map[string]map[string][]jsonv.Value // resource → key → values
	first   map[string]reply                    // what lists answered before anything else was called
}
