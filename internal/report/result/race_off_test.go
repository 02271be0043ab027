//go:build !race

package result_test

const slow = false
