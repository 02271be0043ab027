package demo

import (
	"cmp"
	"encoding/json"
	"fmt"
	"slices"
	"strings"

	"mcptest/internal/base/display"
	"mcptest/internal/base/jsonv"
)

// New returns an adapter with the initial library, or with the one stored in
// Options.State.
func New(o Options) (*Adapter, error) {
	o.Mode = cmp.Or(o.Mode, ModeAll)
	if !slices.Contains(Modes(), o.Mode) {
		return nil, fmt.Errorf("mode %q: expected one of %s", o.Mode, strings.Join(Modes(), ", "))
	}
	a := &Adapter{
		o:        o,
		defects:  map[string]bool{},
		features: map[string]bool{},
		own:      session{},
		items:    map[string][]jsonv.Value{},
		gone:     map[string]jsonv.Value{},
	}
	for _, f := range o.Features {
		a.features[f] = true
	}
	for _, name := range o.Defects {
		i := slices.IndexFunc(Defects(), func(d Defect) bool { return d.Name == name })
		if i < 0 {
			return nil, fmt.Errorf("there is no defect %q", name)
		}
		a.defects[name], a.features[Defects()[i].Feature] = true, true
	}
	if a.is("semantic-only") {
		a.o.Mode = ModeCrude
	}
	a.build(o.Operations)
	a.addTools()
	for _, r := range a.resources {
		for _, s := range r.Seed {
			a.insert(r, s)
		}
	}
	return a, a.load()
}

// newCollection returns a resource of a widened adapter.
func (a *Adapter) newCollection(noun string) *resource {
	var r resource
	words := strings.NewReplacer("NOUN", noun, "PLURAL", display.Plural(2, noun))
	_ = json.Unmarshal([]byte(words.Replace(string(a.library.Collection))), &r)
	return &r
}

// addCollection adds the operations of a resource.
func (a *Adapter) addCollection(r *resource) {
	assigned := a.library.Assigned
	if !r.ByName {
		r.Fields = append(slices.Clone(assigned[:1]), r.Fields...)
	}
	r.Fields = append(r.Fields, assigned[1:]...)
	a.resources = append(a.resources, r)
	writable := slices.DeleteFunc(slices.Clone(r.Fields), func(f param) bool { return f.ReadOnly })
	note := " id, created_at and updated_at are read-only."
	if r.ByName {
		note = " created_at and updated_at are read-only."
	}
	if a.is("read-only-undisclosed") {
		note = ""
	}
	named := a.newNamingParams(r)
	get := slices.Clone(named)
	if !a.is("no-field-selection") {
		get = append(get, param{Name: "fields", Type: "string | string[]", Doc: "Answer with these fields only: a list of names, which may be paths such as details.language, or one of minimal, standard and full."})
	}
	if a.is("camel-parameter") && r.Name == "book" {
		get = append(get, param{Name: "withNotes", Type: "boolean", Doc: "Has no effect."})
	}
	list, hidden := a.listParams(r)
	update := append(slices.Clone(named), param{Name: "input", Type: "object", Doc: "The fields to change, by name; null removes one." + note, Required: true})
	if a.is("update-flat") {
		update = slices.Clone(named)
		for _, f := range writable {
			f.Required = false
			if !r.ByName || f.Name != "name" {
				update = append(update, f)
			}
		}
	}
	t := r.typeName()
	for _, o := range []*operation{
		{Name: "create_" + r.Name, Category: "CREATE", Doc: "Adds a " + r.Name + " to the library.", Params: writable, Returns: t},
		{Name: "get_" + r.Name, Category: "READ", Doc: "Gives one " + r.Name + ".", Params: get, Returns: t},
		{
			Name: "list_" + r.Plural, Category: "READ", Doc: "Lists the " + r.Plural + ", oldest first.", Params: list, hidden: hidden, Returns: t + "List",
			example: jsonv.From(map[string]any{
				"request":     map[string]any{"operation": "list_" + r.Plural, "params": map[string]any{"limit": 5}},
				"description": "The first five.",
			}),
		},
		{Name: "update_" + r.Name, Category: "UPDATE", Doc: "Changes fields of a " + r.Name + "." + note, Params: update, Returns: t},
		{Name: "delete_" + r.Name, Category: "DELETE", Doc: "Removes a " + r.Name + " for good.", Params: named, Returns: "Removal"},
	} {
		if o.Verb, _, _ = strings.Cut(o.Name, "_"); !slices.Contains(r.Without, o.Verb) {
			o.res = r
			a.operations = append(a.operations, o)
		}
	}
	a.add(r.With, r)
}

