// Package jsonv holds exact, ordered JSON values.
//
// It is the one form in which data moves between the parts of the program:
// arguments written in a suite, replies read off the wire, what a path selects
// and what a matcher compares. encoding/json would lose three things a test
// tool must not lose: the order of members, the digits of numbers, and the
// evidence of what a server really sent (duplicate keys, lone surrogates,
// bytes that are not UTF-8).
//
// Entry points: [Parse] and [ParseWith] build a [Value] from text; [Valid],
// [EachMember] and [Elements] check or take apart text without building
// anything; [From] and the constructors build values in Go; [Equal], [Compare]
// and [Diff] compare.
//
// Invariants:
//
//   - A Value is immutable and safe to share between goroutines. The zero
//     Value is absent, which is not null.
//   - A number is the literal it was written as. Comparison is by exact decimal
//     value, and its cost is bounded by the length of the literals, never by
//     the size of the number: 1e400000 is as cheap as 1.
//   - An object keeps its members in order, duplicates included. Len, Members,
//     Keys and Append show what was written; Get, Equal, Diff, Interface and
//     schemas see the last of several members with one key.
//   - A string is kept as UTF-8 in which a lone surrogate occupies the three
//     bytes of its generalized UTF-8 form (WTF-8); invalid input bytes are kept
//     as they came. What Append writes is always valid UTF-8 and valid JSON.
//   - Values never alias the caller's bytes.
//   - Depth, node count and diff size are bounded.
package jsonv
