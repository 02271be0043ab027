package diff

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"mcptest/internal/base/jsonv"
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

func listKeys(a, b jsonv.Value) []string {
	keys := append(a.Keys(), b.Keys()...)
	slices.Sort(keys)
	return slices.Compact(keys)
}

// compareMembers compares two objects member by member.
func (c *comparer) compareMembers(ptr string, a, b jsonv.Value, flagged map[string]bool) {
	if a.Kind() != jsonv.KindObject || b.Kind() != jsonv.KindObject {
		c.compareMember(ptr, a, b, flagged)
		return
	}
	for _, k := range listKeys(a, b) {
		c.compareMember(jsonv.AppendPointer(ptr, k), a.Lookup(k), b.Lookup(k), flagged)
	}
}

// compareMember reports a changed member without a rule. Texts that were reported as a
// matter of trust are not reported again.
func (c *comparer) compareMember(ptr string, a, b jsonv.Value, flagged map[string]bool) {
	if !jsonv.Equal(a, b) && !flagged[ptr] {
		c.add(Review, ptr, "", "%s %s", label(ptr), describeChange(a, b))
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

// describeChange describes how a value changed.
func describeChange(a, b jsonv.Value) string {
	const limit = 60
	switch {
	case a.IsAbsent():
		return "is new: " + b.Short(limit)
	case b.IsAbsent():
		return "was removed: " + a.Short(limit)
	case a.Kind() == jsonv.KindString && b.Kind() == jsonv.KindString:
		return "changed: " + cutExcerpts(a.Text(), b.Text())
	}
	return "changed from " + a.Short(limit) + " to " + b.Short(limit)
}

// cutExcerpts shows where two texts differ.
func cutExcerpts(a, b string) string {
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
