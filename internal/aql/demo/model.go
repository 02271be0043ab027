package demo

import (
	"fmt"
	"slices"
	"strings"

	"mcptest/internal/jsonv"
)

// param describes a parameter, or a field of a resource.
type param struct {
	name, typ, doc string
	required       bool
	readOnly       bool // assigned by the adapter
	appendOnly     bool // not changed by an update
	enum           []string
	min, max       float64 // a range when max > min
	minLen, maxLen int     // lengths when maxLen > 0
	pattern        string
	format         string
	def            jsonv.Value
	items          string
	deny           bool   // documented but refused
	listed         string // the type that lists the enum, which the parameter does not refer to
}

// resource is one collection.
type resource struct {
	name, plural string
	fields       []param
	seed         []jsonv.Value

	one    bool   // there is at most one item
	unread bool   // listed, but without an operation that reads one item
	byName bool   // identified only by its name
	kind   string // the parameter that every operation requires, "" for none
}

func (r *resource) typeName() string { return strings.ToUpper(r.name[:1]) + r.name[1:] }
func (r *resource) key() string {
	if r.byName {
		return "name"
	}
	return r.name + "_id"
}

func (r *resource) field(name string) *param {
	for i := range r.fields {
		if r.fields[i].name == name {
			return &r.fields[i]
		}
	}
	return nil
}

// operation is one operation of the adapter.
type operation struct {
	name, category, verb, doc string
	params                    []param
	hidden                    []param // accepted but not documented
	returns                   [2]string
	res                       *resource
	example                   jsonv.Value
}

// does returns the real effect of the operation.
func (o *operation) does() string {
	switch o.verb {
	case "create", "update", "delete", "execute":
		return o.verb
	case "abort", "complete", "step", "decide":
		return "execute"
	}
	return "read"
}

func (o *operation) param(name string) *param {
	for _, list := range [][]param{o.params, o.hidden} {
		for i := range list {
			if list[i].name == name {
				return &list[i]
			}
		}
	}
	return nil
}

var genres = []string{"novel", "poetry", "science", "travel"}

func books() *resource {
	return &resource{name: "book", plural: "books", fields: []param{
		{name: "title", typ: "string", doc: "The title as printed.", required: true, minLen: 1, maxLen: 200},
		{name: "author", typ: "string", doc: "Who wrote it."},
		{name: "genre", typ: "Genre", doc: "The section of the catalog that lists it.", enum: genres},
		{name: "pages", typ: "integer", doc: "The number of its pages.", min: 1, max: 10000},
		{name: "isbn", typ: "string", doc: "Ten characters, the last one may be X.", pattern: "^[0-9]{9}[0-9X]$"},
		{name: "published", typ: "string", doc: "The day it appeared.", format: "date"},
		{name: "tags", typ: "array", doc: "Words to find it by.", items: "string"},
		{name: "details", typ: "object", doc: "Further details, by name."},
		{name: "remarks", typ: "string", doc: "What was noted when it came: append-only, an update is refused.", appendOnly: true},
	}, seed: []jsonv.Value{
		jsonv.From(map[string]any{"title": "The Long Shelf", "author": "A. Quill", "genre": "novel", "pages": 312, "details": map[string]any{"language": "en", "binding": "cloth"}}),
		jsonv.From(map[string]any{"title": "Rain in Rows", "author": "B. Reed", "genre": "poetry", "pages": 64}),
		jsonv.From(map[string]any{"title": "Small Machines", "author": "C. Cog", "genre": "science", "pages": 540}),
	}}
}

func shelves() *resource {
	return &resource{name: "shelf", plural: "shelves", fields: []param{
		{name: "name", typ: "string", doc: "What is written on it.", required: true, minLen: 1, maxLen: 80},
		{name: "room", typ: "string", doc: "The room that holds it."},
		{name: "capacity", typ: "integer", doc: "How many books it holds.", min: 1, max: 500},
	}, seed: []jsonv.Value{
		jsonv.From(map[string]any{"name": "North", "room": "hall", "capacity": 80}),
		jsonv.From(map[string]any{"name": "South", "room": "hall", "capacity": 60}),
	}}
}

// moreNouns name the collections that a widened adapter has.
var moreNouns = []string{
	"author", "member", "branch", "poster", "map", "record", "magazine", "film", "game", "puzzle", "globe", "lamp",
	"desk", "chair", "card", "stamp", "letter", "atlas_page", "coin", "print",
}

