package rule

const (
	fixListShape   = "Answer with the documented members only, each of its documented type."
	fixExtraMember = "Leave the member out, or move what it says into the description."
)

var operationsRules = []Rule{
	{"operations.answer", "operations", Must, "INT 8.1.10", Fail, Fail, "The operations query is answered with success: true.", "Implement introspect with query: \"operations\" on the READ endpoint and answer with {success: true, data: {operations: […]}}."},
	{"operations.dialect", "operations", Must, "INT 3.2, 4.1", Off, Fail, "Operations are listed in the documented form. Other forms are read, and each deviation is reported once.", "Answer data.operations, a list of objects with name, semantic_category, endpoint and description."},
	{"operations.data", "operations", Must, "INT 4.1", Fail, Fail, "The answer's data is an object.", "Put the list under data.operations; data itself is an object."},
	{"operations.data-members", "operations", Must, "INT 4.1", Fail, Fail, "The data holds operations and _protocol and nothing else.", fixExtraMember},
	{"operations.list", "operations", Must, "INT 4.1", Fail, Fail, "data.operations is a list.", "List every operation under data.operations; an adapter without operations answers an empty list."},
	{"operations.item", "operations", Must, "INT 3.2", Fail, Fail, "Each operation of the list is an object.", fixListShape},
	{"operations.item-members", "operations", Must, "INT 3.2", Fail, Fail, "An operation of the list holds name, semantic_category, endpoint and description and nothing else.", "Give the rest in the detail answer (introspect with name)."},
	{"operations.name", "operations", Must, "INT 3.2", Fail, Fail, "Each operation has a name, a string.", "The member is called name; its value is what a caller writes into operation."},
	{"operations.category", "operations", Must, "D 6.2", Fail, Fail, "Each operation has one semantic_category: CREATE, READ, UPDATE, DELETE or EXECUTE.", "Classify the operation by its effect and write the category in capitals."},
	{"operations.endpoint", "operations", Must, "D 10.1", Fail, Fail, "Each operation names its endpoint, a string that is not empty.", "Name the endpoint family that takes the operation."},
	{"operations.description", "operations", Must, "INT 3.2", Fail, Fail, "Each operation has a description, a string.", "Say in one sentence what the operation does."},
	{"operations.protocol", "operations", Must, "INT 8.1.11", Fail, Fail, "_protocol, if present, is an object.", "Answer _protocol: {version: \"1.0.0-draft\"}."},
	{"operations.protocol-version", "operations", Must, "INT 8.1.11", Fail, Fail, "_protocol.version is a version such as 1.0.0-draft.", "Write the version of the specification that the adapter follows: three numbers and an optional suffix after a hyphen."},
	{"operations.protocol-conformance", "operations", Must, "INT 4.1", Fail, Fail, "_protocol.conformance, if present, is level-1 or level-2.", "Write level-1 or level-2, or leave the member out."},
	{"operations.protocol-mode", "operations", Must, "INT 4.1", Fail, Fail, "_protocol.mode, if present, is semantic, single or all.", "Write semantic for an adapter with one tool per category, single for one tool, all for both."},
	{"operations.protocol-mode-crude", "operations", Should, "INT 4.1", Fail, Warn, "_protocol.mode is not \"crude\", the older name of semantic.", "Write semantic."},
	{"operations.protocol-capabilities", "operations", Must, "INT 4.1", Fail, Fail, "_protocol.capabilities, if present, is an object.", "Answer an object of flags, such as {batch: true}."},
	{"operations.protocol-capability", "operations", Must, "INT 4.1", Fail, Fail, "The known flags of _protocol.capabilities are true or false.", "Write true or false; put anything else under another name."},
	{"operations.protocol-missing", "operations", Should, "INT 8.1.11", Off, Warn, "The answer carries _protocol with the specification's version.", "Add _protocol: {version: \"1.0.0-draft\"} next to operations."},
}

var typesRules = []Rule{
	{"types.answer", "types", Must, "INT 8.1.10", Fail, Fail, "The types query is answered with success: true.", "Implement introspect with query: \"types\" and answer with {success: true, data: {types: […]}}."},
	{"types.data", "types", Must, "INT 5.1", Fail, Fail, "The answer's data is an object.", "Put the list under data.types; data itself is an object."},
	{"types.data-members", "types", Must, "INT 5.1", Fail, Fail, "The data holds types and nothing else.", fixExtraMember},
	{"types.list", "types", Must, "INT 5.1", Fail, Fail, "data.types is a list.", "List every type under data.types; an adapter without types answers an empty list."},
	{"types.item", "types", Must, "INT 3.5", Fail, Fail, "Each type of the list is an object.", fixListShape},
	{"types.item-members", "types", Must, "INT 3.5", Fail, Fail, "A type of the list holds name, kind and description and nothing else.", "Give values, fields and members in the detail answer (introspect types with name), not in the list."},
	{"types.name", "types", Must, "INT 3.5", Fail, Fail, "Each type has a name, a string.", "The member is called name."},
	{"types.kind", "types", Must, "INT 3.5", Fail, Fail, "Each type has a kind: enum, object, scalar or union.", "Map your own kinds to these four; a list of objects is an object type with a field that is a list."},
	{"types.description", "types", Must, "INT 3.5", Fail, Fail, "A type's description, if present, is a string.", "Write a sentence or leave the member out."},
}

