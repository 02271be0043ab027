// Package guard sends the calls of a live run and protects the data of others.
//
// Run is the state of one live run. Every call passes the Gate, which refuses
// what may change something that the run did not create. The Keeper tracks in
// the ledger what the run creates, the Watcher compares what the adapter lists
// before and after, and the Cleaner removes everything at the end, also after a
// cancellation.
package guard
