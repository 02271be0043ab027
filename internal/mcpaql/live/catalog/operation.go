package catalog

import (
	"cmp"
	"path"
	"slices"
	"strings"
	"unicode"

	"mcptest/internal/base/jsonv"
	"mcptest/internal/mcpaql/evidence"
	"mcptest/internal/mcpaql/rule"
)

// Tool is one MCP tool.
type Tool struct {
	Name, Description   string
	Annotations, Schema jsonv.Value
}

// Operation is one operation as the adapter describes it.
type Operation struct {
	Name, Category, Endpoint string
	Tool                     string // the tool that calls it
	Info, Detail             jsonv.Value
	Params                   []Parameter
	Verb, Resource           string
	Risk                     int
	Reasons                  []string
}

// Parameter is one documented parameter.
type Parameter struct {
	Name, Type, Doc string
	Required        bool
	Sensitive       bool
	Schema          jsonv.Value // the whole description
	linked          *NamedType  // the enum that its name refers to, see linkEnums
}

// FindParam returns a parameter by its name; nil if it is not documented.
func (o *Operation) FindParam(name string) *Parameter {
	return o.findFirst(func(p Parameter) bool { return p.Name == name })
}

// IsSilent reports whether the detail of an operation does not say which parameters it takes:
// that there are none is not known.
func (o *Operation) IsSilent() bool { return o.Detail.Lookup("parameters").IsAbsent() }

// rehearsal matches the names of parameters with which a call only says what it would do.
var rehearsal = evidence.Pattern(`^(dry_?run|validate_only|check_only|simulate|what_?if|preview_only)$`)

// Rehearses reports whether a parameter makes a call say only what it would do.
func (p *Parameter) Rehearses() bool {
	return rehearsal().MatchString(strings.ToLower(p.Name)) && (p.Type == "boolean" || p.Type == "bool")
}

// IsRehearsal reports whether the parameters of a call ask it to store nothing.
func (o *Operation) IsRehearsal(params jsonv.Value) bool {
	return slices.ContainsFunc(o.Params, func(p Parameter) bool {
		return p.Rehearses() && params.Lookup(p.Name).Bool()
	})
}

// findFirst returns the first parameter that match accepts; nil if there is none.
func (o *Operation) findFirst(match func(Parameter) bool) *Parameter {
	if i := slices.IndexFunc(o.Params, match); i >= 0 {
		return &o.Params[i]
	}
	return nil
}

// NamedType is a type that the adapter defines.
type NamedType struct {
	Name, Kind string
	Detail     jsonv.Value
}

// controlVerbs begin the names of operations that act on something that exists or is
// running.
var controlVerbs = strings.Fields("abort cancel stop kill terminate end interrupt pause suspend resume retry restart complete finish " +
	"approve confirm reject deny accept decline authorize grant revoke commit rollback undo redo verify resolve dismiss")

// FindExecutionParam returns the parameter that names an execution; nil if the operation
// has none.
func (o *Operation) FindExecutionParam() *Parameter {
	return o.findFirst(func(p Parameter) bool {
		return p.Required && (p.Name == ExecutionKey || p.Name == "id" && IsSameResource(o.Resource, "execution"))
	})
}

// ControlsExecution reports whether an operation acts on something that is running, which must
// belong to the run.
func (o *Operation) ControlsExecution() bool {
	return o.Name == StepOperation || o.Category == "EXECUTE" && !o.Starts() && (o.FindExecutionParam() != nil || o.FindIDParam() != nil)
}

// Creates reports whether an operation creates something that must be removed. A step
// belongs to its execution.
func (o *Operation) Creates() bool { return o.Category == "CREATE" && o.Name != StepOperation }

// ChangesData reports whether an operation changes or removes existing data, by any of
// its claims.
func (o *Operation) ChangesData() bool {
	return o.Verb == "update" || o.Verb == "delete" || slices.ContainsFunc(o.listCategories(), func(c string) bool {
		return c == "UPDATE" || c == "DELETE"
	})
}

// ParseStem returns the resource that a parameter's name refers to: book for book_id, ""
// if it refers to none.
func ParseStem(param string) string {
	if s, ok := strings.CutSuffix(param, "_id"); ok {
		return s
	}
	return ""
}

