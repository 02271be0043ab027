package aql_test

import (
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"mcptest/internal/base/jsonv"
	"mcptest/internal/mcpaql/aql"
	"mcptest/internal/mcpaql/live"
	"mcptest/internal/mcpaql/live/guard"
	"mcptest/internal/mcpaql/rule"
	"mcptest/internal/mcpaql/verdict"
	"mcptest/internal/server/mcpserver"
)

// planted is an adapter with one peculiarity, and what a run says about one row of it.
type planted struct {
	plant  func(b *store)
	small  func(s *small)
	level  int
	mode   string
	row    string // id of the row
	want   verdict.Result
	says   string // in the row, or in what is not proved; "!" in front: nowhere
	exit   int    // 0: any, but not a failure that no row explains
	called func(t *testing.T, params map[string][]jsonv.Value)
}

// check runs the adapter, and proves that nothing of others was touched and nothing is left.
func (p planted) check(t *testing.T) {
	t.Helper()
	b := newStore(3)
	if p.plant != nil {
		p.plant(b)
	}
	others := len(b.notes)
	s := b.adapter()
	sent := map[string][]jsonv.Value{}
	s.hears = func(args jsonv.Value) {
		sent[args.Lookup("operation").Text()] = append(sent[args.Lookup("operation").Text()], args.Lookup("params"))
	}
	if p.small != nil {
		p.small(&s)
	}
	e := collect(t, guard.Options{Mode: cmp.Or(p.mode, guard.ModeWrite), Dial: s.dial(t), RunID: "abc"})
	r := aql.Evaluate(e, aql.Options{Level: cmp.Or(p.level, rule.LevelOne), Rules: rule.Strict})
	if whole, own := b.whole(); whole != others || own > 0 || len(r.Leftovers)+len(r.Changed) > 0 {
		t.Errorf("%d of %d notes are whole, %d are left; reported: %q, changed %q", whole, others, own, r.Leftovers, r.Changed)
	}
	row := rowsByID(r)[p.row]
	text := row.Detail
	for _, n := range r.NotProved {
		text += "\nnot proved: " + n.Test + ": " + n.Reason
	}
	unwanted, isNot := strings.CutPrefix(p.says, "!")
	if p.row != "" && row.Result != p.want || isNot && strings.Contains(text, unwanted) || !isNot && !strings.Contains(text, p.says) || p.exit != 0 && r.ExitCode != p.exit || p.exit == 0 && p.want != verdict.Failed && r.ExitCode == verdict.ExitFailed {
		t.Errorf("exit code %d, %s is %s: %s\nfailed: %q", r.ExitCode, p.row, row.Result, text, failedRows(r))
	}
	if p.called != nil {
		p.called(t, sent)
	}
}

// checkAll runs several planted adapters.
func checkAll(t *testing.T, list map[string]planted) {
	t.Helper()
	for name, p := range list {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			p.check(t)
		})
	}
}

const titleParam = `[{"name":"title","type":"string","required":true,"description":"Its title."}`

// with gives an operation of the store other parameters.
func with(op, params string) func(b *store) {
	return func(b *store) { b.params = map[string]string{op: params} }
}

// A parameter that controls a call is no field, regardless of its name; a dropped field is a failure.
func TestCallControlsAreNotFields(t *testing.T) {
	t.Parallel()
	dropped := func(b *store) {
		b.create = func(_, note jsonv.Value) (string, bool) {
			b.made++
			b.notes = append(b.notes, note.Without("folder"))
			return note.Without("folder").String(), false
		}
	}
	checkAll(t, map[string]planted{
		"a control with a name of its own": {
			plant: with("create_note", titleParam+`,{"name":"send_mail","type":"boolean","required":false,"description":"Tells the team."},{"name":"client_ref","type":"string","required":false,"description":"Your reference of the call."}]`),
			row:   "create-read", want: verdict.Pass,
		},
		"with a warning": {
			plant: with("create_note", titleParam+`,{"name":"send_mail","type":"boolean","required":false,"description":"Tells the team."}]`),
			row:   "consistency", want: verdict.Warned, says: "send_mail",
		},
		"a field that other notes show is dropped": {plant: dropped, row: "create-read", want: verdict.Failed, says: "folder", exit: verdict.ExitFailed},
		"a field that the type documents is dropped": {plant: func(b *store) {
			b.create = func(params, note jsonv.Value) (string, bool) { return note.String(), true }
			b.params = map[string]string{"create_note": titleParam + `,{"name":"label","type":"string","required":false,"description":"Its label."}]`}
		}, small: func(s *small) {
			s.types = `[{"name":"Answer","kind":"object","fields":[{"name":"title","type":"string","required":true},{"name":"label","type":"string","required":false}]}]`
		}, row: "create-read", want: verdict.Failed, says: "label", exit: verdict.ExitFailed},
		"every field is dropped": {plant: func(b *store) {
			b.create = func(params, note jsonv.Value) (string, bool) {
				b.made++
				b.notes = append(b.notes, jsonv.ObjectOf("note_id", note.Lookup("note_id").Text(), "name", params.Lookup("title")))
				return `{"note_id":"` + note.Lookup("note_id").Text() + `"}`, false
			}
		}, row: "create-read", want: verdict.Failed, says: "title", exit: verdict.ExitFailed},
	})
}

