package live

import (
	"cmp"
	"slices"
	"strings"
	"time"

	"mcptest/internal/base/jsonv"
	"mcptest/internal/mcpaql/evidence"
	"mcptest/internal/mcpaql/live/catalog"
	"mcptest/internal/mcpaql/live/guard"
	"mcptest/internal/mcpaql/live/probe"
	"mcptest/internal/mcpaql/rule"
	"mcptest/internal/mcpaql/semantic"
)

// bundle completes the evidence with the data about the run itself.
type bundle struct{ run *guard.Run }

// finish fills in the data about the run itself.
func (b bundle) finish() {
	for _, op := range b.run.Catalog.Operations {
		var names []string
		accepted := slices.Compact(slices.Sorted(slices.Values(b.run.Accepted[op.Name])))
		for _, p := range op.Params {
			if slices.Contains(accepted, p.Name) {
				names = append(names, p.Name)
			}
		}
		for _, name := range accepted {
			if op.Param(name) == nil {
				names = append(names, name)
			}
		}
		if len(names) > 0 || b.run.Base[op.Name].OK() {
			b.run.Evidence.Accepted = append(b.run.Evidence.Accepted, evidence.Accepted{Operation: op.Name, Parameters: names})
		}
	}
	probe.UnseenRows{Run: b.run}.SettleRows()
	for _, t := range b.run.Rows.Tests {
		if t.Cases == 0 && t.Incomplete == "" {
			t.Incomplete = "nothing that the run could call shows it"
		}
	}
	b.run.Evidence.Live = b.live()
	if b.run.Options.Probed {
		b.keepProbed()
	}
}

// keepProbed removes the operations with a required parameter that was never
// left out from the evidence: the prototype's rules fail a detail without such
// a case. Their accepted parameters go too, because they fail without a detail.
func (b bundle) keepProbed() {
	called := map[string]bool{}
	for _, m := range b.run.Evidence.MissingRequired {
		called[m.Operation] = true
	}
	untested := map[string]bool{}
	for _, u := range b.run.Rows.Untested {
		if u.Lookup("test").Text() == "required" {
			untested[u.Lookup("operation").Text()] = true
		}
	}
	dropped := func(name string) bool {
		op := b.run.Catalog.Op(name)
		return op != nil && (b.run.Gate.Skipped[op.Name] != "" || untested[op.Name] || !called[op.Name] && !op.Bare())
	}
	b.run.Evidence.OperationDetails = slices.DeleteFunc(b.run.Evidence.OperationDetails, func(d jsonv.Value) bool {
		return dropped(evidence.ReadDetail(d).Value.Lookup("name").Text())
	})
	b.run.Evidence.Accepted = slices.DeleteFunc(b.run.Evidence.Accepted, func(a evidence.Accepted) bool { return dropped(a.Operation) })
	b.run.Evidence.Live = b.run.Evidence.Live.With("partial", jsonv.Bool(true))
}

// live returns the bundle's x_live object.
func (b bundle) live() jsonv.Value {
	var o, wire evidence.Object
	o.Text("tool", b.run.Options.Program)
	o.Text("started", b.run.Started.UTC().Format(time.RFC3339))
	o.Text("finished", b.run.Caller.Tape.Now().UTC().Format(time.RFC3339))
	o.Text("target", b.run.Options.Target)
	o.Text("repeat", b.run.Options.Repeat)
	wire.Text("protocolVersion", b.run.Caller.Session.Protocol())
	wire.Set("serverInfo", b.run.Caller.Session.ServerInfo())
	o.Set("mcp", wire.Value())
	o.List("tools", evidence.Each(b.run.Catalog.Tools, func(t catalog.Tool) jsonv.Value { return jsonv.String(t.Name) }))
	b.asked(&o)
	o.List("dialect", evidence.Each(b.run.Dialect, jsonv.String))
	o.Set("modes", evidence.TextList(b.run.Modes))
	o.Set("policy", jsonv.ObjectOf("mode", b.run.Options.Mode, "allow", evidence.TextList(b.run.Options.Allow),
		"deny", evidence.TextList(b.run.Options.Deny), "max_calls", b.run.Options.MaxCalls))
	o.Text("run", b.run.Options.RunID)
	o.Set("calls", jsonv.Int(int64(b.run.Caller.Calls)))
	o.Text("ended", b.run.Caller.Ending())
	if b.run.BatchSent > 0 {
		o.Set("batch_sent", jsonv.Int(int64(b.run.BatchSent)))
	}
	o.List("skipped", b.skippedOperations())
	o.List("notices", evidence.Each(b.run.Notices, jsonv.String))
	o.List("untested", b.run.Rows.Untested)
	var short evidence.Object
	for _, id := range evidence.SortedKeys(b.run.Caller.Short) {
		short.Text(id, b.run.Caller.Short[id])
	}
	if len(short) > 0 {
		o.Set("cut_short", short.Value())
	}
	var volatile []jsonv.Value
	for _, op := range b.run.Catalog.Operations {
		paths := evidence.SortedKeys(b.run.Steady.Masks[op.Name])
		volatile = append(volatile, evidence.Each(paths, func(path string) jsonv.Value { return jsonv.String(op.Name + ": " + path) })...)
	}
	o.List("volatile_paths", volatile)
	o.List("cleanup", b.run.Cleaner.Cleaned)
	o.List("leftovers", b.run.Ledger.Leftovers)
	o.List("changed", b.run.Watcher.Changed)
	o.List("unchecked", evidence.Each(b.run.Cleaner.Unchecked, jsonv.String))
	var tests []jsonv.Value
	for _, t := range rule.Tests() {
		if t.Live {
			tests = append(tests, evidence.Encode(*b.run.Rows.Tests[t.ID]))
		}
	}
	o.List("tests", tests)
	o.List("transcript", b.run.Caller.Transcript)
	return o.Value()
}

