package live

import (
	"fmt"
	"regexp"
	"testing"

	"mcptest/internal/aql/evidence"
	"mcptest/internal/jsonv"
)

func TestTypeTexts(t *testing.T) {
	c := newCollector(Options{})
	parsed := func(s string) jsonv.Value {
		v, err := jsonv.Parse([]byte(s))
		if err != nil {
			t.Fatal(err)
		}
		return v
	}
	for name, n := range map[string]*namedType{
		"genre": {"Genre", "enum", parsed(`{"values":[{"value":"novel"},"poetry"]}`)},
		"point": {"Point", "object", parsed(`{"fields":[{"name":"x","type":"integer","required":true,"minimum":4},{"name":"y","type":"Point"}]}`)},
		"loop":  {"Loop", "object", parsed(`{"fields":[{"name":"next","type":"Loop","required":true}]}`)},
		"shape": {"Shape", "union", parsed(`{"members":["Loop","Point"]}`)},
		"empty": {"Empty", "enum", parsed(`{}`)},
	} {
		c.catalog.types[name] = n
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
		p := liveParam{name: "p", typ: v.Lookup("type").Text(), v: v}
		got := "error"
		if made, err := c.maker.value(&liveOp{name: "o"}, p, "tag"); err == nil {
			got = made.String()
		}
		if got != x.want {
			t.Errorf("%s: %s, want %s", x.param, got, x.want)
		}
	}
}

func TestOperationNamesPair(t *testing.T) {
	for name, want := range map[string][2]string{"create_book": {"create", "book"}, "add_list_item": {"create", "list_item"}, "search_books": {"list", "books"}, "ping": {"", "ping"}, "open_door": {"open", "door"}} {
		if v, r := splitName(name); v != want[0] || r != want[1] {
			t.Errorf("%s: %q %q", name, v, r)
		}
	}
	for _, same := range [][2]string{{"shelf", "shelves"}, {"box", "boxes"}, {"entry", "entries"}, {"book", "books"}, {"knife", "knives"}, {"x", "x"}} {
		if !sameResource(same[0], same[1]) || !sameResource(same[1], same[0]) {
			t.Errorf("%v are different", same)
		}
	}
	if sameResource("book", "boxes") {
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
		op := &liveOp{name: x.name, category: x.category, detail: d}
		c := newCollector(Options{Mode: ModeSafe})
		c.catalog.ops = []*liveOp{op}
		c.catalog.assess(op)
		if op.risk != x.risk {
			t.Errorf("%s %s %s: risk %d, want %d", x.category, x.name, x.detail, op.risk, x.risk)
		}
		args := jsonv.Object(evidence.TextMember("operation", x.name))
		if blocked := c.gate.forbidden(args) != ""; blocked != (x.risk > 0) {
			t.Errorf("%s: safe mode blocks it: %v", x.name, blocked)
		}
		if batch := jsonv.Object(jsonv.Member{Key: "operations", Value: jsonv.Array(args)}); (c.gate.forbidden(batch) != "") != (x.risk > 0) {
			t.Errorf("%s: a batch gets round the policy", x.name)
		}
	}
}

// What exists already is never touched in write mode.
func TestWriteModeTouchesItsOwnOnly(t *testing.T) {
	id := liveParam{name: "book_id", typ: "string", required: true}
	ops := []*liveOp{
		{name: "create_book", category: "CREATE", verb: "create", resource: "book"},
		{name: "delete_book", category: "DELETE", verb: "delete", resource: "book", params: []liveParam{id}, risk: riskDelete},
		{name: "update_book", category: "UPDATE", verb: "update", resource: "book", params: []liveParam{id}, risk: riskWrite},
	}
	c := newCollector(Options{Mode: ModeWrite})
	c.catalog.ops = ops
	c.keeper.ledger.add("book", createdThing{id: jsonv.String("mine")})
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
		why := c.gate.forbidden(jsonv.Object(evidence.TextMember("operation", x.op), jsonv.Member{Key: "params", Value: p}))
		if (why == "") != x.ok {
			t.Errorf("%s %s: %q", x.op, x.params, why)
		}
	}
}

// A text made from a pattern matches it, whatever the pattern.
func FuzzMatching(f *testing.F) {
	for _, s := range []string{`^[a-z]{2,5}$`, `(a|b)*c+`, `[^a-z]`, `\d{3}\.\w`, `((((x){9}){9}){9}){9}`, `$^`, `(?i)abc`, `[^\x00-\x{10FFFF}]`} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, pattern string) {
		s, err := matching(pattern)
		if err == nil && !regexp.MustCompile(pattern).MatchString(s) {
			t.Errorf("%q does not match %q", s, pattern)
		}
		_ = fmt.Sprint(parseType(pattern))
	})
}

