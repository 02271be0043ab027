package live

import (
	"slices"
	"strings"
	"time"

	"mcptest/internal/aql/evidence"
	"mcptest/internal/aql/rule"
	"mcptest/internal/aql/semantic"
	"mcptest/internal/jsonv"
)

// finish fills in what the evidence says about the run itself.
func (b bundle) finish() {
	for _, op := range b.run.catalog.ops {
		var names []string
		for _, p := range op.params {
			if b.run.accepted[op.name][p.name] {
				names = append(names, p.name)
			}
		}
		for _, name := range sortedKeys(b.run.accepted[op.name]) {
			if op.param(name) == nil {
				names = append(names, name)
			}
		}
		if len(names) > 0 || b.run.base[op.name].ok() {
			b.run.e.Accepted = append(b.run.e.Accepted, evidence.Accepted{Operation: op.name, Parameters: names})
		}
	}
	remainder{b.run}.settleRows()
	for _, t := range b.run.rows.tests {
		if t.cases == 0 && t.lacking == "" {
			t.lacking = "mode " + b.run.o.Mode + " checks nothing of the kind"
		}
	}
	b.run.e.Live = b.live()
	if b.run.o.Probed {
		b.keepProbed()
	}
}

// keepProbed removes the operations with a required parameter that was never
// left out from the evidence: the prototype's rules fail a detail without such
// a case. Their accepted parameters go too, because they fail without a detail.
func (b bundle) keepProbed() {
	called := map[string]bool{}
	for _, m := range b.run.e.MissingRequired {
		called[m.Operation] = true
	}
	untested := map[string]bool{}
	for _, u := range b.run.rows.untested {
		if u.Lookup("test").Text() == "required" {
			untested[u.Lookup("operation").Text()] = true
		}
	}
	dropped := func(name string) bool {
		op := b.run.catalog.op(name)
		return op != nil && (b.run.skipped[op.name] != "" || untested[op.name] || !called[op.name] && !op.bare())
	}
	b.run.e.OperationDetails = slices.DeleteFunc(b.run.e.OperationDetails, func(d jsonv.Value) bool {
		return dropped(evidence.ReadDetail(d).Value.Lookup("name").Text())
	})
	b.run.e.Accepted = slices.DeleteFunc(b.run.e.Accepted, func(a evidence.Accepted) bool { return dropped(a.Operation) })
	b.run.e.Live = b.run.e.Live.With("partial", jsonv.Bool(true))
}

// live is the bundle's x_live object.
func (b bundle) live() jsonv.Value {
	var o, wire evidence.Object
	o.Text("tool", b.run.o.Program)
	o.Text("started", b.run.started.UTC().Format(time.RFC3339))
	o.Text("finished", b.run.caller.tape.Now().UTC().Format(time.RFC3339))
	o.Text("target", b.run.o.Target)
	o.Text("repeat", b.run.o.Repeat)
	wire.Text("protocolVersion", b.run.caller.s.Protocol())
	wire.Set("serverInfo", b.run.caller.s.ServerInfo().Lookup("serverInfo"))
	o.Set("mcp", wire.Value())
	o.List("tools", evidence.Each(b.run.catalog.tools, func(t toolInfo) jsonv.Value { return jsonv.String(t.name) }))
	b.asked(&o)
	o.List("dialect", evidence.Each(b.run.dialect, jsonv.String))
	o.Set("modes", evidence.TextList(b.run.modes))
	o.Set("policy", jsonv.Object(evidence.TextMember("mode", b.run.o.Mode), jsonv.Member{Key: "allow", Value: evidence.TextList(b.run.o.Allow)},
		jsonv.Member{Key: "deny", Value: evidence.TextList(b.run.o.Deny)}, jsonv.Member{Key: "max_calls", Value: jsonv.Int(int64(b.run.o.MaxCalls))}))
	o.Text("run", b.run.o.RunID)
	o.Set("calls", jsonv.Int(int64(b.run.caller.calls)))
	o.Text("ended", b.run.caller.ending())
	if b.run.batchSent > 0 {
		o.Set("batch_sent", jsonv.Int(int64(b.run.batchSent)))
	}
	o.List("skipped", b.skippedOperations())
	o.List("notices", evidence.Each(b.run.notices, jsonv.String))
	o.List("untested", b.run.rows.untested)
	var short evidence.Object
	for _, id := range sortedKeys(b.run.caller.short) {
		short.Text(id, b.run.caller.short[id])
	}
	if len(short) > 0 {
		o.Set("cut_short", short.Value())
	}
	var volatile []string
	for _, op := range b.run.catalog.ops {
		for _, path := range sortedKeys(b.run.steady.masks[op.name]) {
			volatile = append(volatile, op.name+": "+path)
		}
	}
	o.List("volatile_paths", evidence.Each(volatile, jsonv.String))
	o.List("cleanup", b.run.cleaner.cleaned)
	o.List("leftovers", b.run.cleaner.leftovers)
	o.List("changed", b.run.watcher.changed)
	o.List("unchecked", evidence.Each(b.run.watcher.unchecked, jsonv.String))
	var tests []jsonv.Value
	for _, t := range rule.Tests() {
		if t.Live {
			tests = append(tests, b.run.rows.tests[t.ID].json())
		}
	}
	o.List("tests", tests)
	o.List("transcript", b.run.caller.transcript)
	return o.Value()
}

