// Package checkout builds a commit of the repository in a temporary folder, to
// compare what the server offered there. Start at Add; Remove must follow.
//
// Hooks of the repository are not run: the build command is the only program of
// it that is started.
package checkout
