package live

import (
	"cmp"
	"slices"

	"mcptest/internal/base/jsonv"
	"mcptest/internal/mcpaql/live/catalog"
	"mcptest/internal/mcpaql/live/guard"
	"mcptest/internal/mcpaql/live/probe"
)

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
		p := OperationPlan{
			Operation: op.Name,
			Category:  op.Category,
			Tool:      op.Tool,
			Risk:      op.Risk,
			Reasons:   slices.Clone(op.Reasons),
		}
		var missing jsonv.Value
		for _, m := range []string{guard.ModeSafe, guard.ModeWrite, guard.ModeFull} {
			b.run.Options.Mode, p.Mode = m, m
			var args jsonv.Value
			args, missing, p.Skipped = b.planCall(op)
			if barred := b.run.Gate.ExplainBarred(op); barred != "" {
				p.Skipped = barred
			}
			if p.Skipped == "" {
				p.Skipped = b.run.Gate.ExplainUnsent(op, args)
			}
			p.Arguments = jsonv.Value{}
			if p.Skipped == "" {
				p.Arguments = op.Request(args)
			}
			if p.Skipped == "" || m == mode {
				break
			}
		}
		if missing.Len() > 0 {
			values = values.With(op.Name, missing)
		}
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
	return b.run.Maker.AddMark(op, args, ""), missing, why
}

// planValue returns a value for a required parameter, without calling anything:
// what the run would look up is given by name.
func (b bundle) planValue(op *catalog.Operation, p catalog.Parameter) (jsonv.Value, error) {
	if v, ok := b.run.Options.FindGiven(op.Name, p.Name); ok {
		return v, nil
	}
	x := op.FindExecutionParam()
	if x != nil && x.Name == p.Name && (b.run.Options.Mode == guard.ModeFull || op.Category != "READ") {
		return jsonv.String("<one that the run started>"), nil
	}
	if op.IsIdentifier(p) {
		if op.Category == "READ" {
			return jsonv.String("<one that the adapter lists>"), nil
		}
		return jsonv.String("<one that the run created>"), nil
	}
	return b.run.Builder.InventValue(op, p)
}
