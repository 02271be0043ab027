// Package diff compares two surfaces and says what each change means for
// clients: it is breaking, a matter of trust, to be reviewed, or safe.
//
// Entry points: Compare lists the changes, Write prints them in one of Formats.
//
// Invariants:
//   - A breaking change has a witness: a call that was valid and is rejected
//     now, or a response that was impossible and is allowed now. For schemas the
//     validator confirms it. If clients start to reject the definition, it is
//     any call that was valid.
//   - A change of a schema is only safe if that is proved (package contain).
//     What can be shown neither way is to be reviewed.
//   - Texts are data: every part of a definition is printed escaped.
package diff
