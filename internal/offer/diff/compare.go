package diff

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"strings"

	"mcptest/internal/base/display"
	"mcptest/internal/base/jsonv"
	"mcptest/internal/base/shellwords"
	"mcptest/internal/offer/surface"
)

// Class is the effect of a change on clients.
type Class string

// The classes, the most serious one first.
const (
	Breaking Class = "breaking" // a valid call is rejected now, or an impossible response is allowed now
	Trust    Class = "trust"    // a promise was withdrawn, or a text may mislead a model
	Review   Class = "review"   // a person must decide: texts, and schemas with no proof either way
	Safe     Class = "safe"     // proved to accept everything that was accepted before
)

// Classes are all classes, the most serious one first.
func Classes() []Class { return []Class{Breaking, Trust, Review, Safe} }

func rank(c Class) int { return slices.Index(Classes(), c) }

// Fails reports whether a change fails under --fail-on: changes of the given class
// and of more serious ones do, and with "any" all do.
func Fails(c Class, failOn string) bool { return failOn == "any" || rank(c) <= rank(Class(failOn)) }

// Change is one difference.
type Change struct {
	Class   Class
	Server  string // if several are compared
	Kind    surface.Kind
	Name    string // of the tool, prompt or server; the URI of a resource
	Pointer string // into the definition (RFC 6901)
	Message string
	Witness string // of a breaking change: the call, or the response

	File string // where the definition is, if it was read from a file
	Line int
}

// Options of a comparison.
type Options struct {
	// Target is appended to calls: the flags or the command for reaching the server.
	Target string
	// ByName pairs surfaces by the names of their servers even if there is one on
	// each side.
	ByName bool
	// InNew makes changes point into the new file if both files have the definition.
	InNew bool
}

// Compare lists the changes from old to new, the most serious ones first. The
// surfaces are paired by the names of their servers if there are several.
func Compare(ctx context.Context, old, new []*surface.Surface, o Options) []Change {
	c := &comparer{ctx: ctx, o: o}
	if len(old) == 1 && len(new) == 1 && !o.ByName {
		c.surfaces(old[0], new[0])
	} else {
		find := func(list []*surface.Surface, name string) *surface.Surface {
			if i := slices.IndexFunc(list, func(s *surface.Surface) bool { return s.Server == name }); i >= 0 {
				return list[i]
			}
			return nil
		}
		for _, s := range old {
			c.of = s.Server
			other := find(new, s.Server)
			if other == nil {
				c.report(Change{Class: Review, Kind: surface.Server, Name: s.Server, Message: "missing on the new side: all its definitions count as removed", File: s.Source})
				other = &surface.Surface{Server: s.Server, Info: s.Info}
			}
			c.surfaces(s, other)
		}
		for _, s := range new {
			if c.of = s.Server; find(old, s.Server) == nil {
				c.report(Change{Class: Safe, Kind: surface.Server, Name: s.Server, Message: "missing on the old side: all its definitions are new", File: s.Source})
				c.surfaces(&surface.Surface{Server: s.Server, Info: s.Info}, s)
			}
		}
	}
	slices.SortStableFunc(c.changes, func(a, b Change) int {
		return cmp.Or(cmp.Compare(rank(a.Class), rank(b.Class)), cmp.Compare(a.Kind, b.Kind), cmp.Compare(a.Name, b.Name))
	})
	return c.changes
}

// NotCompared lists the kinds that have definitions on one side and are unknown on
// the other: a tools/list response has no prompts.
func NotCompared(old, new []*surface.Surface) []surface.Kind {
	var out []surface.Kind
	for _, l := range surface.Lists() {
		missing := func(a, b []*surface.Surface) bool {
			return slices.ContainsFunc(a, func(s *surface.Surface) bool { return slices.Contains(s.Unknown, l.Kind) }) &&
				slices.ContainsFunc(b, func(s *surface.Surface) bool {
					return slices.ContainsFunc(s.Items, func(it surface.Item) bool { return it.Kind == l.Kind })
				})
		}
		if missing(old, new) || missing(new, old) {
			out = append(out, l.Kind)
		}
	}
	return out
}

// comparer collects changes. at is the position of the current definition.
type comparer struct {
	ctx     context.Context
	o       Options
	of      string // the server that is compared, if there are several
	changes []Change
	at      Change
}

func (c *comparer) report(ch Change) {
	ch.Server = c.of
	c.changes = append(c.changes, ch)
}

// add reports a change of the current definition.
func (c *comparer) add(class Class, pointer, witness, format string, args ...any) {
	ch := c.at
	ch.Class, ch.Pointer, ch.Message, ch.Witness = class, pointer, fmt.Sprintf(format, args...), witness
	c.report(ch)
}

// look makes a definition the current one. Changes point into the old file, which is
// usually the lock file, unless only the new one has the definition.
func (c *comparer) look(s *surface.Surface, it surface.Item) {
	c.at = Change{Kind: it.Kind, Name: it.Name, File: s.Source, Line: it.Line}
}

