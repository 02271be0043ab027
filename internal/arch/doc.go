// Package arch holds tests of the code base itself: what ARCHITECTURE.md says
// about the code is checked here, so that the page cannot drift from the tree.
//
// There is no code to import. The tests read every Go file of the module with
// go/parser, for every operating system, and check
//
//   - edges_test.go: which package may import which, from one table, and
//     which third-party module may be used where. The depguard section of
//     .golangci.yml is written from the same table (go test ./internal/arch
//     -update) and may not differ from it;
//   - shape_test.go: every package explains itself in doc.go, files and
//     functions keep their size, there is no func init and no package-level
//     state that code writes to;
//   - text_test.go: what every committed file must not hold;
//   - words_test.go: words that the prose avoids, and how many are left.
//
// Start reading at the table in edges_test.go. A new package needs a row
// there before its first test run passes.
package arch
