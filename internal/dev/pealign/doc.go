// Pealign rewrites programs for Windows so that each section begins at a page of the file.
// Wine maps such a section; others, as Go's linker writes them, it copies at each start,
// which takes twice the time of a processor. tools/windows calls it.
//
//	go run ./internal/dev/pealign PROGRAM.exe...
//
// Entry point: align. What a program does is not changed: only the table of sections and the
// position of their data, and the table of symbols for debuggers is no longer named.
package main
