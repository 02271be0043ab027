package suite

import (
	"cmp"
	"time"

	"mcptest/internal/base/source"
	"mcptest/internal/spec/agent"
)

// calibrationEntry is one entry of `calibration`: how often a judge agrees with people.
type calibrationEntry struct {
	Pos               source.Pos
	namedKeys         `yaml:",inline"`
	agent.Calibration `yaml:",inline"`
	// How long all grades together may take.
	Timeout *time.Duration `yaml:"timeout" default:"10m" example:"30m" range:">0"`
}

func (e *calibrationEntry) common() Common {
	c, limit := e.namedKeys.common(e.Calibration.Name()), 10*time.Minute
	c.Timeout = cmp.Or(e.Timeout, &limit)
	return c
}

func (e *calibrationEntry) action() Action { return &e.Calibration }

// expectations returns none: the labels are what is expected.
func (e *calibrationEntry) expectations(n *source.Node, path string, d *source.Decoder) *source.Node {
	e.Calibration.Check(n, path, d)
	return nil
}
