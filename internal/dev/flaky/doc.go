// Package flaky is for tests that are random or depend on the load of the
// machine: the runs of the soak test, and faults that run in parallel. Only
// tests use it.
//
// Such a test can fail by chance, but its failure can also show a defect that
// occurs one time in a hundred. So a test that failed is repeated twice, must
// pass both times, and is reported with a line that begins with FLAKY. Do not
// use it for tests that are deterministic.
package flaky
