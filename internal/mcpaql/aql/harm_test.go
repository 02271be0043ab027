package aql_test

import (
	"bytes"
	"context"
	"fmt"
	"math/rand/v2"
	"os"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"mcptest/internal/base/jsonv"
	"mcptest/internal/base/testkit"
	"mcptest/internal/client/mcp"
	"mcptest/internal/client/wire"
	"mcptest/internal/mcpaql/demo"
	"mcptest/internal/mcpaql/evidence"
	"mcptest/internal/mcpaql/live/guard"
	"mcptest/internal/mcpaql/verdict"
	"mcptest/internal/server/mcpserver"
)

// whatOthersOwn runs live against a library and returns a difference in what
// the run did not create, with the evidence.
func whatOthersOwn(t *testing.T, o demo.Options, lo guard.Options) (diff string, e *evidence.Evidence) {
	t.Helper()
	o.State = t.TempDir() + "/library.json"
	if _, err := demo.New(o); err != nil { // writes the file
		t.Fatal(err)
	}
	before, _ := itemsIn(t, o.State)
	lo.Dial, lo.Follow = library(t, o), 100*time.Millisecond
	e = collect(t, lo)
	after, ours := itemsIn(t, o.State)
	// An update that replaces a thing takes its kind away: no list shows it then.
	if left := e.Live.Lookup("leftovers"); left.Len() < ours && !slices.Contains(o.Defects, "update-replaces") {
		t.Errorf("%d things are left, and the run tells of %s", ours, left)
	}
	return cmp.Diff(before, after), e
}

// The ways of a library to lose the data of others: an operation acts on everything
// unless it is given a target. No call of a run may set one off.
var hazards = strings.Fields("update-unnamed update-mistyped update-unknown delete-unnamed delete-mistyped delete-unknown " +
	"create-known create-lies decide-unnamed") // mistyped: not a text, or empty; unknown: the newest is taken instead

// hazardous returns what spoils the items of a library when a call sets off one of
// the hazards.
func hazardous(on []string) func(demo.Call) ([]jsonv.Value, bool) {
	return func(c demo.Call) ([]jsonv.Value, bool) {
		kind := ""
		v, given := c.Params.Get(c.Key)
		switch {
		case c.Verb == "create" && c.ByName && slices.Contains(on, "create-lies"):
			return c.Items, true
		case c.Verb == "create" && c.At >= 0 && c.ByName:
			kind = "known"
		case c.Verb == "create":
		case !given:
			kind = "unnamed"
		case v.Text() == "":
			kind = "mistyped"
		case c.At < 0:
			kind = "unknown"
		}
		if kind == "" || !slices.Contains(on, c.Verb+"-"+kind) {
			return nil, false
		}
		from, to := 0, len(c.Items)
		switch {
		case kind == "known":
			from, to = c.At, c.At+1
		case kind == "unknown" && to > 0:
			from = to - 1
		}
		for i := from; i < to; i++ {
			c.Items[i] = c.Items[i].With("spoilt_by", jsonv.String(c.Operation))
		}
		if c.Verb == "delete" {
			return slices.Delete(c.Items, from, to), true
		}
		return c.Items, true
	}
}

// The hazards are ones: without the run's care they lose the data of others.
func TestHazardsAreHazards(t *testing.T) {
	t.Parallel()
	for name, call := range map[string]string{
		"update-unnamed": `{"operation":"update_book","params":{"input":{}}}`, "update-mistyped": `{"operation":"update_book","params":{"book_id":7}}`,
		"update-unknown": `{"operation":"update_book","params":{"book_id":"none"}}`, "delete-unnamed": `{"operation":"delete_book","params":{}}`,
		"delete-mistyped": `{"operation":"delete_book","params":{"book_id":""}}`, "delete-unknown": `{"operation":"delete_book","params":{"book_id":"none"}}`,
		"create-known": `{"operation":"create_setting","params":{"name":"opening"}}`, "decide-unnamed": `{"operation":"approve_request","params":{}}`,
	} {
		o := demo.Options{State: t.TempDir() + "/library.json", Before: hazardous([]string{name}), Features: []string{"requests", "settings"}}
		a, err := demo.New(o)
		if err != nil {
			t.Fatal(err)
		}
		before, _ := itemsIn(t, o.State)
		if name == "create-known" {
			call = strings.Replace(call, "opening", fmt.Sprint(before["setting"][0]["name"]), 1)
		}
		a.Handle(context.Background(), &mcpserver.Request{Method: "tools/call", Params: []byte(`{"name":"mcp_aql","arguments":` + call + `}`)})
		if after, _ := itemsIn(t, o.State); cmp.Equal(before, after) {
			t.Errorf("%s: %s changes nothing", name, call)
		}
	}
}

