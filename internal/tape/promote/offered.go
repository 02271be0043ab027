package promote

import (
	"maps"
	"slices"

	"mcptest/internal/base/jsonv"
	"mcptest/internal/base/source"
	"mcptest/internal/client/check"
	"mcptest/internal/offer/surface"
	"mcptest/internal/spec/draft"
	"mcptest/internal/tape/cassette"
)

// lists are the members of results that tests can look at as lists of names.
var lists = map[string]string{
	"tools/list": "tools", "prompts/list": "prompts", "resources/list": "resources", "resources/templates/list": "resourceTemplates",
}

// offered is what the recorded server listed: definitions by name or URI, for each block
// whose list was requested.
type offered struct {
	blocks    map[string]map[string]jsonv.Value
	partial   map[string]bool // the last page was not requested
	templates []string
}

// readOffered collects the recorded lists.
func readOffered(c *cassette.Cassette, calls []*cassette.Call) offered {
	o := offered{blocks: map[string]map[string]jsonv.Value{}, partial: map[string]bool{}}
	for _, call := range calls {
		member := lists[call.Method]
		_, response := c.Exchange(call)
		items := response.Lookup("result", member)
		if member == "" || items.Kind() != jsonv.KindArray {
			continue
		}
		if o.blocks[member] == nil {
			o.blocks[member] = map[string]jsonv.Value{}
		}
		o.partial[member] = !response.Lookup("result", "nextCursor").IsAbsent()
		for _, item := range items.Elems() {
			switch member {
			case "resources":
				o.blocks[member][item.Lookup("uri").Text()] = item
			case "resourceTemplates":
				o.templates = append(o.templates, item.Lookup("uriTemplate").Text())
			default:
				o.blocks[member][item.Lookup("name").Text()] = item
			}
		}
	}
	return o
}

// isMistaken reports whether a request has a name or an argument that its list does not
// contain. A run fails the test of such a request if it is refused, unless the test says
// that this is its point. Resources need not be listed: only a URI that resembles one is wrong.
func (o offered) isMistaken(t *draft.Test) bool {
	items := o.blocks[t.Block]
	if items == nil {
		return false
	}
	item, listed := items[t.Subject]
	switch {
	case !listed && o.partial[t.Block]:
		return false
	case listed && t.Block == "tools":
		_, unknown := check.Arguments(item.Lookup("inputSchema"), t.Args)
		return len(unknown) > 0
	case listed && t.Block == "prompts":
		for name := range t.Args.Members() {
			isName := func(a jsonv.Value) bool {
				return a.Lookup("name").Text() == name
			}
			if !slices.ContainsFunc(item.Lookup("arguments").List(), isName) {
				return true
			}
		}
	case !listed && t.Block == "resources":
		return source.FindNearest(t.Subject, slices.Collect(maps.Keys(items))) != "" &&
			!slices.ContainsFunc(o.templates, func(uri string) bool { return surface.TemplatePattern(uri).MatchString(t.Subject) })
	}
	return !listed
}