// only refuses values of parameters that are not among the given ones, with a code that no
// documentation explains.
func only(allowed map[string]string, out string) func(jsonv.Value) string {
	return func(params jsonv.Value) string {
		for name, words := range allowed {
			if v, given := params.Get(name); given && !strings.Contains(" "+words+" ", " "+v.Text()+" ") {
				return failure("RENDER_FAILED", "It could not be done.")
			}
		}
		return out
	}
}

// Words that a description lists, and names that lists show, are used before any is invented.
func TestKnownValuesAreUsedFirst(t *testing.T) {
	t.Parallel()
	const text = `"type":"string","required":true,"description":`
	described := func(name, params string, allowed map[string]string) planted {
		return planted{plant: func(b *store) {
			b.extra = []smallOp{{name, "READ", params, only(allowed, `{"text":"x"}`)}}
		}, mode: guard.ModeSafe, row: "accuracy", want: verdict.Pass}
	}
	names := `[{"name":"note_name",` + text + `"Which note."},{"name":"kind",` + text + `"Its kind."}]`
	own := planted{plant: func(b *store) {
		b.extra = []smallOp{
			{"list_reports", "READ", `[]`, data(`{"items":[{"name":"Sales","kind":"monthly"},{"name":"Stock","kind":"daily"}]}`)},
			{"export_report", "READ", strings.ReplaceAll(names, "note_name", "report_name"), only(map[string]string{"report_name": "Sales", "kind": "monthly"}, `{"text":"x"}`)},
			{"validate_report", "READ", `[{"name":"name",` + text + `"Which report."}]`, only(map[string]string{"name": "Sales"}, `{"valid":true}`)},
			{"render", "READ", `[{"name":"report_name",` + text + `"Which one."}]`, only(map[string]string{"report_name": "Sales"}, `{"text":"x"}`)},
		}
	}, mode: guard.ModeSafe, row: "accuracy", want: verdict.Pass}
	checkAll(t, map[string]planted{
		"a bare list":             described("get_settings", `[{"name":"action",`+text+`"get, set, reset, export, import, wizard"}]`, map[string]string{"action": "get set reset export import wizard"}),
		"a list behind a colon":   described("convert_note", `[{"name":"direction",`+text+`"Conversion direction: agent_to_note or note_to_agent"}]`, map[string]string{"direction": "agent_to_note note_to_agent"}),
		"of an unknown type":      described("search", `[{"name":"scope","type":"unknown","required":false,"description":"Where: \"local\", \"remote\" or \"all\""}]`, map[string]string{"scope": "local remote all"}),
		"names that a list shows": own,
		"an identifier of another list": {plant: func(b *store) {
			b.extra = []smallOp{
				{"list_programs", "READ", `[]`, data(`{"items":[{"slug":"one","url":"https://example.invalid/one"}]}`)},
				{"get_brief", "READ", `[{"name":"slug",` + text + `"Of which program."}]`, only(map[string]string{"slug": "one"}, `{"text":"x"}`)},
			}
		}, mode: guard.ModeSafe, row: "accuracy", want: verdict.Pass, says: "!No case", called: func(t *testing.T, params map[string][]jsonv.Value) {
			if got := params["get_brief"][0].Lookup("slug").Text(); got != "one" {
				t.Errorf("get_brief was called with %q", got)
			}
		}},
		"an identifier of another list that does not fit": {plant: func(b *store) {
			b.extra = []smallOp{
				{"list_programs", "READ", `[]`, data(`{"items":[{"slug":"one"}]}`)},
				{"get_brief", "READ", `[{"name":"slug",` + text + `"Which brief."}]`, func(params jsonv.Value) string {
					return failure("NO_BRIEF", "No brief has the slug '%s'.", params.Lookup("slug").Text())
				}},
			}
		}, mode: guard.ModeSafe, row: "accuracy", want: verdict.Pass},
		"addresses are not called": {plant: func(b *store) {
			b.extra = []smallOp{
				{"list_links", "READ", `[]`, data(`{"items":[{"id":"1","url":"https://example.invalid/one"}]}`)},
				{"get_link_preview", "READ", `[{"name":"url",` + text + `"Of which address."}]`, data(`{"text":"x"}`)},
				{"preview_link", "READ", `[{"name":"url",` + text + `"Of which address."}]`, data(`{"text":"x"}`)},
			}
		}, mode: guard.ModeSafe, row: "accuracy", want: verdict.Pass, called: func(t *testing.T, params map[string][]jsonv.Value) {
			for _, op := range []string{"get_link_preview", "preview_link"} {
				for _, p := range params[op] {
					if strings.Contains(p.Lookup("url").Text(), "/one") {
						t.Errorf("%s was called with %s", op, p)
					}
				}
			}
		}},
		"a refusal without a code that names the value": {plant: func(b *store) {
			own.plant(b)
			b.extra[1].run = func(params jsonv.Value) string {
				return `{"success":false,"error":"Template '` + params.Lookup("report_name").Text() + `' not found"}`
			}
			b.extra[2].run = func(params jsonv.Value) string {
				return `{"content":[{"type":"text","text":"❌ Invalid report '` + params.Lookup("name").Text() + `'. Must be one of: Sales."}],"isError":true}`
			}
		}, small: func(s *small) { s.ops = s.ops[:len(s.ops)-1] }, mode: guard.ModeSafe, row: "accuracy", want: verdict.Pass, exit: verdict.ExitFailed}, // the form of the errors
		"a refusal without a code of an undocumented value": {plant: func(b *store) {
			b.extra = []smallOp{
				{"get_page", "READ", `[{"name":"path",` + text + `"Which page."}]`, data(`{"content":[{"type":"text","text":"❌ Error fetching the page: fetch failed"}]}`)},
				{"check_export", "READ", `[{"name":"data","type":"unknown","required":true,"description":"A package (string or object)."}]`, data(`{"success":false,"error":"Invalid package: not valid JSON"}`)},
			}
		}, mode: guard.ModeSafe, row: "accuracy", want: verdict.Pass, exit: verdict.ExitFailed}, // the form of the errors
		"blocks of MCP content are no list": {plant: func(b *store) {
			b.extra = []smallOp{
				{"list_items", "READ", `[]`, data(`{"content":[{"type":"text","text":"Nothing."}]}`)},
				{"search_items", "READ", `[{"name":"type","type":"string","required":false,"description":"Of which type."}]`, func(params jsonv.Value) string {
					if params.Lookup("type").Text() == "text" {
						return failure("RENDER_FAILED", "It could not be done.")
					}
					return `{"items":[]}`
				}},
			}
		}, mode: guard.ModeSafe, row: "accuracy", want: verdict.Pass},
		"a name that is refused all the same": {plant: func(b *store) {
			own.plant(b)
			b.extra[1].run = func(jsonv.Value) string { return failure("RENDER_FAILED", "It could not be done.") }
		}, mode: guard.ModeSafe, row: "accuracy", want: verdict.Failed, says: "export_report cannot be called", exit: verdict.ExitFailed},
	})
}

