package aql

// Tier selects the tiers of the semantic category.
type Tier string

// The tiers. Tier2 and TierBoth do the same: the second tier is never judged
// without the first.
const (
	Tier1    Tier = "1" // skip the semantic category
	Tier2    Tier = "2"
	TierBoth Tier = "both"
)

// Tiers lists the names of the tiers.
func Tiers() []string { return []string{string(Tier1), string(Tier2), string(TierBoth)} }
