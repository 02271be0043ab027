package suite

import (
	"time"

	"mcptest/internal/base/source"
)

// boundaryKeys are the keys that the tests under http: and start: have in common. They
// talk to no session.
type boundaryKeys struct {
	// The test's name, unique in the suite.
	Name  string `yaml:"name,required" example:"refuses a foreign origin" schema:"pattern: '\\S'"`
	About `yaml:",inline"`
	// The server, a pattern such as api@*, or a list: the test runs once on each.
	Server Names `yaml:"server" example:"api@*"`
	// Assertions and assert-sets, or {assertions, max_duration_ms}.
	Expect *source.Node `yaml:"expect,required"`
	// The combined score needed to pass, 0 to 1; without it every item must pass.
	Threshold *float64 `yaml:"threshold" example:"0.75" range:"0-1"`
	// Words to select tests by.
	Tags []string `yaml:"tags" example:"[smoke]" schema:"items: {type: string, pattern: '\\S'}"`
	// How long the test waits.
	Timeout *time.Duration `yaml:"timeout" default:"10s" example:"5s" range:">0"`
	// How often a failed test is retried.
	Retries *int `yaml:"retries" default:"0" example:"2" range:"0-100"`
	// The reason why this test is not run.
	Skip *Reason `yaml:"skip"`
	// Run only tests with this key; an error in CI.
	Only bool `yaml:"only" default:"false" example:"true"`
	// Run the test once for each row: a list of maps, or a CSV, JSON Lines or YAML file.
	Cases *source.Node `yaml:"cases"`
}

// boundaryTimeout is the default of timeout:.
const boundaryTimeout = 10 * time.Second

func (e *boundaryKeys) common() Common {
	limit := boundaryTimeout
	if e.Timeout != nil {
		limit = *e.Timeout
	}
	return Common{
		Name: e.Name, About: e.About, Server: e.Server, Expect: e.Expect, Threshold: e.Threshold, Tags: e.Tags,
		Timeout: &limit, Retries: e.Retries, Skip: e.Skip, Only: e.Only, Cases: e.Cases,
	}
}

// expectations returns what is written after expect:. A test that examines nothing
// would always pass.
func (e *boundaryKeys) expectations(n *source.Node, path string, d *source.Decoder) *source.Node {
	if len(listExaminedRoots(e.Expect)) == 0 {
		d.Errorf(n, path+".expect", "the test examines nothing").Hint = "add an assertion: expect: [{target: …, matcher: …}]"
	}
	return e.Expect
}

// change is a value that is set on top of another; null removes that one.
type change[T any] struct {
	Value   T
	Removed bool
}

// DecodeNode reads the value, or null.
func (c *change[T]) DecodeNode(n *source.Node, path string, d *source.Decoder) {
	if c.Removed = n.Kind == source.KindNull; !c.Removed {
		d.Decode(n, path, &c.Value)
	}
}
