package suite

import (
	"cmp"
	"time"

	"mcptest/internal/base/source"
	"mcptest/internal/offer/ruleset"
)

// probeEntry is one entry of `probe`: what `mcptest probe` examines.
type probeEntry struct {
	Pos               source.Pos
	entryKeys         `yaml:",inline"`
	ruleset.ProbeKeys `yaml:",inline"`
	// How long it may take; what is not reached is not verified.
	Timeout *time.Duration `yaml:"timeout" default:"60s" example:"2m" range:">0"`
}

func (e *probeEntry) action() Action { return ruleset.Probe{ProbeKeys: &e.ProbeKeys} }

func (e *probeEntry) common() Common {
	c, limit := e.entryKeys.common("probe"), time.Minute
	c.Timeout = cmp.Or(e.Timeout, &limit)
	return c
}

// expectations returns none: the rules are what is expected.
func (e *probeEntry) expectations(n *source.Node, path string, d *source.Decoder) *source.Node {
	e.ProbeKeys.Check(n, path, d)
	return nil
}
