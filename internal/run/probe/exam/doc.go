// Package exam examines one server in one revision for the families of rules: it opens
// sessions, sends requests and raw messages, decides what is a verdict, and collects the
// verdicts.
//
// [New] completes the options of a probe, and [Prober.Visit] begins a [Visit]. A family
// provokes rules one by one through [Visit.Check], which decides whether a rule applies,
// runs it, repeats a failure, and enters the verdict. What sessions report by themselves about
// a valid request is entered by [Visit.Send].
//
// Invariants:
//   - a rule fails only after a second sighting;
//   - HTTP 401, 403, 429 and 503 fail no rule but those of authorization;
//   - what this package calls, package allow has allowed;
//   - which families there are, and their order, is not known here.
package exam
