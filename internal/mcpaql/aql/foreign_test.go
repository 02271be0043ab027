package aql_test

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"mcptest/internal/base/jsonv"
	"mcptest/internal/mcpaql/aql"
	"mcptest/internal/mcpaql/evidence"
	"mcptest/internal/mcpaql/live"
	"mcptest/internal/mcpaql/live/guard"
	"mcptest/internal/mcpaql/rule"
	"mcptest/internal/mcpaql/verdict"
)

// box is a small adapter that stores notes, six of which others own. A quirk
// changes which notes an operation acts on, or what it answers.
type box struct {
	mu    sync.Mutex // held during a call
	notes []jsonv.Value
	made  int
	hits  func(op string, params jsonv.Value, id string) bool // in addition to the note that is named
	after func(op, answer string) string
}

func newBox(ids ...string) *box {
	b := &box{}
	for _, id := range ids {
		b.notes = append(b.notes, jsonv.From(map[string]any{"id": id, "title": "Mine " + id}))
	}
	return b
}

func (b *box) adapter() small {
	const id = `{"name":"note_id","type":"string","required":true,"description":"Which note."}`
	run := func(op string, use func(params jsonv.Value, hit func(jsonv.Value) bool) string) func(jsonv.Value) string {
		return func(params jsonv.Value) string {
			b.mu.Lock() // a call that was given up may still run when the next one comes
			defer b.mu.Unlock()
			hit := func(note jsonv.Value) bool {
				own := note.Lookup("id").Text()
				return own == params.Lookup("note_id").Text() || b.hits != nil && b.hits(op, params, own)
			}
			answer := failure("NOT_FOUND_RESOURCE", "No note has the note_id '%s'.", params.Lookup("note_id").Text())
			if op == "list_notes" || op == "create_note" || op == "get_note_counts" || slices.ContainsFunc(b.notes, hit) {
				answer = use(params, hit)
			}
			if b.after != nil {
				answer = b.after(op, answer)
			}
			return answer
		}
	}
	one := func(hit func(jsonv.Value) bool) string { return b.notes[slices.IndexFunc(b.notes, hit)].String() }
	return small{ops: []smallOp{
		{"list_notes", "READ", `[]`, run("list_notes", func(jsonv.Value, func(jsonv.Value) bool) string {
			return jsonv.ObjectOf("items", jsonv.Array(b.notes...)).String()
		})},
		{"get_note", "READ", `[` + id + `]`, run("get_note", func(_ jsonv.Value, hit func(jsonv.Value) bool) string { return one(hit) })},
		{"get_note_counts", "READ", `[]`, run("get_note_counts", func(jsonv.Value, func(jsonv.Value) bool) string { return `{"count":"some"}` })},
		{"create_note", "CREATE", `[{"name":"title","type":"string","required":true,"description":"Its title."}]`, run("create_note", func(params jsonv.Value, _ func(jsonv.Value) bool) string {
			b.made++
			note := jsonv.From(map[string]any{"id": fmt.Sprintf("N%d", b.made)}).With("title", params.Lookup("title"))
			b.notes = append(b.notes, note)
			return note.String()
		})},
		{"update_note", "UPDATE", `[` + id + `,{"name":"input","type":"object","required":true,"description":"What changes."}]`, run("update_note", func(params jsonv.Value, hit func(jsonv.Value) bool) string {
			for i, note := range b.notes {
				for k, v := range params.Lookup("input").Members() {
					if k != "title" {
						return failure("VALIDATION_UNKNOWN_FIELD", "Unknown field '%s'.", k)
					}
					if hit(note) {
						b.notes[i] = note.With(k, v)
					}
				}
			}
			return one(hit)
		})},
		{"delete_note", "DELETE", `[` + id + `]`, run("delete_note", func(_ jsonv.Value, hit func(jsonv.Value) bool) string {
			b.notes = slices.DeleteFunc(b.notes, hit)
			return `{"deleted":true}`
		})},
	}}
}

// untouched counts the notes of others that are as they were.
func (b *box) untouched() (n int) {
	for _, note := range b.notes {
		if note.Lookup("title").Text() == "Mine "+note.Lookup("id").Text() {
			n++
		}
	}
	return n
}

