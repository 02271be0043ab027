// Package toolresult knows what widely used clients do with the result of a tool: which part
// of it they hand to the model, which they drop, shorten or write to a file, and which images
// the model's API refuses.
//
// [Examine] finds what a client will not pass on; [As] is the form in which one client hands
// a result to a model. Invariants: it imports nothing of the network, so that a check of a
// file may use it. What it says of a client has a source and a date (sources.go); where no
// source is known, it says nothing.
package toolresult