var detailRules = []Rule{
	{"details.dialect", "details", Must, "INT 3.3, 3.4", Off, Fail, "Details have the documented form. Other forms are read, and each deviation is reported once.", "Answer parameters, a list of objects with name, type and required."},
	{"details.unreadable", "details", Must, "INT 3.3, 8.1.1", Off, Fail, "The parameters of an operation can be read.", "Answer parameters, a list of objects with name, type and required."},
	{"details.object", "details", Must, "INT 8.1.4", Fail, Fail, "The detail of an operation is an object.", "Answer introspect {query: \"operations\", name} with data.operation, an object."},
	{"details.members", "details", Must, "INT 3.3", Fail, Warn, "A detail has no members that the specification does not define.", fixExtraMember},
	{"details.name", "details", Must, "INT 3.3", Fail, Fail, "A detail has a name, a string.", "Repeat the operation's name."},
	{"details.category", "details", Must, "D 6.2, 10.1", Fail, Fail, "A detail has a semantic_category: CREATE, READ, UPDATE, DELETE or EXECUTE.", "Repeat the category of the list, in capitals."},
	{"details.endpoint", "details", Must, "D 10.1", Fail, Fail, "A detail names its endpoint, a string that is not empty.", "Name the endpoint family that takes the operation."},
	{"details.mcp-tool", "details", Must, "INT 3.3", Fail, Fail, "A detail names the MCP tool to call, a string.", "Add mcpTool with the tool's name, such as mcp_aql_read."},
	{"details.description", "details", Must, "INT 3.3", Fail, Fail, "A detail has a description, a string.", "Say what the operation does, when to use it, and what it does not do."},
	{"details.permissions", "details", Must, "INT 3.3, OPS 6", Fail, Fail, "A detail has permissions, an object.", "Add permissions: {readOnly, destructive}."},
	{"details.permissions-members", "details", Must, "INT 3.3", Fail, Warn, "permissions holds readOnly and destructive and nothing else.", fixExtraMember},
	{"details.read-only", "details", Must, "INT 3.3", Fail, Fail, "permissions.readOnly is true or false.", "Write true for an operation without effects."},
	{"details.destructive", "details", Must, "INT 3.3", Fail, Fail, "permissions.destructive is true or false.", "Write true for an operation that changes or removes what was there."},
	{"details.parameters", "details", Must, "INT 3.3", Fail, Fail, "A detail has parameters, a list.", "List the parameters; an operation without any answers an empty list."},
	{"details.parameter", "details", Must, "INT 3.4", Fail, Fail, "Each parameter is an object.", "Describe each parameter by an object with name, type and required."},
	{"details.parameter-members", "details", Must, "INT 3.4", Fail, Warn, "A parameter has no members that the specification does not define.", fixExtraMember},
	{"details.parameter-name", "details", Must, "INT 3.4", Fail, Fail, "A parameter has a name, a string.", "The member is called name."},
	{"details.parameter-type", "details", Must, "INT 3.4", Fail, Fail, "A parameter has a type, a string.", "Name the type: string, integer, number, boolean, object, array, or a type of your own list."},
	{"details.parameter-required", "details", Must, "INT 8.1.7", Fail, Fail, "A parameter says whether it is required, true or false.", "Add required: true or required: false."},
	{"details.parameter-description", "details", Must, "INT 3.4", Fail, Fail, "A parameter's description, if present, is a string.", "Write a sentence or leave the member out."},
	{"details.parameter-pattern", "details", Must, "INT 3.4", Fail, Fail, "A parameter's pattern, if present, is a string.", "Write the regular expression as a string."},
	{"details.parameter-format", "details", Must, "INT 3.4", Fail, Fail, "A parameter's format, if present, is a string.", "Write the format's name, such as date-time."},
	{"details.parameter-enum", "details", Must, "INT 3.4", Fail, Fail, "A parameter's enum, if present, is a list.", "List the allowed values."},
	{"details.parameter-minimum", "details", Must, "INT 3.4", Fail, Fail, "A parameter's minimum, if present, is a number.", "Write a number, not a string."},
	{"details.parameter-maximum", "details", Must, "INT 3.4", Fail, Fail, "A parameter's maximum, if present, is a number.", "Write a number, not a string."},
	{"details.parameter-min-length", "details", Must, "INT 3.4", Fail, Fail, "A parameter's minLength, if present, is a whole number from 0 up.", "Write the number of characters."},
	{"details.parameter-max-length", "details", Must, "INT 3.4", Fail, Fail, "A parameter's maxLength, if present, is a whole number from 0 up.", "Write the number of characters."},
	{"details.parameter-items", "details", Must, "INT 3.4", Fail, Fail, "A parameter's items, if present, is an object.", "Describe the elements by an object, such as {type: \"string\"}."},
	{"details.parameter-sensitive", "details", Must, "INT 3.4", Fail, Fail, "A parameter's sensitive, if present, is true or false.", "Write true for values that must not be logged."},
	{"details.missing", "details", Must, "INT 8.1.4", Off, Fail, "Every operation of the list has a detail.", "Answer introspect with the name of each listed operation; a bundle holds one detail per operation."},
	{"details.unlisted", "details", Must, "INT 8.1.3", Off, Fail, "Every operation with a detail is in the list.", "List the operation, or stop answering for it."},
	{"details.duplicate", "details", Must, "D 6.2", Off, Fail, "An operation is listed once and has one detail.", "Merge the entries; one name is one operation in one category."},
}
