package aql_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"mcptest/internal/base/jsonv"
	"mcptest/internal/mcpaql/live/guard"
	"mcptest/internal/mcpaql/verdict"
)

// namesOf lists the identifiers of notes.
func namesOf(list []jsonv.Value) jsonv.Value {
	var names []jsonv.Value
	for _, n := range list {
		names = append(names, n.Lookup("note_id"))
	}
	return jsonv.Array(names...)
}

// keyed is an object of notes by their identifiers.
func keyed(list []jsonv.Value) jsonv.Value {
	notes := jsonv.Object()
	for _, n := range list {
		notes = notes.With(n.Lookup("note_id").Text(), n.Without("note_id"))
	}
	return notes
}

// inForm lists the notes in another form; an operation, if it is not "", takes the oldest
// one away, or all of them.
func inForm(form func(list []jsonv.Value) jsonv.Value, culprit string, all bool) func(b *store) {
	return func(b *store) {
		b.extra = []smallOp{{"get_note_summary", "READ", `[]`, data(`{"count":3}`)}}
		b.after = func(op string, _ jsonv.Value) {
			if op == culprit {
				b.notes = b.notes[map[bool]int{true: len(b.notes), false: 1}[all]:]
			}
		}
		b.answer = func(op, usual string) string {
			if op != "list_notes" {
				return usual
			}
			return jsonv.ObjectOf("notes", form(parsed(usual).Lookup("items").List())).String()
		}
	}
}

