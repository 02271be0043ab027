// Package snapshot stores values that servers returned in files, masks the parts that
// differ between runs, and compares later values with them.
//
//	Compile → *Options           the options of one snapshot in a suite
//	Read → *File → Begin → *Run  the stored values, and the changes of one run
//	                 Run.Test → *Test.Compare → Comparison
//	                 Run.Save → Saved
//
// Invariants:
//
//   - A value is masked before it is compared and before it is stored, and masking a stored
//     value changes nothing.
//   - Text of a server that looks like a mask is escaped.
//   - A value is stored only if its test passed, and removed only if the whole run did.
//   - The file is replaced in one step, under a lock, and keeps the changes that another
//     run made in the meantime.
//
// Start reading at store.go, then mask.go.
package snapshot
