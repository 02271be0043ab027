package surface

import (
	"cmp"
	"crypto/sha256"
	"fmt"
	"io"
	"maps"
	"slices"
	"strconv"
	"strings"
	"unicode/utf8"

	"mcptest/internal/base/display"
	"mcptest/internal/base/jsonv"
	"mcptest/internal/base/lists"
	"mcptest/internal/base/secret"
)

// Kind is the kind of a definition.
type Kind string

// The kinds, in the order of lock files.
const (
	Tool     Kind = "tool"
	Resource Kind = "resource"
	Template Kind = "resource-template"
	Prompt   Kind = "prompt"
	Skill    Kind = "skill"  // of the extension io.modelcontextprotocol/skills
	Server   Kind = "server" // the handshake, in changes
)

// A List describes the list of one kind of definition in MCP.
type List struct {
	Kind       Kind
	Method     string // tools/list
	Member     string // of the result: tools
	Key        string // the member that contains the name of a definition
	Capability string
}

// Lists are the lists of MCP.
func Lists() []List {
	return []List{
		{Tool, "tools/list", "tools", "name", "tools"},
		{Resource, "resources/list", "resources", "uri", "resources"},
		{Template, "resources/templates/list", "resourceTemplates", "uriTemplate", "resources"},
		{Prompt, "prompts/list", "prompts", "name", "prompts"},
	}
}

// listKnown are the lists of MCP, and that of skills, which is none of [Lists]: it belongs to an
// extension.
func listKnown() []List {
	return append(Lists(), List{Skill, "skills/list", "skills", "uri", "extensions"})
}

// Item is one definition.
type Item struct {
	Kind Kind
	Name string
	Def  jsonv.Value // canonical
	Raw  jsonv.Value // as the server sent it, with repeated keys; absent in lock files
	Line int         // in the source file; 0: unknown
}

// Surface is what one server offers.
type Surface struct {
	Server   string        // the name of the server; "" if unknown
	Source   string        // the file that it was read from
	Info     jsonv.Value   // capabilities, instructions and serverInfo without its version; may be absent
	Items    []Item        // sorted by kind and name; names are unique in a kind
	Unknown  []Kind        // kinds that the source does not contain, such as prompts in a tools/list response
	Warnings []string      // problems of the lists, such as a repeated name
	Shadowed []Shadowed    // members that definitions have more than once
	Pages    []jsonv.Value // results of tools/list in the source, which contained the tools
	Calls    []Call        // calls of tools in the record
}

// Shadowed is a member whose key follows once more in the same object. Definitions
// contain the last one; some clients read the first.
type Shadowed struct {
	Kind    Kind
	Name    string
	Pointer string // into the definition
	Value   jsonv.Value
}

// Call is a call of a tool that got a response.
type Call struct {
	Tool   string
	Result jsonv.Value
}

// Find returns a definition.
func (s *Surface) Find(k Kind, name string) (Item, bool) {
	i, ok := slices.BinarySearchFunc(s.Items, Item{Kind: k, Name: name}, compareItems)
	if !ok {
		return Item{}, false
	}
	return s.Items[i], true
}

// Counts describes the number of definitions: 3 tools, 1 prompt.
func (s *Surface) Counts() string {
	count := map[Kind]int{}
	for _, it := range s.Items {
		count[it.Kind]++
	}
	out := []string{display.Count(count[Tool], "tool")}
	if tokens, _ := s.ToolTokens(); tokens > 0 {
		out[0] += fmt.Sprintf(" (about %s)", display.Count(tokens, "token"))
	}
	for _, k := range []Kind{Resource, Template, Prompt, Skill} {
		if count[k] > 0 {
			out = append(out, display.Count(count[k], k.Noun()))
		}
	}
	return strings.Join(out, ", ")
}

// Noun returns the kind in words.
func (k Kind) Noun() string { return strings.ReplaceAll(string(k), "-", " ") }

// rank orders the kinds as Lists does, then skills.
func rank(k Kind) int { return slices.IndexFunc(listKnown(), func(l List) bool { return l.Kind == k }) }

func compareItems(a, b Item) int {
	return cmp.Or(cmp.Compare(rank(a.Kind), rank(b.Kind)), cmp.Compare(a.Name, b.Name))
}

// New builds a surface. handshake is the result of initialize or
// server/discover, and may be absent. lists holds the elements of all pages.
// Without the list of skills these are unknown. mask hides secrets in texts; nil hides none.
// positions, which may be nil, gives the line of a definition.
func New(
	server string, handshake jsonv.Value, lists map[Kind][]jsonv.Value, mask func(string) string, positions func(jsonv.Value) int,
) *Surface {
	c := canon{mask: mask}
	s := &Surface{Server: server, Info: c.canonicalizeValue(selectInfo(handshake))}
	s.recordShadowed(Server, server, c.shadowed)
	if _, known := lists[Skill]; !known {
		s.Unknown = append(s.Unknown, Skill)
	}
	for _, l := range listKnown() {
		seen := map[string]int{}
		for i, def := range lists[l.Kind] {
			raw := def
			if l.Kind == Skill {
				def = selectSkill(def)
			}
			key := def.Lookup(l.Key)
			name := c.canonicalizeText(key.Text())
			if key.Kind() != jsonv.KindString || name == "" {
				s.Warnings = append(s.Warnings, fmt.Sprintf("%s: element %d has no %s", l.Method, i, l.Key))
				name = fmt.Sprintf("(element %d)", i)
			}
			seen[name]++
			if seen[name] > 1 {
				s.Warnings = append(s.Warnings, fmt.Sprintf("%s: %q is listed %d times", l.Method, name, seen[name]))
				name = fmt.Sprintf("%s (%d)", name, seen[name])
			}
			c.shadowed = nil
			item := Item{Kind: l.Kind, Name: name, Def: c.canonicalizeValue(def), Raw: raw}
			s.recordShadowed(l.Kind, name, c.shadowed)
			if positions != nil {
				item.Line = positions(raw)
			}
			s.Items = append(s.Items, item)
		}
	}
	sortItems(s.Items)
	return s
}

