// Package html writes a run as one page that needs no network and no other file
// (Write), and a measurement as another (Sheet). The templates are in the .qtpl files,
// which `go generate` compiles to Go; style and script are in the folder page.
//
// Invariants:
//   - the page's content security policy allows only its own style and script;
//   - templates write values with functions that escape, into elements and quoted
//     attributes only;
//   - all content is readable without JavaScript;
//   - tests are written one by one; charts keep a few bytes for each.
package html
