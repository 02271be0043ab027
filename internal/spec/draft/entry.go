package draft

import (
	"slices"
	"strings"

	"mcptest/internal/base/display"
	"mcptest/internal/base/jsonv"
)

// Entry is one test as a value, for a suite that exists.
type Entry struct {
	Block string // tools, resources, prompts, protocol
	Name  string
	// Server is the entry of the server; "" for the default.
	Server string
	// Subject is the key of the tool, URI, prompt or method, and its value.
	Subject [2]string
	// ArgsKey is the key of Args; "" if the block has none or there are no arguments.
	ArgsKey string
	Args    jsonv.Value
	// Respond scripts the client's side; absent: nothing was asked.
	Respond     jsonv.Value
	InvalidArgs bool
	Expect      []Expectation
}

// Expectation is one assertion, with the reason why it is loose or says nothing of a part
// of the answer; "" if it is exact.
type Expectation struct {
	Target, Matcher string
	Argument        jsonv.Value
	Note            string
}

// Entry returns a test of the suite under a name.
func (s *Suite) Entry(t *Test, name string) Entry {
	block, subject, args := t.makeBlock()
	key := keys[block]
	e := Entry{
		Block:       block,
		Name:        name,
		Server:      t.Server,
		Subject:     [2]string{key[0], subject},
		Respond:     t.Respond,
		InvalidArgs: t.InvalidArgs,
	}
	if key[1] != "" && args.Len() > 0 {
		e.ArgsKey, e.Args = key[1], args
	}
	for _, a := range s.expect(t) {
		e.Expect = append(e.Expect, Expectation{a.target, a.matcher, a.value, a.note})
	}
	return e
}

// FindPart returns the number of the expectation of a part; -1 if there is none.
func (t *Test) FindPart(expect []Expectation, p Part) int {
	target := t.TargetOf(p)
	return slices.IndexFunc(expect, func(x Expectation) bool {
		return p.isExpectedBy(target, x.Target, x.Matcher, x.Argument)
	})
}

// NameOf returns the name that a test gets if no test of the suite has it.
func (s *Suite) NameOf(t *Test) string { return s.chooseName(t) }

// Value returns the test as it is written. Text converts each text that comes from the
// call; it has to escape placeholders.
func (e Entry) Value(text func(string) string) jsonv.Value {
	out := jsonv.ObjectOf("name", EscapePlaceholders(e.Name))
	if e.Server != "" {
		out = out.With("server", jsonv.String(e.Server))
	}
	out = out.With(e.Subject[0], jsonv.String(text(e.Subject[1])))
	if e.ArgsKey != "" {
		out = out.With(e.ArgsKey, mapTexts(e.Args, text))
	}
	if !e.Respond.IsAbsent() {
		out = out.With("respond", mapTexts(e.Respond, text))
	}
	if e.InvalidArgs {
		out = out.With("invalid_args", jsonv.Bool(true))
	}
	if len(e.Expect) == 0 {
		return out
	}
	items := jsonv.List(e.Expect, func(x Expectation) jsonv.Value {
		return jsonv.ObjectOf("target", EscapePlaceholders(x.Target), "matcher", jsonv.ObjectOf(x.Matcher, mapTexts(x.Argument, EscapePlaceholders)))
	})
	return out.With("expect", items)
}

// Review returns the comment of an expectation: why a person must look at it; "" if it is
// the value of the answer.
func (x Expectation) Review() string {
	if x.Note == "" {
		return ""
	}
	return "review: " + display.OneLine(x.Note)
}

// EscapePlaceholders makes a text of a server fit for a suite, in which ${…} is a
// placeholder.
func EscapePlaceholders(s string) string { return strings.ReplaceAll(s, "${", "$${") }

// mapTexts returns a value with every text converted; keys stay.
func mapTexts(v jsonv.Value, text func(string) string) jsonv.Value {
	switch v.Kind() {
	case jsonv.KindString:
		return jsonv.String(text(v.Text()))
	case jsonv.KindArray:
		var elems []jsonv.Value
		for _, e := range v.Elems() {
			elems = append(elems, mapTexts(e, text))
		}
		return jsonv.Array(elems...)
	case jsonv.KindObject:
		var members []jsonv.Member
		for key, value := range v.Members() {
			members = append(members, jsonv.Member{Key: key, Value: mapTexts(value, text)})
		}
		return jsonv.Object(members...)
	}
	return v
}
