package diff

import (
	"cmp"
	"context"
	"fmt"
	"slices"

	"mcptest/internal/base/display"
	"mcptest/internal/base/jsonv"
	"mcptest/internal/base/lists"
	"mcptest/internal/offer/surface"
)

// Compare lists the changes from old to new, the most serious ones first. The
// surfaces are paired by the names of their servers if there are several.
func Compare(ctx context.Context, old, new []*surface.Surface, o Options) []Change {
	c := &comparer{ctx: ctx, o: o}
	if len(old) == 1 && len(new) == 1 && !o.ByName {
		c.compareSurfaces(old[0], new[0])
	} else {
		find := func(list []*surface.Surface, name string) *surface.Surface {
			return lists.First(list, func(s *surface.Surface) bool { return s.Server == name })
		}
		for _, s := range old {
			c.of = s.Server
			other := find(new, s.Server)
			if other == nil {
				c.report(Change{Class: Review, Kind: surface.Server, Name: s.Server, Message: "the new version has no such server: all its definitions count as removed", File: s.Source})
				other = &surface.Surface{Server: s.Server, Info: s.Info}
			}
			c.compareSurfaces(s, other)
		}
		for _, s := range new {
			c.of = s.Server
			if find(old, s.Server) == nil {
				c.report(Change{Class: Safe, Kind: surface.Server, Name: s.Server, Message: "missing on the old side: all its definitions are new", File: s.Source})
				c.compareSurfaces(&surface.Surface{Server: s.Server, Info: s.Info}, s)
			}
		}
	}
	slices.SortStableFunc(c.changes, func(a, b Change) int {
		return cmp.Or(
			cmp.Compare(rank(a.Class), rank(b.Class)),
			cmp.Compare(a.Kind, b.Kind),
			cmp.Compare(a.Name, b.Name),
		)
	})
	return c.changes
}

// NotCompared lists the kinds that have definitions on one side and are unknown on
// the other: a tools/list response has no prompts.
func NotCompared(old, new []*surface.Surface) []surface.Kind {
	var out []surface.Kind
	kinds := lists.Map(surface.Lists(), func(l surface.List) surface.Kind { return l.Kind })
	for _, kind := range append(kinds, surface.Skill) {
		missing := func(a, b []*surface.Surface) bool {
			return slices.ContainsFunc(a, func(s *surface.Surface) bool { return slices.Contains(s.Unknown, kind) }) &&
				slices.ContainsFunc(b, func(s *surface.Surface) bool {
					return slices.ContainsFunc(s.Items, func(it surface.Item) bool { return it.Kind == kind })
				})
		}
		if missing(old, new) || missing(new, old) {
			out = append(out, kind)
		}
	}
	return out
}

func (c *comparer) compareSurfaces(old, new *surface.Surface) {
	c.compareServer(old, new)
	c.reportShadowed(old, new)
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
			c.look(old, it)
			if c.o.InNew {
				c.look(new, other)
			}
			c.compareDefinition(it, other)
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
		i := slices.IndexFunc(fresh, func(f surface.Item) bool { return renamed[id(f)] == "" && isSameButName(it, f) })
		if i >= 0 {
			renamed[id(fresh[i])] = it.Name
			note = fmt.Sprintf("; %q has the same definition", fresh[i].Name)
		}
		c.add(Breaking, "", c.use(it), "the %s was removed%s", it.Kind.Noun(), note)
	}
	for _, it := range fresh {
		c.look(new, it)
		if was := renamed[id(it)]; was != "" {
			c.add(Trust, "", "", "the definition of %q under a new name: approvals that are bound to the name or to the definition may not cover it", was)
		} else if why := explainDoubt(it); why != "" {
			c.add(Review, "", "", "new %s that clients may reject: %s", it.Kind.Noun(), why)
		} else {
			c.add(Safe, "", "", "new %s", it.Kind.Noun())
		}
		c.compareTexts(jsonv.Value{}, it.Def)
	}
}

