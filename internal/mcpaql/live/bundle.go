package live

import (
	"cmp"
	"slices"
	"strings"
	"time"

	"mcptest/internal/base/jsonv"
	"mcptest/internal/base/lists"
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
		accepted := slices.Compact(slices.Sorted(slices.Values(b.run.Accepted[op.Name])))
		names := slices.DeleteFunc(lists.Map(op.Params, func(p catalog.Parameter) string {
			return p.Name
		}), func(name string) bool {
			return !slices.Contains(accepted, name)
		})
		names = append(names, slices.DeleteFunc(accepted, func(name string) bool { return op.Param(name) != nil })...)
		if len(names) > 0 || b.run.Base[op.Name].OK() {
			b.run.Evidence.Accepted = append(b.run.Evidence.Accepted, evidence.Accepted{Operation: op.Name, Parameters: names})
		}
	}
	b.unsentValues()
	b.run.JudgeDates()
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

// unsentValues says which values of the user no call had, and why.
func (b bundle) unsentValues() {
	for _, op := range b.run.Catalog.Operations {
		for _, p := range op.Params {
			_, given := b.run.Options.Given(op.Name, p.Name)
			sent := b.run.Caller.GivenSent[[2]string{op.Name, p.Name}]
			if !given || sent {
				continue
			}
			stored := ""
			if op.Creates() && p.Rehearses() {
				stored = "with it the create stores nothing that another row could examine"
			}
			why := cmp.Or(
				b.run.Gate.Skipped[op.Name],
				stored,
				b.run.Caller.Ending(),
				b.refusal(op, p),
				"no call of this mode has the parameter",
			)
			says := "the value of --values was not sent: " + why
			b.run.Rows.Leave("accuracy", op.Name, p.Name, says, true)
			if !b.run.Options.Values.Lookup(op.Name, p.Name).IsAbsent() {
				b.run.Notices = append(b.run.Notices, op.Name+" "+p.Name+": "+says)
			}
		}
	}
}

// policy returns what the user allowed the run to call.
func (b bundle) policy() jsonv.Value {
	o := b.run.Options
	return jsonv.ObjectOf(
		"mode", o.Mode,
		"allow", jsonv.List(o.Allow, jsonv.String),
		"deny", jsonv.List(o.Deny, jsonv.String),
		"max_calls", o.MaxCalls,
		"values", jsonv.Bool(true).If(o.Values.Len() > 0),
	)
}

// refusal returns why calls with a parameter were not sent, as the rows say; "" if they do not.
func (b bundle) refusal(op *catalog.Operation, p catalog.Parameter) string {
	for _, u := range b.run.Rows.Untested {
		if u.Lookup("operation").Text() == op.Name && u.Lookup("parameter").Text() == p.Name {
			return u.Lookup("reason").Text()
		}
	}
	return ""
}

// keepProbed removes the operations with a required parameter that was never
// left out from the evidence: the prototype's rules fail a detail without such
// a case. Their accepted parameters go too, because they fail without a detail.
func (b bundle) keepProbed() {
	dropped := func(name string) bool {
		op := b.run.Catalog.Op(name)
		untested := slices.ContainsFunc(b.run.Rows.Untested, func(u jsonv.Value) bool {
			return u.Lookup("test").Text() == "required" && u.Lookup("operation").Text() == name
		})
		called := slices.ContainsFunc(b.run.Evidence.MissingRequired, func(c evidence.ParameterCase) bool { return c.Operation == name })
		return op != nil && (b.run.Gate.Skipped[name] != "" || untested || !called && !op.Bare())
	}
	b.run.Evidence.OperationDetails = slices.DeleteFunc(b.run.Evidence.OperationDetails, func(d jsonv.Value) bool {
		return dropped(evidence.ReadDetail(d).Value.Lookup("name").Text())
	})
	b.run.Evidence.Accepted = slices.DeleteFunc(b.run.Evidence.Accepted, func(a evidence.Accepted) bool { return dropped(a.Operation) })
	b.run.Evidence.Live = b.run.Evidence.Live.With("partial", jsonv.Bool(true))
}

