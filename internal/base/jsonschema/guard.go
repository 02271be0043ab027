package jsonschema

import (
	"context"
	"fmt"
	"runtime"

	"github.com/santhosh-tekuri/jsonschema/v6"
)

// maxSteps bounds the subschema evaluations of one validation, for callers
// whose context has no time limit.
const maxSteps = 20_000_000

// guard monitors one validation from inside: the library calls it for every subschema
// it evaluates and for every pattern.
type guard struct {
	ctx   context.Context
	steps int
	err   error
}

func (g *guard) begin(ctx context.Context) { *g = guard{ctx: ctx} }

// vocabulary attaches the guard to every subschema. It has no keywords.
func (g *guard) vocabulary() *jsonschema.Vocabulary {
	return &jsonschema.Vocabulary{
		URL: "urn:mcptest:guard",
		Compile: func(*jsonschema.CompilerContext, map[string]any) (jsonschema.SchemaExt, error) {
			return g, nil
		},
	}
}

// Validate implements jsonschema.SchemaExt. It ends the goroutine when the
// time is up, as the library offers no other way out of a long validation.
func (g *guard) Validate(*jsonschema.ValidatorContext, any) {
	g.steps++
	if g.steps > maxSteps {
		g.err = fmt.Errorf("check against the schema: took more than %d steps", maxSteps)
		runtime.Goexit()
	}
	if g.steps&0xFF == 0 {
		if err := g.ctx.Err(); err != nil {
			g.err = tookTooLong(err)
			runtime.Goexit()
		}
	}
}

func tookTooLong(err error) error {
	return fmt.Errorf("check against the schema: took too long: %w", err)
}
