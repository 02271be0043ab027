package live

import (
	"slices"
	"strings"

	"mcptest/internal/aql/evidence"
	"mcptest/internal/display"
	"mcptest/internal/jsonv"
)

// presets looks at field presets, and at paths into nested objects, of the
// first operation that has them (FS 2.4, 3.1, 5.1).
func (pr featureProbe) presets() {
	t := pr.run.rows.tests["presets"]
	t.moot = "no READ operation takes fields"
	var ops []*liveOp
	for _, op := range pr.run.catalog.ops {
		if op.category == "READ" && op.param("fields") != nil && pr.run.skipped[op.name] == "" {
			t.moot, t.lacking = "", "nothing was read that has fields"
			if base := pr.run.base[op.name]; base.ok() && len(scalarKeys(sample(base.data()))) > 2 {
				ops = append(ops, op)
			}
		}
	}
	if len(ops) == 0 {
		return
	}
	pr.presetsOf(ops[0])
	for _, op := range ops {
		if path := nestedPath(sample(pr.run.base[op.name].data())); path != "" {
			pr.pathOf(op, path)
			return
		}
	}
}

func (pr featureProbe) presetsOf(op *liveOp) {
	var before []string
	smaller := ""
	for _, preset := range []string{"minimal", "standard", "full"} {
		r := pr.run.caller.call(op, pr.run.builder.fresh(op).With("fields", jsonv.String(preset)))
		if !r.sent() {
			return
		}
		pr.run.rows.sees("presets")
		if !r.ok() {
			pr.run.rows.breaks("presets.accepted", r, "%s refuses fields: %s: %s", op.name, evidence.Quoted(preset), r.brief())
			continue
		}
		keys := sample(r.data()).Keys()
		for _, k := range before {
			if !slices.Contains(keys, k) {
				pr.run.rows.breaks("presets.nest", r, "%s: %s lacks %s, which %s has", op.name, preset, evidence.Quoted(display.Truncate(k, 60)), smaller)
			}
		}
		if preset == "full" && smaller != "" && len(before) >= len(keys) && len(keys) > 3 {
			pr.run.rows.breaks("presets.differ", r, "%s answers the same fields for every preset", op.name)
		}
		before, smaller = keys, preset
	}
}

// nestedPath is the path of a scalar inside an object of an answer.
func nestedPath(v jsonv.Value) string {
	for k, e := range v.Members() {
		if keys := scalarKeys(e); e.Kind() == jsonv.KindObject && len(keys) > 0 && e.Len() > 1 && !strings.Contains(k+keys[0], ".") && !strings.HasPrefix(k, "_") {
			return k + "." + keys[0]
		}
	}
	return ""
}

func (pr featureProbe) pathOf(op *liveOp, path string) {
	r := pr.run.caller.call(op, pr.run.builder.fresh(op).With("fields", jsonv.Array(jsonv.String(path))))
	if !r.sent() {
		return
	}
	pr.run.rows.sees("presets")
	if !r.ok() {
		pr.run.rows.breaks("presets.path", r, "%s refuses the path %s: %s", op.name, evidence.Quoted(display.Truncate(path, 80)), r.brief())
		return
	}
	head, rest, _ := strings.Cut(path, ".")
	part := sample(r.data()).Lookup(head)
	if part.Kind() != jsonv.KindObject || part.Lookup(rest).IsAbsent() {
		pr.run.rows.breaks("presets.path", r, "%s does not answer %s inside its object", op.name, evidence.Quoted(display.Truncate(path, 80)))
	} else if part.Len() > 1 {
		pr.run.rows.breaks("presets.path", r, "%s answers more of %s than the path names", op.name, evidence.Quoted(display.Truncate(head, 60)))
	}
}

// featureProbe tests field selection, batches, field presets and pagination.
type featureProbe struct {
	run *collector
}