func (b *box) live(t *testing.T, mode string) (*evidence.Evidence, *verdict.Report) {
	t.Helper()
	e := collect(t, guard.Options{Mode: mode, Dial: b.adapter().dial(t)})
	return e, aql.Evaluate(e, aql.Options{Rules: rule.Strict})
}

// An operation declared READ that removes what others own is found out after
// its first calls, in every mode, and called no more.
func TestReadsThatRemoveAreReported(t *testing.T) {
	t.Parallel()
	for _, culprit := range []string{"get_note", "get_note_counts"} {
		for _, mode := range []string{guard.ModeSafe, guard.ModeWrite} {
			t.Run(culprit+" "+mode, func(t *testing.T) {
				b := newBox("a", "b", "c", "d", "e", "f", "g", "h")
				b.after = func(op, answer string) string {
					if op == culprit && strings.Contains(answer, "title") {
						b.notes = slices.DeleteFunc(b.notes, func(n jsonv.Value) bool { return n.String() == answer })
					} else if op == culprit && len(b.notes) > 0 {
						b.notes = b.notes[1:]
					}
					return answer
				}
				e, report := b.live(t, mode)
				if says := e.Live.Lookup("changed").String(); report.ExitCode != verdict.ExitFailed || !strings.Contains(says, "list_notes no longer shows a") {
					t.Errorf("exit code %d, changed: %s", report.ExitCode, says)
				}
				if left := b.untouched(); left < 5 {
					t.Errorf("%d of 8 notes are left", left)
				}
			})
		}
	}
}

// What comes and goes by itself is not held against operations declared READ.
func TestChangingListsDoNotFailReads(t *testing.T) {
	t.Parallel()
	b := newBox("a", "b", "c", "d", "e", "f", "g", "h")
	b.after = func(op, answer string) string {
		if op == "list_notes" {
			b.notes = append(b.notes[1:], b.notes[0].With("id", jsonv.String(b.notes[0].Lookup("id").Text()+"'")))
		}
		return answer
	}
	if e, _ := b.live(t, guard.ModeSafe); e.Live.Lookup("changed").Len() > 0 {
		t.Error(e.Live.Lookup("changed"))
	}
}

// A list of what was read last loses an entry for each that is read, and
// counts change while the run has something there: neither is harm.
func TestListsOfTheNewestAreAccepted(t *testing.T) {
	t.Parallel()
	b := newBox("a", "b", "c", "d", "e", "f")
	recent := []string{"f", "e", "d"}
	b.after = func(op, answer string) string {
		if id := parsed(answer).Lookup("id").Text(); op == "get_note" && id != "" {
			recent = append([]string{id}, slices.DeleteFunc(recent, func(s string) bool { return s == id })...)[:3]
		}
		return answer
	}
	s := b.adapter()
	s.ops = append(s.ops, smallOp{"list_recent_notes", "READ", `[]`, func(jsonv.Value) string {
		var out []jsonv.Value
		for _, id := range recent {
			out = append(out, jsonv.From(map[string]any{"id": id, "notes": len(b.notes)}))
		}
		return jsonv.ObjectOf("items", jsonv.Array(out...)).String()
	}}, smallOp{"list_newest_notes", "READ", `[]`, func(jsonv.Value) string {
		return jsonv.ObjectOf("items", jsonv.Array(b.notes[max(0, len(b.notes)-3):]...)).String()
	}}, smallOp{"get_note_totals", "READ", `[]`, func(jsonv.Value) string { return fmt.Sprintf(`{"total":%d}`, len(b.notes)) }})
	e := collect(t, guard.Options{Mode: guard.ModeWrite, Dial: s.dial(t)})
	if says, ended := e.Live.Lookup("changed").String(), e.Live.Lookup("ended"); ended.Len() > 0 || strings.Contains(says, "newest") || strings.Contains(says, "totals") {
		t.Errorf("changed: %s, ended: %s", says, ended)
	}
}

