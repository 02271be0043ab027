// Package guard sends the calls of a live run and protects the data of others.
//
// The parts of a run pass four values along, see values: the catalog, what the adapter
// describes; the ledger, what the run owns; the gate, what may be sent; the caller, who
// sends. Every call passes the gate, which refuses what may change something that the
// run did not create. The survey reads the lists before anything is changed, the builder
// makes parameters, the keeper tracks in the ledger what the run creates, the watcher
// compares what the adapter lists before and after, and the cleaner removes everything
// at the end, also after a cancellation. No part knows the run: where a part below needs
// one above, [New] hands it a function.
package guard
