package demo

import (
	"slices"

	"mcptest/internal/jsonv"
)

// Features lists the possible additions to the library.
func Features() []Feature {
	return []Feature{
		{"confirm", "Deleting anything and changing a shelf has to be confirmed with a token."},
		{"kinds", "A collection of things of several kinds, distinguished by a parameter of each operation."},
		{"sorts", "A collection of things of several kinds, which only a type of the introspection lists."},
		{"charter", "A resource that there is at most one of."},
		{"loans", "A collection that can be listed, and not asked for one of its things."},
		{"keys", "A collection whose things are known by their name alone."},
		{"executions", "Sorting the catalog goes on after the call: its state can be read, steps recorded, and it can be aborted."},
	}
}

// Feature is an addition to the library.
type Feature struct{ Name, Doc string }

// addFeatures adds the collections of the selected features.
func (a *Adapter) addFeatures() {
	if a.has("executions") {
		a.addExecutions()
	}
	if a.has("kinds") {
		a.addCollection(&resource{name: "item", plural: "items", kind: "kind", fields: []param{
			{name: "kind", typ: "string", doc: "What sort of thing it is.", required: true, enum: []string{"film", "game", "map"}},
			{name: "name", typ: "string", doc: "What is written on it.", required: true, minLen: 1, maxLen: 80},
			{name: "note", typ: "string", doc: "A remark about it."},
		}, seed: []jsonv.Value{
			jsonv.From(map[string]any{"kind": "film", "name": "Dust"}),
			jsonv.From(map[string]any{"kind": "game", "name": "Rows of Nine"}),
			jsonv.From(map[string]any{"kind": "map", "name": "The Harbour"}),
		}})
	}
	if a.has("sorts") {
		a.addCollection(&resource{name: "part", plural: "parts", kind: "part_sort", fields: []param{
			{name: "part_sort", typ: "string", doc: "What sort of part it is.", required: true, enum: []string{"hinge", "lamp", "wheel"}, listed: "PartSort"},
			{name: "name", typ: "string", doc: "What is written on it.", required: true, minLen: 1, maxLen: 80},
			{name: "note", typ: "string", doc: "A remark about it."},
		}, seed: []jsonv.Value{
			jsonv.From(map[string]any{"part_sort": "hinge", "name": "of the gate"}),
			jsonv.From(map[string]any{"part_sort": "wheel", "name": "of the ladder"}),
		}})
	}
	if slices.Contains(a.o.Hazards, "decide-unnamed") {
		a.addRequests()
	}
	if slices.Contains(a.o.Hazards, "create-known") {
		a.addSettings()
	}
	if a.has("charter") {
		a.addCollection(&resource{name: "charter", plural: "charters", one: true, fields: []param{
			{name: "motto", typ: "string", doc: "One sentence.", required: true, minLen: 1, maxLen: 200},
			{name: "text", typ: "string", doc: "What the library is for."},
		}})
	}
	if a.has("loans") {
		a.addCollection(&resource{name: "loan", plural: "loans", unread: true, fields: []param{
			{name: "reader", typ: "string", doc: "Who took it.", required: true, minLen: 1, maxLen: 80},
			{name: "until", typ: "string", doc: "The day it is due.", format: "date"},
		}, seed: []jsonv.Value{jsonv.From(map[string]any{"reader": "D. Page", "until": "2026-03-01"})}})
	}
	if a.has("keys") {
		a.addCollection(&resource{name: "tag", plural: "tags", byName: true, fields: []param{
			{name: "name", typ: "string", doc: "The word itself.", required: true, minLen: 1, maxLen: 80},
			{name: "color", typ: "string", doc: "How it is printed."},
		}, seed: []jsonv.Value{jsonv.From(map[string]any{"name": "old", "color": "brown"})}})
	}
}
