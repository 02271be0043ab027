// Package ruleset holds the rules that the protocol has for servers (rules.yaml), each
// with its level, its revisions and the sentence it is based on, and what an entry of
// probe: chooses among them.
//
// Entry points: [Builtin] and [ProbeKeys]. It examines no server: package run/probe does.
package ruleset
