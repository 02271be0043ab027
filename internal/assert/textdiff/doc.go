// Package textdiff describes how two texts differ, in a sentence and as a unified
// diff. The work and the output are bounded, because one of the texts comes from a
// server. FoldCase maps texts that differ only in case to the same text.
package textdiff
