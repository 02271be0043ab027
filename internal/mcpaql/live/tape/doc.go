// Package tape records a live run in a cassette and replays it.
// A run accesses its adapter, the clock and the ends of its contexts only through a
// [Tape], so the same events at the same times lead to the same run. Each event is
// written as the messages that passed, followed by a note with the data that they do
// not contain. A replay reads the events from the cassette, in order, and ends a run
// that requests anything else.
package tape
