package probe

import (
	"slices"
	"strings"

	"mcptest/internal/aql/evidence"
	"mcptest/internal/aql/live/catalog"
	"mcptest/internal/aql/live/guard"
	"mcptest/internal/display"
	"mcptest/internal/jsonv"
)

// featureProbe tests field selection, batches, field presets and pagination.
type featureProbe struct {
	run *guard.Run
}

// presets tests field presets, and paths into nested objects, of the first operation
// that supports them (FS 2.4, 3.1, 5.1).
func (pr featureProbe) presets() {
	t := pr.run.Rows.Tests["presets"]
	t.NotApplicable = "no READ operation takes fields"
	var ops []*catalog.Operation
	for _, op := range pr.run.Catalog.Operations {
		if op.Category == "READ" && op.Param("fields") != nil && pr.run.Skipped[op.Name] == "" {
			t.NotApplicable, t.Incomplete = "", "nothing was read that has fields"
			if base := pr.run.Base[op.Name]; base.OK() && len(catalog.ScalarKeys(catalog.Sample(base.Data()))) > 2 {
				ops = append(ops, op)
			}
		}
	}
	if len(ops) == 0 {
		return
	}
	pr.presetsOf(ops[0])
	for _, op := range ops {
		if path := nestedPath(catalog.Sample(pr.run.Base[op.Name].Data())); path != "" {
			pr.pathOf(op, path)
			return
		}
	}
}

func (pr featureProbe) presetsOf(op *catalog.Operation) {
	var before []string
	smaller := ""
	for _, preset := range []string{"minimal", "standard", "full"} {
		r := pr.run.Caller.Call(op, pr.run.Builder.Fresh(op).With("fields", jsonv.String(preset)))
		if !r.Sent() {
			return
		}
		pr.run.Rows.Count("presets")
		if !r.OK() {
			pr.run.Rows.Fail("presets.accepted", r, "%s refuses fields: %s: %s", op.Name, evidence.Quoted(preset), r.Brief())
			continue
		}
		keys := catalog.Sample(r.Data()).Keys()
		for _, k := range before {
			if !slices.Contains(keys, k) {
				pr.run.Rows.Fail("presets.nest", r, "%s: %s lacks %s, which %s has", op.Name, preset, evidence.Quoted(display.Truncate(k, 60)), smaller)
			}
		}
		if preset == "full" && smaller != "" && len(before) >= len(keys) && len(keys) > 3 {
			pr.run.Rows.Fail("presets.differ", r, "%s answers the same fields for every preset", op.Name)
		}
		before, smaller = keys, preset
	}
}

// nestedPath returns the path of a scalar inside an object of an answer.
func nestedPath(v jsonv.Value) string {
	for k, e := range v.Members() {
		if keys := catalog.ScalarKeys(e); e.Kind() == jsonv.KindObject && len(keys) > 0 && e.Len() > 1 && !strings.Contains(k+keys[0], ".") && !strings.HasPrefix(k, "_") {
			return k + "." + keys[0]
		}
	}
	return ""
}

func (pr featureProbe) pathOf(op *catalog.Operation, path string) {
	r := pr.run.Caller.Call(op, pr.run.Builder.Fresh(op).With("fields", jsonv.Array(jsonv.String(path))))
	if !r.Sent() {
		return
	}
	pr.run.Rows.Count("presets")
	if !r.OK() {
		pr.run.Rows.Fail("presets.path", r, "%s refuses the path %s: %s", op.Name, evidence.Quoted(display.Truncate(path, 80)), r.Brief())
		return
	}
	head, rest, _ := strings.Cut(path, ".")
	part := catalog.Sample(r.Data()).Lookup(head)
	if part.Kind() != jsonv.KindObject || part.Lookup(rest).IsAbsent() {
		pr.run.Rows.Fail("presets.path", r, "%s does not answer %s inside its object", op.Name, evidence.Quoted(display.Truncate(path, 80)))
	} else if part.Len() > 1 {
		pr.run.Rows.Fail("presets.path", r, "%s answers more of %s than the path names", op.Name, evidence.Quoted(display.Truncate(head, 60)))
	}
}
