package probe

import (
	"slices"
	"strings"

	"mcptest/internal/base/jsonv"
	"mcptest/internal/mcpaql/evidence"
	"mcptest/internal/mcpaql/live/catalog"
)

// testPresets tests field presets, and paths into nested objects, of the first operation
// that supports them (FS 2.4, 3.1, 5.1).
func (pr featureProbe) testPresets() {
	t := pr.run.Rows.Tests["presets"]
	t.NotApplicable = "no READ operation takes fields"
	var ops []*catalog.Operation
	for _, op := range pr.run.Catalog.Operations {
		if op.Category == "READ" && op.FindParam("fields") != nil && pr.run.Gate.Skipped[op.Name] == "" {
			t.NotApplicable, t.Incomplete = "", "no item with fields was read"
			base := pr.run.Base[op.Name]
			if base.IsOK() && len(catalog.ListScalarKeys(catalog.Sample(base.Data()))) > 2 {
				ops = append(ops, op)
			}
		}
	}
	if len(ops) == 0 {
		return
	}
	pr.testPresetsOf(ops[0])
	for _, op := range ops {
		if path := findNestedPath(catalog.Sample(pr.run.Base[op.Name].Data())); path != "" {
			pr.testPath(op, path)
			return
		}
	}
}

func (pr featureProbe) testPresetsOf(op *catalog.Operation) {
	var before []string
	smaller := ""
	for _, preset := range []string{"minimal", "standard", "full"} {
		r := pr.run.Caller.Call(op, pr.run.Builder.RebuildParams(op).With("fields", jsonv.String(preset)))
		if !r.WasSent() {
			return
		}
		pr.run.Rows.Count("presets")
		if !r.IsOK() {
			pr.run.Rows.Fail("presets.accepted", r,
				"%s refuses fields: %s: %s", op.Name, evidence.Quote(preset), r.FormatBrief())
			continue
		}
		keys := catalog.Sample(r.Data()).Keys()
		for _, lost := range listMissing(before, keys) {
			pr.run.Rows.Fail("presets.nest", r,
				"%s: %s lacks %s, which %s has", op.Name, preset, evidence.QuoteStart(lost, 60), smaller)
		}
		selectsNothing := smaller != "" && len(before) >= len(keys) && len(keys) > 3
		if preset == "full" && selectsNothing {
			pr.run.Rows.Fail("presets.differ", r, "%s returns the same fields for every preset", op.Name)
		}
		before, smaller = keys, preset
	}
}

// listMissing returns the keys of a smaller preset that a larger one lacks.
func listMissing(smaller, larger []string) (missing []string) {
	for _, k := range smaller {
		if !slices.Contains(larger, k) {
			missing = append(missing, k)
		}
	}
	return missing
}

// findNestedPath returns the path of a scalar inside an object of an answer.
func findNestedPath(v jsonv.Value) string {
	for k, e := range v.Members() {
		keys := catalog.ListScalarKeys(e)
		if e.Kind() != jsonv.KindObject || e.Len() < 2 || len(keys) == 0 {
			continue
		}
		if !strings.Contains(k+keys[0], ".") && !strings.HasPrefix(k, "_") {
			return k + "." + keys[0]
		}
	}
	return ""
}

func (pr featureProbe) testPath(op *catalog.Operation, path string) {
	params := pr.run.Builder.RebuildParams(op).With("fields", jsonv.Array(jsonv.String(path)))
	r := pr.run.Caller.Call(op, params)
	if !r.WasSent() {
		return
	}
	pr.run.Rows.Count("presets")
	if !r.IsOK() {
		pr.run.Rows.Fail("presets.path", r,
			"%s refuses the path %s: %s", op.Name, evidence.QuoteStart(path, 80), r.FormatBrief())
		return
	}
	head, rest, _ := strings.Cut(path, ".")
	part := catalog.Sample(r.Data()).Lookup(head)
	if part.Kind() != jsonv.KindObject || part.Lookup(rest).IsAbsent() {
		pr.run.Rows.Fail("presets.path", r,
			"%s does not return %s inside its object", op.Name, evidence.QuoteStart(path, 80))
	} else if part.Len() > 1 {
		pr.run.Rows.Fail("presets.path", r,
			"%s returns more of %s than the path selects", op.Name, evidence.QuoteStart(head, 60))
	}
}