func (c *comparer) surfaces(old, new *surface.Surface) {
	c.server(old, new)
	c.shadowed(old, new)
	var gone, fresh []surface.Item
	for _, it := range old.Items {
		other, ok := new.Find(it.Kind, it.Name)
		if slices.Contains(new.Unknown, it.Kind) {
			continue // see NotCompared
		}
		if !ok {
			gone = append(gone, it)
			continue
		}
		if !jsonv.Equal(it.Def, other.Def) {
			if c.look(old, it); c.o.InNew {
				c.look(new, other)
			}
			c.definition(it, other)
		}
	}
	for _, it := range new.Items {
		if _, ok := old.Find(it.Kind, it.Name); !ok && !slices.Contains(old.Unknown, it.Kind) {
			fresh = append(fresh, it)
		}
	}
	renamed := map[string]string{} // kind and new name → old name
	for _, it := range gone {
		c.look(old, it)
		note := ""
		if i := slices.IndexFunc(fresh, func(f surface.Item) bool { return renamed[id(f)] == "" && sameButName(it, f) }); i >= 0 {
			renamed[id(fresh[i])] = it.Name
			note = fmt.Sprintf("; %q has the same definition", fresh[i].Name)
		}
		c.add(Breaking, "", c.use(it), "the %s was removed%s", noun(it.Kind), note)
	}
	for _, it := range fresh {
		c.look(new, it)
		if was := renamed[id(it)]; was != "" {
			c.add(Trust, "", "", "the definition of %q under a new name: approvals that are bound to the name or to the definition may not cover it", was)
		} else if why := doubt(it); why != "" {
			c.add(Review, "", "", "new %s that clients may reject: %s", noun(it.Kind), why)
		} else {
			c.add(Safe, "", "", "new %s", noun(it.Kind))
		}
		c.texts(jsonv.Value{}, it.Def)
	}
}

// shadowed reports the members that the new definitions have more than once: clients
// that do not use the last one see something else than this comparison.
func (c *comparer) shadowed(old, new *surface.Surface) {
	for _, m := range new.Shadowed {
		same := func(o surface.Shadowed) bool {
			return o.Kind == m.Kind && o.Pointer == m.Pointer && (o.Name == m.Name || m.Kind == surface.Server) && jsonv.Equal(o.Value, m.Value)
		}
		if !slices.ContainsFunc(old.Shadowed, same) {
			it, _ := new.Find(m.Kind, m.Name)
			c.at = Change{Kind: m.Kind, Name: m.Name, File: new.Source, Line: it.Line}
			c.add(Trust, m.Pointer, "", "%s occurs more than once: clients may also read %s", label(m.Pointer), m.Value.Short(60))
		}
	}
}

func id(it surface.Item) string { return string(it.Kind) + " " + it.Name }

func noun(k surface.Kind) string {
	if k == surface.Template {
		return "resource template"
	}
	return string(k)
}

// sameButName reports whether two definitions differ only in their names. Without a
// description, many definitions are alike.
func sameButName(a, b surface.Item) bool {
	if a.Kind != b.Kind {
		return false
	}
	strip := func(v jsonv.Value) jsonv.Value {
		for _, k := range []string{"name", "title", "uri", "uriTemplate"} {
			v = v.Without(k)
		}
		return v
	}
	return a.Def.Lookup("description").Len() > 0 && jsonv.Equal(strip(a.Def), strip(b.Def))
}

// server compares the handshakes.
func (c *comparer) server(old, new *surface.Surface) {
	name := cmp.Or(new.Server, old.Server)
	c.at = Change{Kind: surface.Server, Name: name, File: old.Source}
	if old.Info.IsAbsent() || new.Info.IsAbsent() || jsonv.Equal(old.Info, new.Info) {
		return // lists alone don't contain it
	}
	flagged := c.texts(old.Info, new.Info)
	c.member("/instructions", old.Info.Lookup("instructions"), new.Info.Lookup("instructions"), flagged)
	for _, part := range []string{"capabilities", "serverInfo"} {
		c.members("/"+part, old.Info.Lookup(part), new.Info.Lookup(part), flagged)
	}
}

