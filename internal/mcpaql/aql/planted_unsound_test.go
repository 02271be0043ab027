package aql_test

import (
	"cmp"
	"strings"
	"testing"
	"time"

	"mcptest/internal/base/jsonv"
	"mcptest/internal/mcpaql/live/guard"
)

// instead replaces the answers of the adapter; "" leaves one as it is.
func (b *store) instead(answer func(op string, args jsonv.Value, usual string) string) {
	b.shape = func(s *small) {
		s.answer = func(op string, args jsonv.Value, usual func() string) string {
			out := usual()
			return cmp.Or(answer(op, args, out), out)
		}
	}
}

// document replaces a text in the detail of an operation.
func (b *store) document(name, old, now string) {
	b.shape = func(s *small) {
		s.detail = func(op, standard string) string {
			if op == name {
				return strings.ReplaceAll(standard, old, now)
			}
			return standard
		}
	}
}

// replaceRun replaces what an operation does.
func (b *store) replaceRun(name string, run func(params jsonv.Value, usual func(jsonv.Value) string) string) {
	b.shape = func(s *small) {
		for i, op := range s.ops {
			if op.name == name {
				s.ops[i].run = func(params jsonv.Value) string { return run(params, op.run) }
			}
		}
	}
}

const folderParam = `{"name":"folder","type":"string","required":false,"description":"Where it is."}`

