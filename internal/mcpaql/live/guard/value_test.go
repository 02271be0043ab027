package guard

import (
	"fmt"
	"strings"
	"testing"

	"mcptest/internal/base/jsonv"
	"mcptest/internal/mcpaql/live/catalog"
	"mcptest/internal/mcpaql/live/change"
)

func TestTypeTexts(t *testing.T) {
	c := New(Options{})
	parsed := func(s string) jsonv.Value {
		v, err := jsonv.Parse([]byte(s))
		if err != nil {
			t.Fatal(err)
		}
		return v
	}
	for name, n := range map[string]*catalog.NamedType{
		"genre": {Name: "Genre", Kind: "enum", Detail: parsed(`{"values":[{"value":"novel"},"poetry"]}`)},
		"point": {Name: "Point", Kind: "object", Detail: parsed(`{"fields":[{"name":"x","type":"integer","required":true,"minimum":4},{"name":"y","type":"Point"}]}`)},
		"loop":  {Name: "Loop", Kind: "object", Detail: parsed(`{"fields":[{"name":"next","type":"Loop","required":true}]}`)},
		"shape": {Name: "Shape", Kind: "union", Detail: parsed(`{"members":["Loop","Point"]}`)},
		"empty": {Name: "Empty", Kind: "enum", Detail: parsed(`{}`)},
	} {
		c.Catalog.Types[name] = n
	}
	for _, x := range []struct{ param, want string }{
		{`{"type":"string"}`, `"zz_conf_run_tag"`},
		{`{"type":"String","maxLength":4}`, `"zz_c"`},
		{`{"type":"string","minLength":18}`, `"zz_conf_run_tagxxx"`},
		{`{"type":"string","format":"date"}`, `"2026-01-31"`},
		{`{"type":"string","pattern":"^[0-9]{3}-[a-f]+$"}`, `"111-a"`},
		{`{"type":"string","pattern":"^(foo|bar)?$","minLength":1}`, `error`},
		{`{"type":"string","pattern":"(?=x)"}`, `error`},
		{`{"type":"int","minimum":5}`, `5`},
		{`{"type":"integer","maximum":-3}`, `-3`},
		{`{"type":"integer","minimum":1.2,"maximum":1.8}`, `error`},
		{`{"type":"number"}`, `1`},
		{`{"type":"bool"}`, `false`},
		{`{"type":"string","enum":["b","a"]}`, `"b"`},
		{`{"type":"string","default":"d"}`, `"d"`},
		{`{"type":"integer","default":"not one"}`, `1`},
		{`{"type":"Genre"}`, `"novel"`},
		{`{"type":"Genre[]"}`, `["novel"]`},
		{`{"type":"array<list of integer>"}`, `[[1]]`},
		{`{"type":"array","items":{"type":"boolean"}}`, `[false]`},
		{`{"type":"array"}`, `[]`},
		{`{"type":"Point"}`, `{"x":4}`},
		{`{"type":"Shape | string"}`, `{"x":4}`},
		{`{"type":"Mystery | integer"}`, `1`},
		{`{"type":"Mystery"}`, `error`},
		{`{"type":"Loop"}`, `error`},
		{`{"type":"Empty"}`, `error`},
		{`{"type":"object"}`, `{}`},
		{`{"type":""}`, `"zz_conf_run_tag"`},
	} {
		v := parsed(x.param)
		p := catalog.Parameter{Name: "p", Type: v.Lookup("type").Text(), Schema: v}
		got := "error"
		if made, err := c.Maker.MakeValue(&catalog.Operation{Name: "o"}, p, "tag"); err == nil {
			got = made.String()
		}
		if got != x.want {
			t.Errorf("%s: %s, want %s", x.param, got, x.want)
		}
	}
}

