// Package checkout builds a commit of the repository in a temporary folder, so that the
// server of that commit can be compared with the current one. Add is the entry point; the
// caller must call Remove. Since returns what differs between a commit and the working tree.
//
// The build command is the only program of the repository that is started. Git hooks are
// disabled.
package checkout
