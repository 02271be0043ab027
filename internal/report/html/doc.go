// Package html writes a run as one page that needs no network and no other file
// (Write). The templates, style and script are in the folder page.
//
// Invariants:
//   - the page's content security policy allows only its own style and script;
//   - all content is readable without JavaScript;
//   - tests are written one by one; charts keep a few bytes for each.
package html
