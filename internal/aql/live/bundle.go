package live

import (
	"context"
	"errors"
	"slices"
	"strconv"
	"strings"
	"time"

	"mcptest/internal/aql/evidence"
	"mcptest/internal/aql/rule"
	"mcptest/internal/aql/semantic"
	"mcptest/internal/jsonv"
	"mcptest/internal/mcp"
)

// finish fills in what the evidence says about the run itself.
func (c *collector) finish() {
	for _, op := range c.ops {
		var names []string
		for _, p := range op.params {
			if c.accepted[op.name][p.name] {
				names = append(names, p.name)
			}
		}
		for _, name := range sortedKeys(c.accepted[op.name]) {
			if op.param(name) == nil {
				names = append(names, name)
			}
		}
		if len(names) > 0 || c.base[op.name].ok() {
			c.e.Accepted = append(c.e.Accepted, evidence.Accepted{Operation: op.name, Parameters: names})
		}
	}
	c.settleRows()
	for _, t := range c.tests {
		if t.cases == 0 && t.lacking == "" {
			t.lacking = "mode " + c.o.Mode + " checks nothing of the kind"
		}
	}
	c.e.Live = c.live()
	if c.o.Probed {
		c.keepProbed()
	}
}

// keepProbed removes the operations with a required parameter that was never
// left out from the evidence: the prototype's rules fail a detail without such
// a case. Their accepted parameters go too, because they fail without a detail.
func (c *collector) keepProbed() {
	called := map[string]bool{}
	for _, m := range c.e.MissingRequired {
		called[m.Operation] = true
	}
	untested := map[string]bool{}
	for _, u := range c.untested {
		if u.Lookup("test").Text() == "required" {
			untested[u.Lookup("operation").Text()] = true
		}
	}
	dropped := func(name string) bool {
		op := c.op(name)
		return op != nil && (c.skipped[op.name] != "" || untested[op.name] || !called[op.name] && !op.bare())
	}
	c.e.OperationDetails = slices.DeleteFunc(c.e.OperationDetails, func(d jsonv.Value) bool {
		return dropped(evidence.ReadDetail(d).Value.Lookup("name").Text())
	})
	c.e.Accepted = slices.DeleteFunc(c.e.Accepted, func(a evidence.Accepted) bool { return dropped(a.Operation) })
	c.e.Live = c.e.Live.With("partial", jsonv.Bool(true))
}

// live is the bundle's x_live object.
func (c *collector) live() jsonv.Value {
	var o, wire evidence.Object
	o.Text("tool", c.o.Program)
	o.Text("started", c.started.UTC().Format(time.RFC3339))
	o.Text("finished", c.tape.Now().UTC().Format(time.RFC3339))
	o.Text("target", c.o.Target)
	o.Text("repeat", c.o.Repeat)
	wire.Text("protocolVersion", c.s.Protocol())
	wire.Set("serverInfo", c.s.ServerInfo().Lookup("serverInfo"))
	o.Set("mcp", wire.Value())
	o.List("tools", evidence.Each(c.tools, func(t toolInfo) jsonv.Value { return jsonv.String(t.name) }))
	c.asked(&o)
	o.List("dialect", evidence.Each(c.dialect, jsonv.String))
	o.Set("modes", evidence.TextList(c.modes))
	o.Set("policy", jsonv.Object(evidence.TextMember("mode", c.o.Mode), jsonv.Member{Key: "allow", Value: evidence.TextList(c.o.Allow)},
		jsonv.Member{Key: "deny", Value: evidence.TextList(c.o.Deny)}, jsonv.Member{Key: "max_calls", Value: jsonv.Int(int64(c.o.MaxCalls))}))
	o.Text("run", c.o.RunID)
	o.Set("calls", jsonv.Int(int64(c.calls)))
	o.Text("ended", c.ending())
	if c.batchSent > 0 {
		o.Set("batch_sent", jsonv.Int(int64(c.batchSent)))
	}
	o.List("skipped", c.skippedOperations())
	o.List("notices", evidence.Each(c.notices, jsonv.String))
	o.List("untested", c.untested)
	var short evidence.Object
	for _, id := range sortedKeys(c.short) {
		short.Text(id, c.short[id])
	}
	if len(short) > 0 {
		o.Set("cut_short", short.Value())
	}
	var volatile []string
	for _, op := range c.ops {
		for _, path := range sortedKeys(c.masks[op.name]) {
			volatile = append(volatile, op.name+": "+path)
		}
	}
	o.List("volatile_paths", evidence.Each(volatile, jsonv.String))
	o.List("cleanup", c.cleaned)
	o.List("leftovers", c.leftovers)
	o.List("changed", c.changed)
	o.List("unchecked", evidence.Each(c.unchecked, jsonv.String))
	var tests []jsonv.Value
	for _, t := range rule.Tests() {
		if t.Live {
			tests = append(tests, c.tests[t.ID].json())
		}
	}
	o.List("tests", tests)
	o.List("transcript", c.transcript)
	return o.Value()
}

