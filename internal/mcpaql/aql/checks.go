package aql

// checks holds the functions that check the evidence for one row each, by the test's
// id. The table is read-only.
var checks = map[string]func(*evaluation){
	"operations":   (*evaluation).checkOperations,
	"types":        func(x *evaluation) { x.list(x.e.TypesList, "types_list", shapes()["typeList"], "types") },
	"details":      (*evaluation).checkDetailPayloads,
	"extensions":   (*evaluation).checkExtensions,
	"completeness": (*evaluation).checkCompleteness,
	"required":     (*evaluation).checkRequired,
	"unknown":      (*evaluation).checkUnknown,
	"defaults":     (*evaluation).checkDefaults,
	"snake-case":   (*evaluation).checkSnakeCase,
	"error-form":   (*evaluation).checkErrorForm,
	"leaks":        (*evaluation).checkLeaks,
	"actionable":   (*evaluation).checkActionable,
	"create-read":  (*evaluation).createRead,
	"update":       (*evaluation).update,
	"modes":        (*evaluation).checkModes,
	"fields":       (*evaluation).checkFieldSelection,
	"batch":        (*evaluation).checkBatch,
	"enforced":     (*evaluation).checkEnforced,
	"disclosed":    (*evaluation).checkDisclosed,
}
