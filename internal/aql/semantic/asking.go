package semantic

import (
	"context"
	"errors"

	llm "mcptest/internal/judge"
)

// Asking configures how models are asked. The zero value asks none.
type Asking struct {
	Model *llm.Client // answers the questions; nil: no semantic evaluation
	Judge llm.Judge   // judges the answers; nil: the phrases decide
	Votes int         // of the judge, 1
	Cache JudgeCache  // of verdicts; may be nil
	Again bool        // ask the judge again about content that it has judged before
	// Progress gets the name of each answer before it is judged; may be nil.
	Progress func(name string)
}

// JudgeCache keeps verdicts by the key of what was judged.
type JudgeCache interface {
	Get(key string) (llm.Verdict, bool)
	Put(key string, v llm.Verdict)
}

// Patience decides how long a failing model or judge is asked on: a single failure
// may be caused by the question, two in a row are not.
type Patience struct {
	row  int
	last error
}

// Saw records an outcome and returns it.
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

// Over returns the reason why no more questions are asked; nil while they are.
func (p *Patience) Over() error {
	if p.row >= maxInRow {
		return p.last
	}
	return nil
}

const maxInRow = 2

// ErrGivenUp reports that no further questions can be asked.
var ErrGivenUp = errors.New("the adapter has ended")

// Limits of one question.
const (
	MaxTurns     = 6        // how often a model may call tools
	MaxTurnCalls = 10       // calls of one turn; the rest is ignored
	MaxArguments = 64 << 10 // bytes of a call's arguments
)
