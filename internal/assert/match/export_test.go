package match

// EditDistance exposes the banded distance to the tests.
var EditDistance = editDistance
