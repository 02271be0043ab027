package aql_test

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	gocmp "github.com/google/go-cmp/cmp"

	"mcptest/internal/base/jsonv"
	"mcptest/internal/mcpaql/aql"
	"mcptest/internal/mcpaql/demo"
	"mcptest/internal/mcpaql/evidence"
	"mcptest/internal/mcpaql/live"
	"mcptest/internal/mcpaql/live/guard"
	"mcptest/internal/mcpaql/rule"
	"mcptest/internal/mcpaql/verdict"
)

// store is an adapter that stores notes in folders, of which others own some, with one
// peculiarity: its fields. Without one it conforms.
type store struct {
	mu     sync.Mutex
	notes  []jsonv.Value // note_id, title, folder
	made   int
	lag    time.Duration // until lists and reads show a change
	past   []snapshot
	rename string                                        // the member that lists and reads put notes under
	quota  int                                           // notes that may exist in addition to those of others
	wrap   func(data string) string                      // how a success is answered
	after  func(op string, params jsonv.Value)           // happens after an operation
	extra  []smallOp                                     // further operations
	params map[string]string                             // parameters of operations, instead of the usual ones
	answer func(op, usual string) string                 // replaces an answer
	create func(params, note jsonv.Value) (string, bool) // answers a create; false: nothing is stored
	ids    func(n int) jsonv.Value                       // the identifier of the nth note
	shape  func(s *small)                                // changes the adapter
	audit  func() string                                 // what is wrong with other data at the end
	mine   []jsonv.Value                                 // notes of others at the beginning
}

type snapshot struct {
	at    time.Time
	notes []jsonv.Value
}

func newStore(n int) *store {
	b := &store{quota: 1000}
	b.ids = func(n int) jsonv.Value { return jsonv.String(fmt.Sprint(n)) }
	b.fill(n)
	return b
}

// fill makes the notes of others anew.
func (b *store) fill(n int) {
	b.notes = nil
	for i := range n {
		b.notes = append(b.notes, jsonv.ObjectOf("note_id", b.ids(i+1), "title", fmt.Sprintf("Mine %d", i+1), "folder", "Inbox"))
	}
	b.made = n
}

// visible returns the notes that lists and reads show now.
func (b *store) visible() []jsonv.Value {
	if b.lag == 0 {
		return b.notes
	}
	for _, s := range slices.Backward(b.past) {
		if time.Since(s.at) >= b.lag {
			return s.notes
		}
	}
	return nil
}

func (b *store) changed() { b.past = append(b.past, snapshot{time.Now(), slices.Clone(b.notes)}) }

const noteID = `[{"name":"note_id","type":"string","required":true,"description":"Which note."}]`

func at(notes []jsonv.Value, params jsonv.Value) int {
	return slices.IndexFunc(notes, func(n jsonv.Value) bool {
		return jsonv.Equal(n.Lookup("note_id"), params.Lookup("note_id"))
	})
}

func (b *store) adapter() small {
	b.mine = slices.Clone(b.notes)
	missing := func(params jsonv.Value) string {
		return failure("NOT_FOUND_RESOURCE", "No note has the note_id '%s'.", params.Lookup("note_id").Text())
	}
	ops := []smallOp{
		{"list_notes", "READ", `[]`, func(jsonv.Value) string {
			return jsonv.ObjectOf(cmp.Or(b.rename, "items"), jsonv.Array(b.visible()...)).String()
		}},
		{"get_note", "READ", noteID, func(params jsonv.Value) string {
			if i := at(b.visible(), params); i >= 0 {
				return b.visible()[i].String()
			}
			return missing(params)
		}},
		{"create_note", "CREATE", `[{"name":"title","type":"string","required":true,"description":"Its title."},{"name":"folder","type":"string","required":false,"description":"Where it is."}]`, func(params jsonv.Value) string {
			if b.quota--; b.quota < 0 {
				b.quota = 0
				return failure("CONFLICT_QUOTA", "There is no room for a note.")
			}
			note := jsonv.ObjectOf("note_id", b.ids(b.made+1))
			if title := params.Lookup("title"); !title.IsAbsent() {
				note = note.With("title", title)
			}
			if f := params.Lookup("folder"); !f.IsAbsent() {
				note = note.With("folder", f)
			}
			answer, stored := note.String(), true
			if b.create != nil {
				answer, stored = b.create(params, note)
			}
			if stored {
				b.made++
				b.notes = append(b.notes, note)
			}
			return answer
		}},
		{"update_note", "UPDATE", strings.TrimSuffix(noteID, "]") + `,{"name":"input","type":"object","required":true,"description":"What changes."}]`, func(params jsonv.Value) string {
			i := at(b.notes, params)
			if i < 0 {
				return missing(params)
			}
			note := b.notes[i]
			for k, v := range params.Lookup("input").Members() {
				if k != "title" && k != "folder" {
					return failure("VALIDATION_UNKNOWN_FIELD", "Unknown field '%s'.", k)
				}
				note = note.With(k, v)
			}
			b.notes[i] = note
			return note.String()
		}},
		{"delete_note", "DELETE", noteID, func(params jsonv.Value) string {
			i := at(b.notes, params)
			if i < 0 {
				return missing(params)
			}
			b.notes, b.quota = slices.Delete(slices.Clone(b.notes), i, i+1), b.quota+1
			return `{"deleted":true}`
		}},
	}
	if b.rename != "" {
		ops = slices.Delete(ops, 1, 2) // so that the list shows what was created
	}
	ops = append(ops, b.extra...)
	for i, op := range ops {
		if p, other := b.params[op.name]; other {
			ops[i].params = p
		}
		run := op.run
		ops[i].run = func(params jsonv.Value) string {
			b.mu.Lock()
			defer b.mu.Unlock()
			if len(b.past) == 0 {
				b.past = []snapshot{{time.Now().Add(-time.Hour), slices.Clone(b.notes)}}
			}
			out := run(params)
			if b.after != nil && !strings.HasPrefix(out, `{"success":false`) {
				b.after(op.name, params)
			}
			if op.category != "READ" {
				b.changed()
			}
			if b.wrap != nil && !strings.HasPrefix(out, `{"success":`) {
				out = b.wrap(out)
			}
			if b.answer != nil {
				out = b.answer(op.name, out)
			}
			return out
		}
	}
	s := small{ops: ops}
	if b.shape != nil {
		b.shape(&s)
	}
	return s
}

