// Package diff compares two surfaces and classifies each change by its effect on clients:
// breaking, a matter of trust, to be reviewed, or safe.
//
// Entry points: Compare lists the changes, Write prints them in one of Formats.
//
// Invariants:
//   - A breaking change has a witness: a call that was valid and is rejected now, or a
//     response that was impossible and is allowed now. For schemas, the validator confirms
//     it. If clients reject the new definition, the witness is any call that was valid.
//   - A change of a schema is safe only if that is proved (package contain). If neither can
//     be proved, the change must be reviewed.
//   - Texts are data: every part of a definition is escaped when it is printed.
package diff