// A create is sent once with its required parameters only, or reported as not proved.
func TestRequiredParametersAreEnough(t *testing.T) {
	t.Parallel()
	lies := func(required string) func(b *store) {
		return func(b *store) {
			b.params = map[string]string{"create_note": `[{"name":"title","type":"string","required":false,"description":"Its title."},{"name":"folder","type":"string","required":` + required + `,"description":"Where it is."}]`}
			b.create = func(params, note jsonv.Value) (string, bool) {
				if params.Lookup("title").IsAbsent() {
					return failure("VALIDATION_MISSING_PARAM", "Missing required parameter 'title'."), false
				}
				return note.String(), true
			}
		}
	}
	sound := func(b *store) {
		lies("true")(b)
		b.create = nil
	}
	checkAll(t, map[string]planted{
		"no required text": {plant: lies("false"), row: "accuracy", want: verdict.Pass, says: "required parameters only", exit: verdict.ExitWarned},
		"an error without a code": {plant: func(b *store) {
			lies("true")(b)
			usual := b.create
			b.create = func(params, note jsonv.Value) (string, bool) {
				if answer, stored := usual(params, note); stored {
					return answer, stored
				}
				return `{"success":false,"error":"A title is required to create '` + params.Lookup("folder").Text() + `'."}`, false
			}
		}, row: "accuracy", want: verdict.Failed, says: "cannot be called", exit: verdict.ExitFailed},
		"a required text, and it lies":      {plant: lies("true"), row: "accuracy", want: verdict.Failed, says: "demands more", exit: verdict.ExitFailed},
		"a required text, and it is enough": {plant: sound, row: "accuracy", want: verdict.Pass, says: "!required parameters only"},
	})
}