func plural(noun string) string {
	switch {
	case strings.HasSuffix(noun, "ch"), strings.HasSuffix(noun, "s"):
		return noun + "es"
	}
	return noun + "s"
}

func collection(noun string) *resource {
	return &resource{name: noun, plural: plural(noun), fields: []param{
		{name: "name", typ: "string", doc: "Its name.", required: true, minLen: 1, maxLen: 80},
		{name: "note", typ: "string", doc: "A remark about it."},
		{name: "size", typ: "integer", doc: "Its size in centimetres.", min: 1, max: 1000},
	}, seed: []jsonv.Value{
		jsonv.From(map[string]any{"name": "first " + noun, "size": 3}),
		jsonv.From(map[string]any{"name": "second " + noun, "size": 5}),
	}}
}

var serverFields = []param{
	{name: "id", typ: "string", doc: "Assigned by the adapter, read-only.", readOnly: true, required: true},
	{name: "created_at", typ: "string", format: "date-time", doc: "When it was added: assigned by the adapter, read-only.", readOnly: true, required: true},
	{name: "updated_at", typ: "string", format: "date-time", doc: "When it was last changed: assigned by the adapter, read-only.", readOnly: true, required: true},
}

// addCollection adds the operations of a resource.
func (a *Adapter) addCollection(r *resource) {
	if !r.byName {
		r.fields = append([]param{serverFields[0]}, r.fields...)
	}
	r.fields = append(r.fields, serverFields[1:]...)
	a.resources = append(a.resources, r)
	var writable []param
	for _, f := range r.fields {
		if !f.readOnly {
			writable = append(writable, f)
		}
	}
	note := " id, created_at and updated_at are read-only."
	if r.byName {
		note = " created_at and updated_at are read-only."
	}
	if a.is("read-only-undisclosed") {
		note = ""
	}
	named := a.naming(r)
	get := slices.Clone(named)
	if !a.is("no-field-selection") {
		get = append(get, param{name: "fields", typ: "string | string[]", doc: "Answer with these fields only: a list of names, which may be paths such as details.language, or one of minimal, standard and full."})
	}
	if a.is("camel-parameter") && r.name == "book" {
		get = append(get, param{name: "withNotes", typ: "boolean", doc: "Has no effect."})
	}
	list, hidden := a.controls(r), []param(nil)
	if a.is("accepts-undocumented") && r.name == "book" {
		list, hidden = list[:1:1], list[1:]
	}
	if r.name == "book" {
		list = append(list, cursors()...)
	}
	if r.kind != "" {
		list = append([]param{*r.field(r.kind)}, list...)
	}
	update := append(slices.Clone(named), param{name: "input", typ: "object", doc: "The fields to change, by name; null removes one." + note, required: true})
	if a.is("update-flat") {
		update = slices.Clone(named)
		for _, f := range writable {
			f.required = false
			if !r.byName || f.name != "name" {
				update = append(update, f)
			}
		}
	}
	t := r.typeName()
	add := func(o *operation) {
		o.res = r
		a.operations = append(a.operations, o)
	}
	add(&operation{name: "create_" + r.name, category: "CREATE", verb: "create", doc: "Adds a " + r.name + " to the library.", params: writable, returns: [2]string{t, "object"}})
	if !r.unread {
		add(&operation{name: "get_" + r.name, category: "READ", verb: "get", doc: "Gives one " + r.name + ".", params: get, returns: [2]string{t, "object"}})
	}
	if !r.one {
		add(&operation{
			name: "list_" + r.plural, category: "READ", verb: "list", doc: "Lists the " + r.plural + ", oldest first.", params: list, hidden: hidden, returns: [2]string{t + "List", "object"},
			example: jsonv.From(map[string]any{"request": map[string]any{"operation": "list_" + r.plural, "params": map[string]any{"limit": 5}}, "description": "The first five."}),
		})
	}
	if !r.unread {
		add(&operation{name: "update_" + r.name, category: "UPDATE", verb: "update", doc: "Changes fields of a " + r.name + "." + note, params: update, returns: [2]string{t, "object"}})
	}
	add(&operation{name: "delete_" + r.name, category: "DELETE", verb: "delete", doc: "Removes a " + r.name + " for good.", params: named, returns: [2]string{"Removal", "object"}})
}