// skippedOperations lists the operations that were not called, with the reason.
func (b bundle) skippedOperations() (skipped []jsonv.Value) {
	for _, op := range b.run.catalog.ops {
		if reason := b.run.skipped[op.name]; reason != "" {
			s := evidence.Object{evidence.TextMember("operation", op.name)}
			word, detail, _ := strings.Cut(reason, ": ")
			if word != notGeneratable {
				word, detail = reason, ""
			}
			s.Text("reason", word)
			s.Text("detail", detail)
			skipped = append(skipped, s.Value())
		}
	}
	return skipped
}

// asked notes which models were asked, and what they were not asked.
func (b bundle) asked(o *evidence.Object) {
	o.List("unasked", b.run.unasked)
	if m := b.run.o.Asking.Model; m != nil {
		calls, tokens := m.Used()
		o.Set("model", jsonv.Object(evidence.TextMember("name", m.Model()), jsonv.Member{Key: "calls", Value: jsonv.Int(int64(calls))}, jsonv.Member{Key: "tokens", Value: jsonv.Int(int64(tokens))}))
	}
	if j := b.run.o.Asking.Judge; j != nil {
		o.Set("judge", semantic.JudgeNote(j))
	}
}

// OperationPlan is what a run does with one operation.
type OperationPlan struct {
	Operation, Category, Tool string
	Risk                      int
	Reasons                   []string
	Arguments                 jsonv.Value // of the call with the required parameters; absent when it is not called
	Skipped                   string
}

// planned is the plan of a mode, see PlanLive.
func (b bundle) planned(mode string) (plan []OperationPlan, template jsonv.Value) {
	b.run.o.Mode = mode
	values := jsonv.Object()
	for _, op := range b.run.catalog.ops {
		p := OperationPlan{Operation: op.name, Category: op.category, Tool: op.tool, Risk: op.risk, Reasons: slices.Clone(op.why)}
		p.Skipped = b.run.gate.barred(op)
		args := jsonv.Object()
		missing := jsonv.Object()
		for _, q := range op.params {
			if !q.required {
				continue
			}
			v, err := b.planValue(op, q)
			if err != nil {
				missing = missing.With(q.name, jsonv.Null())
				if p.Skipped == "" {
					p.Skipped = notGeneratable + ": " + err.Error()
				}
				continue
			}
			args = args.With(q.name, v)
		}
		if missing.Len() > 0 {
			values = values.With(op.name, missing)
		}
		if p.Skipped == "" {
			p.Arguments = jsonv.Object(evidence.TextMember("operation", op.name), jsonv.Member{Key: "params", Value: args})
		}
		plan = append(plan, p)
	}
	return plan, values
}

// planValue is a value for a required parameter, without calling anything:
// what the run would look up stands there by name.
func (b bundle) planValue(op *liveOp, p liveParam) (jsonv.Value, error) {
	if v, ok := b.run.o.Values.Lookup(op.name).Get(p.name); ok {
		return v, nil
	}
	if x := op.executionParam(); x != nil && x.name == p.name && (b.run.o.Mode == ModeFull || op.category != "READ") {
		return jsonv.String("<one that the run started>"), nil
	}
	if op.isIdentifier(p) {
		if op.category == "READ" {
			return jsonv.String("<one that the adapter lists>"), nil
		}
		return jsonv.String("<one that the run created>"), nil
	}
	return b.run.maker.value(op, p, p.name)
}

// bundle completes the evidence with what it says about the run itself.
type bundle struct {
	run *collector
}
