// Package agent lets a language model use the tools of servers, for the tests of agents:.
//
// [Trial.Run] is the entry point: one conversation. Invariants: a tool that may write is
// mocked, or named by the user, or the trial fails before it is called; what the model
// asks for and a mock answers never reaches a server; the record and what assertions
// examine have the names of MCP, regardless of what a provider accepts; no outcome is invented: a
// model without a usable answer is an error.
package agent