// comments are stored in notes of the store, and deleted with them.
func comments(b *store, keep func(text string) string, refuse bool) {
	made := 0
	var stored []jsonv.Value
	const parent = `{"name":"note_id","type":"string","required":true,"description":"Of which note."}`
	const id = `{"name":"comment_id","type":"string","required":true,"description":"Which comment."}`
	in := func(params jsonv.Value) (list []jsonv.Value, missing string) {
		if at(b.notes, params) < 0 {
			return nil, failure("NOT_FOUND_RESOURCE", "No note has the note_id '%s'.", params.Lookup("note_id").Text())
		}
		for _, c := range stored {
			if jsonv.Equal(c.Lookup("note_id"), params.Lookup("note_id")) {
				list = append(list, c)
			}
		}
		return list, ""
	}
	one := func(params jsonv.Value, use func(i int) string) string {
		list, missing := in(params)
		if missing != "" {
			return missing
		}
		for _, c := range list {
			if jsonv.Equal(c.Lookup("comment_id"), params.Lookup("comment_id")) {
				return use(slices.IndexFunc(stored, func(o jsonv.Value) bool { return jsonv.Equal(o, c) }))
			}
		}
		return failure("NOT_FOUND_RESOURCE", "No comment has the comment_id '%s'.", params.Lookup("comment_id").Text())
	}
	b.extra = append(b.extra,
		smallOp{"list_comments", "READ", `[` + parent + `]`, func(params jsonv.Value) string {
			list, missing := in(params)
			return cmp.Or(missing, jsonv.ObjectOf("items", jsonv.Array(list...)).String())
		}},
		smallOp{"get_comment", "READ", `[` + parent + `,` + id + `]`, func(params jsonv.Value) string {
			return one(params, func(i int) string { return stored[i].String() })
		}},
		smallOp{"create_comment", "CREATE", `[` + parent + `,{"name":"text","type":"string","required":true,"description":"What it says."}]`, func(params jsonv.Value) string {
			if _, missing := in(params); missing != "" || refuse {
				return cmp.Or(missing, failure("PERMISSION_DENIED", "Comments are closed."))
			}
			if n := at(b.notes, params); b.notes[n].Lookup("title").Text() == "Mine "+b.notes[n].Lookup("note_id").Text() {
				b.notes[n] = b.notes[n].With("title", jsonv.String("commented by the run")) // so that the test sees it
			}
			made++
			c := jsonv.ObjectOf("comment_id", fmt.Sprintf("c%d", made), "note_id", params.Lookup("note_id"), "text", keep(params.Lookup("text").Text()))
			stored = append(stored, c)
			return c.String()
		}},
		smallOp{"delete_comment", "DELETE", `[` + parent + `,` + id + `]`, func(params jsonv.Value) string {
			return one(params, func(i int) string {
				stored = slices.Delete(slices.Clone(stored), i, i+1)
				return `{"deleted":true}`
			})
		}})
	b.after = func(op string, params jsonv.Value) {
		if op == "delete_note" {
			stored = slices.DeleteFunc(stored, func(c jsonv.Value) bool { return jsonv.Equal(c.Lookup("note_id"), params.Lookup("note_id")) })
		}
	}
}

// Nested resources are created in things of the run's own, and a create that never
// succeeds leaves the report incomplete.
func TestNestedResources(t *testing.T) {
	t.Parallel()
	same := func(text string) string { return text }
	checkAll(t, map[string]planted{
		"sound":                {plant: func(b *store) { comments(b, same, false) }, row: "create-read", want: verdict.Pass, says: "!No case"},
		"drops four letters":   {plant: func(b *store) { comments(b, func(text string) string { return text[:len(text)-4] }, false) }, row: "create-read", want: verdict.Failed, says: "create_comment then get_comment", exit: verdict.ExitFailed},
		"never creates":        {plant: func(b *store) { comments(b, same, true) }, row: "create-read", want: verdict.Pass, says: "create_comment", exit: verdict.ExitWarned},
		"never creates a note": {plant: func(b *store) { b.quota = 0 }, row: "create-read", want: verdict.Skipped, says: "create_note", exit: verdict.ExitWarned},
	})
}

