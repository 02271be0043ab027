// Package osfile writes and locks files so that a reader, a second process or
// a kill at any moment sees the old content or the new, never a part of it.
//
// Start at Replace for data at hand and at Create for data that is written
// piece by piece; TryLock and Lock take an advisory lock. The package imports nothing
// of this module.
package osfile