// What goes on is ended by nobody who did not start it, in no mode.
func TestExecutionsOfOthersAreLeftAlone(t *testing.T) {
	run := liveParam{name: "execution_id", typ: "string", required: true}
	task := liveParam{name: "task_id", typ: "string", required: true}
	hint := liveParam{name: "nextActionHint", typ: "string", required: true}
	ops := []*liveOp{
		{name: "execute_job", category: "EXECUTE", verb: "execute", resource: "job", params: []liveParam{{name: "job_id", typ: "string", required: true}}, risk: riskWrite},
		{name: "abort_execution", category: "EXECUTE", verb: "abort", resource: "execution", params: []liveParam{run}, risk: riskWrite},
		{name: "cancel_task", category: "EXECUTE", verb: "cancel", resource: "task", params: []liveParam{task}, risk: riskWrite},
		{name: stepOperation, category: "CREATE", verb: "record", resource: "execution_step", params: []liveParam{run, hint}, risk: riskWrite},
	}
	values := jsonv.From(map[string]any{"cancel_task": map[string]any{"task_id": "named"}, "execute_job": map[string]any{"job_id": "named"}})
	c := newCollector(Options{Mode: ModeFull, Values: values})
	c.catalog.ops = ops
	c.builder.harvest = map[string]map[string][]jsonv.Value{"task": {"id": {jsonv.String("yours")}}}
	c.keeper.ledger.executions = []*execution{{id: jsonv.String("mine"), starts: ops[0]}}
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
		{stepOperation, `{"execution_id":"mine","nextActionHint":"x"}`, true},
		{stepOperation, `{"execution_id":"yours","nextActionHint":"x"}`, false},
		{stepOperation, `{"nextActionHint":"x"}`, false},
	} {
		p, _ := jsonv.Parse([]byte(x.params))
		why := c.gate.forbidden(jsonv.Object(evidence.TextMember("operation", x.op), jsonv.Member{Key: "params", Value: p}))
		if (why == "") != x.ok {
			t.Errorf("%s %s: %q", x.op, x.params, why)
		}
	}
	for _, mode := range []string{ModeSafe, ModeWrite} {
		c.o.Mode = mode
		for _, op := range ops {
			if c.gate.barred(op) == "" {
				t.Errorf("mode %s calls %s", mode, op.name)
			}
		}
	}
}

// A name with a pattern carries the run's mark wherever the pattern lets it.
func TestMarksFitPatterns(t *testing.T) {
	c := newCollector(Options{RunID: "4f7a10"})
	for pattern, want := range map[string]bool{`^[a-z0-9-]{3,40}$`: true, `^[a-z][a-z0-9]*$`: true, `^[A-Z_0-9]+$`: true, `^[0-9]{9}[0-9X]$`: false, `^zz.{2}$`: false} {
		p := liveParam{name: "slug", typ: "string", v: jsonv.From(map[string]any{"pattern": pattern})}
		v, err := c.maker.value(&liveOp{}, p, "slug")
		if err != nil || carries(v, c.maker.mine()) != want {
			t.Errorf("%s: %s, %v", pattern, v, err)
		}
	}
	for s, want := range map[string]bool{"ZZ-Conf-4F7A10-slug": true, "zz_conf_4f7a11_slug": false, "zz_conf_": false, "my zz_conf_4f7a10_": false} {
		if carries(jsonv.String(s), c.maker.mine()) != want {
			t.Errorf("%q is taken for marked: %v", s, !want)
		}
	}
}

// What decides or removes by its name is sent only for a thing of the run,
// whatever category it declares.
func TestDecisionsNameWhatIsOurs(t *testing.T) {
	id := liveParam{name: "request_id", typ: "string", required: true}
	wish := liveParam{name: "wish", typ: "string", required: true}
	returns := jsonv.From(map[string]any{"returns": map[string]any{"name": "ExecutionResult"}})
	ops := []*liveOp{
		{name: "create_request", category: "CREATE", verb: "create", resource: "request", params: []liveParam{wish}, risk: riskWrite},
		{name: "delete_request", category: "DELETE", verb: "delete", resource: "request", params: []liveParam{id}, risk: riskDelete},
		{name: "approve_request", category: "CREATE", verb: "approve", resource: "request", params: []liveParam{id, wish}, risk: riskWrite},
		{name: "approve_all", category: "EXECUTE", verb: "approve", resource: "all", detail: returns, risk: riskWrite},
		{name: "flush_requests", category: "EXECUTE", verb: "flush", resource: "requests", detail: returns, risk: riskWrite},
		{name: "run_report", category: "EXECUTE", verb: "run", resource: "report", params: []liveParam{wish}, detail: returns, risk: riskWrite},
	}
	list := &listing{op: &liveOp{name: "list_requests", category: "READ", verb: "list", resource: "requests"}}
	c := newCollector(Options{Mode: ModeFull, RunID: "r1"})
	c.catalog.ops, c.watcher.census = append(ops, list.op), &census{lists: []*listing{list}}
	c.keeper.ledger.add("request", createdThing{id: jsonv.String("mine")})
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
		why := c.gate.forbidden(jsonv.Object(evidence.TextMember("operation", x.op), jsonv.Member{Key: "params", Value: p}))
		if (why == "") != x.ok {
			t.Errorf("%s %s: %q", x.op, x.params, why)
		}
	}
}
