// Package live collects evidence from a running adapter.
//
// Collect discovers the tools and operations, builds requests from what
// introspection documents, and sends them. A gate decides about every request:
// operations that are not declared READ may only touch what the run itself has
// created. What it created is listed in a ledger, and is removed at the end,
// also after a cancellation.
//
// What the adapter does wrong is evidence, not an error. The rows that only a
// live run has get their findings here; they are stored in the bundle under
// x_live, so that the bundle gives the same report later.
package live
