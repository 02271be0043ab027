package rule

var parameterRules = []Rule{
	{"required.case", "required", Must, "S 3.2", Fail, Fail, "For every required parameter there is a call without it.", "Call the operation with every other parameter valid and this one left out, and record the answer under parameter_tests.missing_required."},
	{"required.refused", "required", Must, "S 3.2", Fail, Fail, "A call without a required parameter is refused: success is false.", "Check required parameters before anything else, or document the parameter as optional."},
	{"required.named", "required", Must, "S 3.2", Fail, Off, "The refusal's message contains the parameter's name.", "Name the missing parameter in error.message."},
	{"required.named-word", "required", Must, "S 3.2, ERR 4.3", Off, Fail, "The refusal's message names the parameter, as a whole word.", "Name the missing parameter in error.message, in quotation marks or as a separate word."},
	{"required.named-details", "required", Should, "S 3.2", Off, Warn, "The parameter is named in the message, not only in details.", "Repeat the name in error.message: a model may never be shown the details."},
	{"required.code", "required", Should, "ERR 4.3", Off, Warn, "The refusal's code is VALIDATION_MISSING_PARAM.", "Use the registered code."},
	{"required.repeated", "required", Must, "S 3.2", Off, Fail, "Further cases of the same parameter hold as well.", "Every recorded answer counts, not only the first."},
	{"unknown.explicit", "unknown", Must, "S 3.2", Fail, Off, "A parameter that does not exist is refused with a message that contains it, or answered with a warning.", "Refuse with VALIDATION_UNKNOWN_PARAM and name the parameter."},
	{"unknown.silent", "unknown", Must, "D 4.6", Off, Fail, "A parameter that does not exist never passes unnoticed: it is named in a refusal or in a warning.", "Refuse with VALIDATION_UNKNOWN_PARAM and name the parameter."},
	{"unknown.lenient", "unknown", Must, "D 4.6", Off, Warn, "A parameter that does not exist is refused with VALIDATION_UNKNOWN_PARAM and named; a warning or another code is less than D 4.6 asks for.", "Refuse unknown parameters. An adapter that has to let them pass needs the strict_mode of D 4.6.2 and says so."},
	{"defaults.observable", "defaults", Must, "S 3.2", Fail, Off, "The value at the given path is identical to the documented default (as JavaScript compares: lists and objects never are).", "Apply the default before answering, and let the answer show it."},
	{"defaults.equal", "defaults", Must, "S 3.2", Off, Fail, "The value at the given path equals the documented default.", "Apply the default before answering, and let the answer show it."},
	{"snake-case.name", "snake-case", Must, "D 4.3", Fail, Fail, "A parameter's name is snake_case.", "Rename the parameter to lower-case words joined by underscores; keep the old name as an undocumented alias if callers need it."},
	{"snake-case.reserved", "snake-case", Must, "D 4.3, 8.6.3", Fail, Off, "So is a parameter's name of record_execution_step, where the specification itself uses camelCase.", "Nothing: the two sections disagree."},
}

var errorRules = []Rule{
	{"error.produced", "error-form", Must, "S 3.3", Off, Fail, "A call that was meant to fail failed.", "Check the request; or, when the call is fine, it is no error test."},
	{"leaks.reference", "leaks", Must, "S 3.3", Fail, Off, "No message matches the prototype's eight patterns (the error class names of JavaScript, at followed by a word, source folders, script files with a line number).", "Write messages of your own; keep the original error in the log."},
	{"leaks.language", "leaks", Must, "S 3.3, INT 8.1.3", Off, Fail, "Messages and details show no error class or printed object of a programming language.", "Catch the error and say in your own words what was wrong with the request."},
	{"leaks.stack", "leaks", Must, "S 3.3, INT 8.1.3", Off, Fail, "Messages and details show no stack trace.", "Keep the trace in the log."},
	{"leaks.path", "leaks", Must, "S 3.3, INT 8.1.3", Off, Fail, "Messages and details show no path of the program's own files.", "Keep the path in the log."},
	{"leaks.runtime", "leaks", Must, "S 3.3, INT 8.1.3", Off, Fail, "Messages and details show no raw error of the runtime, the network or the database.", "Translate it: what could not be done, and whether to try again."},
	{"actionable.mention", "actionable", Should, "S 3.3", Warn, Warn, "The message contains every fragment that the error test demands.", "Name the parameter, what was expected of it, and what to do instead."},
}

