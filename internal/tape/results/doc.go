// Package results judges the results of tools that a file holds: a cassette, or the record of
// a run. The rules are those of package toolresult, which a run applies, too.
//
// A cassette is complete, so [OfCassette] judges each of its results. A record holds the
// beginning of long responses only: [OfRecord] repeats what the run noted while it saw all of
// them, and judges what is whole. Invariant: what could not be judged is counted, never left
// out.
package results
