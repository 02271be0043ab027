// Package engine evaluates JSON Schema, drafts 4, 6, 7, 2019-09 and 2020-12, on values of
// package jsonv.
//
// Entry points: [Compile] prepares a schema, [Schema.Check] lists what a value fails, and
// [Schema.Fits] only decides. The texts for people are made by package jsonschema.
//
// Compilation has three steps: resources and anchors are collected (resource.go), the
// schema is held against its metaschema (metacheck.go), and nodes are made of it
// (complete.go). The keywords are in groups, each with a file that compiles and evaluates
// them: value.go, number.go, text.go, array.go, object.go, logic.go, unevaluated.go,
// reference.go and dynamic.go. The types that refer to each other are in model.go.
//
// Invariants:
//
//   - Nothing is prepared before it is needed: the metaschema of a draft is compiled when
//     the first schema of that draft is.
//   - A Schema is immutable and safe for concurrent use.
//   - Equal schemas and values give equal results in equal order.
//   - Numbers are compared exactly, and no number, however large, costs more than its text.
//   - An evaluation ends at its context's end or after maxSteps subschemas; endless
//     references are found.
package engine