func TestOperationNamesPair(t *testing.T) {
	for name, want := range map[string][2]string{"create_book": {"create", "book"}, "add_list_item": {"create", "list_item"}, "search_books": {"list", "books"}, "ping": {"", "ping"}, "open_door": {"open", "door"}} {
		if v, r := catalog.SplitName(name); v != want[0] || r != want[1] {
			t.Errorf("%s: %q %q", name, v, r)
		}
	}
	for _, same := range [][2]string{{"shelf", "shelves"}, {"box", "boxes"}, {"entry", "entries"}, {"book", "books"}, {"knife", "knives"}, {"x", "x"}} {
		if !catalog.IsSameResource(same[0], same[1]) || !catalog.IsSameResource(same[1], same[0]) {
			t.Errorf("%v are different", same)
		}
	}
	if catalog.IsSameResource("book", "boxes") {
		t.Error("book and boxes are one")
	}
}

// The risk of an operation is the worst of what is claimed.
func TestRisk(t *testing.T) {
	for _, x := range []struct {
		name, category, detail string
		risk                   int
	}{
		{"list_books", "READ", `{"permissions":{"readOnly":true,"destructive":false}}`, 0},
		{"list_books", "READ", `{"permissions":{"readOnly":false,"destructive":false}}`, 1},
		{"list_books", "READ", `{"permissions":{"readOnly":true,"destructive":true}}`, 2},
		{"list_books", "READ", `{"danger":{"level":3}}`, 3},
		{"list_books", "READ", `{"danger":{"level":99999}}`, 4},
		{"open_browser", "READ", `{"permissions":{"readOnly":true}}`, 1},
		{"create_book", "CREATE", `{}`, 1},
		{"delete_book", "DELETE", `{}`, 2},
		{"purge_books", "READ", `{}`, 3},
		{"drop_books", "CREATE", `{}`, 4},
		{"anything", "", `{}`, 3},
	} {
		d, _ := jsonv.Parse([]byte(x.detail))
		op := &catalog.Operation{Name: x.name, Category: x.category, Detail: d}
		c := New(Options{Mode: ModeSafe})
		c.Catalog.Operations = []*catalog.Operation{op}
		c.Catalog.Assess(op)
		if op.Risk != x.risk {
			t.Errorf("%s %s %s: risk %d, want %d", x.category, x.name, x.detail, op.Risk, x.risk)
		}
		args := jsonv.ObjectOf("operation", x.name)
		if blocked := c.Gate.ExplainForbidden(args) != ""; blocked != (x.risk > 0) {
			t.Errorf("%s: safe mode blocks it: %v", x.name, blocked)
		}
		if batch := jsonv.ObjectOf("operations", jsonv.Array(args)); (c.Gate.ExplainForbidden(batch) != "") != (x.risk > 0) {
			t.Errorf("%s: a batch gets round the policy", x.name)
		}
	}
}

// A READ operation that begins with one of these words may change something.
func TestRiskOfVerbs(t *testing.T) {
	for _, verb := range strings.Fields("pop consume take next claim ack drain expunge visit touch tidy refresh") {
		op := &catalog.Operation{Name: verb + "_job", Category: "READ"}
		if New(Options{}).Catalog.Assess(op); op.Risk == catalog.RiskRead {
			t.Errorf("%s has no risk", op.Name)
		}
	}
}

// What exists already is never touched in write mode.
func TestWriteModeTouchesItsOwnOnly(t *testing.T) {
	id := catalog.Parameter{Name: "book_id", Type: "string", Required: true}
	ops := []*catalog.Operation{
		{Name: "create_book", Category: "CREATE", Verb: "create", Resource: "book"},
		{Name: "delete_book", Category: "DELETE", Verb: "delete", Resource: "book", Params: []catalog.Parameter{id}, Risk: catalog.RiskDelete},
		{Name: "update_book", Category: "UPDATE", Verb: "update", Resource: "book", Params: []catalog.Parameter{id}, Risk: catalog.RiskWrite},
	}
	c := New(Options{Mode: ModeWrite})
	c.Catalog.Operations = ops
	c.Ledger.Add("book", CreatedThing{ID: jsonv.String("mine")})
	for _, x := range []struct {
		op, params string
		ok         bool
	}{
		{"delete_book", `{"book_id":"mine"}`, true},
		{"delete_book", `{"book_id":"yours"}`, false},
		{"delete_book", `{}`, false},
		{"delete_book", `{"book_id":null}`, false},
		{"delete_book", `{"book_id":42}`, false},
		{"update_book", `{"book_id":"mine"}`, true},
		{"update_book", `{"book_id":"yours"}`, false},
		{"update_book", `{"book_id":"zz_conf_made_up"}`, false},
		{"update_book", `{"input":{}}`, false},
		{"hidden_book", `{"book_id":"mine"}`, false},
	} {
		p, _ := jsonv.Parse([]byte(x.params))
		why := c.Gate.ExplainForbidden(jsonv.ObjectOf("operation", x.op, "params", p))
		if (why == "") != x.ok {
			t.Errorf("%s %s: %q", x.op, x.params, why)
		}
	}
}

