package aql_test

import (
	"bytes"
	"context"
	"errors"
	"strings"
	"testing"

	"mcptest/internal/base/jsonv"
	"mcptest/internal/mcpaql/demo"
	"mcptest/internal/mcpaql/live"
	"mcptest/internal/mcpaql/live/guard"
	"mcptest/internal/mcpaql/verdict"
	"mcptest/internal/report/result"
	"mcptest/internal/server/mcpserver"
)

// A name in an option that fits nothing is refused where it forbids, and
// reported where it offers.
func TestUnknownNamesInOptions(t *testing.T) {
	t.Parallel()
	for _, o := range []guard.Options{{Deny: []string{"delete_bok"}}, {Allow: []string{"updat_book"}}, {AppendOnly: []string{"update_bok:title"}}} {
		var log bytes.Buffer
		o.Dial = library(t, demo.Options{Log: &log})
		_, err := live.Collect(context.Background(), o)
		var unknown *live.UnknownNameError
		if !errors.As(err, &unknown) || !strings.Contains(err.Error(), "_book") {
			t.Errorf("%v", err)
		}
		if strings.Contains(log.String(), `"operation":"list_books"`) {
			t.Error("something was called")
		}
	}
	values := jsonv.From(map[string]any{"get_book": map[string]any{"nope": 1}, "zz": map[string]any{"x": 1}, "*": map[string]any{"y": 1}})
	e := collect(t, guard.Options{Dial: library(t, demo.Options{}), Values: values})
	if got := e.Live.Lookup("notices"); got.Len() != 2 {
		t.Errorf("notices: %s", got)
	}
}

// Operations that are named like actions are not called in safe mode, and
// warned of.
func TestNamesOfActions(t *testing.T) {
	t.Parallel()
	acting := strings.Fields("kill_process get_and_delete_book list_books_and_purge rm_book reboot_server pay_invoice write_file format_disk forgetBook mark_read")
	reading := strings.Fields("list_deleted_books get_run book_count_by_year")
	const first = `{\"name\":\"list_books\"`
	dial := dialer(t, func(variant string) mcpserver.Handler {
		if variant != "" {
			return nil
		}
		return spoiled(t, demo.Options{}, func(_ int, req *mcpserver.Request, answer func() *mcpserver.Reply) *mcpserver.Reply {
			if !bytes.Contains(req.Params, []byte(`"query":"operations"`)) || bytes.Contains(req.Params, []byte(`"name":"list`)) {
				return nil
			}
			r := answer()
			var more strings.Builder
			for _, name := range append(acting, reading[:2]...) {
				more.WriteString(`{\"name\":\"` + name + `\",\"semantic_category\":\"READ\",\"endpoint\":\"READ\",\"description\":\"Reads.\"},`)
			}
			r.Result = []byte(strings.Replace(string(r.Result), first, more.String()+first, 1))
			return r
		})
	})
	e := collect(t, guard.Options{Dial: dial})
	why := map[string]string{}
	for _, s := range e.Live.Lookup("skipped").Elems() {
		why[s.Lookup("operation").Text()] = s.Lookup("reason").Text()
	}
	for _, name := range acting {
		if !strings.Contains(why[name], "named like an action") && !strings.Contains(why[name], "its name says so") {
			t.Errorf("%s: %q", name, why[name])
		}
	}
	for _, name := range reading[:2] {
		if strings.Contains(why[name], "named like") {
			t.Errorf("%s: %q", name, why[name])
		}
	}
	if row := rowsByID(judgeLive(e))["consistency"]; row.Result == verdict.Pass {
		t.Error("nothing warns")
	}
	plan, _, err := live.Plan(context.Background(), guard.Options{Dial: dial, Mode: guard.ModeFull})
	if err != nil {
		t.Fatal(err)
	}
	for _, p := range plan {
		if p.Operation == "pay_invoice" && len(p.Reasons) == 0 {
			t.Error("the plan does not warn")
		}
	}
}

// The report lists what a run leaves behind.
func TestLeftoversInTheReport(t *testing.T) {
	t.Parallel()
	dial := dialer(t, func(variant string) mcpserver.Handler {
		if variant != "" {
			return nil
		}
		return spoiled(t, demo.Options{}, func(_ int, req *mcpserver.Request, _ func() *mcpserver.Reply) *mcpserver.Reply {
			if bytes.Contains(req.Params, []byte(`"operation":"delete_book"`)) {
				return textReply(`{"success":false,"error":{"code":"PERMISSION_DENIED","message":"No."}}`)
			}
			return nil
		})
	})
	r := judgeLive(collect(t, guard.Options{Dial: dial, Mode: guard.ModeWrite}))
	if len(r.Leftovers) == 0 {
		t.Fatal("nothing is left")
	}
	said := false
	for k, err := range r.ConvertToRun(result.Tool{}).Cases.All() {
		if err != nil {
			t.Fatal(err)
		}
		said = said || strings.Contains(strings.Join(k.Warnings, "\n"), "left behind: create_book")
	}
	if !said {
		t.Error("the record does not say so")
	}
	for name, out := range map[string][]byte{"text": r.FormatText(), "markdown": r.FormatMarkdown()} {
		if !bytes.Contains(out, []byte("Left behind: create")) {
			t.Errorf("%s does not say so", name)
		}
	}
	if !bytes.Contains(r.FormatJSON(), []byte(`"leftovers"`)) {
		t.Error("the JSON does not say so")
	}
}