// definition compares two definitions of one name.
func (c *comparer) definition(old, new surface.Item) {
	flagged := c.texts(old.Def, new.Def)
	rejected := c.rejected(old, new)
	for _, k := range keysOf(old.Def, new.Def) {
		a, b := old.Def.Lookup(k), new.Def.Lookup(k)
		if jsonv.Equal(a, b) || slices.Contains(rejected, k) {
			continue
		}
		ptr := jsonv.AppendPointer("", k)
		switch {
		case old.Kind == surface.Tool && k == "inputSchema":
			c.schema(old.Name, ptr, a, b, false, flagged)
		case old.Kind == surface.Tool && k == "outputSchema":
			c.schema(old.Name, ptr, a, b, true, flagged)
		case old.Kind == surface.Tool && k == "annotations":
			c.annotations(ptr, a, b, flagged)
		case old.Kind == surface.Tool && k == "execution" && taskSupport(a) == taskSupport(b):
			c.add(Safe, ptr, "", "execution %s; taskSupport is forbidden by default", change(a, b))
		case old.Kind == surface.Tool && k == "execution" && taskSupport(b) == "required":
			c.add(Breaking, ptr, c.use(old), "execution %s: a call that is not made as a task is refused", change(a, b))
		case old.Kind == surface.Tool && k == "execution" && taskSupport(b) == "forbidden":
			args, _ := someArguments(c.ctx, old.Def.Lookup("inputSchema"))
			params := jsonv.ObjectOf("name", old.Name, "arguments", args, "task", jsonv.Object()).String()
			c.add(Breaking, ptr, "tools/call "+display.JSON(params), "execution %s: a call that is made as a task is refused", change(a, b))
		case old.Kind == surface.Prompt && k == "arguments":
			c.promptArguments(old, a, b)
		default:
			c.member(ptr, a, b, flagged)
		}
	}
}

func keysOf(a, b jsonv.Value) []string {
	keys := append(a.Keys(), b.Keys()...)
	slices.Sort(keys)
	return slices.Compact(keys)
}

// members compares two objects member by member.
func (c *comparer) members(ptr string, a, b jsonv.Value, flagged map[string]bool) {
	if a.Kind() != jsonv.KindObject || b.Kind() != jsonv.KindObject {
		c.member(ptr, a, b, flagged)
		return
	}
	for _, k := range keysOf(a, b) {
		c.member(jsonv.AppendPointer(ptr, k), a.Lookup(k), b.Lookup(k), flagged)
	}
}

// member reports a changed member without a rule. Texts that were reported as a
// matter of trust are not reported again.
func (c *comparer) member(ptr string, a, b jsonv.Value, flagged map[string]bool) {
	if !jsonv.Equal(a, b) && !flagged[ptr] {
		c.add(Review, ptr, "", "%s %s", label(ptr), change(a, b))
	}
}

// label returns the name of the member that a pointer leads to, for messages.
func label(ptr string) string {
	tokens, err := jsonv.ParsePointer(ptr)
	if err != nil || len(tokens) == 0 {
		return "the definition"
	}
	return strings.Join(tokens, ".")
}

// change describes how a value changed.
func change(a, b jsonv.Value) string {
	const limit = 60
	switch {
	case a.IsAbsent():
		return "is new: " + b.Short(limit)
	case b.IsAbsent():
		return "was removed: " + a.Short(limit)
	case a.Kind() == jsonv.KindString && b.Kind() == jsonv.KindString:
		return "changed: " + excerpts(a.Text(), b.Text())
	}
	return "changed from " + a.Short(limit) + " to " + b.Short(limit)
}

// excerpts shows where two texts differ.
func excerpts(a, b string) string {
	x, y := []rune(a), []rune(b)
	i := 0
	for i < len(x) && i < len(y) && x[i] == y[i] {
		i++
	}
	j := 0
	for j < len(x)-i && j < len(y)-i && x[len(x)-1-j] == y[len(y)-1-j] {
		j++
	}
	const around, most = 20, 80
	cut := func(r []rune) string {
		from, to := max(i-around, 0), min(len(r)-j+around, len(r))
		text := ""
		if from > 0 {
			text = "…"
		}
		if to-from > most {
			to = from + most
		}
		text += string(r[from:to])
		if to < len(r) {
			text += "…"
		}
		return jsonv.String(text).String()
	}
	return cut(x) + " → " + cut(y)
}

// use returns a command that was valid for the old definition.
func (c *comparer) use(it surface.Item) string {
	switch it.Kind {
	case surface.Tool:
		if args, ok := someArguments(c.ctx, it.Def.Lookup("inputSchema")); ok {
			return c.call(it.Name, args)
		}
		return "any call of " + shellwords.Quote(it.Name)
	case surface.Resource:
		return "mcptest resources " + shellwords.Quote(it.Name) + c.o.Target
	case surface.Template:
		return "mcptest resources " + shellwords.Quote(filled(it.Name)) + c.o.Target
	}
	line := "mcptest prompts " + shellwords.Quote(it.Name)
	for _, e := range it.Def.Lookup("arguments").Elems() {
		if e.Lookup("required").Bool() {
			line += " --arg " + shellwords.Quote(e.Lookup("name").Text()+"=x")
		}
	}
	return line + c.o.Target
}

// filled puts a value in each place of a URI template.
func filled(template string) string {
	var b strings.Builder
	for {
		before, rest, ok := strings.Cut(template, "{")
		_, after, closed := strings.Cut(rest, "}")
		if b.WriteString(before); !ok || !closed {
			return b.String()
		}
		b.WriteByte('x')
		template = after
	}
}

// call returns the command line of a call.
func (c *comparer) call(name string, args jsonv.Value) string {
	line := "mcptest call " + shellwords.Quote(name)
	if args.Len() > 0 {
		line += " --args-json " + shellwords.Quote(display.JSON(args.String()))
	}
	return line + c.o.Target
}
