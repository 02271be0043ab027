// Package display decides how text from elsewhere (a server, a hook, a suite)
// is shown to people. It has one definition of the characters that must not
// be shown as they are, and one way to write them as escapes. Every package
// that prints, quotes or stores such text uses it.
package display
