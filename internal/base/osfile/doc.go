// Package osfile writes and locks files so that a reader, a second process or a kill at any
// moment sees either the old content or the new content, never a part of it.
//
// Entry points: Replace writes data at hand, Create data that is written piece by piece;
// TryLock and Lock take an advisory lock. The package imports no other package of this
// module.
package osfile
