package aql_test

import (
	"bytes"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"mcptest/internal/base/jsonv"
	"mcptest/internal/mcpaql/demo"
	"mcptest/internal/mcpaql/live/guard"
	"mcptest/internal/mcpaql/verdict"
	"mcptest/internal/server/mcpserver"
)

// An answer to a create that names something older does not make it the
// run's own: it is neither changed nor removed.
func TestCreateResponsesThatNameExistingItems(t *testing.T) {
	t.Parallel()
	first := func(id string) string { return `{"id":"` + id + `","title":"Dune","shelf_id":"shelf_1"}` }
	for name, spoil := range map[string]func(answer func() *mcpserver.Reply) *mcpserver.Reply{
		"answers what exists and creates nothing": func(func() *mcpserver.Reply) *mcpserver.Reply {
			return textReply(`{"success":true,"data":` + first("book_1") + `}`)
		},
		"creates, and names another in addition": func(answer func() *mcpserver.Reply) *mcpserver.Reply {
			r := answer()
			v, err := jsonv.Parse(r.Result)
			if err != nil {
				return r
			}
			env, err := jsonv.Parse([]byte(v.Lookup("content").At(0).Lookup("text").Text()))
			if err != nil || !env.Lookup("success").Bool() {
				return r
			}
			data := env.Lookup("data").Append(nil)
			return textReply(`{"success":true,"data":{"id":"book_1","book":` + string(data) + `}}`)
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			state := t.TempDir() + "/library.json"
			if _, err := demo.New(demo.Options{State: state}); err != nil {
				t.Fatal(err)
			}
			before, _ := itemsIn(t, state)
			var log bytes.Buffer
			dial := dialer(t, func(variant string) mcpserver.Handler {
				if variant != "" {
					return nil
				}
				return spoiled(t, demo.Options{State: state, Log: &log}, func(_ int, req *mcpserver.Request, answer func() *mcpserver.Reply) *mcpserver.Reply {
					if bytes.Contains(req.Params, []byte(`"create_book"`)) && !bytes.Contains(req.Params, []byte(`"introspect"`)) {
						return spoil(answer)
					}
					return nil
				})
			})
			e := collect(t, guard.Options{Dial: dial, Mode: guard.ModeWrite, RunID: "abc"})
			for line := range strings.Lines(log.String()) {
				if (strings.Contains(line, "update_book") || strings.Contains(line, "delete_book")) && strings.Contains(line, `"book_1"`) {
					t.Errorf("touched: %s", line)
				}
			}
			after, _ := itemsIn(t, state)
			if diff := cmp.Diff(before, after); diff != "" {
				t.Error(diff)
			}
			row := rowsByID(judgeLive(e))
			if strings.HasPrefix(name, "answers") {
				if row["create-read"].Result != verdict.Failed || row["consistency"].Result != verdict.Warned {
					t.Errorf("create-read %s, consistency %s: %s", row["create-read"].Result, row["consistency"].Result, row["consistency"].Detail)
				}
				return
			}
			if left := markedIn(t, state); len(left) > 0 || row["create-read"].Result != verdict.Pass {
				t.Errorf("left %v, create-read %s", left, row["create-read"].Detail)
			}
		})
	}
}

// A create that the run leaves out is reported with the reason that is true.
func TestWhyCreatesAreLeftOut(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		deny []string
		edit func(string) string
		want string
	}{
		"the delete is denied": {[]string{"delete_book"}, nil, "delete_book is denied by --deny-op, so what it creates would remain"},
		"the delete is dangerous": {nil, func(s string) string {
			return strings.ReplaceAll(s, `\"mcpTool\":\"mcp_aql_delete\"`, `\"danger\":{\"level\":3},\"mcpTool\":\"mcp_aql_delete\"`)
		}, "delete_book is only called when --allow-op names it, so what it creates would remain"},
		"the delete takes no id": {nil, func(s string) string {
			return strings.ReplaceAll(s, `{\"name\":\"book_id\",\"type\":\"string\",\"required\":true`, `{\"name\":\"book_id\",\"type\":\"string\",\"required\":false`)
		}, "delete_book requires no identifier, so what it creates would remain"},
		"there is no delete": {nil, func(s string) string { return strings.ReplaceAll(s, "delete_book", "count_book") }, "no DELETE operation of its resource was found, so what it creates would remain"},
	} {
		t.Run(name, func(t *testing.T) {
			dial := dialer(t, func(variant string) mcpserver.Handler {
				if variant != "" {
					return nil
				}
				return spoiled(t, demo.Options{}, func(_ int, req *mcpserver.Request, answer func() *mcpserver.Reply) *mcpserver.Reply {
					if c.edit == nil || !bytes.Contains(req.Params, []byte(`"introspect"`)) {
						return nil
					}
					r := answer()
					r.Result = []byte(c.edit(string(r.Result)))
					return r
				})
			})
			e := collect(t, guard.Options{Dial: dial, Mode: guard.ModeWrite, Deny: c.deny})
			for _, s := range e.Live.Lookup("skipped").Elems() {
				if s.Lookup("operation").Text() == "create_book" {
					if got := s.Lookup("reason").Text(); !strings.HasPrefix(got, c.want) {
						t.Errorf("%q", got)
					}
					return
				}
			}
			t.Errorf("create_book was called: %s", e.Live.Lookup("skipped"))
		})
	}
}

// What a delete refuses because it is gone already is not left behind.
func TestRemovedItemsAreNotLeftovers(t *testing.T) {
	t.Parallel()
	for _, code := range []string{"BOOK_NOT_FOUND", "GONE"} {
		dial := dialer(t, func(variant string) mcpserver.Handler {
			if variant != "" {
				return nil
			}
			return spoiled(t, demo.Options{}, func(_ int, req *mcpserver.Request, answer func() *mcpserver.Reply) *mcpserver.Reply {
				r := answer()
				if bytes.Contains(req.Params, []byte(`"operation":"delete_book","params":{"book_id":"book_`)) {
					return textReply(`{"success":false,"error":{"code":"` + code + `","message":"It is gone."}}`)
				}
				return r
			})
		})
		e := collect(t, guard.Options{Dial: dial, Mode: guard.ModeWrite})
		if left := e.Live.Lookup("leftovers"); left.Len() > 0 {
			t.Errorf("%s: left behind: %s", code, left)
		}
	}
}
