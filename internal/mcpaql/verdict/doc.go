// Package verdict holds the conformance report: rows, categories, levels and the
// exit code, with the forms in which it is read and written (JSON, text,
// Markdown, badge, a record for the report formats of mcptest) and compared.
//
// A report has the rows of the specification for its level and tier regardless
// of the evidence. A row that only live runs have, and that does not apply, is
// listed separately.
package verdict
