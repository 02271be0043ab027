// Package skill prints and installs the guide for coding agents, SKILL.md, which package
// gen generates from the reference.
//
// Invariant: a file of the user is replaced only with --force.
package skill