// reportShadowed reports the members that the new definitions have more than once: clients
// that do not use the last one see something else than this comparison.
func (c *comparer) reportShadowed(old, new *surface.Surface) {
	for _, m := range new.Shadowed {
		same := func(o surface.Shadowed) bool {
			sameName := o.Name == m.Name || m.Kind == surface.Server
			return sameName && o.Kind == m.Kind && o.Pointer == m.Pointer && jsonv.Equal(o.Value, m.Value)
		}
		if !slices.ContainsFunc(old.Shadowed, same) {
			it, _ := new.Find(m.Kind, m.Name)
			c.at = Change{Kind: m.Kind, Name: m.Name, File: new.Source, Line: it.Line}
			c.add(Trust, m.Pointer, "", "%s occurs more than once: clients may also read %s", label(m.Pointer), m.Value.Short(60))
		}
	}
}

func id(it surface.Item) string { return string(it.Kind) + " " + it.Name }

// isSameButName reports whether two definitions differ only in their names. Without a
// description, many definitions are alike.
func isSameButName(a, b surface.Item) bool {
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

// compareServer compares the handshakes.
func (c *comparer) compareServer(old, new *surface.Surface) {
	name := cmp.Or(new.Server, old.Server)
	c.at = Change{Kind: surface.Server, Name: name, File: old.Source}
	if old.Info.IsAbsent() || new.Info.IsAbsent() || jsonv.Equal(old.Info, new.Info) {
		return // lists alone don't contain it
	}
	flagged := c.compareTexts(old.Info, new.Info)
	c.compareMember("/instructions", old.Info.Lookup("instructions"), new.Info.Lookup("instructions"), flagged)
	for _, part := range []string{"capabilities", "serverInfo"} {
		c.compareMembers("/"+part, old.Info.Lookup(part), new.Info.Lookup(part), flagged)
	}
}

// compareDefinition compares two definitions of one name.
func (c *comparer) compareDefinition(old, new surface.Item) {
	flagged := c.compareTexts(old.Def, new.Def)
	rejected := c.reportRejected(old, new)
	for _, k := range listKeys(old.Def, new.Def) {
		a, b := old.Def.Lookup(k), new.Def.Lookup(k)
		if jsonv.Equal(a, b) || slices.Contains(rejected, k) {
			continue
		}
		ptr := jsonv.AppendPointer("", k)
		switch {
		case old.Kind == surface.Skill:
			c.compareSkill(ptr, k, a, b, flagged)
		case old.Kind == surface.Tool && k == "inputSchema":
			c.compareSchema(old.Name, ptr, a, b, false, flagged)
		case old.Kind == surface.Tool && k == "outputSchema":
			c.compareSchema(old.Name, ptr, a, b, true, flagged)
		case old.Kind == surface.Tool && k == "annotations":
			c.compareAnnotations(ptr, a, b, flagged)
		case old.Kind == surface.Tool && k == "execution" && taskSupport(a) == taskSupport(b):
			c.add(Safe, ptr, "", "execution %s; taskSupport is forbidden by default", describeChange(a, b))
		case old.Kind == surface.Tool && k == "execution" && taskSupport(b) == "required":
			c.add(Breaking, ptr, c.use(old), "execution %s: a call that is not made as a task is refused", describeChange(a, b))
		case old.Kind == surface.Tool && k == "execution" && taskSupport(b) == "forbidden":
			args, _ := makeArguments(c.ctx, old.Def.Lookup("inputSchema"))
			params := jsonv.ObjectOf("name", old.Name, "arguments", args, "task", jsonv.Object()).String()
			c.add(Breaking, ptr, "tools/call "+display.JSON(params), "execution %s: a call that is made as a task is refused", describeChange(a, b))
		case old.Kind == surface.Prompt && k == "arguments":
			c.comparePromptArguments(old, a, b)
		default:
			c.compareMember(ptr, a, b, flagged)
		}
	}
}