// limited lists the notes with a limit: the documented default, and the one that applies.
func limited(documented, applied int) func(b *store) {
	return func(b *store) {
		b.params = map[string]string{"list_entries": fmt.Sprintf(`[{"name":"limit","type":"integer","required":false,"minimum":1,"maximum":100,"default":%d,"description":"How many."}]`, documented)}
		b.extra = append(b.extra, smallOp{"list_entries", "READ", `[]`, func(params jsonv.Value) string {
			n := applied
			if v, ok := params.Lookup("limit").Int64(); ok {
				n = int(v)
			}
			var list []string
			for i := range min(n, 3) {
				list = append(list, fmt.Sprintf(`{"text":"entry %d"}`, i))
			}
			return `{"items":[` + strings.Join(list, ",") + `]}`
		}})
	}
}

// A default that is proved differs from its neighbors.
func TestDefaultsAreToldApart(t *testing.T) {
	t.Parallel()
	checkAll(t, map[string]planted{
		"the list is too short":         {plant: limited(50, 10), mode: guard.ModeSafe, row: "defaults", want: verdict.Skipped},
		"too short by one":              {plant: limited(3, 4), mode: guard.ModeSafe, row: "defaults", want: verdict.Skipped},
		"distinguished":                 {plant: limited(2, 2), mode: guard.ModeSafe, row: "defaults", want: verdict.Pass},
		"another one is applied":        {plant: limited(2, 3), mode: guard.ModeSafe, row: "defaults", want: verdict.Failed, exit: verdict.ExitFailed},
		"the smallest is distinguished": {plant: limited(1, 1), mode: guard.ModeSafe, row: "defaults", want: verdict.Pass},
		"the smallest is not applied":   {plant: limited(1, 2), mode: guard.ModeSafe, row: "defaults", want: verdict.Failed, exit: verdict.ExitFailed},
	})
}

// paged lists seven letters by cursors. from changes where a page begins, and size how
// many items it has.
func paged(from func(at, size int) int, moving bool) func(b *store) {
	calls, letters := 0, strings.Split("abcdefg", "")
	return func(b *store) {
		b.extra = append(b.extra, smallOp{"list_letters", "READ", `[{"name":"first","type":"integer","required":false,"description":"How many."},{"name":"after","type":"string","required":false,"description":"Behind which cursor."}]`, func(params jsonv.Value) string {
			if calls++; moving {
				letters = append([]string{fmt.Sprint("new", calls)}, letters...)
			}
			n, given := params.Lookup("first").Int64()
			at := 0
			if c := params.Lookup("after").Text(); c != "" {
				if !given {
					return failure("VALIDATION_INVALID_VALUE", "after needs first.")
				}
				at = from(slices.Index(letters, strings.TrimPrefix(c, "c-"))+1, int(n))
			}
			if !given {
				n = 100
			}
			page := letters[min(at, len(letters)):min(at+int(n), len(letters))]
			out := `{"items":[`
			for i, l := range page {
				out += strings.Repeat(",", min(i, 1)) + `{"letter":"` + l + `"}`
			}
			info := jsonv.ObjectOf("hasNextPage", at+len(page) < len(letters), "hasPreviousPage", at > 0)
			if len(page) > 0 {
				info = info.With("startCursor", jsonv.String("c-"+page[0])).With("endCursor", jsonv.String("c-"+page[len(page)-1]))
			}
			return out + `],"pageInfo":` + info.String() + `}`
		}})
	}
}

// Pages that skip or repeat an item fail.
func TestPagesThatSkipOrRepeat(t *testing.T) {
	t.Parallel()
	sound := func(at, _ int) int { return at }
	checkAll(t, map[string]planted{
		"sound":           {plant: paged(sound, false), mode: guard.ModeSafe, row: "pagination", want: verdict.Pass},
		"changes itself":  {plant: paged(sound, true), mode: guard.ModeSafe, row: "pagination", want: verdict.Pass},
		"skips":           {plant: paged(func(at, _ int) int { return at + 1 }, false), mode: guard.ModeSafe, row: "pagination", want: verdict.Failed, says: "skip"},
		"skips on longer": {plant: paged(func(at, size int) int { return at + min(size-1, 1) }, false), mode: guard.ModeSafe, row: "pagination", want: verdict.Failed, says: "skip"},
		"repeats":         {plant: paged(func(at, size int) int { return at - min(size-1, 1) }, false), mode: guard.ModeSafe, row: "pagination", want: verdict.Failed, says: "repeat"},
	})
}

