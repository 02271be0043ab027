//go:build !race

package aql_test

const raceEnabled = false
