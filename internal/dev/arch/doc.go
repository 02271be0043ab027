// Package arch contains tests of the code base itself: they check what ARCHITECTURE.md
// says about the code, so that the page stays true.
//
// There is no code to import. The tests parse every Go file of the module, for every
// operating system, and check
//
//   - rooms_test.go: which room of packages may import which;
//   - edges_test.go: the imports that are forbidden although the rooms allow them, and which
//     third-party module may be used where;
//   - shape_test.go: every package has a doc.go, functions keep to their length and
//     complexity, and there is no func init and no package-level state that code changes;
//   - arrows_test.go: how many uses between the files of a package run backward;
//   - text_test.go: what a committed file must not contain;
//   - words_test.go: American spelling.
//
// Start reading at the table in rooms_test.go. What refuses a change for its form is here, and
// runs in make quick; the linter repeats none of it.
package arch
