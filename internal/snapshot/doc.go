// Package snapshot keeps values that servers returned in files, masks what
// differs from run to run, and compares later values with them.
//
//	Compile → *Options           what a suite says about one snapshot
//	Read → *File → Begin → *Run  the stored values, and what one run does to them
//	                 Run.Test → *Test.Compare → Comparison
//	                 Run.Save → Saved
//
// Invariants:
//
//   - A value is masked before it is compared and before it is stored, and
//     masking what is stored changes nothing.
//   - What the server writes never looks like a mask: it is escaped.
//   - A value is stored only if its test passed, and removed only if the whole
//     run did.
//   - The file is replaced in one step, under a lock, with the changes that
//     another run made meanwhile.
//
// Start reading at store.go, then mask.go.
package snapshot