// startsExecution reports whether an operation's documentation promises a separate
// execution for every call.
func (o *Operation) startsExecution() bool {
	if o.Name == "execute_agent" {
		return true
	}
	if !o.Starts() {
		return false
	}
	returns := strings.ToLower(o.Detail.Lookup("returns").String())
	return o.Detail.Lookup("lifecycle").Kind() == jsonv.KindObject || strings.Contains(returns, "execution")
}

// ActsUnnamed reports whether an EXECUTE operation may act on anything: it accepts no
// parameter that names an item of the run, and is not documented to start something
// of its own.
func (o *Operation) ActsUnnamed() bool {
	return (o.Category == "EXECUTE" || o.Name == StepOperation) && o.FindExecutionParam() == nil && o.FindIDParam() == nil && !o.startsExecution()
}

// CursorPair holds the parameter that a cursor parameter requires.
var CursorPair = map[string]string{"after": "first", "before": "last"}

// PagesByCursor reports whether an operation pages by cursors, at least forward.
func (o *Operation) PagesByCursor() bool {
	return o.FindParam("first") != nil && o.FindParam("after") != nil
}

// IsSentAlone reports whether an optional parameter is left out when several are sent
// together: pages go in one direction.
func (o *Operation) IsSentAlone(p Parameter) bool {
	return o.PagesByCursor() && (CursorPair[p.Name] != "" || p.Name == "first" || p.Name == "last")
}

// RequiresNothing reports whether an operation has no required parameter.
func (o *Operation) RequiresNothing() bool {
	return o.findFirst(func(p Parameter) bool { return p.Required }) == nil
}

// IsIdentifier reports whether a parameter names one of an operation's resources.
func (o *Operation) IsIdentifier(p Parameter) bool {
	if !p.Required || o.Category == "CREATE" {
		return false
	}
	switch {
	case strings.HasSuffix(p.Name, "_id"), slices.Contains([]string{"id", "slug", "key", "uuid", "path"}, p.Name):
		return true
	case p.Name == "name", p.Name == o.Resource+"_name":
		return o.Verb == "get" || o.Verb == "update" || o.Verb == "delete"
	}
	return false
}

// FindIDParam returns the parameter that identifies the resource, or else the one that
// identifies what the resource belongs to.
func (o *Operation) FindIDParam() *Parameter {
	own := func(p Parameter) bool { return o.IsIdentifier(p) && !o.NamesOther(p) }
	if p := o.findFirst(own); p != nil {
		return p
	}
	return o.findFirst(o.IsIdentifier)
}

// NamesOther reports whether a parameter names something of another resource, as in
// create_comment the parameter note_id.
func (o *Operation) NamesOther(p Parameter) bool {
	return ParseStem(p.Name) != "" && !IsSameResource(ParseStem(p.Name), o.Resource)
}

// Request returns the arguments of a call with params.
func (o *Operation) Request(params jsonv.Value) jsonv.Value {
	return jsonv.ObjectOf("operation", o.Name, "params", params)
}

// ReservedOperations are the operations that the specification defines, with their categories.
var ReservedOperations = map[string]string{
	"introspect": "READ", "execute_agent": "EXECUTE", "complete_execution": "EXECUTE", "abort_execution": "EXECUTE",
	"confirm_operation": "EXECUTE", "record_execution_step": "CREATE", "verify_challenge": "CREATE",
}

// findReservedCategory is the category of an operation whose name the specification reserves,
// in any spelling; "" for another name. A list that says READ does not change what it does.
func findReservedCategory(name string) string {
	return ReservedOperations[strings.Join(splitName(name), "_")]
}

// Names that the specification reserves.
const (
	ExecutionKey  = "execution_id"
	StepOperation = "record_execution_step"
)

// listCategories returns the categories that an operation claims, in the list and in its
// detail: if they differ, the worst one counts.
func (o *Operation) listCategories() []string {
	out := []string{o.Category}
	for _, v := range []jsonv.Value{o.Info, o.Detail} {
		for _, key := range []string{"semantic_category", "endpoint"} {
			c := strings.ToUpper(v.Lookup(key).Text())
			if slices.Contains(rule.SemanticCategories, c) && !slices.Contains(out, c) {
				out = append(out, c)
			}
		}
	}
	return out
}

