// Package display decides how text from a server, a hook or a suite is shown to people.
// It defines which characters must not be shown unchanged and how they are escaped. Every
// package that prints, quotes or stores such text uses it.
package display