// batches adds batches to a small adapter; code replaces that of its failures.
func batches(code string) func(s *small) {
	return func(s *small) {
		inner := *s
		s.answer = func(_ string, args jsonv.Value, _ func() string) string {
			list := args.Lookup("operations")
			if list.IsAbsent() {
				return ""
			}
			results, good := []string{}, 0
			for i, one := range list.Elems() {
				r := inner.usual("mcp_aql", one)
				if parsed(r).Lookup("success").Bool() {
					good++
				} else if code != "" {
					r = failure(code, "It failed.")
				}
				results = append(results, fmt.Sprintf(`{"index":%d,"operation":%s,"result":%s}`, i, one.Lookup("operation"), r))
			}
			return fmt.Sprintf(`{"success":true,"data":null,"results":[%s],"summary":{"total":%d,"succeeded":%d,"failed":%d}}`, strings.Join(results, ","), len(results), good, len(results)-good)
		}
	}
}

// A failure in a batch has the code that it has alone.
func TestErrorCodesInBatches(t *testing.T) {
	t.Parallel()
	checkAll(t, map[string]planted{
		"the same": {small: batches(""), level: 2, mode: guard.ModeSafe, row: "batch", want: verdict.Pass},
		"another":  {small: batches("INTERNAL_ERROR"), level: 2, mode: guard.ModeSafe, row: "batch", want: verdict.Failed, says: "INTERNAL_ERROR"},
	})
}

// An undocumented alias of an identifier is found.
func TestAliasesOfIdentifiers(t *testing.T) {
	t.Parallel()
	alias := func(answer func(note string) string) func(s *small) {
		return func(s *small) {
			inner := *s
			s.answer = func(op string, args jsonv.Value, _ func() string) string {
				params := args.Lookup("params")
				if id := params.Lookup("id"); op == "get_note" && !id.IsAbsent() && params.Lookup("note_id").IsAbsent() {
					return answer(inner.usual("mcp_aql", args.With("params", params.Without("id").With("note_id", id))))
				}
				return ""
			}
		}
	}
	checkAll(t, map[string]planted{
		"none":                 {mode: guard.ModeSafe, row: "completeness", want: verdict.Pass},
		"id for note_id":       {small: alias(func(note string) string { return note }), mode: guard.ModeSafe, row: "completeness", want: verdict.Failed, says: `accepts "id"`, exit: verdict.ExitFailed},
		"nothing without it":   {small: alias(func(string) string { return `{"success":true,"data":null}` }), mode: guard.ModeSafe, row: "completeness", want: verdict.Pass},
		"the first without it": {small: alias(func(string) string { return `{"success":true,"data":{"note_id":"0","title":"Welcome"}}` }), mode: guard.ModeSafe, row: "completeness", want: verdict.Pass},
	})
}

// Dates are recognized under keys with "on" and in local forms, and only dates are.
func TestDatesOfManyForms(t *testing.T) {
	t.Parallel()
	shows := func(key, value string) planted {
		return planted{plant: func(b *store) {
			b.extra = []smallOp{{"get_about", "READ", `[]`, data(`{"` + key + `":` + value + `}`)}}
		}, mode: guard.ModeSafe, row: "dates"}
	}
	list := map[string]planted{}
	for key, values := range map[string][]string{
		"modified_on": {`"11/23/2026"`, `"23.11.2026"`, `"11/23/2026 3:15 PM"`, `1795444374101`},
		"modifiedOn":  {`"11/23/2026"`}, "created_at": {`"23.11.2026"`, `"Mon Nov 23 2026 15:04:05"`, `1795444374`},
	} {
		for _, v := range values {
			p := shows(key, v)
			p.want, p.says, p.exit = verdict.Failed, key, verdict.ExitFailed
			list[key+" "+v] = p
		}
	}
	for key, v := range map[string]string{"modified_on": `"2026-11-23"`, "modifiedOn": `"2026-11-23T15:04:05Z"`} {
		p := shows(key, v)
		p.want = verdict.Pass
		list[key+" "+v] = p
	}
	for key, v := range map[string]string{"is_on": `true`, "depends_on": `"note 12"`, "runs_on": `"1/2"`, "switched_on": `3`} {
		p := shows(key, v)
		p.want = verdict.Skipped
		list[key+" "+v] = p
	}
	checkAll(t, list)
}

