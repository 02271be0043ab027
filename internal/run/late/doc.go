// Package late finds out whether an assertion on messages or on standard error failed only
// because the server sent what it misses after the call, and says so in the record.
//
// Nothing of a verdict changes. Only a failed test waits, and only if one of its failed
// assertions examines what a server sends besides its response.
package late