// A thing whose identifier an adapter may take for those of others is neither
// changed nor removed.
func TestIdentifiersLikeThoseOfOthers(t *testing.T) {
	t.Parallel()
	for name, alike := range map[string]func(id, own string) bool{
		"prefix": func(id, own string) bool { return id != "" && strings.HasPrefix(own, id) },
		"part":   func(id, own string) bool { return id != "" && strings.Contains(own, id) },
		"case":   strings.EqualFold,
	} {
		t.Run(name, func(t *testing.T) {
			b := newBox("N10", "N11", "N2x", "N30", "n1", "n2", "n3")
			b.hits = func(op string, params jsonv.Value, own string) bool {
				return (op == "update_note" || op == "delete_note") && alike(params.Lookup("note_id").Text(), own)
			}
			e, _ := b.live(t, guard.ModeWrite)
			if left := b.untouched(); left != 7 {
				t.Errorf("%d of 7 notes are as they were", left)
			}
			if left := e.Live.Lookup("leftovers"); left.Len() != 1 || b.made != 1 {
				t.Errorf("%d notes were made, left behind: %s", b.made, left)
			}
		})
	}
}

// The first change that hits something of others is the last one.
func TestForeignChangesEndTheRun(t *testing.T) {
	t.Parallel()
	b := newBox("a", "b", "c", "d")
	b.hits = func(op string, params jsonv.Value, own string) bool {
		return op == "update_note" && own == "a" || op == "delete_note" && params.Lookup("note_id").Text() != own
	}
	e, report := b.live(t, guard.ModeWrite)
	if says := e.Live.Lookup("changed").String(); report.ExitCode != verdict.ExitFailed || !strings.Contains(says, "list_notes shows a with another title") {
		t.Errorf("exit code %d, changed: %s", report.ExitCode, says)
	}
	if left := b.untouched(); left != 3 {
		t.Errorf("%d of 3 notes are as they were", left)
	}
}

// What a create made although it answered with a failure is removed.
func TestFailedCreatesAreRemoved(t *testing.T) {
	t.Parallel()
	for _, answer := range []string{failure("INTERNAL_ERROR", "It went wrong."), `{"error":"no","code":"INTERNAL"}`} {
		b := newBox("a", "b")
		b.after = func(op, usual string) string {
			if op == "create_note" {
				return answer
			}
			return usual
		}
		e, _ := b.live(t, guard.ModeWrite)
		if left := e.Live.Lookup("leftovers"); left.Len() > 0 || len(b.notes) != 2 {
			t.Errorf("%d notes, left behind: %s", len(b.notes), left)
		}
	}
}

// Nothing is created that no operation can read.
func TestNothingUnreadableIsCreated(t *testing.T) {
	t.Parallel()
	b := newBox("a")
	s := b.adapter()
	s.ops = slices.DeleteFunc(s.ops, func(op smallOp) bool { return op.category == "READ" })
	collect(t, guard.Options{Mode: guard.ModeWrite, Dial: s.dial(t)})
	if b.made > 0 {
		t.Errorf("%d notes were created", b.made)
	}
}

// A list that others emptied is recognized by what was in it.
func TestEmptiedLists(t *testing.T) {
	t.Parallel()
	b := newBox("a", "b")
	b.hits = func(op string, _ jsonv.Value, _ string) bool { return op == "delete_note" }
	e, _ := b.live(t, guard.ModeWrite)
	if says := e.Live.Lookup("changed").String(); strings.Contains(says, "its response") || !strings.Contains(says, "no longer shows a") {
		t.Error(says)
	}
}

// Wherever a run is ended, it fails no row for what it did not look at.
func TestEndedAnywhereFailsNothing(t *testing.T) {
	t.Parallel()
	for n := 1; ; n++ {
		b, calls := newBox("a", "b"), 0
		ctx, cancel := context.WithCancel(context.Background())
		s := b.adapter()
		s.hears = func(jsonv.Value) {
			if calls++; calls == n {
				cancel()
			}
		}
		e, err := live.Collect(ctx, guard.Options{Mode: guard.ModeWrite, Dial: s.dial(t), Spread: time.Millisecond})
		cancel()
		if err != nil {
			t.Fatal(err)
		}
		if calls < n {
			break
		}
		e = readBundle(t, "live.json", e.JSON().Indent("", " "))
		if r := aql.Evaluate(e, aql.Options{Rules: rule.Strict}); r.ExitCode == verdict.ExitFailed || len(b.notes) != 2 {
			t.Errorf("ended at call %d: %d notes\n%s", n, len(b.notes), r.FormatText())
		}
	}
}
