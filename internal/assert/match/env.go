package match

import (
	"context"

	"mcptest/internal/assert/grading"
	"mcptest/internal/assert/snapshot"
	"mcptest/internal/assert/target"
	"mcptest/internal/base/jsonv"
	"mcptest/internal/offer/assert"
)

// Env is the environment of an evaluation, in addition to the observation.
type Env struct {
	// Exec runs a program of the suite's author and returns its standard output. If
	// it is nil, no program is run.
	Exec func(ctx context.Context, argv []string, stdin []byte) (stdout []byte, err error)
	// Broken is called if a program of the suite's author could not judge; may be nil.
	Broken func(why string)
	// Snapshot compares a value with the stored one of that name; may be nil.
	Snapshot func(name string, o *snapshot.Options, s target.Subject) snapshot.Comparison
	// Surface evaluates what a server offers; nil: lock files are not read.
	Surface func(ctx context.Context, c *assert.Check, offer jsonv.Value) assert.Verdict
	// Others returns what the server offers to other clients, and what other servers
	// offer, by name; may be nil.
	Others func(ctx context.Context) (map[string]jsonv.Value, error)
	// Output returns the outputSchema of the called tool; nil: it is not known.
	Output func() jsonv.Value
	// Grade asks a model of the suite to grade a text; nil: no model is asked.
	Grade func(ctx context.Context, g *grading.Grading, text string) (grading.Grade, error)
	// Examined is set if other items, which passed, examined the error of this call:
	// those of its step in a flow.
	Examined bool
}
