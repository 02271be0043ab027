package rule

// liveTests are the rows, by category.
var liveTests = []Test{
	{ID: "accuracy", Name: "Introspection parameters work as documented", Category: Introspection, Section: "S 3.1, INT 8.1.3", About: "Every documented parameter is accepted with a value of its documented type, and nothing undocumented is required."},
	{ID: "operation-names", Name: "Operation names use snake_case", Category: Introspection, Section: "D 8.5.2", About: "Operation names are lower-case words joined by underscores."},
	{ID: "consistency", Name: "Introspection answers agree with each other", Category: Introspection, Section: "D 10.1, INT 8.2", About: "The list, the details, the types and the tools agree, and answer the same when asked again."},
	{ID: "values", Name: "Types and ranges of parameters are enforced", Category: Parameters, Section: "OPS 5.4", About: "Values outside the documented type, enum, range, length or pattern are refused."},
	{ID: "request", Name: "Members next to params are read as documented", Category: Parameters, Section: "D 4.2, 4.6.1", About: "Metadata next to params is accepted, and params overrides parameters next to it."},
	{ID: "limits", Name: "Limits of size are enforced", Category: Parameters, Section: "D 4.7.5", About: "With --stress only: requests over the size limits are refused."},
	{ID: "dates", Name: "Dates in answers follow ISO 8601", Category: Parameters, Section: "D 4.7.2", About: "Strings under keys that name a time are ISO 8601 dates or times."},
	{ID: "conduct", Name: "The adapter keeps to the protocol and stays alive", Category: ErrorQuality, Section: "MCP 4.2", About: "Every call is answered, the adapter writes only messages, and it does not end."},
	{ID: "merge", Name: "Updates merge deeply", Category: RoundTrip, Section: "D 4.5.1, 4.5.2", About: "Nested objects are merged, lists are replaced, null removes."},
	{ID: "input", Name: "Updates take an input object", Category: RoundTrip, Section: "D 4.5", About: "An update names its resource and carries the changes in input; unknown fields there are refused."},
	{ID: "deleted", Name: "Deleted resources are gone", Category: RoundTrip, Section: "OPS 4", About: "What was deleted can no longer be read."},
	{ID: "append-only", Name: "Append-only data is not changed", Category: Constraints, Section: "S 3.5", About: "An update of what may only be added to is refused, and the refusal says why."},
	{ID: "routing", Name: "Operations are refused on the wrong endpoint", Category: Routing, Section: "D 6.2, 10.1", About: "An endpoint accepts only the operations of its category, and names the right endpoint for others."},
	{ID: "tools", Name: "Tools are described as MCP-AQL asks", Category: Integration, Section: "MCP 2, 3.1, 6.5", About: "Names, descriptions, input schemas and annotations of the MCP tools."},
	{ID: "envelopes", Name: "Domain errors are tool results", Category: Integration, Section: "MCP 4.1, 4.2", About: "Failures are results with success: false, not JSON-RPC errors, and isError is for failures that the caller cannot act on."},
	{ID: "presets", Name: "Field presets and paths answer what they name", Category: Integration, Section: "FS 2.4, 3.1, 5.1", About: "fields takes minimal, standard and full, each with what the smaller one has, and paths into nested objects."},
	{ID: "pagination", Name: "Pages follow each other by cursors", Category: Integration, Section: "PG 2.3, 3.2", About: "A page has a pageInfo that is true, its cursor leads to the next page, and mixed directions are refused."},
	{ID: "cross-cutting", Name: "Common parameters are alike in all READ operations", Category: Integration, Section: "S 2.2", About: "Query, filter, sort, fields and paging have one name, type and default."},
	{ID: "execute", Name: "EXECUTE operations answer with a state", Category: Integration, Section: "D 8.4.3, 8.4.4", About: "An execution has an identifier, and a status that is a core state or documented."},
	{ID: "execution-end", Name: "Executions end, and stay as they ended", Category: Integration, Section: "D 8.4.2", About: "An execution is followed to its end. Then its state does not change, and no step or abort is accepted."},
	{ID: "execution-abort", Name: "An abort ends an execution", Category: Integration, Section: "D 8.4.2, 8.4.4", About: "A running execution can be aborted and is then cancelled."},
	{ID: "execution-steps", Name: "Execution steps are answered with a directive", Category: Integration, Section: "D 8.6, 8.7.1", About: "Where the execution safety loop is advertised, a recorded step is answered with continue and factors."},
	{ID: "confirmation", Name: "Confirmation tokens are good for one call", Category: Integration, Section: "CT 2 to 5", About: "A token has the documented form and confirms only the call it was issued for, once."},
	{ID: "session", Name: "A new session starts afresh", Category: Integration, Section: "D 2.3", About: "Another session gets the same introspection, and accepts no token of the previous one."},
}

