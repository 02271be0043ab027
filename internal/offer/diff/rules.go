package diff

import (
	"cmp"
	"fmt"
	"net/url"
	"slices"
	"strings"
	"unicode/utf8"

	"mcptest/internal/base/display"
	"mcptest/internal/base/jsonv"
	"mcptest/internal/base/lazy"
	"mcptest/internal/base/lists"
	"mcptest/internal/offer/contain"
	"mcptest/internal/offer/surface"
)

// hint is an annotation of tools and its default.
type hint struct {
	key     string
	missing bool
	promise bool // the value that promises more
	relaxed Class
}

var hints = []hint{
	{"readOnlyHint", false, true, Trust},
	{"destructiveHint", true, false, Trust},
	{"openWorldHint", true, false, Trust},
	{"idempotentHint", false, true, Review},
}

func (c *comparer) compareAnnotations(ptr string, a, b jsonv.Value, flagged map[string]bool) {
	known := map[string]bool{}
	for _, h := range hints {
		known[h.key] = true
		value := func(v jsonv.Value) bool {
			if m := v.Lookup(h.key); m.Kind() == jsonv.KindBool {
				return m.Bool()
			}
			return h.missing
		}
		was, is, at := value(a), value(b), jsonv.AppendPointer(ptr, h.key)
		switch {
		case was != is && was == h.promise:
			c.add(h.relaxed, at, "", "%s changed from %t to %t: the tool promises less than before", h.key, was, is)
		case was != is:
			c.add(Review, at, "", "%s changed from %t to %t: the tool promises more than before", h.key, was, is)
		case !jsonv.Equal(a.Lookup(h.key), b.Lookup(h.key)):
			c.add(Safe, at, "", "%s %s; the default is %t", h.key, describeChange(a.Lookup(h.key), b.Lookup(h.key)),
				h.missing)
		}
	}
	for _, k := range listKeys(a, b) {
		if !known[k] {
			c.compareMember(jsonv.AppendPointer(ptr, k), a.Lookup(k), b.Lookup(k), flagged)
		}
	}
}

// comparePromptArguments compares the arguments of a prompt, which are always strings.
func (c *comparer) comparePromptArguments(it surface.Item, a, b jsonv.Value) {
	find := func(list jsonv.Value, name string) jsonv.Value {
		return lists.First(list.List(), func(e jsonv.Value) bool { return e.Lookup("name").Text() == name })
	}
	for i, e := range b.Elems() {
		ptr := jsonv.AppendPointer("/arguments", fmt.Sprint(i))
		name := e.Lookup("name").Text()
		was := find(a, name)
		required := e.Lookup("required").Bool()
		switch {
		case required && was.IsAbsent():
			c.add(Breaking, ptr, c.use(it), "new required argument %q", name)
		case was.IsAbsent():
			c.add(Safe, ptr, "", "new optional argument %q", name)
		case required && !was.Lookup("required").Bool():
			c.add(Breaking, ptr, c.use(it), "argument %q is now required", name)
		case !required && was.Lookup("required").Bool():
			c.add(Safe, ptr, "", "argument %q is no longer required", name)
		}
		if !was.IsAbsent() && !jsonv.Equal(was.Without("required"), e.Without("required")) {
			c.compareMembers(ptr, was.Without("required"), e.Without("required"), nil)
		}
	}
	for i, e := range a.Elems() {
		if name := e.Lookup("name").Text(); find(b, name).IsAbsent() {
			c.add(Review, jsonv.AppendPointer("/arguments", fmt.Sprint(i)), "", "argument %q was removed: clients that pass it are not served as before", name)
		}
	}
}

// flaw is a reason why clients reject a definition, often with the whole list that
// contains it.
type flaw struct{ member, message string }

