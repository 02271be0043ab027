// Package flaky is for tests that are random or take the machine as it is: the
// runs of the soak, the faults that run in parallel. It is used by
// tests only.
//
// Such a test can go wrong by chance, and then again it can show a defect that
// comes one time in a hundred. So what failed is tried twice more, must pass
// both times, and is reported with a line that begins with FLAKY. Tests that
// should never go wrong by chance have no business here.
package flaky
