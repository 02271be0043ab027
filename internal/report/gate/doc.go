// Package gate writes the findings of a quality gate (a check of definitions, a
// comparison of two lists) in the formats of other programs: SARIF 2.1.0 and the
// workflow commands of GitHub Actions; and as a page for people.
//
// Entry point: Document.Write, a pure function of the document; the objects of SARIF are
// also what the report of a run is made from. Text is data: it is escaped for the format
// and for people.
package gate