// No call of a run sets off an operation that acts on everything when it is
// not reported on what.
func TestHazardsAreNotTriggered(t *testing.T) {
	t.Parallel()
	for i, h := range hazards {
		for j, adapter := range []string{demo.ModeAll, demo.ModeSingle} {
			for k, mode := range []string{guard.ModeWrite, guard.ModeFull} {
				if !testkit.Deep() && i%4 != 2*j+k {
					continue // each hazard once
				}
				t.Run(h+" "+adapter+" "+mode, func(t *testing.T) {
					on := []string{h}
					if h == "create-lies" {
						on = append(on, "update-unknown", "delete-unknown")
					}
					if diff, _ := whatOthersOwn(t, demo.Options{Before: hazardous(on), Mode: adapter, Features: hazardFeatures(on, "keys")}, guard.Options{Mode: mode}); diff != "" {
						t.Error(diff)
					}
				})
			}
		}
	}
}

// hazardFeatures adds the collections that hazards need to features.
func hazardFeatures(on []string, features ...string) []string {
	for hazard, f := range map[string]string{"decide-unnamed": "requests", "create-known": "settings"} {
		if slices.Contains(on, hazard) {
			features = append(features, f)
		}
	}
	return features
}

// randomRuns is how many libraries with random hazards, defects and features
// are tried.
const randomRuns = 50

// No defect of an adapter makes a run change what others own.
func TestRandomRunsHarmNothing(t *testing.T) {
	t.Parallel()
	// Defects that a run cannot help: reading a book changes it.
	unfit := []string{"reading-writes"}
	for seed := range uint64(randomRuns) {
		if (raceEnabled || !testkit.Deep()) && seed%10 != 0 {
			continue
		}
		r := rand.New(rand.NewPCG(seed, 12))
		var o demo.Options
		var on []string
		for _, h := range hazards {
			if r.IntN(2) == 0 {
				on = append(on, h)
			}
		}
		o.Before, o.Features = hazardous(on), hazardFeatures(on)
		for _, f := range demo.Features() {
			if r.IntN(3) == 0 {
				o.Features = append(o.Features, f.Name)
			}
		}
		for range r.IntN(4) {
			if d := demo.Defects()[r.IntN(len(demo.Defects()))].Name; !slices.Contains(unfit, d) {
				o.Defects = append(o.Defects, d)
			}
		}
		o.Mode = demo.Modes()[r.IntN(len(demo.Modes()))]
		live := guard.Options{Mode: []string{guard.ModeWrite, guard.ModeFull}[r.IntN(2)], Confirm: r.IntN(2) == 0, Stress: r.IntN(4) == 0}
		t.Run(fmt.Sprint(seed), func(t *testing.T) {
			if diff, _ := whatOthersOwn(t, o, live); diff != "" {
				t.Errorf("hazards %v, defects %v, features %v, mode %s, live %s:\n%s", on, o.Defects, o.Features, o.Mode, live.Mode, diff)
			}
		})
	}
}

// interfering serves a library in which something else happens whenever an
// operation is called. rest is how the library answers a call of its own.
func interfering(t *testing.T, o demo.Options, happens func(op string, rest func(tool, args string))) func(context.Context, string) (*mcp.Session, error) {
	a, err := demo.New(o)
	if err != nil {
		t.Fatal(err)
	}
	rest := func(tool, args string) {
		a.Handle(context.Background(), &mcpserver.Request{Method: "tools/call", Params: []byte(`{"name":"` + tool + `","arguments":` + args + `}`)})
	}
	return dialer(t, func(variant string) mcpserver.Handler {
		if variant != "" {
			return nil
		}
		return mcpserver.HandlerFunc(func(ctx context.Context, req *mcpserver.Request) *mcpserver.Reply {
			v, _ := jsonv.Parse(req.Params)
			happens(v.Lookup("arguments", "operation").Text(), rest)
			return a.Handle(ctx, req)
		})
	})
}