// IsSameResource compares resource names, ignoring the plural.
func IsSameResource(a, b string) bool {
	return a == b || slices.ContainsFunc(listSingulars(a), func(s string) bool { return slices.Contains(listSingulars(b), s) })
}

func listSingulars(s string) []string {
	endings := [][2]string{
		{"ies", "y"},
		{"ves", "f"},
		{"ves", "fe"},
		{"es", ""},
		{"s", ""},
	}
	out := []string{s}
	for _, e := range endings {
		if stem, ok := strings.CutSuffix(s, e[0]); ok && stem != "" {
			out = append(out, stem+e[1])
		}
	}
	return out
}

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
		words := splitName(v.Lookup("description").Text())
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
	return max(0, slices.Index([]string{"safe", "moderate", "destructive", "dangerous", "forbidden"}, strings.ToLower(v.Text())))
}

// Operations that belong together are found by their names: a verb, an
// underscore, a resource.

// verbs holds the verb of which a word is a synonym.
var verbs = map[string]string{
	"create": "create", "add": "create", "register": "create", "insert": "create", "upload": "create", "import": "create",
	"get": "get", "read": "get", "fetch": "get", "show": "get",
	"list": "list", "search": "list", "find": "list", "query": "list",
	"update": "update", "edit": "update", "patch": "update", "modify": "update", "set": "update", "rename": "update",
	"delete": "delete", "remove": "delete", "unregister": "delete", "clear": "delete",
}

// SplitName reads create_book as the verb "create" and the resource "book".
// An unknown verb represents itself.
func SplitName(name string) (verb, resource string) {
	word, rest, ok := strings.Cut(name, "_")
	if !ok {
		return "", name
	}
	return cmp.Or(verbs[word], word), rest
}

var (
	actionVerbs = strings.Fields("open launch start stop send sync install setup configure auth login logout connect activate deactivate " +
		"submit publish deploy run execute trigger clear upload confirm approve " +
		// Other verbs that were observed to act.
		"write put move pay book cancel reboot restart shutdown increment decrement mark archive unarchive restore revoke grant ban unban " +
		"transfer refund charge buy purchase push apply assign unassign append attach detach enable disable lock unlock mount unmount kick " +
		"invite notify schedule reschedule replace save swap undo redo upsert exec invoke disconnect reject accept pause resume retry enqueue " +
		"dequeue commit rollback migrate rotate subscribe unsubscribe " +
		"pop consume take next claim ack drain expunge visit touch tidy refresh")
	removalVerbs = strings.Fields("erase drop destroy purge wipe truncate kill rm del unlink format terminate abort forget prune evict flush empty " +
		"uninstall discard shred overwrite")
)

// ActsByName returns the risk of an operation that is declared READ but has a name
// that suggests otherwise, 0 for any other. A verb counts at the beginning of a name
// and after "and" or "then"; elsewhere it may be a noun.
func (o *Operation) ActsByName() int {
	if o.Category != "READ" {
		return RiskRead
	}
	risk := RiskRead
	words := splitName(o.Name)
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

var camelCase = evidence.Pattern(`(\p{Ll})(\p{Lu})`)

// splitName returns the words of a name in any spelling: delete_book, delete-book,
// deleteBook.
func splitName(name string) []string {
	spaced := camelCase().ReplaceAllString(name, "$1 $2")
	return strings.FieldsFunc(strings.ToLower(spaced), func(r rune) bool { return !unicode.IsLetter(r) && !unicode.IsDigit(r) })
}

// Starts reports whether an operation starts something, and does not act on something
// that is running.
func (o *Operation) Starts() bool {
	if o.Name == "execute_agent" {
		return true
	}
	if o.Category != "EXECUTE" || o.FindExecutionParam() != nil || ReservedOperations[o.Name] != "" {
		return false
	}
	return !slices.Contains(controlVerbs, o.Verb) && !slices.Contains(removalVerbs, o.Verb)
}

// isChangingVerb reports whether a verb says that something is changed.
func isChangingVerb(verb string) bool {
	return slices.Contains(actionVerbs, verb) || slices.Contains(removalVerbs, verb) ||
		slices.Contains([]string{"create", "update", "delete"}, verbs[verb])
}