// recordShadowed records the members that occur more than once in a definition.
func (s *Surface) recordShadowed(kind Kind, name string, list []Shadowed) {
	for _, m := range list {
		m.Kind, m.Name = kind, name
		s.Shadowed = append(s.Shadowed, m)
		s.Warnings = append(s.Warnings, fmt.Sprintf("%s %q has %s more than once: clients may read any of them", kind, name, m.Pointer))
	}
}

// selectInfo returns the server's name, capabilities and instructions from a handshake, without
// its version.
func selectInfo(handshake jsonv.Value) jsonv.Value {
	if handshake.Kind() != jsonv.KindObject {
		return jsonv.Value{}
	}
	var out []jsonv.Member
	for k, v := range handshake.Members() {
		switch k {
		case "capabilities", "instructions":
		case "serverInfo":
			v = v.Without("version")
		default:
			continue
		}
		out = append(out, jsonv.Member{Key: k, Value: v})
	}
	return jsonv.Object(out...)
}

// canon rewrites values in canonical form.
type canon struct {
	mask     func(string) string
	path     []string // to the current value
	shadowed []Shadowed
}

func (c *canon) canonicalizeValue(v jsonv.Value) jsonv.Value {
	switch v.Kind() {
	case jsonv.KindString:
		return jsonv.String(c.canonicalizeText(v.Text()))
	case jsonv.KindArray:
		out := make([]jsonv.Value, 0, v.Len())
		for i, e := range v.Elems() {
			out = append(out, c.canonicalizeMember(strconv.Itoa(i), e))
		}
		return jsonv.Array(out...)
	case jsonv.KindObject:
		last := map[string]jsonv.Value{} // the last of several equal keys counts
		for k, e := range v.Members() {
			k = c.canonicalizeText(k)
			if before, again := last[k]; again {
				at := ""
				for _, step := range append(c.path, k) {
					at = jsonv.AppendPointer(at, step)
				}
				c.shadowed = append(c.shadowed, Shadowed{
					Pointer: at,
					Value:   (&canon{mask: c.mask}).canonicalizeValue(before),
				})
			}
			last[k] = e
		}
		out := lists.Map(slices.Sorted(maps.Keys(last)), func(k string) jsonv.Member {
			return jsonv.Member{Key: k, Value: c.canonicalizeMember(k, last[k])}
		})
		return jsonv.Object(out...)
	}
	return v
}

// canonicalizeMember returns the canonical form of a member or element.
func (c *canon) canonicalizeMember(step string, v jsonv.Value) jsonv.Value {
	c.path = append(c.path, step)
	v = c.canonicalizeValue(v)
	c.path = c.path[:len(c.path)-1]
	return v
}

// canonicalizeText replaces the secrets in a text by a mask and a hash, which keeps changes
// visible.
func (c *canon) canonicalizeText(s string) string {
	if !utf8.ValidString(s) {
		s = strings.ToValidUTF8(s, "\ufffd")
	}
	if c.mask == nil {
		return s
	}
	hidden := c.mask(s)
	if hidden == s {
		return s
	}
	return strings.ReplaceAll(hidden, secret.Mask, "[redacted sha256:"+hash(s)[:16]+"]")
}

func hash(s string) string {
	return fmt.Sprintf("%x", sha256.Sum256([]byte(s)))
}

func sortItems(items []Item) { slices.SortStableFunc(items, compareItems) }

// TokenCount describes how Tokens counts, for output.
const TokenCount = "estimate: bytes/4"

// Tokens estimates how many tokens a definition takes in the context of a model:
// a quarter of the bytes of its compact JSON, without icons and _meta, which
// clients do not pass on.
func Tokens(def jsonv.Value) int {
	return (len(def.Without("icons").Without("_meta").Append(nil)) + 3) / 4
}

// ToolTokens estimates the tokens of all tools, and returns the largest ones
// first.
func (s *Surface) ToolTokens() (total int, tools []Item) {
	for _, it := range s.Items {
		if it.Kind == Tool {
			total += Tokens(it.Def)
			tools = append(tools, it)
		}
	}
	slices.SortStableFunc(tools, func(a, b Item) int { return Tokens(b.Def) - Tokens(a.Def) })
	return total, tools
}

// WriteTokens lists the tools with their tokens, the largest ones first.
func (s *Surface) WriteTokens(w io.Writer, asJSON bool) {
	total, tools := s.ToolTokens()
	if asJSON {
		list := lists.Map(tools, func(it Item) jsonv.Value {
			return jsonv.ObjectOf("name", jsonv.String(it.Name), "tokens", jsonv.Int(int64(Tokens(it.Def))))
		})
		fmt.Fprintln(w, jsonv.ObjectOf("count", jsonv.String(TokenCount), "total", jsonv.Int(int64(total)), "tools", jsonv.Array(list...)))
		return
	}
	for _, it := range tools {
		fmt.Fprintf(w, "%6d  %s\n", Tokens(it.Def), display.Escape(it.Name))
	}
	fmt.Fprintf(w, "%6d  in all (%s)\n", total, TokenCount)
}