// Dates are recognized by their values under names that do not say so.
func TestDatesUnderOtherNames(t *testing.T) {
	t.Parallel()
	const free = `[{"name":"Note","kind":"object","fields":[{"name":"verified","type":"string","description":"Free text."}]}]`
	shows := func(types, key string, values ...string) planted {
		return planted{plant: func(b *store) {
			b.shape = func(s *small) { s.types = types }
			for i, v := range values {
				b.extra = append(b.extra, smallOp{fmt.Sprintf("get_about_%d", i), "READ", `[]`, data(`{"` + key + `":` + v + `}`)})
			}
		}, mode: guard.ModeSafe, row: "dates"}
	}
	list := map[string]planted{}
	add := func(name string, p planted, want verdict.Result) {
		p.want = want
		if want == verdict.Failed {
			p.says, p.exit = "_0 returns", verdict.ExitFailed
		}
		list[name] = p
	}
	for _, v := range []string{
		"25.06.2026", "6/25/2026", "25.06.2026 14:05", "25-06-2026", "2026/06/25", "25.06.26 14:05", "25 June 2026", "June 25, 2026", "25. Jun 2026",
		"Thu, 25 Jun 2026 10:00:00 GMT", "Thu Jun 25 2026 10:00:00 GMT+0200 (CEST)", "Thu Jun 25 10:00:00 2026", "6/25/2026, 2:05:00 PM",
	} {
		add(v, shows("", "verified", `"`+v+`"`), verdict.Failed)
	}
	add("last_seen", shows("", "last_seen", `"25.06.2026"`, `"2026-06-25"`), verdict.Failed)
	add("generated", shows("", "generated", `"25.06.2026"`, `null`, `""`), verdict.Failed)
	add("ISO 8601", shows("", "verified", `"2026-06-25"`, `"2026-06-25T10:00:00Z"`), verdict.Pass)
	add("a text elsewhere", shows("", "verified", `"25.06.2026"`, `"by hand"`), verdict.Skipped)
	add("a flag elsewhere", shows("", "verified", `"25.06.2026"`, `true`), verdict.Skipped)
	add("documented as free text", shows(free, "verified", `"25.06.2026"`), verdict.Skipped)
	add("a title", shows("", "title", `"25.06.2026"`), verdict.Skipped)
	for _, v := range []string{"1.2.26", "10.0.2026.1", "1/2", "45.13.2026", "due 25.06.2026", "25.06", "192.168.20.26", "May 2026 budget"} {
		add(v, shows("", "verified", `"`+v+`"`), verdict.Skipped)
	}
	checkAll(t, list)
}

// Tools may be named mcpaql; the name is warned about.
func TestToolsNamedMcpaql(t *testing.T) {
	t.Parallel()
	named := func(names ...string) func(s *small) { return func(s *small) { s.tools = names } }
	five := named("mcpaql_create", "mcpaql_read", "mcpaql_update", "mcpaql_delete", "mcpaql_execute")
	checkAll(t, map[string]planted{
		"five tools": {small: five, row: "tools", want: verdict.Warned, says: `"mcpaql_read"`},
		"routed":     {small: five, row: "routing", want: verdict.Pass, says: "!only one endpoint"},
		"one tool":   {small: named("mcpaql"), row: "tools", want: verdict.Warned, says: `"mcpaql"`},
		"the standard names": {
			small: named("mcp_aql_create", "mcp_aql_read", "mcp_aql_update", "mcp_aql_delete", "mcp_aql_execute"),
			row:   "tools", want: verdict.Pass,
		},
	})
}

// What a killed or puzzled run left behind is found again through its journal.
func TestCleanFindsWhatShowedUpLater(t *testing.T) {
	t.Parallel()
	same := func(sent string) string { return sent }
	for name, c := range map[string]struct {
		others  int
		answer  string
		lag     time.Duration
		title   func(sent string) string
		before  int // notes of the run after it
		left    int // and after the clean-up
		removed int
	}{
		"the response names nothing, and the note comes later": {0, `{"status":"queued"}`, time.Minute, same, 1, 0, 1},
		"the response names it, and the note comes later":      {0, "", time.Minute, same, 1, 0, 1},
		"it comes before the run ends":                         {3, `{"status":"queued"}`, 3 * time.Second, same, 0, 0, 0},
		"it lost the mark":                                     {3, `{"status":"queued"}`, 0, func(string) string { return "Untitled" }, 1, 1, 0},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			b := newStore(c.others)
			b.lag = c.lag
			b.create = func(params, note jsonv.Value) (string, bool) {
				b.made++
				note = note.With("title", jsonv.String(c.title(params.Lookup("title").Text())))
				b.notes = append(b.notes, note)
				return cmp.Or(c.answer, note.String()), false
			}
			synctest.Test(t, func(t *testing.T) {
				left := live.Left{RunID: "abc"}
				o := guard.Options{Spread: time.Millisecond, Dial: b.adapter().dial(t), Mode: guard.ModeWrite, RunID: "abc", Journal: func(e guard.JournalEntry) error {
					line, err := json.Marshal(e)
					var read guard.JournalEntry
					if err := json.Unmarshal(line, &read); err != nil {
						return err
					}
					if read.Created != "" {
						left.IDs = append(left.IDs, read)
					}
					return err
				}}
				e, err := live.Collect(context.Background(), o)
				if err != nil {
					t.Fatal(err)
				}
				if _, own := b.whole(); own != c.before || e.Live.Lookup("leftovers").Len() != c.before {
					t.Fatalf("%d are left, reported: %s", own, e.Live.Lookup("leftovers"))
				}
				time.Sleep(2 * c.lag)
				o.Journal = nil
				out, err := live.Clean(context.Background(), o, []live.Left{left})
				if whole, own := b.whole(); err != nil || whole != c.others || own != c.left || len(out.Removed) != c.removed {
					t.Errorf("%v: %d are whole, %d are left; %+v", err, whole, own, out)
				}
				if c.left > 0 && len(out.Failed) != 1 {
					t.Errorf("what stays is not named: %+v", out)
				}
			})
		})
	}
}

