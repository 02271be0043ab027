// Package result defines the data of a test run: the events, the record they are
// applied to, and the record's JSON format ("mcptest.run/v1").
//
// Data flows one way. Package run sends Events to a Recorder. The recorder redacts
// each one, applies it to a Run, puts finished cases into a Spool (so that a run of
// 100,000 tests only keeps an index in memory), and calls the live listeners, in
// order and never concurrently. Reporters are pure functions of a Run, which contains
// everything they print, including totals.
//
// Start reading at Run (run.go), then Case (case.go), then Event (event.go).
//
// Invariants:
//   - every planned case has exactly one Case in the record, in plan order;
//   - applying the events of an ndjson log results in the record that was written at
//     the end of the logged run;
//   - an empty field is absent from the JSON, never null;
//   - no secret gets past the recorder.
package result