// live returns the bundle's x_live object.
func (b bundle) live() jsonv.Value {
	var model, judge jsonv.Value
	if m := b.run.Options.Asking.Model; m != nil {
		model = semantic.JudgeNote(m).Without("kind")
	}
	if j := b.run.Options.Asking.Judge; j != nil {
		judge = semantic.JudgeNote(j)
	}
	short := jsonv.Object()
	for _, id := range evidence.SortedKeys(b.run.Caller.Short) {
		short = short.With(id, jsonv.Filled(b.run.Caller.Short[id]))
	}
	var volatile []string
	for _, op := range b.run.Catalog.Operations {
		paths := evidence.SortedKeys(b.run.Steady.Masks[op.Name])
		volatile = append(volatile, lists.Map(paths, func(path string) string { return op.Name + ": " + path })...)
	}
	var tests []jsonv.Value
	for _, t := range rule.Tests() {
		if t.Live {
			tests = append(tests, evidence.Encode(*b.run.Rows.Tests[t.ID]))
		}
	}
	text, texts := jsonv.Filled[string], func(list []string) jsonv.Value { return evidence.Given(jsonv.List(list, jsonv.String)) }
	list := func(list []jsonv.Value) jsonv.Value { return evidence.Given(jsonv.Array(list...)) }
	o, session := b.run.Options, b.run.Caller.Session
	return jsonv.ObjectOf(
		"tool", text(o.Program),
		"started", b.run.Started.UTC().Format(time.RFC3339),
		"finished", b.run.Caller.Tape.Now().UTC().Format(time.RFC3339),
		"target", text(o.Target),
		"repeat", text(o.Repeat),
		"mcp", jsonv.ObjectOf("protocolVersion", text(session.Protocol()), "serverInfo", session.ServerInfo()),
		"tools", texts(lists.Map(b.run.Catalog.Tools, func(t catalog.Tool) string { return t.Name })),
		"unasked", list(b.run.Unasked),
		"model", model,
		"judge", judge,
		"dialect", texts(b.run.Dialect),
		"modes", jsonv.List(b.run.Modes, jsonv.String),
		"policy", b.policy(),
		"run", text(o.RunID),
		"calls", b.run.Caller.Calls,
		"ended", text(b.run.Caller.Ending()),
		"batch_sent", jsonv.Filled(b.run.BatchSent),
		"skipped", list(b.skippedOperations()),
		"notices", texts(b.run.Notices),
		"untested", list(b.run.Rows.Untested),
		"cut_short", evidence.Given(short),
		"volatile_paths", texts(volatile),
		"cleanup", list(b.run.Cleaner.Cleaned),
		"leftovers", list(b.run.Ledger.Leftovers),
		"changed", list(b.run.Watcher.Changed),
		"lists", b.comparedLists(),
		"unchecked", texts(b.run.Cleaner.Unchecked),
		"tests", list(tests),
		"transcript", list(b.run.Caller.Transcript),
	)
}

// comparedLists says on what it rests that no data of others changed: how many lists were
// compared, and which READ operations were never called. Absent for a run without a census.
func (b bundle) comparedLists() jsonv.Value {
	census := b.run.Gate.Census
	if census == nil {
		return jsonv.Value{}
	}
	called := map[string]bool{}
	for _, x := range b.run.Caller.Transcript {
		called[x.Lookup("arguments", "operation").Text()] = true
	}
	var uncalled []string
	for _, op := range b.run.Catalog.Operations {
		if op.Category == "READ" && op.Name != "introspect" && !called[op.Name] {
			uncalled = append(uncalled, op.Name)
		}
	}
	return jsonv.ObjectOf("compared", len(census.Lists), "uncalled", evidence.Given(jsonv.List(uncalled, jsonv.String)))
}

// skippedOperations lists the operations that were not called, with the reason.
func (b bundle) skippedOperations() (skipped []jsonv.Value) {
	for _, op := range b.run.Catalog.Operations {
		if reason := b.run.Gate.Skipped[op.Name]; reason != "" {
			word, detail, _ := strings.Cut(reason, ": ")
			if word != probe.NotGeneratable {
				word, detail = reason, ""
			}
			skipped = append(skipped, jsonv.ObjectOf("operation", op.Name, "reason", word, "detail", jsonv.Filled(detail)))
		}
	}
	return skipped
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

// planOf returns the plan of a mode, see Plan.
func (b bundle) planOf(mode string) (plan []OperationPlan, template jsonv.Value) {
	b.run.Options.Mode = mode
	values := jsonv.Object()
	for _, op := range b.run.Catalog.Operations {
		p := OperationPlan{Operation: op.Name, Category: op.Category, Tool: op.Tool, Risk: op.Risk, Reasons: slices.Clone(op.Reasons)}
		var missing jsonv.Value
		for _, m := range []string{guard.ModeSafe, guard.ModeWrite, guard.ModeFull} {
			b.run.Options.Mode, p.Mode = m, m
			var args jsonv.Value
			args, missing, p.Skipped = b.planCall(op)
			p.Skipped = cmp.Or(b.run.Gate.Barred(op), p.Skipped, b.run.Gate.Unsent(op, args))
			p.Arguments = op.Request(args).If(p.Skipped == "")
			if p.Skipped == "" || m == mode {
				break
			}
		}
		values = values.With(op.Name, evidence.Given(missing))
		plan = append(plan, p)
	}
	return plan, values
}

// planCall returns the required parameters of an operation as the mode would send them, those
// that no value was found for, and why there is none.
func (b bundle) planCall(op *catalog.Operation) (args, missing jsonv.Value, why string) {
	args, missing = jsonv.Object(), jsonv.Object()
	for _, q := range op.Params {
		if !q.Required {
			continue
		}
		v, err := b.planValue(op, q)
		if err != nil {
			missing = missing.With(q.Name, jsonv.Null())
			why = cmp.Or(why, probe.NotGeneratable+": "+err.Error())
			continue
		}
		args = args.With(q.Name, v)
	}
	return b.run.Maker.Marking(op, args, ""), missing, why
}

// planValue returns a value for a required parameter, without calling anything:
// what the run would look up is given by name.
func (b bundle) planValue(op *catalog.Operation, p catalog.Parameter) (jsonv.Value, error) {
	if v, ok := b.run.Options.Given(op.Name, p.Name); ok {
		return v, nil
	}
	x := op.ExecutionParam()
	if x != nil && x.Name == p.Name && (b.run.Options.Mode == guard.ModeFull || op.Category != "READ") {
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
