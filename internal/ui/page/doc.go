// Package page has the files of the page of `mcptest ui`, as a browser gets them: ES modules
// and a style sheet without a build step.
//
// [Serve] is the entry point. Invariants: the files contain nothing of the user, so they need
// no token; nothing outside of this program is loaded.
package page
