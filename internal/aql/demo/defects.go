package demo

import (
	"slices"
)

// Defect is a fault that can be switched on in the adapter.
type Defect struct {
	Name string
	Doc  string
	// Feature is the feature that the defect requires, or "stress" for a defect that
	// only --stress shows; "" for none.
	Feature string
	// Rows are the ids of the tests whose rows the defect changes in a report
	// of level 2 in write mode, or in full mode for those about executions.
	Rows []string
}

// Defects returns the table of defects.
func Defects() []Defect {
	return slices.Concat([]Defect{
		defect("list-extra-member", "Entries of the operation list carry a member that is not defined.", "operations"),
		defect("list-no-description", "One entry of the operation list has no description.", "operations"),
		defect("list-bad-category", "One entry of the operation list has the category QUERY.", "operations", "consistency"),
		defect("list-duplicate", "One operation is listed twice.", "details"),
		defect("list-other-name-key", "Entries of the operation list call their name element_name.", "operations"),
		defect("no-protocol", "The operation list has no _protocol.", "operations"),
		defect("protocol-mode", "_protocol.mode is an undefined word.", "operations"),
		defect("bare-introspection", "introspect takes no query: it answers everything at once.", "operations", "types", "details", "required", "accuracy", "completeness"),
		defect("no-types", "The types query is refused.", "types"),
		defect("types-inline", "The type list carries the values of its enums.", "types"),
		defect("type-detail-bare", "The detail of an enum has no values.", "consistency"),
		defect("detail-no-returns", "The detail of one operation does not say what it returns.", "details"),
		defect("detail-danger", "Details carry a member danger, which the specification defines elsewhere.", "extensions"),
		defect("detail-text-example", "An example is a text.", "details"),
		defect("detail-missing", "One listed operation has no detail.", "details"),
		defect("documents-refused", "list_books documents a parameter that it refuses as unknown.", "accuracy", "completeness"),
		defect("accepts-undocumented", "list_books takes an offset that its detail does not list.", "completeness"),
		defect("requires-optional", "search_books documents its text as optional and refuses calls without it.", "accuracy"),
		defect("documents-wrong-type", "list_shelves documents its limit as text and refuses text.", "accuracy", "values", "cross-cutting"),
		defect("crashes-on-option", "search_books fails with an internal error when it is given a limit.", "accuracy", "error-form"),
		defect("required-ignored", "get_book without its identifier answers the first book.", "required"),
		defect("required-unnamed", "The refusal of a missing parameter does not say which one.", "required", "actionable"),
		defect("required-code", "The refusal of a missing parameter has a non-standard code.", "required"),
		defect("unknown-ignored", "Unknown parameters are ignored.", "unknown"),
		defect("unknown-warned", "Unknown parameters are only warned about.", "unknown"),
		defect("meta-refused", "_meta next to params is rejected.", "request"),
		defect("top-level-wins", "A parameter next to params overrides the one inside.", "request"),
		defect("default-differs", "list_books documents a limit of 20 and applies 2.", "defaults"),
		defect("camel-parameter", "get_book has a parameter withNotes.", "snake-case"),
		defect("camel-operation", "One operation is called countBooks.", "operation-names"),
		defect("error-text", "The error of an unknown operation is a text.", "error-form", "batch"),
		defect("error-with-data", "Failures carry data: null.", "error-form", "batch"),
		defect("error-lower-code", "The code of a missing book is in lower case.", "error-form"),
		defect("error-meta", "Failures carry _meta.", "error-form", "batch"),
		defect("leaks-stack", "The message of a missing book shows a stack trace.", "leaks"),
		defect("leaks-sql", "The message of a missing book shows the database's own words.", "leaks"),
		defect("vague-types", "The refusal of a wrong type names neither parameter nor type.", "actionable"),
		defect("rpc-errors", "An unknown operation is a JSON-RPC error.", "error-form", "envelopes"),
		defect("flags-failures", "Recoverable failures have isError: true.", "envelopes"),
		defect("structured-differs", "structuredContent differs from the text.", "envelopes"),
		defect("routes-anywhere", "Every endpoint takes every operation.", "routing"),
		defect("routes-vaguely", "A wrong endpoint is refused without a word about the right one.", "routing", "actionable"),
		defect("create-drops", "create_book forgets the author.", "create-read"),
		defect("create-changes", "create_book stores titles in capitals.", "create-read"),
		defect("update-replaces", "An update replaces the whole resource.", "update", "merge"),
		defect("update-shallow", "An update replaces nested objects.", "merge"),
		defect("update-appends", "An update appends to lists.", "merge"),
		defect("update-keeps-null", "null in an update is stored.", "merge"),
		defect("update-flat", "Updates take their fields next to the identifier instead of in input.", "input"),
		defect("update-without-input", "An update without input succeeds.", "required", "input"),
		defect("update-unknown-field", "Unknown fields of input are ignored.", "input"),
		defect("delete-keeps", "A deleted resource can still be read.", "deleted"),
		defect("read-only-silent", "An update of a read-only field succeeds and changes nothing.", "enforced"),
		defect("read-only-open", "A read-only field can be changed.", "enforced"),
		defect("read-only-undisclosed", "Nothing says which fields are read-only.", "disclosed"),
		defect("semantic-only", "There is no single endpoint.", "modes"),
		defect("no-field-selection", "get operations take no fields.", "fields", "presets"),
		defect("fields-ignored", "fields is accepted and ignored.", "fields", "tools", "presets"),
		defect("no-batch", "Batches are refused.", "batch"),
		defect("batch-stops", "A batch ends at its first failure.", "batch"),
		defect("batch-counts", "The summary of a batch counts wrongly.", "batch"),
		defect("range-open", "Ranges are not enforced.", "values"),
		defect("type-coerced", "A number written as text is taken for a number.", "values"),
		defect("enum-open", "Values outside an enum are taken.", "values"),
		defect("tool-silent", "No tool description mentions introspect.", "tools"),
		defect("tool-schema", "The input schema of the tools does not ask for operation.", "tools"),
		defect("tool-hints", "The delete tool says that it only reads.", "tools"),
		defect("list-shuffles", "The operation list changes its order.", "consistency"),
		defect("unknown-name-fails", "Asking for an operation that does not exist is a failure instead of null.", "consistency"),
		defect("category-differs", "The list and the detail of one operation disagree about its endpoint.", "consistency"),
		defect("tool-unlisted", "A detail names a tool that is not listed.", "consistency"),
		defect("hidden-operation", "A tool description names an operation that is not listed.", "consistency"),
		defect("reserved-meaning", "record_execution_step is listed as READ.", "consistency"),
		defect("acts-on-read", "An operation declared READ is named like an action.", "consistency"),
		defect("delete-says-read", "delete_shelf is declared READ in every place.", "consistency"),
		defect("update-says-read", "update_shelf is declared READ in every place.", "consistency"),
		defect("delete-lists-read", "delete_shelf is READ in the list and DELETE in its detail.", "consistency"),
		defect("reading-writes", "get_book counts how often a book was read, and lists show it.", "consistency"),
		with("stress", defect("limits-open", "Requests may be as large as they like.", "limits")),
		with("stress", defect("limits-code", "Too large a request is refused with a code of another kind.", "limits")),
		defect("dates-local", "created_at is written in a local form.", "dates"),
		defect("controls-differ", "The limit of one READ operation has another default.", "cross-cutting"),
		defect("noise", "A line on standard output is not a message.", "conduct"),
		defect("page-info", "Pages have no pageInfo.", "pagination"),
		defect("page-flags", "hasNextPage is always true.", "pagination"),
		defect("cursor-ignored", "after and before are ignored.", "pagination"),
		defect("cursors-mixed", "Paging forward and backward at once is accepted.", "pagination"),
		defect("preset-refused", "fields takes no presets.", "presets"),
		defect("preset-smaller", "The preset standard lacks a field of minimal.", "presets"),
		defect("path-flat", "A path in fields is answered as a key with dots.", "presets"),
		defect("append-only-open", "An update changes an append-only field.", "append-only", "enforced"),
		defect("append-only-vague", "The refusal to change an append-only field does not say why.", "append-only"),
		defect("success-extra", "Lists have an undefined member next to data.", "error-form"),
		defect("read-bare", "search_books answers its data without success round it.", "error-form", "accuracy"),
		defect("launch-differs", "The operation list is another one after each start.", "session"),
	}, featureDefects())
}

