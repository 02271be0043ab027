// Package syserr words errors of the operating system the same way on every system, so that
// a message, and what is looked for in it, does not depend on where it was written.
//
// Entry points: Text, Plain and Is. Elsewhere than on Windows, Text is err.Error(). The
// package imports no other package of this module.
package syserr
