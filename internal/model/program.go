package model

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"time"
)

// Limits of one evaluation by a program.
const (
	programTime   = 2 * time.Minute // it may call a model itself
	programOutput = 1 << 20
)

// Program is a judge implemented by a program of the user. It is started for every vote, reads one
// JSON object from its standard input
//
//	{"rubric": "2", "vote": 1, "votes": 3, "question": "…", "facts": "…", "answer": "…", "calls": [{"operation": "…", "params": {…}}]}
//
// and writes one to its standard output:
//
//	{"verdict": "understood" | "not_understood" | "unsure", "reason": "…", "quote": "…"}
//
// reason and quote are optional; a quote must occur in the answer or the calls. Other output, and
// an exit code other than 0, is an error.
type Program struct {
	Argv []string
	// Run runs the program with the given standard input and returns its output.
	Run func(ctx context.Context, argv []string, stdin []byte) ([]byte, error)
	// Timeout limits one vote; default 2 min.
	Timeout time.Duration
	// Shown is the program and its arguments, without secrets.
	Shown string
}

// Kind returns "program".
func (p *Program) Kind() string { return "program" }

// Model returns the program and its arguments.
func (p *Program) Model() string { return p.Shown }

// Key returns "": a program may return different verdicts.
func (p *Program) Key(Case, int) string { return "" }

// programCase is the input of a program.
type programCase struct {
	Rubric string `json:"rubric"`
	Vote   int    `json:"vote"`
	Votes  int    `json:"votes"`
	shownCase
}

// Judge runs the program once for each vote.
func (p *Program) Judge(ctx context.Context, k Case, votes int) (Verdict, error) {
	return poll(votes, func(n int) (string, string, error) {
		in, err := json.Marshal(programCase{RubricVersion, n, max(votes, 1), k.show()})
		if err != nil {
			return "", "", fmt.Errorf("encode the case: %w", err)
		}
		return p.vote(ctx, append(in, '\n'), k)
	})
}

func (p *Program) vote(ctx context.Context, in []byte, k Case) (verdict, reason string, err error) {
	limit := cmp.Or(max(p.Timeout, 0), programTime)
	timed, cancel := context.WithTimeout(ctx, limit)
	defer cancel()
	out, err := p.Run(timed, p.Argv, in)
	switch {
	case ctx.Err() != nil:
		return "", "", context.Cause(ctx)
	case errors.Is(timed.Err(), context.DeadlineExceeded):
		return "", "", fmt.Errorf("the program gave no verdict within %s", limit)
	case err != nil:
		return "", "", fmt.Errorf("the program gave no verdict: %w", err)
	case len(out) > programOutput:
		return "", "", errors.New("the program wrote more than 1 MiB")
	}
	verdict, reason, err = readVerdict(strings.TrimSpace(string(out)), k, false)
	if err != nil {
		return "", "", fmt.Errorf("%w: what the program wrote was refused: %w", ErrNoVerdict, err)
	}
	return verdict, reason, nil
}