// listParams returns the parameters of the operation that lists a resource, and those that
// it accepts without documenting them.
func (a *Adapter) listParams(r *resource) (list, hidden []param) {
	list = a.newListParams(r)
	if a.is("accepts-undocumented") && r.Name == "book" {
		list, hidden = list[:1:1], list[1:]
	}
	if r.Name == "book" {
		list = append(list, a.library.Cursors...)
	}
	if r.Kind != "" {
		list = append([]param{r.findField(r.Kind)}, list...)
	}
	return list, hidden
}

// newNamingParams returns the parameters that identify an item of a resource.
func (a *Adapter) newNamingParams(r *resource) (out []param) {
	if r.Kind != "" {
		out = append(out, r.findField(r.Kind))
	}
	switch {
	case r.One:
	case r.ByName:
		out = append(out, param{Name: "name", Type: "string", Doc: "As it was created.", Required: true})
	default:
		out = append(out, param{Name: r.key(), Type: "string", Doc: "As list_" + r.Plural + " gives it under id.", Required: true})
	}
	return out
}

// newListParams returns the parameters that all lists have in common.
func (a *Adapter) newListParams(r *resource) []param {
	list := slices.Clone(a.library.Controls)
	if a.is("controls-differ") && r.Name == "shelf" {
		list[0].Default = jsonv.Int(10)
	}
	if a.is("documents-wrong-type") && r.Name == "shelf" {
		list[0] = param{Name: "limit", Type: "string", Doc: list[0].Doc}
	}
	return list
}

// build builds the table of operations.
func (a *Adapter) build(n int) {
	a.library = readLibrary()
	a.add("introspect", nil)
	book, shelf := a.library.Resources[0], a.library.Resources[1]
	a.addCollection(book)
	a.addCollection(shelf)
	if a.is("delete-says-read") {
		a.find("delete_shelf").Category = "READ"
	}
	if a.is("update-says-read") {
		a.find("update_shelf").Category = "READ"
	}
	a.add("catalog", nil)
	search := a.find("search_books")
	search.res, search.Params[0].Required = book, !a.is("requires-optional")
	if a.is("documents-refused") {
		op := a.find("list_books")
		op.Params = append(op.Params, param{Name: "order", Type: "string", Doc: "The field to sort by.", deny: true})
	}
	count := func(name string, r *resource) {
		a.operations = append(a.operations, &operation{
			Name:     name,
			Category: "READ",
			Verb:     "count",
			Doc:      "Counts the " + r.Plural + ".",
			Returns:  "Count",
			res:      r,
		})
	}
	for _, d := range [][2]string{{"camel-operation", "countBooks"}, {"acts-on-read", "open_catalog"}, {"reserved-meaning", "record_execution_step"}} {
		if a.is(d[0]) {
			count(d[1], book)
		}
	}
	if a.has("executions") {
		a.add("executions", nil)
	}
	for _, r := range a.library.Resources[2:] {
		if a.has(r.With) {
			a.addCollection(r)
		}
	}
	for i := 0; len(a.operations)+5 <= n; i++ {
		noun := a.library.Nouns[i%len(a.library.Nouns)]
		if round := i / len(a.library.Nouns); round > 0 {
			noun = fmt.Sprintf("%s_%c", noun, 'a'+round%26)
		}
		a.addCollection(a.newCollection(noun))
	}
	for i := 0; len(a.operations) < n && i < len(a.resources); i++ {
		count("count_"+a.resources[i].Plural, a.resources[i])
	}
}

// add adds a group of operations of the library.
func (a *Adapter) add(group string, r *resource) {
	for _, op := range a.library.Operations[group] {
		op.res = r
		a.operations = append(a.operations, op)
	}
}