// naming returns the parameters that identify an item of a resource.
func (a *Adapter) naming(r *resource) (out []param) {
	if r.kind != "" {
		out = append(out, *r.field(r.kind))
	}
	switch {
	case r.one:
	case r.byName:
		out = append(out, param{name: "name", typ: "string", doc: "As it was created.", required: true})
	default:
		out = append(out, param{name: r.key(), typ: "string", doc: "As list_" + r.plural + " gives it under id.", required: true})
	}
	return out
}

// cursors returns the parameters of paging by cursors (PG 2.1).
func cursors() []param {
	return []param{
		{name: "first", typ: "integer", doc: "How many to answer from the beginning, or after a cursor; more than 100 are taken for 100.", min: 1, max: 100},
		{name: "after", typ: "string", doc: "A cursor: answer what comes after it; wants first."},
		{name: "last", typ: "integer", doc: "How many to answer from the end, or before a cursor; more than 100 are taken for 100.", min: 1, max: 100},
		{name: "before", typ: "string", doc: "A cursor: answer what comes before it; wants last."},
	}
}

// controls returns the parameters that all lists have in common.
func (a *Adapter) controls(r *resource) []param {
	limit := param{name: "limit", typ: "integer", doc: "How many to answer at most.", min: 1, max: 100, def: jsonv.Int(20)}
	if a.is("controls-differ") && r.name == "shelf" {
		limit.def = jsonv.Int(10)
	}
	if a.is("documents-wrong-type") && r.name == "shelf" {
		limit = param{name: "limit", typ: "string", doc: "How many to answer at most."}
	}
	return []param{limit, {name: "offset", typ: "integer", doc: "How many to pass over.", min: 0, max: 100000, def: jsonv.Int(0)}}
}

// build builds the table of operations.
func (a *Adapter) build(n int) {
	a.operations = append(a.operations, &operation{
		name: "introspect", category: "READ", verb: "introspect", doc: "Tells which operations and types there are.",
		params: []param{
			{name: "query", typ: "string", doc: "What to tell about.", required: true, enum: []string{"operations", "types"}},
			{name: "name", typ: "string", doc: "Tell everything about this operation or type."},
		}, returns: [2]string{"Introspection", "object"},
	})
	a.addCollection(books())
	a.addCollection(shelves())
	if a.is("delete-says-read") {
		a.find("delete_shelf").category = "READ"
	}
	if a.is("update-says-read") {
		a.find("update_shelf").category = "READ"
	}
	book := a.resources[0]
	search := []param{{name: "text", typ: "string", doc: "Part of a title.", required: !a.is("requires-optional"), minLen: 1, maxLen: 100}, a.controls(book)[0]}
	a.operations = append(a.operations,
		&operation{name: "search_books", category: "READ", verb: "search", doc: "Finds books by a part of their title.", params: search, returns: [2]string{"BookList", "object"}, res: book},
		&operation{name: "reindex_catalog", category: "EXECUTE", verb: "execute", doc: "Sorts the catalog anew; takes a while.", returns: [2]string{"Execution", "object"}})
	if a.is("documents-refused") {
		op := a.find("list_books")
		op.params = append(op.params, param{name: "order", typ: "string", doc: "The field to sort by.", deny: true})
	}
	count := func(name string, r *resource) {
		a.operations = append(a.operations, &operation{name: name, category: "READ", verb: "count", doc: "Counts the " + r.plural + ".", returns: [2]string{"Count", "object"}, res: r})
	}
	if a.is("camel-operation") {
		count("countBooks", book)
	}
	if a.is("acts-on-read") {
		count("open_catalog", book)
	}
	if a.is("reserved-meaning") {
		count("record_execution_step", book)
	}
	a.addFeatures()
	for i := 0; len(a.operations)+5 <= n; i++ {
		noun := moreNouns[i%len(moreNouns)]
		if round := i / len(moreNouns); round > 0 {
			noun = fmt.Sprintf("%s_%c", noun, 'a'+round%26)
		}
		a.addCollection(collection(noun))
	}
	for i := 0; len(a.operations) < n && i < len(a.resources); i++ {
		count("count_"+a.resources[i].plural, a.resources[i])
	}
}

func (a *Adapter) find(name string) *operation {
	for _, o := range a.operations {
		if o.name == name {
			return o
		}
	}
	return nil
}
