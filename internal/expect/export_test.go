package expect

// Canonical exposes a target's canonical form to the tests.
func (t *Target) Canonical() string { return t.canonical() }

// EditDistance exposes the banded distance to the tests.
var EditDistance = editDistance

// FoldCase exposes case folding to the tests.
var FoldCase = foldCase
