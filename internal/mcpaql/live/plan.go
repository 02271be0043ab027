package live

import (
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

	missing jsonv.Value // null for each required parameter that no value was found for
}

// makeTemplate returns the parameters that no value was found for, by operation.
func makeTemplate(plan []OperationPlan) jsonv.Value {
	values := jsonv.Object()
	for _, p := range plan {
		if p.missing.Len() > 0 {
			values = values.With(p.Operation, p.missing)
		}
	}
	return values
}

// planner plans what a run would call.
type planner struct{ run *guard.Run }

// planOperations returns the plan of a mode.
func (pl planner) planOperations(mode string) (plan []OperationPlan) {
	for _, op := range pl.run.Catalog.Operations {
		plan = append(plan, pl.planOperation(op, mode))
	}
	return plan
}

// planOperation returns the plan of an operation in the first mode that calls it, or else in the
// given one.
func (pl planner) planOperation(op *catalog.Operation, mode string) (p OperationPlan) {
	for _, m := range []string{guard.ModeSafe, guard.ModeWrite, guard.ModeFull} {
		p = pl.planInMode(op, m)
		if p.Skipped == "" || m == mode {
			break
		}
	}
	return p
}

// planInMode returns the plan of an operation in a mode.
func (pl planner) planInMode(op *catalog.Operation, mode string) OperationPlan {
	pl.run.Options.Mode = mode // the gate and the builder read it
	args, missing, why := pl.planCall(op)
	p := OperationPlan{
		Operation: op.Name,
		Category:  op.Category,
		Tool:      op.Tool,
		Risk:      op.Risk,
		Reasons:   slices.Clone(op.Reasons),
		Mode:      mode,
		Skipped:   why,
		missing:   missing,
	}
	if barred := pl.run.Gate.ExplainBarred(op); barred != "" {
		p.Skipped = barred
	}
	if p.Skipped == "" {
		p.Skipped = pl.run.Gate.ExplainUnsent(op, args)
	}
	if p.Skipped == "" {
		p.Arguments = op.Request(args)
	}
	return p
}

// planCall returns the required parameters of an operation as the mode would send them, those
// that no value was found for, and why there is none for the first of them.
func (pl planner) planCall(op *catalog.Operation) (args, missing jsonv.Value, why string) {
	args, missing = jsonv.Object(), jsonv.Object()
	for _, q := range op.Params {
		if !q.Required {
			continue
		}
		v, err := pl.planValue(op, q)
		if err == nil {
			args = args.With(q.Name, v)
			continue
		}
		missing = missing.With(q.Name, jsonv.Null())
		if why == "" {
			why = probe.NotGeneratable + ": " + err.Error()
		}
	}
	return pl.run.Maker.AddMark(op, args, ""), missing, why
}

// planValue returns a value for a required parameter, without calling anything:
// what the run would look up is given by name.
func (pl planner) planValue(op *catalog.Operation, p catalog.Parameter) (jsonv.Value, error) {
	if v, ok := pl.run.Options.FindGiven(op.Name, p.Name); ok {
		return v, nil
	}
	x := op.FindExecutionParam()
	if x != nil && x.Name == p.Name && (pl.run.Options.Mode == guard.ModeFull || op.Category != "READ") {
		return jsonv.String("<one that the run started>"), nil
	}
	if op.IsIdentifier(p) {
		if op.Category == "READ" {
			return jsonv.String("<one that the adapter lists>"), nil
		}
		return jsonv.String("<one that the run created>"), nil
	}
	return pl.run.Builder.InventValue(op, p)
}
