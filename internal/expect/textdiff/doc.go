// Package textdiff says how two texts differ, in a sentence and as a unified
// diff. The work and the output are bounded, because a server sends one of the
// texts. FoldCase maps texts that differ only in case to one text.
package textdiff
