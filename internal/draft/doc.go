// Package draft writes a first suite for a server from what the server says
// of itself and from what it answered when it was tried.
//
// Arguments makes arguments for a tool out of its input schema. A Test holds
// what was answered to one request each time it was made; from that come its
// assertions: what never changed is expected as it was, what changed or looks
// like a time or an id is matched loosely (loosen.go, text.go). Suite.YAML
// writes it all down, with a mark where a person has to look.
//
// Invariants:
//   - nothing is called, read or written here;
//   - a text that Suite.Mask changes is never written, nor is one that names a
//     place of this machine (Suite.Local);
//   - what is written loads without a mistake, and its assertions hold for
//     every answer it was made from. The caller still runs it: the next answer
//     may be another one.
package draft
