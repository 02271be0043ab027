// Package elsewhere is the table of what other test tools call something: their flags,
// commands and reporters, and what it is here.
//
// [Flag], [Command] and [Reporter] look a word up. Invariants: each row names what exists here
// or says that nothing does (a test of the command line tries every row); a word that means
// the same here is not in the table.
package elsewhere