// liveRules are the rules of those rows. They belong to the strict rule set:
// the prototype runner has no such rows.
var liveRules = []Rule{
	{"accuracy.unknown", "accuracy", Must, "INT 8.1.2", Off, Fail, "No documented parameter is refused as unknown.", "Accept the parameter or remove it from the detail."},
	{"accuracy.type", "accuracy", Must, "INT 8.1.2", Off, Fail, "A value of the documented type is no type error.", "Document the type that is accepted."},
	{"accuracy.missing", "accuracy", Must, "INT 8.1.7", Off, Fail, "A call with every parameter documented as required lacks none.", "Document the parameter as required."},
	{"accuracy.uncallable", "accuracy", Must, "S 3.1, INT 8.1.3", Off, Fail, "An operation can be called by its documentation.", "Make the documented call work, or answer with a registered error code."},
	{"accuracy.failure", "accuracy", Must, "INT 8.1.3, ERR 4", Off, Fail, "A call that follows the documentation succeeds, or fails with a registered code.", "Catch the failure and answer with a code of the registry."},
	{"operation-names.snake", "operation-names", Must, "D 8.5.2", Off, Fail, "An operation's name is snake_case.", "Rename the operation to lower-case words joined by underscores."},
	{"consistency.place", "consistency", Must, "INT 4.2, 8.1.4", Off, Fail, "The detail of an operation is data.operation of the answer.", "Answer {success: true, data: {operation: {…}}}."},
	{"consistency.category", "consistency", Must, "D 10.1", Off, Fail, "The list and the detail of an operation agree about its category and its endpoint.", "Make both from one table."},
	{"consistency.tool", "consistency", Must, "D 10.1", Off, Fail, "A detail's mcpTool is a tool that is listed.", "Name the tool that takes the operation."},
	{"consistency.reserved", "consistency", Must, "D 8.5.4", Off, Fail, "Reserved operation names keep their category.", "Rename the operation, or give it the category that the name is reserved for."},
	{"consistency.repeat", "consistency", Should, "INT 8.2", Off, Warn, "The operation list is the same when asked for again in a session.", "Answer the list in a fixed order."},
	{"consistency.null", "consistency", Should, "INT 4.3, 8.1.9", Off, Warn, "Asking for a name that does not exist succeeds with null.", "Answer {operation: null} or {type: null}."},
	{"consistency.type-detail", "consistency", Should, "INT 3.6", Off, Warn, "The detail of an enum has values, that of a union members.", "Answer introspect {query: \"types\", name} with the values or members."},
	{"consistency.hidden", "consistency", Should, "MCP 2.1", Off, Warn, "Operations that a tool's description or schema names are listed.", "List the operation or take it out of the description."},
	{"consistency.introspect", "consistency", Should, "INT 8.2", Off, Warn, "introspect itself is listed.", "List introspect among the READ operations."},
	{"consistency.created", "consistency", Should, "OPS 4", Off, Warn, "The answer to a create names what was created, which then holds what was sent.", "Answer the new thing with its identifier, and refuse what exists already with CONFLICT_DUPLICATE_RESOURCE."},
	{"consistency.action", "consistency", Should, "OPS 6", Off, Warn, "An operation declared READ is not named like an action.", "Declare it EXECUTE, or rename it; callers in a safe mode leave it out."},
	{"consistency.effects", "consistency", Should, "OPS 6", Off, Warn, "Operations declared READ have no effect: lists answer at the end of a run what they answered at its beginning.", "Do not declare an operation with an effect READ. If someone else changed the data, run the test again."},
	{"values.type", "values", Must, "OPS 5.4, ERR 4.4", Off, Warn, "A value of another JSON type is refused.", "Check types and answer VALIDATION_INVALID_TYPE."},
	{"values.enum", "values", Must, "OPS 5.4", Off, Warn, "A value outside the documented enum is refused.", "Refuse it and name the allowed values."},
	{"values.range", "values", Must, "OPS 5.4", Off, Warn, "A number outside minimum and maximum is refused.", "Refuse it and name the range."},
	{"values.length", "values", Must, "OPS 5.4", Off, Warn, "A string over maxLength is refused.", "Refuse it and name the length."},
	{"values.pattern", "values", Must, "OPS 5.4", Off, Warn, "A string that does not match the pattern is refused.", "Refuse it and say what it should look like."},
	{"request.meta", "request", Must, "D 4.6.1", Off, Fail, "_meta and _request_id next to params are not rejected.", "Accept names that begin with an underscore next to params."},
	{"request.params-win", "request", Should, "D 4.2", Off, Warn, "Where parameters next to params are accepted, params overrides them.", "Read params last."},
	{"limits.enforced", "limits", Must, "D 4.7.5", Off, Fail, "A request over a limit is refused.", "Check the size first."},
	{"limits.code", "limits", Must, "D 4.7.5", Off, Warn, "The refusal has the code VALIDATION_PAYLOAD_TOO_LARGE.", "Use the registered code, and say in details which limit it was."},
	{"limits.documented", "limits", Should, "D 4.7.5", Off, Warn, "The limits are in _protocol.limits.", "Add max_string_length, max_array_elements and max_nesting_depth to _protocol.limits."},
	{"dates.iso", "dates", Must, "D 4.7.2", Off, Fail, "Times in answers are written as ISO 8601.", "Write 2026-01-31 or 2026-01-31T12:00:00Z."},
	{"conduct.lives", "conduct", Must, "MCP 4.2", Off, Fail, "The adapter does not end during a session.", "Catch what ended it; the finding has the request."},
	{"conduct.answers", "conduct", Must, "MCP 4.2", Off, Fail, "Every call is answered in time.", "Answer, with a failure if need be."},
	{"conduct.wire", "conduct", Should, "MCP 4.1", Off, Warn, "Nothing but well-formed messages is on the wire.", "Write logs to the standard error."},
	{"conduct.asks", "conduct", Should, "MCP 4.1", Off, Warn, "The adapter asks nothing that the client did not declare.", "Check the client's capabilities first."},
	{"conduct.flood", "conduct", Should, "MCP 4.1", Off, Warn, "A call does not bring thousands of messages.", "Send progress less often."},
	{"merge.nested", "merge", Must, "D 4.5.1", Off, Fail, "An update of one member of a nested object keeps the others.", "Merge objects at every level."},
	{"merge.list", "merge", Must, "D 4.5.1", Off, Fail, "A list in an update replaces the list that was there.", "Replace lists whole."},
	{"merge.null", "merge", Must, "D 4.5.2", Off, Fail, "null in an update removes the member.", "Remove the member; do not store null."},
	{"merge.accepted", "merge", Must, "D 4.5.1", Off, Fail, "A partial object is accepted.", "Check only what the update mentions."},
	{"input.documented", "input", Must, "D 4.5", Off, Warn, "UPDATE operations take their changes in input, an object. The specification disagrees with itself here.", "Take the identifier next to input, and the changes inside."},
	{"input.required", "input", Must, "D 4.5.3", Off, Warn, "An update without input, or with something else than an object there, is refused.", "Answer VALIDATION_MISSING_PARAM or VALIDATION_INVALID_TYPE."},
	{"input.unknown", "input", Should, "D 4.5.3.4", Off, Warn, "An unknown field of input is refused.", "Answer VALIDATION_UNKNOWN_FIELD."},
	{"input.code", "input", Should, "D 4.5.3.4", Off, Warn, "An unknown field of input is refused with VALIDATION_UNKNOWN_FIELD.", "Use the registered code."},
	{"deleted.gone", "deleted", Should, "OPS 4", Off, Warn, "Reading what was deleted is refused.", "Answer NOT_FOUND_RESOURCE."},
	{"routing.refused", "routing", Must, "D 6.2, 10.1", Off, Fail, "An operation is refused by the endpoint of another category.", "Check the operation's category first."},
	{"routing.named", "routing", Should, "OPS 6.3", Off, Warn, "The error says which endpoint takes the operation.", "Answer VALIDATION_ENDPOINT_MISMATCH and name the tool."},
	{"tools.name", "tools", Should, "MCP 6.4", Off, Warn, "Tools are called mcp_aql or mcp_aql_<endpoint>, with an optional prefix.", "Rename the tool."},
	{"tools.description", "tools", Must, "MCP 2.1", Off, Warn, "Every tool's description mentions introspect.", "Say that introspect lists the operations."},
	{"tools.schema", "tools", Must, "MCP 3.1", Off, Warn, "A tool's inputSchema asks for operation, a required string, and params, an object.", "Declare both properties and require operation."},
	{"tools.annotations", "tools", Should, "MCP 2.3, EM 7.1", Off, Warn, "readOnlyHint and destructiveHint fit the endpoint.", "read: readOnly; create: neither; update, delete, execute and the single endpoint: destructive."},
	{"tools.capability", "tools", Should, "INT 4.1", Off, Warn, "The capabilities in _protocol are those that the adapter was seen to have.", "Correct the flag."},
	{"envelopes.rpc", "envelopes", Must, "MCP 4.2", Off, Warn, "A domain error is a tool result, not a JSON-RPC error.", "Answer a result with success: false."},
	{"envelopes.is-error", "envelopes", Must, "MCP 4.1", Off, Warn, "isError is false on successes and on failures that the caller can act on.", "Keep isError for what cannot be recovered from."},
	{"envelopes.same", "envelopes", Should, "MCP 4.1", Off, Warn, "structuredContent says the same as the text.", "Make both from one value, or leave one out."},
	{"presets.accepted", "presets", Must, "FS 5.1", Off, Warn, "fields takes the presets minimal, standard and full.", "Take the name of a preset where a list of fields is taken."},
	{"presets.nest", "presets", Should, "FS 3.1", Off, Warn, "standard has what minimal has, and full what standard has.", "Build each preset on the smaller one."},
	{"presets.differ", "presets", Should, "FS 3.1", Off, Warn, "minimal answers less than full.", "Answer what identifies a thing, and no more."},
	{"presets.path", "presets", Must, "FS 2.4, 5.1", Off, Warn, "A path such as settings.theme answers that member inside its object, and nothing else of it.", "Walk along the path and keep the objects around it."},
	{"pagination.info", "pagination", Must, "PG 3.1, 3.2", Off, Warn, "A page has pageInfo with hasNextPage, hasPreviousPage and, when there are things on it, startCursor and endCursor.", "Answer pageInfo next to items."},
	{"pagination.flags", "pagination", Must, "PG 3.1", Off, Warn, "hasNextPage and hasPreviousPage are true to what there is.", "Read one entry more than the page."},
	{"pagination.next", "pagination", Must, "PG 2.2, 6.4", Off, Warn, "first with after answers what follows the cursor.", "Take the cursors that pageInfo gave."},
	{"pagination.combinations", "pagination", Must, "PG 2.3", Off, Warn, "first with last, a cursor without its size, and a cursor of the other direction are refused.", "Answer a validation error that names the parameters."},
	{"append-only.refused", "append-only", Must, "S 3.5", Off, Fail, "An update does not change what is append-only.", "Refuse the update; offer an operation that adds."},
	{"append-only.silent", "append-only", Should, "S 3.5", Off, Warn, "An update of what is append-only is refused, not ignored.", "Answer an error instead of success."},
	{"append-only.says", "append-only", Should, "S 3.5", Off, Warn, "The error says that the data is append-only.", "Write \"append-only\" into the message, and what adds to it."},
	{"cross-cutting.alike", "cross-cutting", Should, "S 2.2", Off, Warn, "A parameter that several READ operations have in common has one type, one default and is required in all or none.", "Describe it once and use it everywhere."},
	{"execute.state", "execute", Should, "D 8.4.3", Off, Warn, "An EXECUTE operation answers with execution_id and status.", "Answer both."},
	{"execute.status", "execute", Must, "D 8.4.3, 8.4.4", Off, Warn, "A status is pending, running, completed, failed or cancelled, or one that lifecycle.states of the operation documents.", "Use the core states, or list your own under lifecycle.states."},
	{"execution-end.readable", "execution-end", Should, "D 8.4.3", Off, Warn, "The state of an execution can be read by the execution_id that was answered.", "Answer the state for as long as the execution is known."},
	{"execution-end.final", "execution-end", Must, "D 8.4.2", Off, Fail, "completed, failed and cancelled are final, but for a retry of what failed.", "Change no state after the end; a further run is another execution."},
	{"execution-end.closed", "execution-end", Should, "D 8.4.2", Off, Warn, "A step or an abort of an execution that ended is refused.", "Check the state first, and answer with a conflict."},
	{"execution-abort.accepted", "execution-abort", Must, "D 8.4.4", Off, Fail, "What is pending or running can be cancelled.", "Support the way to cancelled from every state that is not final, or document supports_cancel: false."},
	{"execution-abort.ends", "execution-abort", Must, "D 8.4.2, 8.4.4", Off, Fail, "An abort that succeeds leads to cancelled.", "Stop the work before answering, or refuse the abort."},
	{"execution-steps.listed", "execution-steps", Must, "D 8.6.3", Off, Fail, "An adapter that advertises execution_safety_loop lists record_execution_step.", "List the operation, or advertise nothing."},
	{"execution-steps.directive", "execution-steps", Must, "D 8.7.1", Off, Fail, "A recorded step is answered with continue, true or false, and factors, a list of strings.", "Answer both with every step."},
	{"confirmation.token", "confirmation", Should, "CT 2.2", Off, Warn, "A token is conf_ or quota_continue_ and 1 to 64 letters, digits, underscores and hyphens.", "Answer CONFIRMATION_REQUIRED with details.confirmation_token."},
	{"confirmation.expires", "confirmation", Must, "CT 5.1", Off, Warn, "A token has an expires_at in the future.", "Answer details.expires_at next to the token, such as 2026-05-01T10:00:00Z."},
	{"confirmation.works", "confirmation", Must, "CT 1.3, OPS 7.5.3", Off, Warn, "The same call with the token as confirmation_token is carried out.", "Take confirmation_token with the other parameters."},
	{"confirmation.unknown", "confirmation", Must, "CT 4.1", Off, Warn, "A token that was never issued is refused.", "Answer TOKEN_INVALID."},
	{"confirmation.scope", "confirmation", Must, "CT 3.2, 4.1", Off, Warn, "The token of a call is refused for another one.", "Bind the token to the operation and its parameters, and answer TOKEN_SCOPE_MISMATCH."},
	{"confirmation.once", "confirmation", Should, "CT 5.2", Off, Warn, "A token is refused the second time.", "Mark it as used before the operation runs, and answer TOKEN_ALREADY_USED."},
	{"session.token", "session", Should, "D 2.3.3", Off, Warn, "A token that was not used is refused in the next session, unless the adapter keeps tokens on purpose.", "Forget tokens when the session ends."},
	{"session.same", "session", Should, "D 2.3", Off, Warn, "The operation list of a new session is that of the last one.", "Make the list independent of the session."},
}

// withLiveTests puts the live rows behind the other rows of their category.
func withLiveTests(tests []Test) []Test {
	var out []Test
	for _, c := range Categories() {
		for _, list := range [][]Test{tests, liveTests} {
			for _, t := range list {
				if t.Category == c.Name {
					out = append(out, t)
				}
			}
		}
	}
	for i := range out {
		for _, t := range liveTests {
			out[i].Live = out[i].Live || t.ID == out[i].ID
		}
	}
	return out
}
