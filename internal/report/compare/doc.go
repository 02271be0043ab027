// Package compare compares the records of two runs (Runs): new failures, fixed
// tests, slower tests, changed scores, and failures outside the tests. The
// Comparison is data and writes itself as text or JSON.
//
// Invariants:
//   - tests match by suite and name, and by their order if several have the same
//     name; a suite is the same even if the runs started in different folders;
//   - an incomplete later record is a regression.
package compare
