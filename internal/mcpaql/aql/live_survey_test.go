package aql_test

import (
	"bytes"
	"context"
	"fmt"
	"strings"
	"sync/atomic"
	"testing"

	"mcptest/internal/base/jsonv"
	"mcptest/internal/mcpaql/demo"
	"mcptest/internal/mcpaql/live/catalog"
	"mcptest/internal/mcpaql/live/guard"
	"mcptest/internal/server/mcpserver"
)

// A create that writes over something older makes it carry the run's mark. It
// is not the run's own for that, on whichever page of its list it stood.
func TestOlderThingsOnLaterPages(t *testing.T) {
	t.Parallel()
	state := t.TempDir() + "/library.json"
	a, err := demo.New(demo.Options{State: state})
	if err != nil {
		t.Fatal(err)
	}
	call := func(tool, args string) jsonv.Value {
		r := a.Handle(context.Background(), &mcpserver.Request{Method: "tools/call", Params: []byte(`{"name":"` + tool + `","arguments":` + args + `}`)})
		v, err := jsonv.Parse(r.Result)
		if err != nil {
			t.Errorf("%s: %v", args, err)
			return v
		}
		env, _ := jsonv.Parse([]byte(v.Lookup("content").At(0).Lookup("text").Text()))
		return env.Lookup("data")
	}
	var last string
	for i := range 130 {
		made := call("mcp_aql_create", fmt.Sprintf(`{"operation":"create_book","params":{"title":"Old %d","author":"A"}}`, i))
		last = made.Lookup("book_id").Text() + made.Lookup("book", "book_id").Text() + made.Lookup("id").Text()
	}
	if last == "" {
		t.Fatal("nothing was created: the test proves nothing")
	}
	var overwritten, touched atomic.Int64
	dial := dialer(t, func(variant string) mcpserver.Handler {
		if variant != "" {
			return nil
		}
		return mcpserver.HandlerFunc(func(ctx context.Context, req *mcpserver.Request) *mcpserver.Reply {
			v, _ := jsonv.Parse(req.Params)
			args := v.Lookup("arguments")
			op := args.Lookup("operation").Text()
			if strings.HasSuffix(op, "e_book") && op != "create_book" && args.Lookup("params", "book_id").Text() == last {
				touched.Add(1)
			}
			title := args.Lookup("params", "title").Text()
			if op != "create_book" || !strings.HasPrefix(title, catalog.MakeMarker("")) {
				return a.Handle(ctx, req)
			}
			overwritten.Add(1)
			call("mcp_aql_update", `{"operation":"update_book","params":{"book_id":"`+last+`","input":{"title":"`+title+`"}}}`)
			return textReply(`{"success":true,"data":{"book_id":"` + last + `","title":"` + title + `"}}`)
		})
	})
	collect(t, guard.Options{Dial: dial, Mode: guard.ModeWrite, RunID: "abc"})
	if overwritten.Load() == 0 {
		t.Error("nothing was written over: the test proves nothing")
	}
	if touched.Load() > 0 {
		t.Errorf("what was there before was changed or removed %d times", touched.Load())
	}
	if call("mcp_aql_read", `{"operation":"get_book","params":{"book_id":"`+last+`"}}`).Len() == 0 {
		t.Error("it is gone")
	}
}

// Where a delete was refused, nothing more is created that would be left.
func TestNothingIsCreatedAfterARefusedDelete(t *testing.T) {
	t.Parallel()
	for _, code := range []string{"PERMISSION_DENIED", "FORBIDDEN"} {
		t.Run(code, func(t *testing.T) {
			var refused, after, before atomic.Int64
			dial := dialer(t, func(variant string) mcpserver.Handler {
				if variant != "" {
					return nil
				}
				return spoiled(t, demo.Options{}, func(_ int, req *mcpserver.Request, answer func() *mcpserver.Reply) *mcpserver.Reply {
					switch {
					case bytes.Contains(req.Params, []byte(`"operation":"delete_book","params":{"book_id":"book_`)):
						refused.Add(1)
						return textReply(`{"success":false,"error":{"code":"` + code + `","message":"No."}}`)
					case bytes.Contains(req.Params, []byte(`"operation":"create_book"`)):
						r := answer()
						if bytes.Contains(r.Result, []byte(`\"success\":true`)) {
							if refused.Load() > 0 {
								after.Add(1)
							}
							before.Add(1)
						}
						return r
					}
					return nil
				})
			})
			e := collect(t, guard.Options{Dial: dial, Mode: guard.ModeWrite})
			if refused.Load() == 0 || before.Load() == 0 {
				t.Fatal("nothing was refused: the test proves nothing")
			}
			if after.Load() > 0 {
				t.Errorf("%d of %d were created after a delete was refused", after.Load(), before.Load())
			}
			if n := e.Live.Lookup("leftovers").Len(); int64(n) != before.Load() {
				t.Errorf("%d of %d are reported", n, before.Load())
			}
		})
	}
}