// What is wrong with an adapter fails its row, and no other; nothing of others changes, and
// nothing is left.
func TestUnsoundAdaptersAreJudged(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		judged
		plant func(b *store)
	}{
		"a create drops a field": {judged{1, "create-read FAIL"}, func(b *store) {
			b.create = func(_, note jsonv.Value) (string, bool) {
				b.made++
				b.notes = append(b.notes, note.Without("folder"))
				return note.String(), false
			}
		}},
		"a create shortens a field": {judged{1, "create-read FAIL"}, func(b *store) {
			b.create = func(_, note jsonv.Value) (string, bool) {
				b.made++
				if f := note.Lookup("folder").Text(); len(f) > 4 {
					note = note.With("folder", jsonv.String(f[:4]))
				}
				b.notes = append(b.notes, note)
				return note.String(), false
			}
		}},
		"a note is shortened to four letters": {judged{1, "create-read FAIL"}, func(b *store) {
			b.create = func(_, note jsonv.Value) (string, bool) {
				b.made++
				b.notes = append(b.notes, note.With("title", jsonv.String(note.Lookup("title").Text()[:4])))
				return note.String(), false
			}
		}},
		"an update replaces the whole note": {judged{1, "update FAIL"}, func(b *store) {
			b.replaceRun("update_note", func(params jsonv.Value, usual func(jsonv.Value) string) string {
				out := usual(params)
				if i := at(b.notes, params); i >= 0 && !strings.HasPrefix(out, `{"success":false`) {
					b.notes[i] = jsonv.ObjectOf("note_id", params.Lookup("note_id"), "title", params.Lookup("input", "title"))
				}
				return out
			})
		}},
		"an update is not kept": {judged{1, "update FAIL"}, func(b *store) {
			b.replaceRun("update_note", func(params jsonv.Value, usual func(jsonv.Value) string) string {
				before := append([]jsonv.Value{}, b.notes...)
				out := usual(params)
				b.notes = before
				return out
			})
		}},
		"an update ignores unknown fields": {judged{0, "input WARN"}, func(b *store) {
			b.replaceRun("update_note", func(params jsonv.Value, usual func(jsonv.Value) string) string {
				input := params.Lookup("input")
				for k := range input.Members() {
					if k != "title" && k != "folder" {
						input = input.Without(k)
					}
				}
				return usual(params.With("input", input))
			})
		}},
		"an update takes no input": {judged{0, "input WARN"}, func(b *store) {
			b.params = map[string]string{"update_note": noteID[:len(noteID)-1] + `,{"name":"title","type":"string","required":false,"description":"Its title."},` + folderParam + `]`}
			b.replaceRun("update_note", func(params jsonv.Value, usual func(jsonv.Value) string) string {
				return usual(jsonv.ObjectOf("note_id", params.Lookup("note_id"), "input", params.Without("note_id")))
			})
		}},
		"a required title may be missing": {judged{1, "required FAIL"}, func(b *store) {
			b.instead(func(op string, args jsonv.Value, usual string) string { return "" })
			b.params = map[string]string{"create_note": `[{"name":"title","type":"string","required":false,"description":"Its title."},` + folderParam + `]`}
			b.document("create_note", `"name":"title","type":"string","required":false`, `"name":"title","type":"string","required":true`)
		}},
		"unknown parameters are ignored": {judged{1, "unknown FAIL"}, func(b *store) {
			b.instead(func(op string, args jsonv.Value, usual string) string {
				if strings.Contains(usual, "VALIDATION_UNKNOWN_PARAM") && op == "list_notes" {
					b.mu.Lock()
					defer b.mu.Unlock()
					return `{"success":true,"data":` + jsonv.ObjectOf("items", jsonv.Array(b.visible()...)).String() + `}`
				}
				return ""
			})
		}},
		"failures have no code": {judged{1, "error-form FAIL"}, func(b *store) {
			b.instead(func(_ string, _ jsonv.Value, usual string) string {
				if strings.Contains(usual, `"NOT_FOUND_RESOURCE"`) {
					return strings.Replace(usual, `"code":"NOT_FOUND_RESOURCE",`, "", 1)
				}
				return ""
			})
		}},
		"a failure shows a stack": {judged{1, "leaks FAIL"}, func(b *store) {
			b.instead(func(_ string, _ jsonv.Value, usual string) string {
				return strings.Replace(usual, `"No note has`, `"TypeError: x is undefined\n    at find (/srv/app/src/notes.js:31:7)\n No note has`, 1)
			})
		}},
		"a failure says nothing": {judged{0, "actionable WARN"}, func(b *store) {
			b.instead(func(_ string, _ jsonv.Value, usual string) string {
				if strings.Contains(usual, "VALIDATION_INVALID_TYPE") {
					return failure("VALIDATION_INVALID_TYPE", "Error.")
				}
				return ""
			})
		}},
		"a parameter in camel case": {judged{1, "snake-case FAIL"}, func(b *store) {
			b.params = map[string]string{"list_notes": `[{"name":"sortOrder","type":"string","required":false,"description":"How it is sorted."}]`}
		}},
		"a documented parameter is unknown": {judged{1, "accuracy FAIL, completeness WARN"}, func(b *store) {
			b.document("list_notes", `"parameters":[]`, `"parameters":[{"name":"folder","type":"string","required":false,"description":"Where they are."}]`)
		}},
		"a required parameter is documented as optional": {judged{1, "accuracy FAIL, create-read FAIL"}, func(b *store) {
			b.params = map[string]string{"get_note": noteID[:len(noteID)-1] + `,{"name":"language","type":"string","required":true,"description":"In which language."}]`}
			b.document("get_note", `"language","type":"string","required":true`, `"language","type":"string","required":false`)
		}},
		"a parameter has another type": {judged{1, "accuracy FAIL, values WARN"}, func(b *store) {
			b.params = map[string]string{"list_notes": `[{"name":"newer_than","type":"integer","required":false,"description":"Days."}]`}
			b.document("list_notes", `"integer"`, `"string"`)
		}},
		"an undocumented parameter works": {judged{1, "completeness FAIL"}, func(b *store) {
			b.replaceRun("list_notes", func(params jsonv.Value, usual func(jsonv.Value) string) string {
				all := parsed(usual(params)).Lookup("items").List()
				return jsonv.ObjectOf("items", jsonv.Array(all[:min(len(all), number(params, "limit", len(all)))]...)).String()
			})
			b.params = map[string]string{"list_notes": `[{"name":"limit","type":"integer","required":false,"description":"How many."}]`}
			old := b.shape
			b.shape = func(s *small) {
				old(s)
				s.detail = func(op, standard string) string {
					if op == "list_notes" {
						return strings.Replace(standard, b.params[op], `[]`, 1)
					}
					return standard
				}
			}
		}},
		"a default is another one": {judged{1, "defaults FAIL"}, func(b *store) {
			b.paged(`[{"name":"limit","type":"integer","required":false,"minimum":1,"maximum":50,"default":2,"description":"How many."}]`, func(params jsonv.Value, all []jsonv.Value) string {
				return jsonv.ObjectOf("items", jsonv.Array(all[:min(len(all), number(params, "limit", 3))]...)).String()
			})
		}},
		"an enum is not enforced": {judged{0, "values WARN"}, func(b *store) {
			b.params = map[string]string{"list_notes": `[{"name":"order","type":"string","required":false,"description":"How it is sorted."}]`}
			b.document("list_notes", `"type":"string"`, `"type":"string","enum":["up","down"]`)
		}},
		"a range is not enforced": {judged{0, "values WARN"}, func(b *store) {
			b.params = map[string]string{"list_notes": `[{"name":"newer_than","type":"integer","required":false,"description":"Days."}]`}
			b.document("list_notes", `"type":"integer"`, `"type":"integer","minimum":1,"maximum":365`)
		}},
		"a number as title is accepted": {judged{0, "values WARN"}, func(b *store) {
			b.instead(func(op string, args jsonv.Value, usual string) string {
				if op != "create_note" || !strings.Contains(usual, "VALIDATION_INVALID_TYPE") {
					return ""
				}
				b.mu.Lock()
				defer b.mu.Unlock()
				b.made++
				b.notes = append(b.notes, jsonv.ObjectOf("note_id", b.ids(b.made), "title", args.Lookup("params", "title")))
				return `{"success":true,"data":` + b.notes[len(b.notes)-1].String() + `}`
			})
		}},
		"dates of a country": {judged{1, "dates FAIL"}, func(b *store) {
			b.answer = func(op, usual string) string {
				if v := parsed(usual); !v.Lookup("note_id").IsAbsent() {
					return v.With("created_at", jsonv.String("11/23/2026 2:05 PM")).String()
				}
				return usual
			}
		}},
		"dates as numbers": {judged{1, "dates FAIL"}, func(b *store) {
			b.answer = func(op, usual string) string {
				if v := parsed(usual); !v.Lookup("note_id").IsAbsent() {
					return v.With("created_at", jsonv.Int(1795444374101)).String()
				}
				return usual
			}
		}},
		"a detail contradicts the list": {judged{1, "consistency FAIL"}, func(b *store) {
			b.document("list_notes", `"endpoint":"READ"`, `"endpoint":"CREATE"`)
		}},
		"a detail is missing": {judged{1, "details FAIL"}, func(b *store) {
			b.instead(func(op string, args jsonv.Value, _ string) string {
				if op == "introspect" && args.Lookup("params", "name").Text() == "list_notes" {
					return `{"success":true,"data":{"operation":null}}`
				}
				return ""
			})
		}},
		"no types": {judged{1, "consistency WARN, types FAIL"}, func(b *store) {
			b.instead(func(op string, args jsonv.Value, _ string) string {
				if op == "introspect" && args.Lookup("params", "query").Text() == "types" {
					return failure("VALIDATION_INVALID_VALUE", "Parameter 'query' wants one of operations (query: operations).")
				}
				return ""
			})
		}},
		"every endpoint does everything": {judged{1, "routing FAIL"}, func(b *store) {
			b.shape = func(s *small) {
				s.tools = []string{"mcp_aql_create", "mcp_aql_read", "mcp_aql_update", "mcp_aql_delete"}
				s.anywhere = true
			}
		}},
		"a name in camel case": {judged{1, "operation-names FAIL"}, func(b *store) {
			b.extra = []smallOp{{"getCount", "READ", `[]`, data(`{"count":"some"}`)}}
		}},
		"what is next to params is refused": {judged{1, "request FAIL"}, func(b *store) {
			b.instead(func(_ string, args jsonv.Value, _ string) string {
				if !args.Lookup("_meta").IsAbsent() {
					return failure("VALIDATION_UNKNOWN_PARAM", "Unknown parameter '_meta'.")
				}
				return ""
			})
		}},
		"the operations change": {judged{2, "consistency WARN, session WARN"}, func(b *store) {
			calls := 0
			b.shape = func(s *small) {
				s.list = func(standard string) string {
					if calls++; calls > 1 {
						return strings.Replace(standard, `"description":"Does it."`, `"description":"Does it again."`, 1)
					}
					return standard
				}
			}
		}},
		"an update merges one level": {judged{1, "merge FAIL"}, (*store).shallow},
		"the next page is the first": {judged{2, "pagination WARN"}, func(b *store) {
			b.paged(cursorParams, func(params jsonv.Value, all []jsonv.Value) string {
				if out := cursorPage(params, all); strings.HasPrefix(out, `{"success":false`) || number(params, "first", 20) > 1 {
					return out
				}
				return cursorPage(params.Without("after"), all)
			})
		}},
		"pages say nothing of the next": {judged{2, "pagination WARN"}, func(b *store) {
			b.paged(cursorParams, func(params jsonv.Value, all []jsonv.Value) string {
				out := cursorPage(params, all)
				return strings.NewReplacer(`"hasNextPage":true,`, ``, `"hasNextPage":false,`, ``).Replace(out)
			})
		}},
		"the read of a note returns the first": {judged{1, "create-read FAIL, update FAIL"}, func(b *store) {
			b.replaceRun("get_note", func(params jsonv.Value, usual func(jsonv.Value) string) string {
				if out := usual(params); strings.HasPrefix(out, `{"success":false`) {
					return out
				}
				return b.notes[0].String()
			})
		}},
		"a failure in a success": {judged{1, "error-form FAIL"}, func(b *store) {
			b.instead(func(_ string, _ jsonv.Value, usual string) string {
				if strings.Contains(usual, `"NOT_FOUND_RESOURCE"`) {
					return `{"success":true,"data":{"error":` + parsed(usual).Lookup("error", "message").String() + `,"isError":true}}`
				}
				return ""
			})
		}},
		"a call hangs": {judged{1, "accuracy FAIL, conduct FAIL"}, func(b *store) {
			b.extra = []smallOp{{"get_weather", "READ", `[]`, data(`{}`)}}
			b.instead(func(op string, _ jsonv.Value, _ string) string {
				if op == "get_weather" {
					time.Sleep(time.Minute)
				}
				return ""
			})
		}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			b := newStore(3)
			c.plant(b)
			e, r := b.live(t, guard.Options{Mode: guard.ModeWrite})
			b.check(t, c.judged, r, e)
		})
	}
}

