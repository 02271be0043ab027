// Package readme updates the table of a server's tools in a Markdown document. The table is
// between two comments, each on a separate line:
//
//	<!-- mcptest:tools -->
//	<!-- /mcptest:tools -->
//
// Entry points: Table makes the table, Find finds its place in a document. The rest of the
// document is never changed.
package readme
