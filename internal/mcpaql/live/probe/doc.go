// Package probe contains the tests of a live run. All runs those that the mode
// permits, one group after the other; each group stores its cases in the
// evidence, and its findings in the rows that only live runs have.
package probe
