package catalog

import (
	"cmp"
	"path"
	"slices"
	"strings"

	"mcptest/internal/base/jsonv"
	"mcptest/internal/mcpaql/evidence"
)

// Names that suggest an action. An adapter's declaration is only a claim, and a run
// that must not change anything leaves out an operation rather than risk it.

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
		op.Risk = max(op.Risk, to)
		if to > 0 {
			op.Reasons = append(op.Reasons, why)
		}
	}
	for i, category := range op.listCategories() {
		risk, known := categoryRisks[category]
		if !known {
			risk = RiskDanger
		}
		if i == 0 || risk > op.Risk {
			raise(risk, "its category is "+cmp.Or(category, "not known"))
		}
	}
	if reserved := findReservedCategory(op.Name); reserved != "" {
		raise(categoryRisks[reserved], "its name is reserved for "+reserved)
	}
	p := op.Detail.Lookup("permissions")
	if p.Lookup("destructive").Bool() && op.Category != "UPDATE" {
		raise(RiskDelete, "it declares itself destructive")
	}
	if ro := p.Lookup("readOnly"); ro.Kind() == jsonv.KindBool && !ro.Bool() {
		raise(RiskWrite, "it does not declare itself readOnly")
	}
	if t := cat.FindTool(op.Tool); t.Name != "" && op.Tool != cat.Single && op.Category == "READ" {
		if h := t.Annotations.Lookup("readOnlyHint"); h.Kind() == jsonv.KindBool && !h.Bool() {
			raise(RiskWrite, "its tool does not declare readOnlyHint")
		}
		if t.Annotations.Lookup("destructiveHint").Bool() {
			raise(RiskDelete, "its tool declares destructiveHint")
		}
	}
	raise(readDangerLevel(op), "it declares a danger level")
	name := strings.ToLower(op.Name)
	switch {
	case MatchesAny(name, extremeNames):
		raise(RiskExtreme, "its name says so")
	case MatchesAny(name, dangerNames):
		raise(RiskDanger, "its name says so")
	}
	raise(op.ActsByName(), "it is named like an action")
	if op.describesAction() {
		raise(RiskWrite, "its description begins like that of an action")
	}
}

// notAction matches what follows a word in a description where the word is a noun: "Set
// of notes", "Book details".
var notAction = evidence.Pattern(`^(of|with|for|from|in|by|on|and|or|that|which|details?|lists?|history|status|info(rmation)?|records?|data|items?|entr(y|ies)|names?|ids?)$`)

// describesAction reports whether the description of an operation that is declared READ
// begins with a verb that changes something: "Configure the portfolio", "Sets a theme".
// Where the name says that it reads, other words may be adjectives: "Open issues".
func (o *Operation) describesAction() bool {
	for _, v := range []jsonv.Value{o.Info, o.Detail} {
		words := listWords(v.Lookup("description").Text())
		if o.Category != "READ" || o.Name == "introspect" || len(words) < 2 || notAction().MatchString(words[1]) {
			continue
		}
		word := words[0]
		for _, verb := range []string{word, strings.TrimSuffix(word, "s"), strings.TrimSuffix(word, "es")} {
			if slices.Contains([]string{"configure", "manage", "set", "change"}, verb) {
				return true
			}
			if o.Verb == "get" || o.Verb == "list" {
				continue
			}
			if isChangingVerb(verb) {
				return true
			}
		}
	}
	return false
}

var categoryRisks = map[string]int{"READ": RiskRead, "CREATE": RiskWrite, "UPDATE": RiskWrite, "EXECUTE": RiskWrite, "DELETE": RiskDelete}

// readDangerLevel returns the level that a detail declares, by number or by name (DL
// 2.1); 0 if it declares none.
func readDangerLevel(op *Operation) int {
	v := cmp.Or(op.Detail.Lookup("danger", "level"), op.Detail.Lookup("danger_level"))
	if n, ok := v.Int64(); ok {
		return int(max(0, min(n, RiskExtreme)))
	}
	levels := []string{"safe", "moderate", "destructive", "dangerous", "forbidden"}
	return max(0, slices.Index(levels, strings.ToLower(v.Text())))
}

// ActsByName returns the risk of an operation that is declared READ but has a name
// that suggests otherwise, 0 for any other. A verb counts at the beginning of a name
// and after "and" or "then"; elsewhere it may be a noun.
func (o *Operation) ActsByName() int {
	if o.Category != "READ" {
		return RiskRead
	}
	risk := RiskRead
	words := listWords(o.Name)
	for i, word := range words {
		if i > 0 && !slices.Contains([]string{"and", "then", "or"}, words[i-1]) {
			continue
		}
		verb := verbs[word]
		switch {
		case verb == "delete", slices.Contains(removalVerbs, word):
			risk = max(risk, RiskDelete)
		case verb == "create", verb == "update", slices.Contains(actionVerbs, word):
			risk = max(risk, RiskWrite)
		}
	}
	return risk
}

// isChangingVerb reports whether a verb says that something is changed.
func isChangingVerb(verb string) bool {
	return slices.Contains(actionVerbs, verb) || slices.Contains(removalVerbs, verb) ||
		slices.Contains([]string{"create", "update", "delete"}, verbs[verb])
}
