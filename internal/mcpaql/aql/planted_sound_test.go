package aql_test

import (
	"context"
	"fmt"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"mcptest/internal/base/jsonv"
	"mcptest/internal/base/testkit"
	"mcptest/internal/client/mcp"
	"mcptest/internal/client/wire"
	"mcptest/internal/mcpaql/aql"
	"mcptest/internal/mcpaql/evidence"
	"mcptest/internal/mcpaql/live"
	"mcptest/internal/mcpaql/live/guard"
	"mcptest/internal/mcpaql/rule"
	"mcptest/internal/mcpaql/verdict"
	"mcptest/internal/server/mcpserver"
)

// judged is how an adapter is judged in mode write.
type judged struct {
	exit int
	rows string // that are FAIL or WARN
}

// check runs live and compares the verdict; nothing of others may change, and nothing of
// the run may be left.
func (b *store) check(t *testing.T, want judged, r *verdict.Report, e *evidence.Evidence) {
	t.Helper()
	if got := troubles(r); got != want.rows || r.ExitCode != want.exit {
		t.Errorf("exit code %d, %q; expected %d, %q\n%s", r.ExitCode, got, want.exit, want.rows, r.FormatText())
	}
	if whole, own := b.whole(); whole != len(b.mine) || own > 0 || len(r.Leftovers) > 0 || len(r.Changed) > 0 {
		t.Errorf("%d of %d notes are whole, %d are left; reported: %q, %q", whole, len(b.mine), own, r.Leftovers, r.Changed)
	}
	if b.audit != nil && b.audit() != "" {
		t.Error(b.audit())
	}
	if ended := e.Live.Lookup("ended").Text(); ended != "" {
		t.Error(ended)
	}
}

const (
	oneTitle = `{"name":"title","type":"string","required":true,"description":"Its title."}`
	nothing  = "" // no row is FAIL or WARN
)

// paged lists the notes that others and the run made, page by page.
func (b *store) paged(params string, page func(params jsonv.Value, all []jsonv.Value) string) {
	b.shape = func(s *small) {
		s.ops[0].params = params
		run := s.ops[0].run
		s.ops[0].run = func(params jsonv.Value) string {
			return page(params, parsed(run(params)).Lookup("items").List())
		}
	}
}

