// Package jsonv implements exact, ordered JSON values.
//
// All parts of the program exchange data in this form: arguments in a suite, messages from
// the wire, the values that a path selects and a matcher compares. encoding/json would lose
// the order of members, the digits of numbers, and the evidence of what a server really sent
// (duplicate keys, lone surrogates, bytes that are not UTF-8).
//
// Entry points: [Parse] and [ParseWith] build a [Value] from text; [Valid], [VisitMembers] and
// [Elements] check or split text without building values; [From] and the constructors build
// values in Go; [Equal], [Compare] and [Diff] compare.
//
// Invariants:
//
//   - A Value is immutable and safe for concurrent use. The zero Value is absent, which is
//     not null.
//   - A number is stored as its literal. Comparison is by exact decimal value, and its cost
//     is bounded by the length of the literals, never by the size of the number: 1e400000
//     costs no more than 1.
//   - An object keeps its members in order, duplicates included. Len, Members, Keys and
//     Append use all of them; Get, Equal, Diff, Interface and schemas use the last of
//     several members with one key.
//   - A string is UTF-8 in which a lone surrogate occupies the three bytes of its
//     generalized UTF-8 form (WTF-8); invalid input bytes are kept unchanged. Append always
//     writes valid UTF-8 and valid JSON.
//   - Values never alias the caller's bytes.
//   - Depth, node count and diff size are bounded.
package jsonv
