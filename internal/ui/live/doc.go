// Package live holds the sessions that a person opens by hand, and the timeline of what
// passes them.
//
//	Hub ── one Server per definition ── an inspect.Conn while connected
//	 │        │ Calls, Asks
//	 └─ Feed: a ring of Rows ◄── conn.Watch
//
// [New] returns a [Hub]. Readers follow it through [Hub.Changed] and [Feed.Since]; nothing
// here waits for a reader. Invariants:
//   - nothing is started before [Hub.Connect], and a tool that does not declare
//     readOnlyHint: true is called only with the confirmation of exactly that call;
//   - memory is bounded: a reader that is too slow is said how many rows it missed;
//   - what is returned is neither masked nor escaped;
//   - [Hub.Close] ends every session.
package live