// What differs at the end of a run and is not the run's own is the first line
// of the report, and the exit code is 1.
func TestForeignChangesAreReported(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct{ tool, args, says string }{
		"removed": {"mcp_aql_delete", `{"operation":"delete_shelf","params":{"shelf_id":"shelf_4"}}`, "list_shelves no longer shows shelf_4"},
		"changed": {"mcp_aql_update", `{"operation":"update_book","params":{"book_id":"book_1","input":{"author":"N. N."}}}`, "list_books shows book_1 with another author"},
		"added":   {"mcp_aql_create", `{"operation":"create_shelf","params":{"name":"East"}}`, ", which was not there before"},
	} {
		t.Run(name, func(t *testing.T) {
			done := false
			dial := interfering(t, demo.Options{}, func(op string, rest func(tool, args string)) {
				if op == "delete_book" && !done {
					done = true
					rest(c.tool, c.args)
				}
			})
			r := judgeLive(collect(t, guard.Options{Dial: dial, Mode: guard.ModeWrite}))
			for _, text := range []string{string(r.FormatText()), string(r.FormatMarkdown())} {
				if first, _, _ := strings.Cut(text, "\n"); !strings.Contains(first, "DATA CHANGED that this run did not create: ") || !strings.Contains(strings.ReplaceAll(first, `\`, ""), c.says) {
					t.Errorf("the report begins with %q", first)
				}
			}
			if r.ExitCode != verdict.ExitFailed || r.AchievedLevel != 0 || !strings.Contains(string(r.FormatJSON()), c.says) || r.Claim() != "" {
				t.Errorf("exit %d, achieved %d", r.ExitCode, r.AchievedLevel)
			}
		})
	}
}

// A log that every call adds to, and a counter of reads, change by themselves.
func TestValuesThatChangeByThemselves(t *testing.T) {
	t.Parallel()
	n := 0
	dial := interfering(t, demo.Options{}, func(op string, rest func(tool, args string)) {
		if n++; strings.HasPrefix(op, "list_") || strings.HasPrefix(op, "get_") {
			rest("mcp_aql_create", fmt.Sprintf(`{"operation":"create_shelf","params":{"name":"entry %d"}}`, n))
		}
	})
	e := collect(t, guard.Options{Dial: dial, Mode: guard.ModeWrite})
	r := judgeLive(e)
	if row := rowsByID(r)["consistency"]; row.Result != verdict.Pass {
		t.Errorf("consistency is %s: %s", row.Result, row.Detail)
	}
	if len(r.Changed) > 0 || !strings.Contains(string(r.FormatText()), "Not compared with the state before the run: list_shelves changes by itself") {
		t.Errorf("%s", r.FormatText())
	}
	clock := dialer(t, func(string) mcpserver.Handler {
		return spoiled(t, demo.Options{}, func(_ int, req *mcpserver.Request, answer func() *mcpserver.Reply) *mcpserver.Reply {
			if !bytes.Contains(req.Params, []byte(`"list_shelves"`)) || bytes.Contains(req.Params, []byte(`"introspect"`)) {
				return nil
			}
			r := answer()
			r.Result = bytes.ReplaceAll(r.Result, []byte(`\"North\"`), []byte(`\"North, seen at `+time.Now().Format(time.TimeOnly)+`\"`))
			return r
		})
	})
	e = collect(t, guard.Options{Dial: clock, Mode: guard.ModeWrite, Rate: 200}) // so that it takes more than a second
	if r := judgeLive(e); rowsByID(r)["consistency"].Result != verdict.Pass || len(r.Changed) > 0 {
		t.Errorf("a clock: %s", r.FormatText())
	}
	e = collect(t, guard.Options{Dial: library(t, demo.Options{Defects: []string{"reading-writes"}}), Mode: guard.ModeWrite})
	if r := judgeLive(e); len(r.Changed) > 0 || len(r.Unchecked) > 0 {
		t.Errorf("%s", r.FormatText())
	}
}

// What a probe without the run's mark made is removed where its list shows
// it, and reported where nothing does; nothing more of it is created then.
func TestUnmarkedThings(t *testing.T) {
	t.Parallel()
	careless := func(o demo.Options, answer string) (*evidence.Evidence, string) {
		o.State = t.TempDir() + "/library.json"
		a, err := demo.New(o)
		if err != nil {
			t.Fatal(err)
		}
		e := collect(t, guard.Options{Mode: guard.ModeWrite, Dial: dialer(t, func(variant string) mcpserver.Handler {
			if variant != "" {
				return nil
			}
			return mcpserver.HandlerFunc(func(ctx context.Context, req *mcpserver.Request) *mcpserver.Reply {
				v, _ := jsonv.Parse(req.Params)
				args := v.Lookup("arguments")
				if _, named := args.Lookup("params").Get("name"); args.Lookup("operation").Text() != "create_shelf" || named && answer == "" {
					return a.Handle(ctx, req)
				}
				// A shelf without its name gets one; so does every shelf where the answer is of no use.
				params := args.Lookup("params").Without("name").Without("room").With("name", jsonv.String("Unnamed"))
				r := a.Handle(ctx, &mcpserver.Request{Method: "tools/call", Params: v.With("arguments", args.With("params", params)).Append(nil)})
				if answer != "" {
					return textReply(answer)
				}
				return r
			})
		})})
		data, err := os.ReadFile(o.State)
		if err != nil {
			t.Fatal(err)
		}
		return e, string(data)
	}
	e, state := careless(demo.Options{}, "")
	if strings.Contains(state, "Unnamed") || e.Live.Lookup("leftovers").Len() > 0 {
		t.Errorf("left: %s\n%s", e.Live.Lookup("leftovers"), state)
	}
	if row := rowsByID(judgeLive(e))["required"]; row.Result != verdict.Failed {
		t.Errorf("required is %s: %s", row.Result, row.Detail)
	}
	e, state = careless(demo.Options{}, `{"success":true,"data":{"created":true}}`)
	left := e.Live.Lookup("leftovers").String()
	if strings.Count(state, "Unnamed") != 1 || !strings.Contains(left, "does not carry the run's mark") || len(judgeLive(e).Changed) > 0 {
		t.Errorf("left: %s\n%s", left, state)
	}
}

// An adapter that forgets what it had when it is started anew, and gives the
// same identifiers again, loses nothing of others.
func TestIdentifiersGivenAgain(t *testing.T) {
	t.Parallel()
	starts := 0
	var theirs *demo.Adapter
	dial := func(ctx context.Context, variant string) (*mcp.Session, error) {
		if variant != "" {
			return nil, nil
		}
		a, err := demo.New(demo.Options{})
		if err != nil {
			return nil, err
		}
		if starts++; starts == 2 {
			theirs = a
			for range 40 { // somebody else has those identifiers now
				a.Handle(ctx, &mcpserver.Request{Method: "tools/call", Params: []byte(`{"name":"mcp_aql_create","arguments":{"operation":"create_book","params":{"title":"Theirs"}}}`)})
			}
		}
		first := starts == 1
		client, server := wire.NewPipe()
		h := mcpserver.HandlerFunc(func(ctx context.Context, req *mcpserver.Request) *mcpserver.Reply {
			if bytes.Contains(req.Params, []byte(`"operation":"update_book"`)) && first {
				_ = server.Close()
			}
			return a.Handle(ctx, req)
		})
		go func() { _ = mcpserver.ServeStdio(context.Background(), server, server, h) }()
		return mcp.Open(ctx, client, mcp.Options{ConnectTimeout: 5 * time.Second})
	}
	collect(t, guard.Options{Dial: dial, Mode: guard.ModeWrite})
	if theirs == nil {
		t.Fatal("the adapter was not started again: the test proves nothing")
	}
	r := theirs.Handle(context.Background(), &mcpserver.Request{Method: "tools/call", Params: []byte(`{"name":"mcp_aql_read","arguments":{"operation":"list_books","params":{"limit":100}}}`)})
	if n := bytes.Count(r.Result, []byte(`\"Theirs\"`)); n != 40 {
		t.Errorf("%d of 40 are as they were", n)
	}
}