// findFlaws lists the flaws of a tool, at most one for each member.
func findFlaws(def jsonv.Value) []flaw {
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
		_, err := contain.Compile(v)
		switch {
		case v.IsAbsent():
			add(k, "is missing")
		case v.Kind() != jsonv.KindObject:
			add(k, "is not an object")
		case err != nil && contain.ExplainTooLarge(err) == "":
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

// reportRejected reports the members for which clients accepted a tool and reject it
// now, and returns them.
func (c *comparer) reportRejected(old, new surface.Item) []string {
	var out []string
	if old.Kind != surface.Tool {
		return nil
	}
	before := findFlaws(old.Def)
	for _, f := range findFlaws(new.Def) {
		if !slices.ContainsFunc(before, func(b flaw) bool { return b.member == f.member }) {
			out = append(out, f.member)
			c.add(Breaking, jsonv.AppendPointer("", f.member), c.use(old), "clients reject the tool: %s", f.message)
		}
	}
	return out
}

// explainDoubt returns why clients may not accept a new definition, or "".
func explainDoubt(it surface.Item) string {
	if it.Kind == surface.Skill {
		return ""
	}
	lists := surface.Lists()
	key := lists[slices.IndexFunc(lists, func(l surface.List) bool { return l.Kind == it.Kind })].Key
	name := it.Def.Lookup(key).Text()
	switch {
	case name == "":
		return "the " + key + " is missing"
	case name != it.Name:
		return "the " + key + " is listed more than once"
	}
	if it.Kind == surface.Tool {
		for _, f := range findFlaws(it.Def) {
			return f.message
		}
	}
	return ""
}

// taskSupport returns a tool's support of tasks, with the default of MCP.
func taskSupport(execution jsonv.Value) string {
	return cmp.Or(execution.Lookup("taskSupport").Text(), "forbidden")
}

const rest = "[^\\s\"'`<>\\])}|]+"

var address = lazy.Regexp("[a-zA-Z][a-zA-Z0-9+.-]*://" + rest + "|\\bwww\\.[a-zA-Z0-9-]+\\." + rest + "|\\bdata:[a-z]+/" + rest + "|<!--(?s:.*?)-->")

// noProse are members whose texts are no prose that a model reads.
var noProse = []string{"$schema", "$id", "$ref", "uri", "uriTemplate", "src", "websiteUrl"}

// compareTexts reports what new texts of a definition bring in: hidden characters, and
// addresses that the old definition does not mention. It returns the pointers
// of these texts. A definition without predecessor may mention addresses.
func (c *comparer) compareTexts(old, new jsonv.Value) map[string]bool {
	known, urls := map[string]bool{}, map[string]bool{}
	visitTexts(old, "", func(_, s string) {
		known[s] = true
		for _, u := range findAddresses(s) {
			urls[u] = true
		}
	})
	flagged := map[string]bool{}
	visitTexts(new, "", func(ptr, s string) {
		if known[s] {
			return
		}
		known[s] = true
		if chars := findHiddenCharacters(s); len(chars) > 0 {
			flagged[ptr] = true
			c.add(Trust, ptr, "", "%s has hidden characters that a person does not see: %s", label(ptr), strings.Join(chars, ", "))
		}
		if old.IsAbsent() {
			return
		}
		for _, u := range findAddresses(s) {
			if !urls[u] {
				urls[u], flagged[ptr] = true, true
				what := "mentions an address that was not there before"
				if strings.HasPrefix(u, "<!--") {
					what = "has a comment that a rendered text does not show"
				}
				c.add(Trust, ptr, "", "%s %s: %s", label(ptr), what, jsonv.String(u).Short(200))
			}
		}
	})
	return flagged
}

// visitTexts calls fn for every text of a value and for every key.
func visitTexts(v jsonv.Value, ptr string, fn func(ptr, s string)) {
	if v.Kind() == jsonv.KindString {
		fn(ptr, v.Text())
	}
	for k, e := range v.Children() {
		at := jsonv.AppendPointer(ptr, k)
		if len(findHiddenCharacters(k)) > 0 {
			fn(at, k)
		}
		if !slices.Contains(noProse, k) || e.Kind() != jsonv.KindString {
			visitTexts(e, at, fn)
		}
	}
}

func findAddresses(s string) []string {
	var out []string
	for _, u := range address().FindAllString(s, -1) {
		if u = strings.TrimRight(u, ".,;:!?*_"); !isDocumentation(u) {
			out = append(out, u)
		}
	}
	return out
}

// isDocumentation reports whether an address is in one of the domains that are reserved
// for examples and that no one can own (RFC 2606, section 3).
func isDocumentation(address string) bool {
	if strings.HasPrefix(address, "www.") {
		address = "https://" + address
	}
	u, err := url.Parse(address)
	if err != nil || !strings.HasPrefix(u.Scheme, "http") {
		return false
	}
	labels := strings.Split(strings.ToLower(strings.TrimSuffix(u.Hostname(), ".")), ".")
	n := len(labels)
	return n >= 2 && labels[n-2] == "example" && slices.Contains([]string{"com", "net", "org"}, labels[n-1])
}

// findHiddenCharacters lists the hidden characters of a text, other than white space and the
// joiners of scripts and emoji.
func findHiddenCharacters(s string) []string {
	var out []string
	before := rune(0)
	for i, r := range s {
		if display.IsHidden(r) && !strings.ContainsRune("\n\r\t", r) &&
			!display.IsJoiner(before, r, s[i+utf8.RuneLen(r):]) {
			if name := fmt.Sprintf("U+%04X", r); !slices.Contains(out, name) && len(out) < 8 {
				out = append(out, name)
			}
		}
		before = r
	}
	return out
}