// Parsing any text as a type returns.
func FuzzParseType(f *testing.F) {
	for _, s := range []string{`string[]`, `a | b`, `Map<string, x>`} {
		f.Add(s)
	}
	f.Fuzz(func(_ *testing.T, text string) {
		_ = fmt.Sprint(catalog.ParseType(text))
	})
}

// In no mode does a run end an execution that it did not start.
func TestExecutionsOfOthersAreLeftAlone(t *testing.T) {
	run := catalog.Parameter{Name: "execution_id", Type: "string", Required: true}
	task := catalog.Parameter{Name: "task_id", Type: "string", Required: true}
	hint := catalog.Parameter{Name: "nextActionHint", Type: "string", Required: true}
	ops := []*catalog.Operation{
		{Name: "execute_job", Category: "EXECUTE", Verb: "execute", Resource: "job", Params: []catalog.Parameter{{Name: "job_id", Type: "string", Required: true}}, Risk: catalog.RiskWrite},
		{Name: "abort_execution", Category: "EXECUTE", Verb: "abort", Resource: "execution", Params: []catalog.Parameter{run}, Risk: catalog.RiskWrite},
		{Name: "cancel_task", Category: "EXECUTE", Verb: "cancel", Resource: "task", Params: []catalog.Parameter{task}, Risk: catalog.RiskWrite},
		{Name: catalog.StepOperation, Category: "CREATE", Verb: "record", Resource: "execution_step", Params: []catalog.Parameter{run, hint}, Risk: catalog.RiskWrite},
	}
	values := jsonv.From(map[string]any{"cancel_task": map[string]any{"task_id": "named"}, "execute_job": map[string]any{"job_id": "named"}})
	c := New(Options{Mode: ModeFull, Values: values})
	c.Catalog.Operations = ops
	c.Builder.harvest = map[[2]string]jsonv.Value{{"task", "id"}: jsonv.String("yours")}
	c.Ledger.executions = []*execution{{id: jsonv.String("mine"), starts: ops[0]}}
	for _, x := range []struct {
		op, params string
		ok         bool
	}{
		{"execute_job", `{"job_id":"any"}`, false},
		{"execute_job", `{"job_id":"named"}`, true},
		{"execute_job", `{}`, false},
		{"abort_execution", `{"execution_id":"mine"}`, true},
		{"abort_execution", `{"execution_id":"yours"}`, false},
		{"abort_execution", `{"execution_id":42}`, false},
		{"abort_execution", `{}`, false},
		{"cancel_task", `{"task_id":"yours"}`, false},
		{"cancel_task", `{"task_id":"named"}`, true},
		{"cancel_task", `{}`, false},
		{catalog.StepOperation, `{"execution_id":"mine","nextActionHint":"x"}`, true},
		{catalog.StepOperation, `{"execution_id":"yours","nextActionHint":"x"}`, false},
		{catalog.StepOperation, `{"nextActionHint":"x"}`, false},
	} {
		p, _ := jsonv.Parse([]byte(x.params))
		why := c.Gate.ExplainForbidden(jsonv.ObjectOf("operation", x.op, "params", p))
		if (why == "") != x.ok {
			t.Errorf("%s %s: %q", x.op, x.params, why)
		}
	}
	for _, mode := range []string{ModeSafe, ModeWrite} {
		c.Options.Mode = mode
		for _, op := range ops {
			if c.Gate.ExplainBarred(op) == "" {
				t.Errorf("mode %s calls %s", mode, op.Name)
			}
		}
	}
}