// featureDefects returns the defects of the additions that Features lists.
func featureDefects() []Defect {
	return []Defect{
		with("kinds", defect("kinds-drop", "create_item forgets the note of maps.", "create-read")),
		with("sorts", defect("sorts-drop", "create_part forgets the note of wheels.", "create-read")),
		with("charter", defect("charter-drops", "create_charter forgets the text.", "create-read")),
		with("loans", defect("loans-drop", "create_loan forgets the day.", "create-read")),
		with("keys", defect("keys-drop", "create_tag forgets the color.", "create-read")),
		with("confirm", defect("confirm-bare", "A confirmation is asked for without a token.", "confirmation", "deleted")),
		with("confirm", defect("confirm-form", "A token is a number, and does not say when it expires.", "confirmation")),
		with("confirm", defect("confirm-deaf", "The token is not taken.", "confirmation", "deleted")),
		with("confirm", defect("confirm-anything", "Any token is taken.", "confirmation", "session")),
		with("confirm", defect("confirm-anywhere", "A token is taken for other calls than the one it was given for.", "confirmation")),
		with("confirm", defect("confirm-reused", "A token is taken more than once.", "confirmation")),
		with("confirm", defect("confirm-outlives", "A token is taken in the next session.", "session")),
		with("executions", defect("execution-endless", "What was started never ends.", "execution-end")),
		with("executions", defect("execution-restarts", "What was completed runs again.", "execution-end")),
		with("executions", defect("execution-late-step", "A step is taken after the end.", "execution-end")),
		with("executions", defect("execution-late-abort", "An abort is taken after the end.", "execution-end")),
		with("executions", defect("execution-own-state", "A state is called busy, which nothing documents.", "execute")),
		with("executions", defect("abort-ignored", "An abort succeeds and changes nothing.", "execution-abort")),
		with("executions", defect("abort-refused", "What is going on can't be aborted.", "execution-abort")),
		with("executions", defect("step-bare", "A step is answered without a directive.", "execution-steps")),
	}
}

func defect(name, doc string, rows ...string) Defect { return Defect{Name: name, Doc: doc, Rows: rows} }

func with(feature string, d Defect) Defect { d.Feature = feature; return d }

// Features lists the possible additions to the library.
func Features() []Feature {
	return []Feature{
		{"confirm", "Deleting anything and changing a shelf has to be confirmed with a token."},
		{"kinds", "A collection of things of several kinds, distinguished by a parameter of each operation."},
		{"sorts", "A collection of things of several kinds, which only a type of the introspection lists."},
		{"charter", "A resource that there is at most one of."},
		{"loans", "A collection that can be listed, and not asked for one of its things."},
		{"keys", "A collection whose things are known by their name alone."},
		{"executions", "Sorting the catalog goes on after the call: its state can be read, steps recorded, and it can be aborted."},
	}
}

// Feature is an addition to the library.
type Feature struct{ Name, Doc string }
