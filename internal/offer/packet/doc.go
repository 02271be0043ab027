// Package packet writes what the form of an app directory asks for: a page in Markdown from
// which the owner of a server fills it in. What is known is on it, what only the owner knows
// is an empty place.
//
// Entry points: Builtin returns the forms; Write writes the page of one from Facts.
//
// Invariants:
//   - A field is data (fields.yaml): what it asks for, the page that asks for it, the day on
//     which that was last confirmed, and the day after which it counts as unconfirmed. What no
//     page asks for is not in a packet.
//   - Nothing is invented: no reason for a hint, no prompt, no address.
//   - Texts of a server or a suite are masked and escaped; none breaks out of its place.
//   - It is pure: the same facts on the same day give the same page.
package packet
