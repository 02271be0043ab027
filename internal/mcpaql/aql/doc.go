// Package aql evaluates evidence about MCP-AQL adapters.
//
// Evaluate is a pure function: it compares evidence with the table of rules and
// returns a report with one row per test, rolled up into categories, a
// conformance level and an exit code.
//
// Under the strict rules, removing the evidence that a row rests on never turns
// its FAIL into a PASS.
//
// This is an independent implementation of the checks that the MCP-AQL
// specification (CC BY 4.0, https://mcpaql.com) describes.
//
// Start at Evaluate, then read evaluation.go and the table of checks in
// check_introspection.go.
package aql
