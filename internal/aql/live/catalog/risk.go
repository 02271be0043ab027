package catalog

import (
	"cmp"
	"path"
	"slices"
	"strings"

	"mcptest/internal/aql/rule"
	"mcptest/internal/jsonv"
)

// The risk of an operation is judged from several claims, and the worst one counts:
// some adapters declare operations as reading that open programs or change their
// session.

// The risks, numbered like the danger levels of the specification.
const (
	RiskRead    = 0
	RiskWrite   = 1
	RiskDelete  = 2
	RiskDanger  = 3
	RiskExtreme = 4
)

var (
	dangerNames  = []string{"force_*", "*_permanently", "bulk_delete*", "override_*", "bypass_*", "*_without_backup", "purge_*"}
	extremeNames = []string{"drop_*", "delete_all*", "truncate_*", "reset_*", "destroy_*", "wipe_*", "*_production"}
)

// MatchesAny reports whether a name matches one of the glob patterns.
func MatchesAny(name string, globs []string) bool {
	return slices.ContainsFunc(globs, func(g string) bool { ok, _ := path.Match(g, name); return ok })
}

// Assess sets an operation's risk and the reasons for it.
func (cat *Catalog) Assess(op *Operation) {
	raise := func(to int, why string) {
		if op.Risk = max(op.Risk, to); to > 0 {
			op.Reasons = append(op.Reasons, why)
		}
	}
	for i, category := range op.categories() {
		if risk := categoryRisk(category); i == 0 || risk > op.Risk {
			raise(risk, "its category is "+cmp.Or(category, "not known"))
		}
	}
	p := op.Detail.Lookup("permissions")
	if p.Lookup("destructive").Bool() && op.Category != "UPDATE" {
		raise(RiskDelete, "it declares itself destructive")
	}
	if ro := p.Lookup("readOnly"); ro.Kind() == jsonv.KindBool && !ro.Bool() {
		raise(RiskWrite, "it does not declare itself readOnly")
	}
	if t := cat.ToolNamed(op.Tool); t != nil && op.Tool != cat.Single && op.Category == "READ" {
		if h := t.Annotations.Lookup("readOnlyHint"); h.Kind() == jsonv.KindBool && !h.Bool() {
			raise(RiskWrite, "its tool does not declare readOnlyHint")
		}
		if t.Annotations.Lookup("destructiveHint").Bool() {
			raise(RiskDelete, "its tool declares destructiveHint")
		}
	}
	raise(dangerLevel(op), "it declares a danger level")
	name := strings.ToLower(op.Name)
	switch {
	case MatchesAny(name, extremeNames):
		raise(RiskExtreme, "its name says so")
	case MatchesAny(name, dangerNames):
		raise(RiskDanger, "its name says so")
	}
	raise(op.ActsByName(), "it is named like an action")
}

// categories returns the categories that an operation claims, in the list and in its
// detail: if they differ, the worst one counts.
func (o *Operation) categories() []string {
	out := []string{o.Category}
	for _, v := range []jsonv.Value{o.Info, o.Detail} {
		for _, key := range []string{"semantic_category", "endpoint"} {
			if c := strings.ToUpper(v.Lookup(key).Text()); slices.Contains(rule.SemanticCategories, c) && !slices.Contains(out, c) {
				out = append(out, c)
			}
		}
	}
	return out
}

func categoryRisk(category string) int {
	if risk, known := map[string]int{"READ": RiskRead, "CREATE": RiskWrite, "UPDATE": RiskWrite, "EXECUTE": RiskWrite, "DELETE": RiskDelete}[category]; known {
		return risk
	}
	return RiskDanger
}

// dangerLevel returns the level that a detail declares, by number or by name (DL
// 2.1); 0 if it declares none.
func dangerLevel(op *Operation) int {
	v := op.Detail.Lookup("danger", "level")
	if v.IsAbsent() {
		v = op.Detail.Lookup("danger_level")
	}
	if n, ok := v.Int64(); ok {
		return int(max(0, min(n, RiskExtreme)))
	}
	return max(0, slices.Index([]string{"safe", "moderate", "destructive", "dangerous", "forbidden"}, strings.ToLower(v.Text())))
}
