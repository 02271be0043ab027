// Package lists has what package slices lacks. It is like a package of the standard
// library, so every package may import it.
//
// Entry points: [Map] and [First]. Neither changes its argument.
package lists