// What an adapter does to the data of others, or leaves behind, is reported. Exit
// code 1 says that data of others changed, or that a row failed.
func TestHarmfulAdaptersAreFound(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		plant func(b *store)
		modes []string
		says  string // in what changed, or in what was left behind
		lost  int    // notes of others that may be lost
		exit  int
	}{
		"a READ moves every note": {func(b *store) {
			b.after = func(op string, _ jsonv.Value) {
				if op == "get_note" {
					for i := range b.notes {
						b.notes[i] = b.notes[i].With("folder", jsonv.String("Trash"))
					}
				}
			}
		}, both, `folder was "Inbox", and is "Trash"`, 3, 1},
		"a READ renames the note it reads": {func(b *store) {
			b.after = func(op string, params jsonv.Value) {
				if i := at(b.notes, params); op == "get_note" && i >= 0 {
					b.notes[i] = b.notes[i].With("title", jsonv.String("read"))
				}
			}
		}, []string{guard.ModeSafe}, `title was "Mine 1", and is "read"`, 1, 1},
		"a READ empties the list": {func(b *store) {
			b.extra = []smallOp{{"get_note_summary", "READ", `[]`, data(`{"count":3}`)}}
			b.after = func(op string, _ jsonv.Value) {
				if op == "get_note_summary" {
					b.notes = nil
				}
			}
		}, both, `no longer shows 1`, 3, 1},
		"a READ empties the list behind its counts": {func(b *store) {
			b.extra = []smallOp{{"get_note_summary", "READ", `[]`, data(`{"count":3}`)}}
			b.after = func(op string, _ jsonv.Value) {
				if op == "get_note_summary" {
					b.notes = nil
				}
			}
			b.answer = func(op, usual string) string {
				if op != "list_notes" {
					return usual
				}
				return jsonv.ObjectOf("counts", jsonv.Array(jsonv.ObjectOf("folder", "Inbox", "notes", len(b.notes))), "items", parsed(usual).Lookup("items")).String()
			}
		}, []string{guard.ModeSafe}, `no longer shows 1`, 3, 1},
		"a READ empties a list of names":                     {inForm(namesOf, "get_note_summary", true), []string{guard.ModeSafe}, `list_notes no longer shows 1`, 3, 1},
		"a READ empties an object of notes":                  {inForm(keyed, "get_note_summary", true), []string{guard.ModeSafe}, `list_notes no longer shows 1`, 3, 1},
		"a create replaces the oldest in a list of names":    {inForm(namesOf, "create_note", false), []string{guard.ModeWrite}, `list_notes no longer shows 1`, 1, 1},
		"a create replaces the oldest in an object of notes": {inForm(keyed, "create_note", false), []string{guard.ModeWrite}, `list_notes no longer shows 1`, 1, 1},
		"a READ empties a list in a text": {inForm(func(list []jsonv.Value) jsonv.Value {
			text := "Your notes:"
			for _, n := range list {
				text += "\n- " + n.Lookup("title").Text()
			}
			return jsonv.Array(jsonv.ObjectOf("type", "text", "text", text))
		}, "get_note_summary", true), []string{guard.ModeSafe}, `list_notes shows entry 1 with another text`, 3, 1},
		"a READ takes from a queue": {func(b *store) {
			jobs := []string{"one", "two", "three", "four", "five", "six"}
			b.extra = []smallOp{
				{"list_jobs", "READ", `[]`, func(jsonv.Value) string {
					return `{"jobs":[{"what":"` + strings.Join(jobs, `"},{"what":"`) + `"}]}`
				}},
				{"get_job", "READ", `[]`, func(jsonv.Value) string {
					if len(jobs) == 0 {
						return `{"what":null}`
					}
					what := jobs[0]
					jobs = jobs[1:]
					return `{"what":"` + what + `"}`
				}},
			}
		}, both, `list_jobs no longer shows entry`, 0, 1},
		"a delete removes its neighbor too": {func(b *store) {
			b.after = func(op string, params jsonv.Value) {
				if id := params.Lookup("note_id").Text(); op == "delete_note" {
					for i, n := range slices.Backward(b.notes) {
						if own := n.Lookup("note_id").Text(); len(own) < len(id) || len(own) == len(id) && own < id {
							b.notes = slices.Delete(slices.Clone(b.notes), i, i+1)
							break
						}
					}
				}
			}
		}, []string{guard.ModeWrite}, `took`, 0, 1},
		"a create changes a setting": {func(b *store) {
			b.extra = []smallOp{{"get_note_settings", "READ", `[]`, func(jsonv.Value) string { return fmt.Sprintf(`{"limit":%d}`, 10+min(b.made-3, 1)) }}}
		}, []string{guard.ModeWrite}, `limit was 10, and is 11`, 0, 1},
		"a success hides the note": {func(b *store) {
			b.create = func(params, note jsonv.Value) (string, bool) {
				b.made++
				b.notes = append(b.notes, jsonv.From(map[string]any{"title": "hidden", "note_id": fmt.Sprint(b.made)}))
				return `{"status":"queued"}`, false
			}
		}, []string{guard.ModeWrite}, `was not removed`, 0, 1},
		"a success keeps two notes without the mark, and names one": {func(b *store) {
			b.create = func(params, note jsonv.Value) (string, bool) {
				b.made++
				b.notes = append(b.notes, note.With("title", jsonv.String("Untitled")))
				b.made++
				b.notes = append(b.notes, note.With("title", jsonv.String("Copy")).With("note_id", jsonv.String(fmt.Sprint(b.made))))
				return note.String(), false
			}
		}, []string{guard.ModeWrite}, `was not removed`, 0, 1},
		"an update hits a neighbor": {func(b *store) {
			b.after = func(op string, params jsonv.Value) {
				if op == "update_note" && len(b.notes) > 0 {
					b.notes[0] = b.notes[0].With("title", params.Lookup("input", "title"))
				}
			}
		}, []string{guard.ModeWrite}, `list_notes shows 1 with another title`, 1, 1},
		"a create replaces the oldest": {func(b *store) {
			b.after = func(op string, _ jsonv.Value) {
				if op == "create_note" {
					b.notes = b.notes[1:]
				}
			}
		}, []string{guard.ModeWrite}, `no longer shows 1`, 1, 1},
		"a delete empties the list": {func(b *store) {
			b.after = func(op string, _ jsonv.Value) {
				if op == "delete_note" {
					b.notes = nil
				}
			}
		}, []string{guard.ModeWrite}, `no longer shows 1`, 3, 1},
		"a delete moves the others": {func(b *store) {
			b.after = func(op string, _ jsonv.Value) {
				for i := range b.notes {
					if op == "delete_note" {
						b.notes[i] = b.notes[i].With("folder", jsonv.String("Archive"))
					}
				}
			}
		}, []string{guard.ModeWrite}, `list_notes shows 1 with another folder`, 3, 1},
		"a READ adds a note": {func(b *store) {
			b.after = func(op string, _ jsonv.Value) {
				if op == "get_note" {
					b.made++
					b.notes = append(b.notes, jsonv.ObjectOf("note_id", b.ids(b.made), "title", "Log", "folder", "Inbox"))
				}
			}
		}, []string{guard.ModeWrite}, `which was not there before`, 0, 1},
		"a READ removes its note, and lists lag": {func(b *store) {
			b.lag = 300 * time.Millisecond
			b.after = func(op string, params jsonv.Value) {
				if i := at(b.notes, params); op == "get_note" && i >= 0 {
					b.notes = slices.Delete(slices.Clone(b.notes), i, i+1)
					b.changed()
				}
			}
		}, []string{guard.ModeSafe}, `no longer shows 1`, 1, 1},
		"what belongs to a note stays": {func(b *store) {
			b.logs("list_revisions", func(log []string, op, id string) []string {
				return append(log, fmt.Sprintf(`{"revision_id":"r%d","note_id":"%s","action":"%s"}`, len(log), id, op))
			})
		}, []string{guard.ModeWrite}, `list_revisions r1: it belongs to something that the run made`, 0, 0},
		"a READ removes events of a calendar": {func(b *store) {
			b.shape = func(s *small) {
				events := strings.NewReplacer("note", "event", "Note", "Event")
				for i, op := range s.ops {
					s.ops[i].name, s.ops[i].params = events.Replace(op.name), events.Replace(op.params)
					s.ops[i].run = func(params jsonv.Value) string {
						return events.Replace(op.run(parsed(strings.ReplaceAll(params.String(), "event_id", "note_id"))))
					}
				}
			}
			b.after = func(op string, params jsonv.Value) {
				if i := at(b.notes, params); op == "get_note" && i >= 0 {
					b.notes = slices.Delete(slices.Clone(b.notes), i, i+1)
				}
			}
		}, []string{guard.ModeSafe}, `list_events no longer shows 1`, 1, 1},
		"an EXECUTE takes one away": {func(b *store) {
			started := 0
			b.extra = []smallOp{{"run_cleanup", "EXECUTE", `[]`, func(jsonv.Value) string {
				started++
				b.notes = b.notes[min(1, len(b.notes)):]
				return fmt.Sprintf(`{"execution_id":"e%d","status":"completed"}`, started)
			}}, {"get_execution", "READ", `[{"name":"execution_id","type":"string","required":true,"description":"Which one."}]`, func(params jsonv.Value) string {
				return params.With("status", jsonv.String("completed")).String()
			}}}
			b.document("run_cleanup", `"returns"`, `"lifecycle":{"states":["completed"]},"returns"`)
		}, []string{guard.ModeFull}, `list_notes no longer shows 1: it was`, 1, 1}, // and no READ is blamed
		"a delete removes nothing": {func(b *store) {
			b.replaceRun("delete_note", func(params jsonv.Value, usual func(jsonv.Value) string) string {
				before := slices.Clone(b.notes)
				out := usual(params)
				b.notes = before
				return out
			})
		}, []string{guard.ModeWrite}, `the run made it, and the list still shows it`, 0, 0},
		"a delete is refused": {func(b *store) {
			b.replaceRun("delete_note", func(jsonv.Value, func(jsonv.Value) string) string {
				return failure("PERMISSION_DENIED", "You may not delete notes.")
			})
		}, []string{guard.ModeWrite}, `PERMISSION_DENIED`, 0, 2},
	} {
		for _, mode := range c.modes {
			t.Run(name+" "+mode, func(t *testing.T) {
				t.Parallel()
				b := newStore(3)
				c.plant(b)
				_, r := b.live(t, guard.Options{Mode: mode, Spread: 1100 * time.Millisecond})
				reported := strings.Join(append(r.Changed, r.Leftovers...), "\n")
				whole, own := b.whole()
				if whole < 3-c.lost {
					t.Errorf("%d of 3 notes are whole: %s", whole, reported)
				}
				if r.ExitCode != c.exit {
					t.Errorf("exit code %d, %d notes of the run, reported: %q, rows %q", r.ExitCode, own, reported, troubles(r))
				}
				if !strings.Contains(reported, c.says) {
					t.Errorf("reported: %q", reported)
				}
			})
		}
	}
}

// A name that the specification reserves for another verb is not called in the safe mode on
// the word of a list, in any spelling, nor in the write mode to find out what it does.
func TestReservedNamesAreNotCalledAsREAD(t *testing.T) {
	t.Parallel()
	list := map[string]planted{}
	for _, name := range []string{"record_execution_step", "verify_challenge", "confirm_operation", "abort_execution", "recordExecutionStep", "verify-challenge"} {
		list[name] = planted{
			plant: func(b *store) { b.extra = []smallOp{{name, "READ", `[]`, data(`{"ok":true}`)}} },
			mode:  guard.ModeSafe, want: verdict.Failed, // the list itself is at fault
			called: func(t *testing.T, sent map[string][]jsonv.Value) {
				t.Helper()
				if n := len(sent[name]); n > 0 {
					t.Errorf("it was called %d times", n)
				}
			},
		}
	}
	checkAll(t, list)
}
