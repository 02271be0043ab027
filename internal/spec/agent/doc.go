// Package agent holds the keys of models and of tests of conversations with them:
// models: and agents: of a suite.
//
// [Keys] decodes an entry of agents:, and [Conversation] is what such a test does.
// Invariants: a key of a model is never written in a suite, only the name of its
// variable; every answer of a script is a call or a text.
package agent