const cursorParams = `[{"name":"first","type":"integer","required":false,"minimum":1,"maximum":50,"default":20,"description":"How many."},{"name":"after","type":"string","required":false,"description":"The cursor of the page before."}]`

// shallow adds an object of any members to notes, and an update replaces what is nested in
// it.
func (b *store) shallow() {
	b.params = map[string]string{"create_note": `[` + oneTitle + `,{"name":"data","type":"object","required":false,"description":"Anything."}]`}
	b.create = func(params, note jsonv.Value) (string, bool) {
		if v := params.Lookup("data"); !v.IsAbsent() {
			note = note.With("data", v)
		}
		b.made++
		b.notes = append(b.notes, note)
		return note.String(), false
	}
	b.replaceRun("update_note", func(params jsonv.Value, usual func(jsonv.Value) string) string {
		i, input := at(b.notes, params), params.Lookup("input")
		out := usual(params.With("input", input.Without("data")))
		if v := input.Lookup("data"); i >= 0 && !v.IsAbsent() && !strings.HasPrefix(out, `{"success":false`) {
			now := b.notes[i].Lookup("data")
			for name, m := range v.Members() {
				if now = now.With(name, m); m.Kind() == jsonv.KindNull {
					now = now.Without(name)
				}
			}
			b.notes[i] = b.notes[i].With("data", now)
			out = b.notes[i].String()
		}
		return out
	})
}