// An identifier that the user provides is used, and no thing of the run instead.
func TestValuesNameIdentifiers(t *testing.T) {
	t.Parallel()
	b := newStore(3)
	s := b.adapter()
	var named []string
	s.hears = func(args jsonv.Value) {
		if args.Lookup("operation").Text() == "update_note" {
			named = append(named, args.Lookup("params", "note_id").Text())
		}
	}
	collect(t, guard.Options{Mode: guard.ModeFull, Dial: s.dial(t), Values: parsed(`{"update_note":{"note_id":"2"}}`)})
	if len(named) == 0 || named[0] != "2" {
		t.Errorf("update_note was called with %q", named)
	}
}

// An update that ignores a field breaks a rule only if something documents the field as
// read-only; one that changes a field that the adapter assigned breaks it in any case.
func TestReadOnlyFields(t *testing.T) {
	t.Parallel()
	const born, documents = "2026-11-23T10:00:00Z", `[{"name":"note_id","type":"string","required":true,"description":"Which note."},` +
		`{"name":"input","type":"object","required":true,"description":"What changes; created_at is read-only."}]`
	ignores := func(stores bool, params map[string]string) planted {
		return planted{mode: guard.ModeWrite, level: rule.LevelTwo, row: "enforced", plant: func(b *store) {
			b.params = params
			b.create = func(_, note jsonv.Value) (string, bool) {
				b.made++
				note = note.With("created_at", jsonv.String(born))
				b.notes = append(b.notes, note)
				return note.String(), false
			}
			b.shape = func(s *small) {
				i := slices.IndexFunc(s.ops, func(op smallOp) bool { return op.name == "update_note" })
				update := s.ops[i].run
				s.ops[i].run = func(params jsonv.Value) string {
					input := params.Lookup("input")
					out := update(params.With("input", input.Without("created_at")))
					b.mu.Lock()
					defer b.mu.Unlock()
					if at := at(b.notes, params); stores && at >= 0 && !input.Lookup("created_at").IsAbsent() {
						b.notes[at] = b.notes[at].With("created_at", input.Lookup("created_at"))
					}
					return out
				}
			}
		}}
	}
	list := map[string]planted{}
	add := func(name string, p planted, want verdict.Result, says string) {
		p.want, p.says = want, says
		list[name] = p
	}
	said := map[string]string{"update_note": documents}
	add("ignored without a word", ignores(false, nil), verdict.Skipped, "!not refused")
	add("ignored as documented", ignores(false, said), verdict.Failed, "read-only created_at: not refused")
	add("changed without a word", ignores(true, nil), verdict.Failed, "read-only created_at: not refused")
	add("changed as documented", ignores(true, said), verdict.Failed, "read-only created_at: not refused")
	checkAll(t, list)
}

// A server that is no adapter is refused with the names that were looked for.
func TestServersWithoutAdapterTools(t *testing.T) {
	t.Parallel()
	for want, tools := range map[string]string{
		"the server has no tools": `{"tools":[]}`,
		"mcpaql or mcpaql_…":      `{"tools":[{"name":"echo","inputSchema":{"type":"object"}}]}`,
	} {
		s := shelf()
		dial := dialer(t, func(string) mcpserver.Handler {
			return mcpserver.HandlerFunc(func(_ context.Context, req *mcpserver.Request) *mcpserver.Reply {
				if req.Method == "tools/list" {
					return &mcpserver.Reply{Result: []byte(tools)}
				}
				return s.handle(req)
			})
		})
		if _, err := live.Collect(t.Context(), guard.Options{Dial: dial}); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v", want, err)
		}
	}
}
