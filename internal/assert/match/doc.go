// Package match holds the matchers: what a value must be.
//
//	*source.Node → Compiler.Matcher → *Named;  target.Subject → Named.Match → Outcome
//
// Invariants:
//
//   - The matchers are rows of one sorted table, [Matchers], which the documentation,
//     the suite's schema and suggestions use. A new matcher is one row in its family's
//     file (m_*.go) and one line in table.go.
//   - There are no side effects except through [Env]: only Env.Exec runs programs, and
//     nothing reads files, clocks or networks. Options.LoadSchema reads schemas in other
//     files.
//   - A missing target fails every matcher but absent, even if the matcher is negated: a
//     value that could not be evaluated never passes.
//   - Compiled matchers are immutable and safe for concurrent use.
//
// Start reading at matcher.go, then table.go and m_exact.go.
package match
