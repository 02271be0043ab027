package aql_test

import (
	"bytes"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"mcptest/internal/aql"
	"mcptest/internal/aql/demo"
	"mcptest/internal/jsonv"
	"mcptest/internal/mcp"
)

// An answer to a create that names something older does not make it the
// run's own: it is neither changed nor removed.
func TestAnswersThatNameOlderThings(t *testing.T) {
	first := func(id string) string { return `{"id":"` + id + `","title":"Dune","shelf_id":"shelf_1"}` }
	for name, spoil := range map[string]func(answer func() *mcp.Reply) *mcp.Reply{
		"answers what exists and creates nothing": func(func() *mcp.Reply) *mcp.Reply {
			return textReply(`{"success":true,"data":` + first("book_1") + `}`)
		},
		"creates, and names another beside it": func(answer func() *mcp.Reply) *mcp.Reply {
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
			dial := dialer(t, func(variant string) mcp.Handler {
				if variant != "" {
					return nil
				}
				return spoiled(t, demo.Options{State: state, Log: &log}, func(_ int, req *mcp.Request, answer func() *mcp.Reply) *mcp.Reply {
					if bytes.Contains(req.Params, []byte(`"create_book"`)) && !bytes.Contains(req.Params, []byte(`"introspect"`)) {
						return spoil(answer)
					}
					return nil
				})
			})
			e := collect(t, aql.LiveOptions{Dial: dial, Mode: aql.ModeWrite, RunID: "abc"})
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
				if row["create-read"].Result != aql.Failed || row["consistency"].Result != aql.Warned {
					t.Errorf("create-read %s, consistency %s: %s", row["create-read"].Result, row["consistency"].Result, row["consistency"].Detail)
				}
				return
			}
			if left := markedIn(t, state); len(left) > 0 || row["create-read"].Result != aql.Pass {
				t.Errorf("left %v, create-read %s", left, row["create-read"].Detail)
			}
		})
	}
}
