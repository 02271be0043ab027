package live

import (
	"path"
	"slices"
	"strings"

	"mcptest/internal/aql/rule"
	"mcptest/internal/jsonv"
)

// What an operation may do is judged from several claims, and the worst one
// counts: adapters were seen to declare operations as reading that open
// programs or change their session.

// The risks, as the danger levels of the specification count them.
const (
	riskRead    = 0
	riskWrite   = 1
	riskDelete  = 2
	riskDanger  = 3
	riskExtreme = 4
)

var (
	dangerNames  = []string{"force_*", "*_permanently", "bulk_delete*", "override_*", "bypass_*", "*_without_backup", "purge_*"}
	extremeNames = []string{"drop_*", "delete_all*", "truncate_*", "reset_*", "destroy_*", "wipe_*", "*_production"}
)

func matchesAny(name string, globs []string) bool {
	return slices.ContainsFunc(globs, func(g string) bool { ok, _ := path.Match(g, name); return ok })
}

// assess sets an operation's risk and the reasons for it.
func (cat *catalog) assess(op *liveOp) {
	raise := func(to int, why string) {
		if to > op.risk {
			op.risk = to
		}
		if to > 0 && why != "" {
			op.why = append(op.why, why)
		}
	}
	for i, category := range op.categories() {
		if risk := categoryRisk(category); i == 0 || risk > op.risk {
			raise(risk, "its category is "+orNotKnown(category))
		}
	}
	p := op.detail.Lookup("permissions")
	if p.Lookup("destructive").Bool() && op.category != "UPDATE" {
		raise(riskDelete, "it declares itself destructive")
	}
	if ro := p.Lookup("readOnly"); ro.Kind() == jsonv.KindBool && !ro.Bool() {
		raise(riskWrite, "it does not declare itself readOnly")
	}
	if t := cat.toolNamed(op.tool); t != nil && op.tool != cat.single && op.category == "READ" {
		if h := t.annotations.Lookup("readOnlyHint"); h.Kind() == jsonv.KindBool && !h.Bool() {
			raise(riskWrite, "its tool does not declare readOnlyHint")
		}
		if t.annotations.Lookup("destructiveHint").Bool() {
			raise(riskDelete, "its tool declares destructiveHint")
		}
	}
	if n := dangerLevel(op); n > 0 {
		raise(n, "it declares a danger level")
	}
	name := strings.ToLower(op.name)
	switch {
	case matchesAny(name, extremeNames):
		raise(riskExtreme, "its name says so")
	case matchesAny(name, dangerNames):
		raise(riskDanger, "its name says so")
	}
	if risk := op.actsByName(); risk > 0 {
		raise(risk, "it is named like an action")
	}
}

// categories are those that an operation gives itself, in the list and in its
// detail: where they differ, the worst one counts.
func (o *liveOp) categories() []string {
	out := []string{o.category}
	for _, v := range []jsonv.Value{o.info, o.detail} {
		for _, key := range []string{"semantic_category", "endpoint"} {
			if c := strings.ToUpper(v.Lookup(key).Text()); slices.Contains(rule.SemanticCategories, c) && !slices.Contains(out, c) {
				out = append(out, c)
			}
		}
	}
	return out
}

func categoryRisk(category string) int {
	switch category {
	case "READ":
		return riskRead
	case "CREATE", "UPDATE", "EXECUTE":
		return riskWrite
	case "DELETE":
		return riskDelete
	}
	return riskDanger
}

func orNotKnown(category string) string {
	if category == "" {
		return "not known"
	}
	return category
}

// dangerLevel is the level that a detail declares, by number or by name (DL
// 2.1); 0 when it declares none.
func dangerLevel(op *liveOp) int {
	v := op.detail.Lookup("danger", "level")
	if v.IsAbsent() {
		v = op.detail.Lookup("danger_level")
	}
	if n, ok := v.Int64(); ok {
		return int(max(0, min(n, riskExtreme)))
	}
	return max(0, slices.Index([]string{"safe", "moderate", "destructive", "dangerous", "forbidden"}, strings.ToLower(v.Text())))
}
