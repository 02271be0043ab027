package semantic

import (
	"context"
	"errors"

	llm "mcptest/internal/judge"
)

// Asking is how models are asked. The zero value asks none.
type Asking struct {
	Model *llm.Client // answers the questions; nil: no semantic evaluation
	Judge llm.Judge   // judges the answers; nil: the phrases decide
	Votes int         // of the judge, 1
	Cache JudgeCache  // of verdicts; may be nil
	Again bool        // ask the judge about what it has judged before, too
	// Progress gets the name of each answer before it is judged; may be nil.
	Progress func(name string)
}

// JudgeCache keeps verdicts by the key of what was judged.
type JudgeCache interface {
	Get(key string) (llm.Verdict, bool)
	Put(key string, v llm.Verdict)
}

// Patience is how long a model or a judge that fails is asked on: one
// failure may be the question's, two in a row are not.
type Patience struct {
	row  int
	last error
}

// Saw takes note of an outcome, and returns it.
func (p *Patience) Saw(err error) error {
	if err == nil || errors.Is(err, llm.ErrRefused) {
		p.row = 0
		return err
	}
	p.row++
	p.last = err
	if errors.Is(err, llm.ErrCap) || errors.Is(err, context.Canceled) || errors.Is(err, ErrGivenUp) {
		p.row = maxInRow
	}
	return err
}

// Over returns why nothing more is asked; nil when it is.
func (p *Patience) Over() error {
	if p.row >= maxInRow {
		return p.last
	}
	return nil
}

const maxInRow = 2

// ErrGivenUp says that no further questions can be asked.
var ErrGivenUp = errors.New("the adapter has ended")

// Bounds of one question.
const (
	MaxTurns     = 6        // how often a model may call tools
	MaxTurnCalls = 10       // calls of one turn; the rest is taken for not made
	MaxArguments = 64 << 10 // bytes of a call's arguments
)
