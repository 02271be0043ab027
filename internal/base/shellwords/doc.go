// Package shellwords splits a command line into the words of a POSIX shell, and
// quotes words so that they are read back unchanged.
//
// Entry points: [Split], [QuoteAll], and [ScriptAt] for the words of a command.
//
// Nothing is expanded and no shell is started. The grammar is that of
// mvdan.cc/sh; placeholders (`${steps.x}`), which are not valid in a shell, are
// masked before a line is parsed.
package shellwords
