// Package load sends calls to a server at a fixed rate and measures how long they take.
//
// [Run] is the entry point, [Merge] adds the reports of shards, and [Report] is what both
// return and every format shows. Invariants:
//   - a call is due at a time that does not depend on earlier calls, and its latency is
//     counted from then;
//   - a report holds whole histograms, so that adding those of shards loses nothing;
//   - what the data does not decide is inconclusive, never passed.
package load
