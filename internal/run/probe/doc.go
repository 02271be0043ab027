// Package probe gives a verdict on any server: it holds what the server declares, sends
// and does against the rules of the protocol (package ruleset), each with the sentence it is
// based on.
//
// [Run] is the entry point; it returns a verdict.Report.
//
//	Run ──► families of basics and features, one after the other
//	          │ Check(rule, subject, provoke), Enter(outcome, rules)
//	          ▼
//	        exam.Visit (one revision): what the server offers, the ledger of outcomes ──► Report
//	          │ Do, Call, Tell, Raw, …
//	          ▼
//	        sessions, raw messages and requests
//
// Invariants:
//   - the families that may end the process come after the others, but for that of views, which
//     has sessions of its own;
//   - each era that a server speaks gets its share of the time;
//   - after Run has returned, no process and no session that it opened is left;
//   - a report is neither masked nor escaped.
package probe
