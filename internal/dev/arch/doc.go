// Package arch contains tests of the code base itself: they check what ARCHITECTURE.md
// says about the code, so that the page stays true.
//
// There is no code to import. The tests parse every Go file of the module, for every
// operating system, and check
//
//   - edges_test.go: which package may import which, and which third-party module may
//     be used where, from one table. The depguard section of .golangci.yml is generated
//     from the same table (go test ./internal/dev/arch -update) and must match it;
//   - shape_test.go: every package has a doc.go, functions keep to their size,
//     and there is no func init and no package-level state that code changes;
//   - arrows_test.go: how many uses between the files of a package run backward;
//   - text_test.go: what a committed file must not contain;
//   - words_test.go: words that comments, messages and documents must not use.
//
// Start reading at the table in edges_test.go. A new package needs a row there.
package arch