var roundTripRules = []Rule{
	{"create-read.kept", "create-read", Must, "S 3.4", Fail, Off, "Each submitted field is read back, and prints as the same JSON text (the order of keys counts).", "Store every documented field as it came."},
	{"create-read.equal", "create-read", Must, "S 3.4", Off, Fail, "Each submitted field is read back and equals what was submitted.", "Store every documented field as it came."},
	{"create-read.read", "create-read", Must, "S 3.4", Off, Fail, "The read itself succeeded.", "Make the created thing readable by the identifier that create answered."},
	{"update.kept", "update", Must, "S 3.4", Fail, Off, "Each field that was not updated prints as the same JSON text as before (the order of keys counts).", "Merge an update into what is stored; do not replace it."},
	{"update.equal", "update", Must, "S 3.4, D 4.5.1", Off, Fail, "Each field that was not updated equals what it was.", "Merge an update into what is stored; do not replace it."},
	{"update.read", "update", Must, "S 3.4", Off, Fail, "The read itself succeeded.", "Make the updated thing readable."},
}

var level2Rules = []Rule{
	{"modes.both", "modes", Must, "D 10.1, 3.3", Fail, Fail, "The evidence shows both modes: \"crude\" (semantic endpoints) and \"single\".", "Offer the other mode too, and record both under endpoint_modes."},
	{"fields.supported", "fields", Should, "S 2.2, FS 4", Fail, Fail, "Field selection was seen to work.", "Take a list of fields on READ operations; record capabilities.field_selection: true."},
	{"batch.supported", "batch", Should, "S 2.2, OPS 7", Fail, Fail, "Batches were seen to work.", "Take {operations: […]}; record capabilities.batch_operations: true."},
	{"batch.example", "batch", Should, "OPS 7.3", Fail, Fail, "There is an answer to a batch, and it is a result.", "Record the answer to a real batch under batch_example."},
	{"batch.data", "batch", Should, "D 5.1", Fail, Warn, "The answer to a batch has data. The specification disagrees with itself here: results need it, batches do not.", "Answer data: null next to results."},
	{"result.batch-members", "batch", Should, "OPS 7", Fail, Warn, "The answer to a batch has no halted_at and pending_operations. The specification disagrees with itself here.", "Say it in the entry of the operation that halted."},
	{"batch.results", "batch", Should, "OPS 7.3", Off, Fail, "The answer to a batch has results.", "Answer one entry per operation under results."},
	{"batch.summary", "batch", Should, "OPS 7.3", Off, Fail, "The answer to a batch has a summary.", "Answer summary: {total, succeeded, failed}."},
	{"batch.indices", "batch", Should, "OPS 7.3", Off, Fail, "The entries of results are numbered 0, 1, 2, … in order.", "Number the entries by the place of their operation in the request."},
	{"batch.counts", "batch", Should, "OPS 7.3", Off, Fail, "The summary counts the entries of results.", "total is their number, succeeded and failed what their success says."},
}

var constraintRules = []Rule{
	{"enforced.refused", "enforced", Must, "S 3.5", Fail, Fail, "Breaking a constraint is refused: success is false.", "Enforce the constraint, or stop documenting it."},
	{"enforced.message", "enforced", Must, "S 3.5", Fail, Fail, "The refusal has a message, a string.", "Answer error: {code, message} that says which constraint was broken."},
	{"disclosed.documented", "disclosed", Should, "S 3.5", Warn, Warn, "A constraint that is enforced is documented in the introspection.", "Say so in the parameter's or the operation's description (\"read-only\", \"append-only\", the range)."},
}

var semanticRules = []Rule{
	{"semantic.pattern", "semantic", Should, "S 5.2", Warn, Warn, "Tier 1: every required pattern occurs in the answer.", "Tier 2 understood the answer all the same: update the patterns."},
	{"semantic.phrase", "semantic", Should, "S 5.2", Fail, Fail, "Tier 2: of every group of phrases one occurs in the answer.", "Improve the description that the model misread, or add the phrase it used."},
	{"semantic.operation", "semantic", Should, "S 5.2", Fail, Fail, "Tier 2: every expected operation was called.", "Make the operation's description say when to use it."},
	{"semantic.parameter", "semantic", Should, "S 5.2", Fail, Fail, "Tier 2: every expected parameter occurs in a call or in the answer.", "Make the parameter's description say when to use it."},
	{"semantic.judge", "semantic", Should, "S 5.2", Off, Fail, "Tier 2: a recorded judge, where there is one, says that the answer shows understanding.", "Read the judge's reason; improve the introspection or the question."},
	{"semantic.judge-unsure", "semantic", Should, "S 5.2", Off, Warn, "Tier 2: the judge is sure.", "Ask again with more votes, or make the question more precise."},
}
