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
}

type snapshot struct {
	at    time.Time
	notes []jsonv.Value
}

func newStore(n int) *store {
	b := &store{quota: 1000}
	for i := range n {
		b.notes = append(b.notes, jsonv.From(map[string]any{"note_id": fmt.Sprint(i + 1), "title": fmt.Sprintf("Mine %d", i+1), "folder": "Inbox"}))
	}
	b.made = n
	return b
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
	missing := func(params jsonv.Value) string {
		return failure("NOT_FOUND_RESOURCE", "No note has the note_id '%s'.", params.Lookup("note_id").Text())
	}
	ops := []smallOp{
		{"list_notes", "READ", `[]`, func(jsonv.Value) string {
			return jsonv.Object(jsonv.Member{Key: cmp.Or(b.rename, "items"), Value: jsonv.Array(b.visible()...)}).String()
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
			note := jsonv.Object(jsonv.Member{Key: "note_id", Value: jsonv.String(fmt.Sprint(b.made + 1))}, jsonv.Member{Key: "title", Value: params.Lookup("title")})
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
	return small{ops: ops}
}

// whole counts the notes of others that are as they were, and those of the run.
func (b *store) whole() (others, own int) {
	for _, n := range b.notes {
		if t := n.Lookup("title").Text(); t == "Mine "+n.Lookup("note_id").Text() && n.Lookup("folder").Text() == "Inbox" {
			others++
		} else {
			own++
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

// A sound adapter is accused of nothing, and nothing is left in it.
func TestSoundAdaptersAreNotAccused(t *testing.T) {
	t.Parallel()
	for name, plant := range map[string]func(b *store){
		"plain":                   func(*store) {},
		"lists and reads lag":     func(b *store) { b.lag = 300 * time.Millisecond },
		"wrapped, structured":     func(b *store) { b.wrap = wrapped(true) },
		"wrapped, JSON in a text": func(b *store) { b.wrap = wrapped(false) },
		"wrapped and lagging":     func(b *store) { b.wrap, b.lag = wrapped(true), 300*time.Millisecond },
		"a quota of one":          func(b *store) { b.quota = 1 },
		"no notes":                func(b *store) { b.notes = nil },
		"12,000 notes":            func(b *store) { b.notes, b.made = newStore(12_000).notes, 12_000 },
		"call controls": func(b *store) {
			b.params = map[string]string{"create_note": `[{"name":"title","type":"string","required":true,"description":"Its title."},{"name":"idempotency_key","type":"string","required":false,"description":"Repeats nothing."},{"name":"dry_run","type":"boolean","required":false,"default":false,"description":"Only checks."}]`}
		},
		"a list under the name of credentials": func(b *store) {
			b.rename = "credentials"
		},
		"a read answers a text": func(b *store) {
			b.answer = func(op, usual string) string {
				if op != "get_note" || strings.HasPrefix(usual, `{"success":`) {
					return usual
				}
				text := "**" + parsed(usual).Lookup("title").Text() + "**, details"
				return jsonv.From(map[string]any{"content": []any{map[string]any{"type": "text", "text": text}}}).String()
			}
		},
		"statistics as a text": func(b *store) {
			b.extra = []smallOp{{"get_note_stats", "READ", `[]`, func(jsonv.Value) string {
				return fmt.Sprintf(`{"content":[{"type":"text","text":"Statistics\\nCreated so far: %d\\nAge: %s"}]}`, b.made, []string{"59m", "1h 0m"}[min(b.made-3, 1)])
			}}}
		},
		"reads are counted": func(b *store) {
			b.after = func(op string, params jsonv.Value) {
				if i := at(b.notes, params); op == "get_note" && i >= 0 {
					n, _ := b.notes[i].Lookup("views").Int64()
					b.notes[i] = b.notes[i].With("views", jsonv.Int(n+1)).With("viewed_at", jsonv.String(time.Now().Format(time.RFC3339)))
				}
			}
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			b := newStore(3)
			plant(b)
			others := len(b.notes)
			e, r := b.live(t, guard.Options{Mode: guard.ModeWrite})
			if failed := failedRows(r); r.ExitCode == verdict.ExitFailed || len(failed) > 0 || len(r.Changed) > 0 {
				t.Errorf("exit code %d, failed %q, changed %q", r.ExitCode, failed, r.Changed)
			}
			if whole, own := b.whole(); whole != others || own > 0 || len(r.Leftovers) > 0 {
				t.Errorf("%d of %d notes are whole, %d are left; reported: %q", whole, others, own, r.Leftovers)
			}
			if ended := e.Live.Lookup("ended").Text(); ended != "" {
				t.Error(ended)
			}
		})
	}
}

// wrapped answers as an adapter in front of another MCP server does.
func wrapped(structured bool) func(data string) string {
	return func(data string) string {
		out := jsonv.From(map[string]any{"source_tool": "x", "is_error": false}).With("content", jsonv.Array(jsonv.Object(evidence.TextMember("type", "text"), evidence.TextMember("text", data))))
		if structured {
			out = out.With("structured_content", parsed(data))
		}
		return out.String()
	}
}

// What an adapter does to the data of others, or leaves behind, is reported with exit code 1.
func TestHarmfulAdaptersAreFound(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		plant func(b *store)
		modes []string
		says  string // in what changed, or in what was left behind
		lost  int    // notes of others that may be lost
	}{
		"a READ moves every note": {func(b *store) {
			b.after = func(op string, _ jsonv.Value) {
				if op == "get_note" {
					for i := range b.notes {
						b.notes[i] = b.notes[i].With("folder", jsonv.String("Trash"))
					}
				}
			}
		}, both, `folder was "Inbox", and is "Trash"`, 3},
		"a READ renames the note it reads": {func(b *store) {
			b.after = func(op string, params jsonv.Value) {
				if i := at(b.notes, params); op == "get_note" && i >= 0 {
					b.notes[i] = b.notes[i].With("title", jsonv.String("read"))
				}
			}
		}, []string{guard.ModeSafe}, `title was "Mine 1", and is "read"`, 1},
		"a READ empties the list": {func(b *store) {
			b.extra = []smallOp{{"get_note_summary", "READ", `[]`, data(`{"count":3}`)}}
			b.after = func(op string, _ jsonv.Value) {
				if op == "get_note_summary" {
					b.notes = nil
				}
			}
		}, both, `no longer shows 1`, 3},
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
		}, both, `list_jobs no longer shows entry`, 0},
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
		}, []string{guard.ModeWrite}, `took`, 0},
		"a create changes a setting": {func(b *store) {
			b.extra = []smallOp{{"get_note_settings", "READ", `[]`, func(jsonv.Value) string { return fmt.Sprintf(`{"limit":%d}`, 10+min(b.made-3, 1)) }}}
		}, []string{guard.ModeWrite}, `limit was 10, and is 11`, 0},
		"a success hides the note": {func(b *store) {
			b.create = func(params, note jsonv.Value) (string, bool) {
				b.made++
				b.notes = append(b.notes, jsonv.From(map[string]any{"title": "hidden", "note_id": fmt.Sprint(b.made)}))
				return `{"status":"queued"}`, false
			}
		}, []string{guard.ModeWrite}, `was not removed`, 0},
		"a success keeps two notes without the mark, and names one": {func(b *store) {
			b.create = func(params, note jsonv.Value) (string, bool) {
				b.made++
				b.notes = append(b.notes, note.With("title", jsonv.String("Untitled")))
				b.made++
				b.notes = append(b.notes, note.With("title", jsonv.String("Copy")).With("note_id", jsonv.String(fmt.Sprint(b.made))))
				return note.String(), false
			}
		}, []string{guard.ModeWrite}, `was not removed`, 0},
	} {
		for _, mode := range c.modes {
			t.Run(name+" "+mode, func(t *testing.T) {
				t.Parallel()
				b := newStore(3)
				c.plant(b)
				_, r := b.live(t, guard.Options{Mode: mode})
				reported := strings.Join(append(r.Changed, r.Leftovers...), "\n")
				whole, own := b.whole()
				if whole < 3-c.lost {
					t.Errorf("%d of 3 notes are whole: %s", whole, reported)
				}
				if r.ExitCode != verdict.ExitFailed {
					t.Errorf("exit code %d, %d notes of the run, reported: %q, failed %q", r.ExitCode, own, reported, failedRows(r))
				}
				if !strings.Contains(reported, c.says) {
					t.Errorf("reported: %q", reported)
				}
			})
		}
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
