// Package result holds the vocabulary of a finished or running test run:
// the events, the record they fold into, and the record's JSON form
// ("mcptest.run/v1").
//
// Data flows one way. package run sends Events to a Recorder; the recorder
// redacts each one, folds it into a Run, puts finished cases into a Spool
// (so that a run of 100,000 tests keeps only an index in memory), and tells
// the live listeners, in order and never concurrently. Reporters are pure
// functions of a Run: everything they print, totals included, is here.
//
// Start reading at Run (run.go), then Case (case.go), then Event (event.go).
//
// Invariants:
//   - every planned case has exactly one Case in the record, in plan order;
//   - folding the events of an ndjson log gives the record that was written
//     at the end of the run that made the log;
//   - a field that has nothing to say is absent from the JSON, never null;
//   - no secret gets past the recorder.
package result
