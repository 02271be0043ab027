// Package draft writes a first suite for a server, from the server's definitions and its
// responses to a few requests.
//
// A Test contains the responses to one request that was repeated; its assertions follow
// from them: a value that never changed is expected exactly, a value that changed or looks
// like a time or an id is matched loosely (loosen.go, text.go). Suite.YAML writes the suite
// and marks the lines that a person must review.
//
// Invariants:
//   - nothing is called, read or written here;
//   - a text that Suite.Mask changes is never written, nor is one that identifies
//     this machine or its user (Suite.Local), or lists environment variables;
//   - the suite loads without a mistake, and its assertions hold for every response that
//     it was made from. The caller must still run it: the next response may differ.
package draft