// A sound adapter is accused of nothing, and nothing is left in it.
func TestSoundAdaptersAreNotAccused(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		judged
		plant func(b *store)
	}{
		"plain":                   {judged{0, nothing}, func(*store) {}},
		"lists and reads lag":     {judged{0, nothing}, func(b *store) { b.lag = 300 * time.Millisecond }},
		"wrapped, structured":     {judged{0, nothing}, func(b *store) { b.wrap = wrapped(true) }},
		"wrapped, JSON in a text": {judged{0, nothing}, func(b *store) { b.wrap = wrapped(false) }},
		"wrapped and lagging":     {judged{0, nothing}, func(b *store) { b.wrap, b.lag = wrapped(true), 300*time.Millisecond }},
		"text and lagging":        {judged{0, nothing}, func(b *store) { b.wrap, b.lag = wrapped(false), 300*time.Millisecond }},
		"a quota of one":          {judged{0, nothing}, func(b *store) { b.quota = 1 }},
		"no notes":                {judged{0, nothing}, func(b *store) { b.notes = nil }},
		"thousands of notes":      {judged{0, nothing}, func(b *store) { b.fill(testkit.Count(3_000, 12_000)) }},
		// No item shows the default of dry_run.
		"call controls": {judged{2, nothing}, func(b *store) {
			b.params = map[string]string{"create_note": `[` + oneTitle + `,{"name":"idempotency_key","type":"string","required":false,"description":"Repeats nothing."},{"name":"dry_run","type":"boolean","required":false,"default":false,"description":"Only checks."}]`}
		}},
		"an idempotency key that works": {judged{0, nothing}, func(b *store) {
			b.params = map[string]string{"create_note": `[` + oneTitle + `,{"name":"idempotency_key","type":"string","required":false,"description":"Repeats nothing."}]`}
			made := map[string]string{}
			b.create = func(params, note jsonv.Value) (string, bool) {
				key := params.Lookup("idempotency_key").Text()
				if key == "" {
					return note.String(), true
				}
				if again, known := made[key]; known && at(b.notes, parsed(again)) >= 0 {
					return again, false
				}
				made[key] = note.String()
				return note.String(), true
			}
		}},
		"a title is created once": {judged{0, nothing}, func(b *store) {
			b.create = func(_, note jsonv.Value) (string, bool) {
				for _, n := range b.notes {
					if jsonv.Equal(n.Lookup("title"), note.Lookup("title")) && jsonv.Equal(n.Lookup("folder"), note.Lookup("folder")) {
						return n.String(), false
					}
				}
				return note.String(), true
			}
		}},
		"a list under the name of credentials": {judged{0, nothing}, func(b *store) { b.rename = "credentials" }},
		// What it shows proves nothing of what was stored.
		"a read answers a text": {judged{2, nothing}, func(b *store) {
			b.answer = func(op, usual string) string {
				if op != "get_note" || strings.HasPrefix(usual, `{"success":`) {
					return usual
				}
				text := "**" + parsed(usual).Lookup("title").Text() + "**, details"
				return jsonv.From(map[string]any{"content": []any{map[string]any{"type": "text", "text": text}}}).String()
			}
		}},
		"statistics as a text": {judged{0, nothing}, func(b *store) {
			b.extra = []smallOp{{"get_note_stats", "READ", `[]`, func(jsonv.Value) string {
				return fmt.Sprintf(`{"content":[{"type":"text","text":"Statistics\\nCreated so far: %d\\nAge: %s\\nLast update: 11/%d/2026, 10:25 PM"}]}`, b.made, []string{"59m", "1h 0m"}[min(b.made-3, 1)], 10+b.made)
			}}}
		}},
		"a log of changes": {judged{0, nothing}, func(b *store) {
			b.logs("list_audit_entries", func(log []string, op, _ string) []string {
				return append(log, fmt.Sprintf(`{"id":"l%d","action":"%s"}`, len(log), op))
			})
		}},
		"a log of the newest changes": {judged{0, nothing}, func(b *store) {
			b.logs("list_audit_entries", func(log []string, op, _ string) []string {
				return append([]string{fmt.Sprintf(`{"id":"l%d-%d","action":"%s"}`, b.made, len(b.notes), op)}, log[:min(len(log), 2)]...)
			})
		}},
		"named counters": {judged{0, nothing}, func(b *store) {
			b.logs("list_metrics", func([]string, string, string) []string {
				return []string{fmt.Sprintf(`{"name":"created","value":%d}`, b.made)}
			})
		}},
		// A read that counts itself has an effect.
		"reads are counted": {judged{0, "consistency WARN"}, func(b *store) {
			b.after = func(op string, params jsonv.Value) {
				if i := at(b.notes, params); op == "get_note" && i >= 0 {
					n, _ := b.notes[i].Lookup("views").Int64()
					b.notes[i] = b.notes[i].With("views", jsonv.Int(n+1)).With("viewed_at", jsonv.String(time.Now().Format(time.RFC3339)))
				}
			}
		}},
		"numbers as identifiers": {judged{0, nothing}, func(b *store) {
			b.ids = func(n int) jsonv.Value { return jsonv.Int(int64(n)) }
			b.fill(3)
			b.params = map[string]string{"get_note": numberID, "delete_note": numberID, "update_note": strings.TrimSuffix(numberID, "]") + inputParam}
		}},
		"random identifiers": {judged{0, nothing}, func(b *store) {
			b.ids = func(n int) jsonv.Value {
				return jsonv.String(fmt.Sprintf("%08x-0000-4000-8000-%012x", n*2654435761%(1<<32), n*40503))
			}
			b.fill(3)
		}},
		"long identifiers": {judged{0, nothing}, func(b *store) {
			b.ids = func(n int) jsonv.Value { return jsonv.String(strings.Repeat("ä/", 100) + fmt.Sprint(n)) }
			b.fill(3)
		}},
		"identifiers are given again": {judged{0, nothing}, func(b *store) {
			b.after = func(op string, _ jsonv.Value) {
				if op == "delete_note" {
					b.made = 3
					for _, n := range b.notes {
						b.made = max(b.made, int(parsed(n.Lookup("note_id").Text()).Float64()))
					}
				}
			}
		}},
		"the newest come first": {judged{0, nothing}, func(b *store) {
			b.answer = func(op, usual string) string {
				if op != "list_notes" {
					return usual
				}
				list := parsed(usual).Lookup("items").List()
				slices.Reverse(list)
				return jsonv.ObjectOf("items", jsonv.Array(list...)).String()
			}
		}},
		"a list of names":    {judged{0, nothing}, inForm(namesOf, "", false)},
		"an object of notes": {judged{0, nothing}, inForm(keyed, "", false)},
		"an empty object of notes": {judged{0, nothing}, func(b *store) {
			b.notes = nil
			inForm(keyed, "", false)(b)
		}},
		"a list in groups": {judged{0, nothing}, func(b *store) {
			b.answer = func(op, usual string) string {
				if op != "list_notes" {
					return usual
				}
				var mine, others []jsonv.Value
				for _, n := range parsed(usual).Lookup("items").List() {
					if n.Lookup("folder").Text() == "Inbox" {
						others = append(others, n)
					} else {
						mine = append(mine, n)
					}
				}
				return jsonv.ObjectOf("elsewhere", jsonv.Array(mine...), "inbox", jsonv.Array(others...)).String()
			}
		}},
		"a list of summaries": {judged{0, nothing}, func(b *store) {
			b.answer = func(op, usual string) string {
				if op != "list_notes" {
					return usual
				}
				var list []jsonv.Value
				for _, n := range parsed(usual).Lookup("items").List() {
					list = append(list, jsonv.ObjectOf("note_id", n.Lookup("note_id")))
				}
				return jsonv.ObjectOf("items", jsonv.Array(list...), "total", len(list)).String()
			}
		}},
		"an item in a member of its name": {judged{0, nothing}, func(b *store) {
			b.answer = func(op, usual string) string {
				if v := parsed(usual); !v.Lookup("note_id").IsAbsent() {
					return jsonv.ObjectOf("note", v).String()
				}
				return usual
			}
		}},
		"the answer to a create names nothing": {judged{0, nothing}, func(b *store) {
			b.create = func(_, _ jsonv.Value) (string, bool) { return `{"created":true}`, true }
		}},
		"a create is carried out later": {judged{0, nothing}, func(b *store) {
			b.lag = 300 * time.Millisecond
			b.create = func(_, note jsonv.Value) (string, bool) {
				return jsonv.ObjectOf("status", "queued", "note_id", note.Lookup("note_id")).String(), true
			}
		}},
		"times and revisions": {judged{0, nothing}, func(b *store) {
			b.after = func(op string, params jsonv.Value) {
				i := at(b.notes, params)
				switch op {
				case "create_note":
					i = len(b.notes) - 1
					b.notes[i] = b.notes[i].With("created_at", jsonv.String(time.Now().UTC().Format(time.RFC3339Nano)))
				case "update_note":
				default:
					return
				}
				n, _ := b.notes[i].Lookup("revision").Int64()
				b.notes[i] = b.notes[i].With("revision", jsonv.Int(n+1)).With("updated_at", jsonv.String(time.Now().UTC().Format(time.RFC3339Nano)))
			}
		}},
		"null for what does not exist": {judged{0, nothing}, func(b *store) {
			b.answer = func(op, usual string) string {
				if op == "get_note" && strings.HasPrefix(usual, `{"success":false`) {
					return `null`
				}
				return usual
			}
		}},
		"every answer is counted": {judged{0, nothing}, func(b *store) {
			calls := 0
			b.answer = func(_, usual string) string {
				if calls++; strings.HasPrefix(usual, `{"success":`) {
					return usual
				}
				return parsed(usual).With("calls", jsonv.Int(int64(calls))).With("_meta", jsonv.ObjectOf("took", calls)).String()
			}
		}},
		"cursors": {judged{0, nothing}, func(b *store) {
			b.fill(130)
			b.paged(cursorParams, cursorPage)
		}},
		"offsets": {judged{0, nothing}, func(b *store) {
			b.fill(130)
			b.paged(`[{"name":"limit","type":"integer","required":false,"minimum":1,"maximum":50,"default":20,"description":"How many."},{"name":"offset","type":"integer","required":false,"minimum":0,"default":0,"description":"From where."}]`, func(params jsonv.Value, all []jsonv.Value) string {
				n, from := number(params, "limit", 20), number(params, "offset", 0)
				return jsonv.ObjectOf("items", jsonv.Array(all[min(from, len(all)):min(from+n, len(all))]...), "total", len(all)).String()
			})
		}},
		"numbers of pages": {judged{0, nothing}, func(b *store) {
			b.fill(130)
			b.paged(`[{"name":"page","type":"integer","required":false,"minimum":1,"default":1,"description":"Which page."},{"name":"page_size","type":"integer","required":false,"minimum":1,"maximum":50,"default":20,"description":"How many."}]`, func(params jsonv.Value, all []jsonv.Value) string {
				n := number(params, "page_size", 20)
				from := n * (number(params, "page", 1) - 1)
				return jsonv.ObjectOf("items", jsonv.Array(all[min(from, len(all)):min(from+n, len(all))]...), "total", len(all)).String()
			})
		}},
		"the rate is limited": {judged{0, nothing}, func(b *store) {
			calls := 0
			b.shape = func(s *small) {
				s.answer = func(string, jsonv.Value, func() string) string {
					if calls++; calls%9 != 0 {
						return ""
					}
					return failure("RATE_LIMIT_EXCEEDED", "Too many calls of operations: wait a second.")
				}
			}
		}},
		"a window of calls": {judged{0, nothing}, func(b *store) {
			begin, calls := time.Time{}, 0
			b.shape = func(s *small) {
				s.answer = func(string, jsonv.Value, func() string) string {
					if time.Since(begin) > 2*time.Second {
						begin, calls = time.Now(), 0
					}
					if calls++; calls <= 25 {
						return ""
					}
					return `{"success":false,"error":{"code":"RATE_LIMIT_EXCEEDED","message":"Too many calls of operations: wait.","details":{"retry_after":2.1}}}`
				}
			}
		}},
		"deletes are confirmed": {judged{2, nothing}, func(b *store) {
			tokens := 0
			b.params = map[string]string{"delete_note": strings.TrimSuffix(noteID, "]") + `,{"name":"confirmation_token","type":"string","required":false,"description":"The token of the refusal."}]`}
			b.shape = func(s *small) {
				s.answer = func(op string, args jsonv.Value, usual func() string) string {
					token := args.Lookup("params", "confirmation_token").Text()
					if op != "delete_note" || token == fmt.Sprintf("conf_%08d", tokens) && tokens > 0 {
						return ""
					}
					if out := usual0(s, args); out != "" {
						return out
					}
					tokens++
					return `{"success":false,"error":{"code":"CONFIRMATION_REQUIRED","message":"Confirm that delete_note removes the note.","details":{"confirmation_token":"` + fmt.Sprintf("conf_%08d", tokens) + `","expires_at":"` + time.Now().Add(time.Minute).UTC().Format(time.RFC3339) + `"}}}`
				}
			}
		}},
		"a tool for each category": {judged{0, nothing}, func(b *store) {
			b.shape = func(s *small) {
				s.tools = []string{"mcp_aql_create", "mcp_aql_read", "mcp_aql_update", "mcp_aql_delete"}
			}
		}},
		"notes in notes":                    {judged{0, nothing}, func(b *store) { b.comment(false) }},
		"notes in notes, removed with them": {judged{0, nothing}, func(b *store) { b.comment(true) }},
		"two kinds of notes": {judged{0, nothing}, func(b *store) {
			const kind = `,{"name":"kind","type":"string","required":true,"enum":["memo","task"],"description":"Its kind."}]`
			with := func(list string) string { return strings.TrimSuffix(list, "]") + kind }
			b.params = map[string]string{"create_note": with(`[` + oneTitle + `]`), "get_note": with(noteID), "delete_note": with(noteID), "list_notes": `[` + kind[1:], "update_note": with(strings.TrimSuffix(noteID, "]") + inputParam)}
			for i := range b.notes {
				b.notes[i] = b.notes[i].With("kind", jsonv.String([]string{"memo", "task"}[i%2]))
			}
			b.create = func(params, note jsonv.Value) (string, bool) {
				b.made++
				note = note.With("kind", params.Lookup("kind"))
				b.notes = append(b.notes, note)
				return note.String(), false
			}
			b.shape = func(s *small) {
				for i, op := range s.ops {
					s.ops[i].run = func(params jsonv.Value) string {
						switch j := at(b.visible(), params); {
						case op.name == "list_notes":
							return jsonv.ObjectOf("items", jsonv.Array(slices.DeleteFunc(parsed(op.run(params)).Lookup("items").List(), func(n jsonv.Value) bool { return !jsonv.Equal(n.Lookup("kind"), params.Lookup("kind")) })...)).String()
						case op.name != "create_note" && j >= 0 && !jsonv.Equal(b.visible()[j].Lookup("kind"), params.Lookup("kind")):
							return failure("NOT_FOUND_RESOURCE", "No note of this kind has the note_id '%s'.", params.Lookup("note_id").Text())
						}
						return op.run(params)
					}
				}
			}
		}},
		"a profile that exists": {judged{0, nothing}, func(b *store) { b.profile(`{"title":"Me"}`) }},
		"no profile yet":        {judged{0, nothing}, func(b *store) { b.profile(`null`) }},
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

const (
	numberID   = `[{"name":"note_id","type":"integer","required":true,"description":"Which note."}]`
	inputParam = `,{"name":"input","type":"object","required":true,"description":"What changes."}]`
)

// logs adds a list of what was done to the notes.
func (b *store) logs(name string, entry func(log []string, op, id string) []string) {
	log := entry(nil, "create_note", "1")
	b.extra = append(b.extra, smallOp{name, "READ", `[]`, func(jsonv.Value) string { return `{"items":[` + strings.Join(log, ",") + `]}` }})
	b.after = func(op string, params jsonv.Value) {
		if op == "create_note" || op == "update_note" || op == "delete_note" {
			id := params.Lookup("note_id")
			if id.IsAbsent() {
				id = b.notes[len(b.notes)-1].Lookup("note_id")
			}
			log = entry(log, op, id.Text())
		}
	}
}

// usual0 returns the refusal of a delete without its effect, "" if it would succeed.
func usual0(s *small, args jsonv.Value) string {
	for _, op := range s.all() {
		if op.name == args.Lookup("operation").Text() {
			if refusal := checkParams(parsed(op.params), args.Lookup("params")); refusal != "" {
				return refusal
			}
		}
	}
	for _, op := range s.ops {
		if op.name == "get_note" {
			if out := op.run(args.Lookup("params")); strings.HasPrefix(out, `{"success":false`) {
				return out
			}
		}
	}
	return ""
}

// number returns a whole number among parameters.
func number(params jsonv.Value, name string, otherwise int) int {
	if n, ok := params.Lookup(name).Int64(); ok {
		return int(n)
	}
	return otherwise
}

func cursorPage(params jsonv.Value, all []jsonv.Value) string {
	from := 0
	if after := params.Lookup("after"); !after.IsAbsent() {
		if params.Lookup("first").IsAbsent() {
			return failure("VALIDATION_INVALID_PARAM", "The parameter 'after' requires 'first', an integer.")
		}
		from = 1 + slices.IndexFunc(all, func(n jsonv.Value) bool { return "c"+n.Lookup("note_id").Text() == after.Text() })
		if from == 0 {
			return failure("VALIDATION_INVALID_CURSOR", "The parameter 'after' wants the endCursor of a page, and '%s' is none.", after.Text())
		}
	}
	page := all[from:min(len(all), from+number(params, "first", 20))]
	info := jsonv.ObjectOf("hasNextPage", from+len(page) < len(all), "hasPreviousPage", from > 0)
	if len(page) > 0 {
		info = info.With("startCursor", jsonv.String("c"+page[0].Lookup("note_id").Text())).With("endCursor", jsonv.String("c"+page[len(page)-1].Lookup("note_id").Text()))
	}
	return jsonv.ObjectOf("items", jsonv.Array(page...), "pageInfo", info).String()
}

// comment adds comments in notes. A note of others has one.
func (b *store) comment(cascade bool) {
	all, made := []jsonv.Value{jsonv.ObjectOf("comment_id", "c1", "note_id", "1", "text", "Mine")}, 1
	b.audit = func() string {
		if len(all) != 1 || all[0].Lookup("text").Text() != "Mine" {
			return fmt.Sprintf("comments: %v", all)
		}
		return ""
	}
	const id, text = `{"name":"comment_id","type":"string","required":true,"description":"Which comment."}`, `{"name":"text","type":"string","required":true,"description":"What it says."}`
	find := func(params jsonv.Value, use func(i int) string) string {
		if i := slices.IndexFunc(all, func(c jsonv.Value) bool { return jsonv.Equal(c.Lookup("comment_id"), params.Lookup("comment_id")) }); i >= 0 {
			return use(i)
		}
		return failure("NOT_FOUND_RESOURCE", "No comment has the comment_id '%s'.", params.Lookup("comment_id").Text())
	}
	b.extra = []smallOp{
		{"list_comments", "READ", `[]`, func(jsonv.Value) string { return jsonv.ObjectOf("items", jsonv.Array(all...)).String() }},
		{"get_comment", "READ", `[` + id + `]`, func(params jsonv.Value) string { return find(params, func(i int) string { return all[i].String() }) }},
		{"create_comment", "CREATE", noteID[:len(noteID)-1] + `,` + text + `]`, func(params jsonv.Value) string {
			if at(b.notes, params) < 0 {
				return failure("NOT_FOUND_RESOURCE", "No note has the note_id '%s'.", params.Lookup("note_id").Text())
			}
			made++
			all = append(all, jsonv.ObjectOf("comment_id", fmt.Sprintf("c%d", made), "note_id", params.Lookup("note_id"), "text", params.Lookup("text")))
			return all[len(all)-1].String()
		}},
		{"delete_comment", "DELETE", `[` + id + `]`, func(params jsonv.Value) string {
			return find(params, func(i int) string {
				all = slices.Delete(slices.Clone(all), i, i+1)
				return `{"deleted":true}`
			})
		}},
	}
	b.after = func(op string, params jsonv.Value) {
		if cascade && op == "delete_note" {
			all = slices.DeleteFunc(slices.Clone(all), func(c jsonv.Value) bool { return jsonv.Equal(c.Lookup("note_id"), params.Lookup("note_id")) })
		}
	}
}

// profile adds a resource of which there is at most one.
func (b *store) profile(now string) {
	before := now
	b.audit = func() string {
		if now != before {
			return "the profile is " + now
		}
		return ""
	}
	none := func() string { return failure("NOT_FOUND_RESOURCE", "There is no profile: call create_profile.") }
	b.extra = []smallOp{
		{"get_profile", "READ", `[]`, func(jsonv.Value) string { return now }},
		{"create_profile", "CREATE", `[` + oneTitle + `]`, func(params jsonv.Value) string {
			if now != "null" {
				return failure("CONFLICT_EXISTS", "There is a profile: call delete_profile.")
			}
			now = params.String()
			return now
		}},
		{"delete_profile", "DELETE", `[]`, func(jsonv.Value) string {
			if now == "null" {
				return none()
			}
			now = "null"
			return `{"deleted":true}`
		}},
	}
}

// What an adapter tells of its own session is no harm of READ operations.
func TestSessionsAreNotHarmed(t *testing.T) {
	t.Parallel()
	b, last := newStore(3), ""
	b.extra = []smallOp{{"get_session", "READ", `[]`, func(jsonv.Value) string { return `{"last_operation":"` + last + `"}` }}}
	b.after = func(op string, _ jsonv.Value) {
		if op == "get_note" {
			last = op
		}
	}
	if _, r := b.live(t, guard.Options{}); len(r.Changed) > 0 || r.ExitCode == verdict.ExitFailed {
		t.Errorf("exit code %d: %q", r.ExitCode, r.Changed)
	}
}

// A list is read a constant number of times, and once after each delete.
func TestListsAreReadConstantly(t *testing.T) {
	t.Parallel()
	b, reads, deletes := newStore(3000), 0, 0
	b.after = func(op string, _ jsonv.Value) {
		switch op {
		case "list_notes":
			reads++
		case "delete_note":
			deletes++
		}
	}
	if _, r := b.live(t, guard.Options{Mode: guard.ModeWrite}); r.ExitCode != 0 || deletes == 0 || reads-deletes > 13 {
		t.Errorf("exit code %d, %d readings, %d deletes", r.ExitCode, reads, deletes)
	}
}

// What HTTP refuses for now is waited for.
func TestBusyAdaptersAreWaitedFor(t *testing.T) {
	t.Parallel()
	for _, status := range []int{http.StatusTooManyRequests, http.StatusServiceUnavailable} {
		t.Run(fmt.Sprint(status), func(t *testing.T) {
			t.Parallel()
			b := newStore(3)
			s := b.adapter()
			inner := mcpserver.NewHTTPServer(func() mcpserver.Handler {
				return mcpserver.HandlerFunc(func(_ context.Context, req *mcpserver.Request) *mcpserver.Reply { return s.handle(req) })
			})
			var calls atomic.Int64
			srv := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
				if r.Method == http.MethodPost && calls.Add(1)%60 == 59 {
					w.Header().Set("Retry-After", "1")
					w.WriteHeader(status)
					return
				}
				inner.ServeHTTP(w, r)
			}))
			defer srv.Close()
			defer inner.Close()
			o := guard.Options{Mode: guard.ModeWrite, RunID: "abc", Spread: time.Millisecond, Dial: func(ctx context.Context, variant string) (*mcp.Session, error) {
				if variant != "" {
					return nil, nil
				}
				tr, err := wire.NewHTTP(srv.URL, wire.HTTPOptions{Patience: 3})
				if err != nil {
					return nil, err
				}
				return mcp.Open(ctx, tr, mcp.Options{})
			}}
			e, err := live.Collect(context.Background(), o)
			if err != nil {
				t.Fatal(err)
			}
			b.check(t, judged{0, nothing}, aql.Evaluate(e, aql.Options{Rules: rule.Strict}), e)
		})
	}
}