// skippedOperations lists the operations that were not called, with the reason.
func (b bundle) skippedOperations() (skipped []jsonv.Value) {
	for _, op := range b.run.Catalog.Operations {
		if reason := b.run.Gate.Skipped[op.Name]; reason != "" {
			s := evidence.Object{{Key: "operation", Value: jsonv.String(op.Name)}}
			word, detail, _ := strings.Cut(reason, ": ")
			if word != probe.NotGeneratable {
				word, detail = reason, ""
			}
			s.Text("reason", word)
			s.Text("detail", detail)
			skipped = append(skipped, s.Value())
		}
	}
	return skipped
}

// asked records which models were asked, and which questions were left out.
func (b bundle) asked(o *evidence.Object) {
	o.List("unasked", b.run.Unasked)
	if m := b.run.Options.Asking.Model; m != nil {
		calls, tokens := m.Used()
		o.Set("model", jsonv.ObjectOf("name", m.Model(), "calls", calls, "tokens", tokens))
	}
	if j := b.run.Options.Asking.Judge; j != nil {
		o.Set("judge", semantic.JudgeNote(j))
	}
}

// OperationPlan describes how a run treats one operation.
type OperationPlan struct {
	Operation, Category, Tool string
	Risk                      int
	Reasons                   []string
	Arguments                 jsonv.Value // of the call with the required parameters; absent when it is not called
	Skipped                   string
	Mode                      string // the first mode that calls it
}

// planned returns the plan of a mode, see Plan.
func (b bundle) planned(mode string) (plan []OperationPlan, template jsonv.Value) {
	b.run.Options.Mode = mode
	values := jsonv.Object()
	for _, op := range b.run.Catalog.Operations {
		p := OperationPlan{Operation: op.Name, Category: op.Category, Tool: op.Tool, Risk: op.Risk, Reasons: slices.Clone(op.Reasons)}
		for _, m := range []string{guard.ModeSafe, guard.ModeWrite, guard.ModeFull} {
			b.run.Options.Mode, p.Mode = m, m
			if p.Skipped = b.run.Gate.Barred(op); p.Skipped == "" || m == mode {
				break
			}
		}
		args := jsonv.Object()
		missing := jsonv.Object()
		for _, q := range op.Params {
			if !q.Required {
				continue
			}
			v, err := b.planValue(op, q)
			if err != nil {
				missing = missing.With(q.Name, jsonv.Null())
				p.Skipped = cmp.Or(p.Skipped, probe.NotGeneratable+": "+err.Error())
				continue
			}
			args = args.With(q.Name, v)
		}
		if missing.Len() > 0 {
			values = values.With(op.Name, missing)
		}
		if p.Skipped == "" {
			p.Arguments = op.Request(b.run.Maker.Marking(op, args, ""))
		}
		plan = append(plan, p)
	}
	return plan, values
}

// planValue returns a value for a required parameter, without calling anything:
// what the run would look up is given by name.
func (b bundle) planValue(op *catalog.Operation, p catalog.Parameter) (jsonv.Value, error) {
	if v, ok := b.run.Options.Values.Lookup(op.Name).Get(p.Name); ok {
		return v, nil
	}
	if x := op.ExecutionParam(); x != nil && x.Name == p.Name && (b.run.Options.Mode == guard.ModeFull || op.Category != "READ") {
		return jsonv.String("<one that the run started>"), nil
	}
	if op.IsIdentifier(p) {
		if op.Category == "READ" {
			return jsonv.String("<one that the adapter lists>"), nil
		}
		return jsonv.String("<one that the run created>"), nil
	}
	return b.run.Builder.Invented(op, p)
}
