// Package variants replaces `variants: {from: [program, arg]}` of servers by what the
// program prints: YAML or JSON with the same keys as variants.
//
// Entry point: Expand, before the servers are decoded.
//
// Invariants: the package starts nothing itself; if programs must not be started, a
// server gets one variant, called Unknown, in place of those that are not known.
package variants