// whole counts the notes of others that are as they were, and those of the run.
func (b *store) whole() (others, own int) {
	mine := map[string]jsonv.Value{}
	for _, m := range slices.Backward(b.mine) { // the first of equal ones is the last to be stored
		mine[m.Lookup("note_id").String()] = m
	}
	for _, n := range b.notes {
		if m, ok := mine[n.Lookup("note_id").String()]; !ok {
			own++
		} else if jsonv.Equal(m.Lookup("title"), n.Lookup("title")) && jsonv.Equal(m.Lookup("folder"), n.Lookup("folder")) {
			others++
		}
	}
	return others, own
}

func (b *store) live(t *testing.T, o guard.Options) (*evidence.Evidence, *verdict.Report) {
	t.Helper()
	o.Dial, o.RunID = b.adapter().dial(t), "abc"
	e := collect(t, o)
	return e, aql.Evaluate(e, aql.Options{Rules: rule.Strict})
}

// troubles lists the rows of a report that are FAIL or WARN, with the rules.
func troubles(r *verdict.Report) string {
	var out []string
	for id, row := range rowsByID(r) {
		if row.Result != verdict.Failed && row.Result != verdict.Warned {
			continue
		}
		out = append(out, id+" "+string(row.Result))
	}
	slices.Sort(out)
	return strings.Join(out, ", ")
}

// failedRows lists the rows of a report that failed, with what they say.
func failedRows(r *verdict.Report) (out []string) {
	for _, c := range r.Categories {
		for _, row := range c.Tests {
			if row.Result == verdict.Failed {
				out = append(out, row.Name+": "+row.Detail)
			}
		}
	}
	return out
}

// wrapped answers as an adapter in front of another MCP server does.
func wrapped(structured bool) func(data string) string {
	return func(data string) string {
		out := jsonv.From(map[string]any{"source_tool": "x", "is_error": false}).With("content", jsonv.Array(jsonv.ObjectOf("type", "text", "text", data)))
		if structured {
			out = out.With("structured_content", parsed(data))
		}
		return out.String()
	}
}

var both = []string{guard.ModeSafe, guard.ModeWrite}

// Mode safe sends no settings and empties no queue, even if it is declared READ.
func TestActionsDeclaredReadAreNotCalled(t *testing.T) {
	t.Parallel()
	acts := map[string]string{"portfolio_config": "Configure portfolio settings", "theme": "Sets the theme", "app_config": "Manage the settings (get, set, reset)", "next_job": "Does it.", "claim_job": "Does it.", "visit_note": "Does it."}
	reads := map[string]string{"note_set": "Set of notes", "list_issues": "Open issues", "get_run": "Run details"}
	b := newStore(1)
	for _, docs := range []map[string]string{acts, reads} {
		for op := range docs {
			b.extra = append(b.extra, smallOp{op, "READ", `[]`, data(`{"done":true}`)})
		}
	}
	s := b.adapter()
	s.detail = func(op, standard string) string {
		return strings.Replace(standard, `"description":"Does it."`, `"description":"`+cmp.Or(acts[op], reads[op], "Does it.")+`"`, 1)
	}
	called := map[string]bool{}
	s.hears = func(args jsonv.Value) { called[args.Lookup("operation").Text()] = true }
	collect(t, guard.Options{Dial: s.dial(t)})
	for op := range acts {
		if called[op] {
			t.Errorf("%s was called", op)
		}
	}
	for op := range reads {
		if !called[op] {
			t.Errorf("%s was not called", op)
		}
	}
}

// The plan lists the operations that the modes call.
func TestPlanListsWhatIsCalled(t *testing.T) {
	t.Parallel()
	for _, mode := range []string{guard.ModeSafe, guard.ModeWrite} {
		planned, called := map[string]bool{}, map[string]bool{}
		o := guard.Options{Dial: library(t, demo.Options{}), Mode: guard.ModeFull}
		plan, _, err := live.Plan(context.Background(), o)
		if err != nil {
			t.Fatal(err)
		}
		for _, p := range plan {
			if p.Skipped == "" && (p.Mode == guard.ModeSafe || p.Mode == mode) {
				planned[p.Operation] = true
			}
		}
		o.Mode = mode
		for _, c := range collect(t, o).Live.Lookup("transcript").Elems() {
			if op := c.Lookup("arguments", "operation"); op.Kind() == jsonv.KindString && op.Text() != guard.NoOperation && op.Text() != "batch" {
				called[op.Text()] = true
			}
		}
		if diff := gocmp.Diff(planned, called); diff != "" {
			t.Errorf("%s: %s", mode, diff)
		}
	}
}
