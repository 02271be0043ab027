// Package probe gives a verdict on any server: it holds what the server declares, sends
// and does against the rules of the protocol (package ruleset), each with the sentence it is
// based on.
//
// [Run] is the entry point; it returns a verdict.Report.
//
//	Run ──► visit (one revision) ──► families (lifecycle.go, messages.go, …)
//	          │ link: session, raw, post        │ check(rule, subject, provoke)
//	          ▼                                 ▼
//	        mcp.Session, boundary            ledger ──► Report ──► Document
//
// A family is a function. It provokes rules one by one through [Visit.Check], which decides
// whether a rule applies, runs it, repeats a failure, and enters the verdict in the ledger.
// Violations that sessions report by themselves reach the ledger through [Visit.observe].
//
// Invariants:
//   - a rule fails only after a second sighting;
//   - HTTP 401, 403, 429 and 503 fail no rule but those of authorization;
//   - a tool is called only through package allow;
//   - after Run has returned, no process and no session that it opened is left;
//   - a report is neither masked nor escaped.
package probe