// A name with a pattern carries the run's mark wherever the pattern lets it.
func TestMarksMatchPatterns(t *testing.T) {
	c := New(Options{RunID: "4f7a10"})
	for pattern, want := range map[string]bool{`^[a-z0-9-]{3,40}$`: true, `^[a-z][a-z0-9]*$`: true, `^[A-Z_0-9]+$`: true, `^[0-9]{9}[0-9X]$`: false, `^zz.{2}$`: false} {
		p := catalog.Parameter{Name: "slug", Type: "string", Schema: jsonv.From(map[string]any{"pattern": pattern})}
		v, err := c.Maker.MakeValue(&catalog.Operation{}, p, "slug")
		if err != nil || catalog.Carries(v, c.Maker.RunIDs()) != want {
			t.Errorf("%s: %s, %v", pattern, v, err)
		}
	}
	for s, want := range map[string]bool{"ZZ-Conf-4F7A10-slug": true, "zz_conf_4f7a11_slug": false, "zz_conf_": false, "my zz_conf_4f7a10_": false} {
		if catalog.Carries(jsonv.String(s), c.Maker.RunIDs()) != want {
			t.Errorf("%q is taken for marked: %v", s, !want)
		}
	}
}

// What decides or removes by its name is sent only for a thing of the run,
// in every category that it declares.
func TestDecisionsNameWhatIsOurs(t *testing.T) {
	id := catalog.Parameter{Name: "request_id", Type: "string", Required: true}
	wish := catalog.Parameter{Name: "wish", Type: "string", Required: true}
	returns := jsonv.From(map[string]any{"returns": map[string]any{"name": "ExecutionResult"}})
	ops := []*catalog.Operation{
		{Name: "create_request", Category: "CREATE", Verb: "create", Resource: "request", Params: []catalog.Parameter{wish}, Risk: catalog.RiskWrite},
		{Name: "delete_request", Category: "DELETE", Verb: "delete", Resource: "request", Params: []catalog.Parameter{id}, Risk: catalog.RiskDelete},
		{Name: "approve_request", Category: "CREATE", Verb: "approve", Resource: "request", Params: []catalog.Parameter{id, wish}, Risk: catalog.RiskWrite},
		{Name: "approve_all", Category: "EXECUTE", Verb: "approve", Resource: "all", Detail: returns, Risk: catalog.RiskWrite},
		{Name: "flush_requests", Category: "EXECUTE", Verb: "flush", Resource: "requests", Detail: returns, Risk: catalog.RiskWrite},
		{Name: "run_report", Category: "EXECUTE", Verb: "run", Resource: "report", Params: []catalog.Parameter{wish}, Detail: returns, Risk: catalog.RiskWrite},
	}
	list := &change.Listing{Op: &catalog.Operation{Name: "list_requests", Category: "READ", Verb: "list", Resource: "requests"}}
	c := New(Options{Mode: ModeFull, RunID: "r1"})
	c.Catalog.Operations, c.Gate.Census = append(ops, list.Op), &change.Census{Lists: []*change.Listing{list}}
	c.Ledger.Add("request", CreatedThing{ID: jsonv.String("mine")})
	for _, x := range []struct {
		op, params string
		ok         bool
	}{
		{"create_request", `{}`, true}, // its list shows what it makes
		{"approve_request", `{}`, false},
		{"approve_request", `{"wish":"zz_conf_r1_x"}`, false},
		{"approve_request", `{"request_id":"zz_conf_r1_x","wish":"zz_conf_r1_x"}`, false},
		{"approve_request", `{"request_id":"yours","wish":"zz_conf_r1_x"}`, false},
		{"approve_request", `{"request_id":"mine","wish":"zz_conf_r1_x"}`, true},
		{"approve_all", `{}`, false},
		{"flush_requests", `{}`, false},
		{"run_report", `{"wish":"x"}`, true},
		{"run_report", `{}`, false},
		{"run_report", `{"wish":42}`, false},
	} {
		p, _ := jsonv.Parse([]byte(x.params))
		why := c.Gate.ExplainForbidden(jsonv.ObjectOf("operation", x.op, "params", p))
		if (why == "") != x.ok {
			t.Errorf("%s %s: %q", x.op, x.params, why)
		}
	}
}
