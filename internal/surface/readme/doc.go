// Package readme keeps the table of a server's tools in a Markdown document up
// to date. The table is between two comments, each on a line of its own:
//
//	<!-- mcptest:tools -->
//	<!-- /mcptest:tools -->
//
// Start at Table for the table and at Find for the place of it. The rest of
// the document is never changed.
package readme
