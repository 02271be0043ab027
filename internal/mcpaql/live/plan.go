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
		p, missing := b.planOperation(op, mode)
		if missing.Len() > 0 {
			values = values.With(op.Name, missing)
		}
		plan = append(plan, p)
	}
	return plan, values
}

// planOperation returns the plan of an operation in the first mode that calls it, or else in the
// given one, and the parameters that no value was found for.
func (b bundle) planOperation(op *catalog.Operation, mode string) (p OperationPlan, missing jsonv.Value) {
	for _, m := range []string{guard.ModeSafe, guard.ModeWrite, guard.ModeFull} {
		b.run.Options.Mode = m // the gate and the builder read it
		p, missing = b.planInMode(op)
		if p.Skipped == "" || m == mode {
			break
		}
	}
	return p, missing
}

// planInMode returns the plan of an operation in the mode of the run.
func (b bundle) planInMode(op *catalog.Operation) (p OperationPlan, missing jsonv.Value) {
	p = OperationPlan{
		Operation: op.Name,
		Category:  op.Category,
		Tool:      op.Tool,
		Risk:      op.Risk,
		Reasons:   slices.Clone(op.Reasons),
		Mode:      b.run.Options.Mode,
	}
	args, missing, why := b.planCall(op)
	p.Skipped = why
	if barred := b.run.Gate.ExplainBarred(op); barred != "" {
		p.Skipped = barred
	}
	if p.Skipped == "" {
		p.Skipped = b.run.Gate.ExplainUnsent(op, args)
	}
	if p.Skipped == "" {
		p.Arguments = op.Request(args)
	}
	return p, missing
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
