package aql_test

import (
	"bytes"
	"context"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"mcptest/internal/base/jsonv"
	"mcptest/internal/cli/cmdutil"
	"mcptest/internal/mcpaql/aql"
	"mcptest/internal/mcpaql/aqlcli"
	"mcptest/internal/mcpaql/evidence"
	"mcptest/internal/mcpaql/live/guard"
	"mcptest/internal/mcpaql/rule"
	"mcptest/internal/mcpaql/verdict"
	"mcptest/internal/server/mcpserver"
)

// commandLine serves an adapter over HTTP, and returns what runs the program against it.
func commandLine(t *testing.T, s small) func(args ...string) (out, errs string, code int) {
	t.Helper()
	inner := mcpserver.NewHTTPServer(func() mcpserver.Handler {
		return mcpserver.HandlerFunc(func(_ context.Context, req *mcpserver.Request) *mcpserver.Reply { return s.handle(req) })
	})
	srv := httptest.NewServer(inner)
	t.Cleanup(func() { srv.Close(); inner.Close() })
	journal := t.TempDir()
	return func(args ...string) (string, string, int) {
		var out, errs bytes.Buffer
		code := aqlcli.Main(append([]string{"live", "--url", srv.URL, "--journal", journal}, args...), cmdutil.Streams{In: strings.NewReader(""), Out: &out, Err: &errs})
		return out.String(), errs.String(), code
	}
}

// What a success leaves behind, because no list shows it yet, is reported, and --clean
// finds it.
func TestCleanOnTheCommandLine(t *testing.T) {
	t.Parallel()
	b := newStore(0)
	b.lag = time.Hour
	run := commandLine(t, b.adapter())
	out, errs, code := run("--mode", "write")
	if _, own := b.whole(); own == 0 || !strings.Contains(errs, "left behind: create_note") || !strings.Contains(out, "Left behind: ") || code == verdict.ExitPassed {
		t.Fatalf("%d are left, exit code %d\n%s\n%s", own, code, out, errs)
	}
	b.mu.Lock()
	b.lag = 0
	b.mu.Unlock()
	out, errs, code = run("--clean")
	if _, own := b.whole(); own > 0 || code != verdict.ExitPassed || !strings.Contains(out, "removed: delete_note ") {
		t.Errorf("%d are left, exit code %d\n%s\n%s", own, code, out, errs)
	}
	if out, _, code := run("--clean"); code != verdict.ExitPassed || !strings.Contains(out, "Nothing to clean up") {
		t.Errorf("exit code %d\n%s", code, out)
	}
}

// Where the run may create notes, READ operations are called with its own.
func TestReadsGetTheRunsOwn(t *testing.T) {
	t.Parallel()
	planted{row: "create-read", want: verdict.Pass, called: func(t *testing.T, params map[string][]jsonv.Value) {
		if len(params["get_note"]) == 0 {
			t.Error("get_note was not called")
		}
		for _, p := range params["get_note"] {
			if id := p.Lookup("note_id").Text(); id == "1" || id == "2" || id == "3" {
				t.Errorf("get_note was called with %q", id)
			}
		}
	}}.check(t)
}

// Each of these parameters controls the call, and is not expected to be stored.
func TestEveryCallControl(t *testing.T) {
	t.Parallel()
	params := `[` + oneTitle
	for _, name := range []string{"idempotency_key", "dry_run", "validate_only", "force", "overwrite", "notify", "return_fields", "return_representation"} {
		typ := map[bool]string{true: "string", false: "boolean"}[name == "idempotency_key"]
		params += `,{"name":"` + name + `","type":"` + typ + `","required":false,"description":"Of the call."}`
	}
	planted{plant: with("create_note", params+`]`), row: "create-read", want: verdict.Pass}.check(t)
}

// The key of a secret hides no date that is none.
func TestDatesUnderKeysOfSecrets(t *testing.T) {
	t.Parallel()
	planted{plant: func(b *store) {
		b.extra = []smallOp{{"get_about", "READ", `[]`, data(`{"credentials":{"created_at":1795444374}}`)}}
	}, mode: guard.ModeSafe, row: "dates", want: verdict.Failed, says: "created_at", exit: verdict.ExitFailed}.check(t)
}

// A report does not advise the mode that it was made in, and counts the operations that
// it compares.
func TestReportsAgreeWithTheirMode(t *testing.T) {
	t.Parallel()
	run := commandLine(t, newStore(3).adapter())
	out, errs, code := run("--mode", "write", "--level", "2", "--format", "json")
	if strings.Contains(out+errs, "--mode write") || code == verdict.ExitFailed {
		t.Errorf("exit code %d\n%s\n%s", code, out, errs)
	}
	if n, _ := parsed(out).Lookup("coverage", "operations_total").Int64(); n != 6 {
		t.Errorf("%d operations, expected 6", n)
	}
	e := &evidence.Evidence{OperationDetails: []jsonv.Value{parsed(`{"name":"get_note"}`), parsed(`{"name":"list_notes"}`), parsed(`{"name":"list_notes"}`)}}
	if n := aql.Evaluate(e, aql.Options{Rules: rule.Strict}).Coverage.OperationsTotal; n != 2 {
		t.Errorf("%d operations of two details", n)
	}
}
