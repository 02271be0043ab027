package diff

import (
	"cmp"
	"fmt"
	"slices"

	"mcptest/internal/jsonv"
	"mcptest/internal/surface"
	"mcptest/internal/surface/contain"
)

// flaw is a reason for which clients reject a definition, often with the whole
// list that it is in.
type flaw struct{ member, message string }

// flaws lists the flaws of a tool, at most one for each member.
func flaws(def jsonv.Value) []flaw {
	var out []flaw
	add := func(member, format string, args ...any) {
		out = append(out, flaw{member, member + " " + fmt.Sprintf(format, args...)})
	}
	for _, k := range []string{"title", "description"} {
		if v := def.Lookup(k); !v.IsAbsent() && v.Kind() != jsonv.KindString {
			add(k, "is not a string")
		}
	}
	for _, k := range []string{"inputSchema", "outputSchema"} {
		v := def.Lookup(k)
		if v.IsAbsent() && k == "outputSchema" {
			continue
		}
		switch _, err := contain.Compile(v); {
		case v.IsAbsent():
			add(k, "is missing")
		case v.Kind() != jsonv.KindObject:
			add(k, "is not an object")
		case err != nil:
			add(k, "can't be compiled: %v", err)
		case k == "inputSchema" && v.Lookup("type").Text() != "object":
			add(k, `has no type "object"`)
		}
	}
	if notes := def.Lookup("annotations"); !notes.IsAbsent() && notes.Kind() != jsonv.KindObject {
		add("annotations", "is not an object")
	} else if i := slices.IndexFunc(hints, func(h hint) bool {
		v := notes.Lookup(h.key)
		return !v.IsAbsent() && v.Kind() != jsonv.KindBool
	}); i >= 0 {
		add("annotations", "has a %s that is not a boolean", hints[i].key)
	}
	if !slices.Contains([]string{"forbidden", "optional", "required"}, taskSupport(def.Lookup("execution"))) {
		add("execution", "has an unknown taskSupport")
	}
	return out
}

// rejected reports the members for which clients accepted a tool and reject it
// now, and returns them.
func (c *comparer) rejected(old, new surface.Item) []string {
	var out []string
	if old.Kind != surface.Tool {
		return nil
	}
	before := flaws(old.Def)
	for _, f := range flaws(new.Def) {
		if !slices.ContainsFunc(before, func(b flaw) bool { return b.member == f.member }) {
			out = append(out, f.member)
			c.add(Breaking, jsonv.AppendPointer("", f.member), c.use(old), "clients reject the tool: %s", f.message)
		}
	}
	return out
}

// doubt returns why clients may not accept a new definition, or "".
func doubt(it surface.Item) string {
	lists := surface.Lists()
	key := lists[slices.IndexFunc(lists, func(l surface.List) bool { return l.Kind == it.Kind })].Key
	switch name := it.Def.Lookup(key).Text(); {
	case name == "":
		return "the " + key + " is missing"
	case name != it.Name:
		return "the " + key + " is listed more than once"
	}
	if it.Kind == surface.Tool {
		for _, f := range flaws(it.Def) {
			return f.message
		}
	}
	return ""
}

// taskSupport returns a tool's support of tasks, with the default of MCP.
func taskSupport(execution jsonv.Value) string {
	return cmp.Or(execution.Lookup("taskSupport").Text(), "forbidden")
}