// skippedOperations lists the operations that were not called, with the reason.
func (c *collector) skippedOperations() (skipped []jsonv.Value) {
	for _, op := range c.ops {
		if reason := c.skipped[op.name]; reason != "" {
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
func (c *collector) asked(o *evidence.Object) {
	o.List("unasked", c.unasked)
	if m := c.o.Asking.Model; m != nil {
		calls, tokens := m.Used()
		o.Set("model", jsonv.Object(evidence.TextMember("name", m.Model()), jsonv.Member{Key: "calls", Value: jsonv.Int(int64(calls))}, jsonv.Member{Key: "tokens", Value: jsonv.Int(int64(tokens))}))
	}
	if j := c.o.Asking.Judge; j != nil {
		o.Set("judge", semantic.JudgeNote(j))
	}
}

// ending says why a run ended early, "" when it did not.
func (c *collector) ending() string {
	switch {
	case c.dead != "":
		return c.dead
	case c.ctx.Err() != nil:
		var limit *mcp.Limit
		if errors.As(context.Cause(c.ctx), &limit) {
			return "the run's time is over (--budget " + c.o.Budget.String() + ")"
		}
		return "the run was ended early"
	case c.exhausted:
		return "the run reached the limit of calls (--max-calls " + strconv.Itoa(c.o.MaxCalls) + ")"
	}
	return ""
}

// endedBefore is why something was not looked at.
func (c *collector) endedBefore() string {
	if why := c.ending(); why != "" {
		return why
	}
	return "the run ended before"
}

// cutsShort notes that the run ended before it had looked at all that rows
// need: what they lack is then nothing that the adapter did.
func (c *collector) cutsShort(tests ...string) {
	for _, id := range tests {
		if c.short[id] == "" {
			c.short[id] = c.endedBefore()
		}
	}
}

func (t *liveTest) json() jsonv.Value {
	o := evidence.Object{evidence.TextMember("id", t.id), {Key: "cases", Value: jsonv.Int(int64(t.cases))}}
	o.Text("lacking", t.lacking)
	o.Text("moot", t.moot)
	o.Text("observed", t.observed)
	o.List("findings", t.found)
	return o.Value()
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
func (c *collector) planned(mode string) (plan []OperationPlan, template jsonv.Value) {
	c.o.Mode = mode
	values := jsonv.Object()
	for _, op := range c.ops {
		p := OperationPlan{Operation: op.name, Category: op.category, Tool: op.tool, Risk: op.risk, Reasons: slices.Clone(op.why)}
		p.Skipped = c.barred(op)
		args := jsonv.Object()
		missing := jsonv.Object()
		for _, q := range op.params {
			if !q.required {
				continue
			}
			v, err := c.planValue(op, q)
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
func (c *collector) planValue(op *liveOp, p liveParam) (jsonv.Value, error) {
	if v, ok := c.o.Values.Lookup(op.name).Get(p.name); ok {
		return v, nil
	}
	if x := op.executionParam(); x != nil && x.name == p.name && (c.o.Mode == ModeFull || op.category != "READ") {
		return jsonv.String("<one that the run started>"), nil
	}
	if op.isIdentifier(p) {
		if op.category == "READ" {
			return jsonv.String("<one that the adapter lists>"), nil
		}
		return jsonv.String("<one that the run created>"), nil
	}
	return c.value(op, p, p.name)
}
