// Package live collects evidence from a running adapter.
//
// Collect discovers the tools and operations (package catalog), runs the tests
// (package probe), which send their calls through package guard, and completes
// the bundle. Plan and Clean use the same discovery.
//
// What the adapter does wrong is evidence, not an error. The rows that only a
// live run has get their findings here; they are stored in the bundle under
// x_live, so that the bundle gives the same report later.
package live
