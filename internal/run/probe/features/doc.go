// Package features examines what a server offers: its capabilities, lists, tools, resources,
// prompts and utilities, and how its tools respond to unusual arguments, to calls that are
// repeated, and to other sessions.
//
// Each exported function is a family of rules. Invariants: a tool is called only through
// package allow; what ends a server on another machine is not sent.
package features
