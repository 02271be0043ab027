package aql

import (
	_ "embed"
	"strings"
	"sync"

	"mcptest/internal/base/jsonv"
	"mcptest/internal/mcpaql/evidence"
	"mcptest/internal/mcpaql/rule"
)

// leaves are the kinds of values without members of their own, by the word for them.
var leaves = map[string]shape{
	"any": anything{}, "object": anyObject, "flag": flag, "text": words{}, "filled": words{filled: true},
	"number": amount{free: true}, "amount": amount{}, "whole": amount{whole: true}, "positive": amount{whole: true, min: 1},
	"category":  words{oneOf: rule.SemanticCategories},
	"code":      words{like: errorCode, want: "capitals, digits and underscores"},
	"snake":     words{like: evidence.SnakeCase, want: "snake_case"},
	"version":   words{like: protocolVersion, want: "a version such as 1.0.0"},
	"date-time": words{is: isDateTime, want: "a date and time with its offset"},
	"mode":      words{oneOf: []string{"semantic", "single", "all"}, except: map[string]string{"crude": "operations.protocol-mode-crude"}},
	"result":    resultShape{},
}

// shapesFile describes the objects of the introspection (INT 3 to 5) and of results (D 5)
// by their members, which are required if a ! follows their names. The value of a member
// is the rule that it breaks, and the kind of its value: a leaf, an object, one of several
// texts (a|b), or a list ([kind]) with the rule that its elements break.
//
//go:embed shapes.json
var shapesFile []byte

// shapes are the objects of shapesFile by name.
var shapes = sync.OnceValue(func() map[string]*objectShape {
	doc, err := jsonv.Parse(shapesFile)
	if err != nil {
		panic(err) // the file is part of the program
	}
	all := map[string]*objectShape{}
	for name := range doc.Members() {
		all[name] = &objectShape{special: map[string]string{}}
	}
	for name, members := range doc.Members() {
		for key, v := range members.Members() {
			all[name].define(key, v, all)
		}
	}
	return all
})

// define adds a member, or a rule for members that are not defined.
func (s *objectShape) define(key string, v jsonv.Value, all map[string]*objectShape) {
	switch key {
	case "$closed":
		s.closed = v.Text()
	case "$metadata":
		s.metadata = v.Text()
	case "$special":
		for member, rule := range v.Members() {
			s.special[member] = rule.Text()
		}
	default:
		says := append(strings.Fields(v.Text()), "")
		name, required := strings.CutSuffix(key, "!")
		like := findShape(says[1], says[2], all)
		s.fields = append(s.fields, fieldShape{name, required, strings.Trim(says[0], "-"), like})
	}
}

// findShape returns the shape for a kind of values.
func findShape(kind, elemRule string, all map[string]*objectShape) shape {
	if elem, list := strings.CutPrefix(kind, "["); list && elem == "]" {
		return sequence{}
	} else if list {
		return sequence{findShape(strings.Trim(elem, "]"), "", all), elemRule}
	}
	if leaf, ok := leaves[kind]; ok {
		return leaf
	}
	if object, ok := all[kind]; ok {
		return object
	}
	return words{oneOf: strings.Split(kind, "|")}
}

// resultShape is the discriminated union of D 5.1: success or failure, distinguished
// by the member success.
type resultShape struct{}

// maxResultPlaces limits how deep results inside results are checked. No real batch
// nests so deeply; without a limit the pointers to the faults grow with the square of
// the depth.
const maxResultPlaces = 1000

func (resultShape) look(p *probe, at place, v jsonv.Value, rule string) {
	if !p.is(jsonv.KindObject, at, v, "result.object") {
		return
	}
	success, _ := v.Get("success")
	switch {
	case strings.Count(string(at), "/") > maxResultPlaces:
		p.add("result.results-result", at, v, "results inside results, more than %d places deep", maxResultPlaces)
	case success.Kind() != jsonv.KindBool:
		p.add("result.success", at.member("success"), v, "expected true or false, got %s", evidence.Describe(success))
	case success.Bool():
		shapes()["success"].look(p, at, v, rule)
	default:
		shapes()["failure"].look(p, at, v, rule)
	}
}
