//go:build !race

package source_test

const slow = false
