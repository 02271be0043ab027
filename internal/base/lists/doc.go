// Package lists has what package slices lacks. It is like a package of the standard
// library, so every package may import it.
//
// Entry points: [Map], [Kept], [First] and [Count]. None changes its argument.
package lists
