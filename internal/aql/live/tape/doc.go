// Package tape records a live run in a cassette and replays it.
//
// A run reaches its adapter, the clock and the ends of its contexts through a
// [Tape] only, so the same events at the same times lead to the same run. Each
// event is written as the messages that passed, followed by a note of what
// they do not show. A replay takes the events from the cassette, in order, and
// ends a run that asks for anything else.
package tape
