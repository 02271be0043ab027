package model

import (
	"context"
	"crypto/sha256"
	"encoding/json"
	"errors"
	"fmt"
	"strings"
)

// Judge evaluates answers: a model (Client) or a program (Program).
type Judge interface {
	// Kind returns "model" or "program".
	Kind() string
	// Model returns the name of the model, or the program with its arguments.
	Model() string
	// Key identifies an evaluation, for caches. It is "" if the result may differ the
	// next time and must not be cached.
	Key(k Case, votes int) string
	// Judge returns the verdict of more than half of the votes. An error means that
	// there is no verdict.
	Judge(ctx context.Context, k Case, votes int) (Verdict, error)
}

// Verdict is the result of the votes.
type Verdict struct {
	Verdict string
	Reason  string
	Votes   []string // one verdict per vote
}

// Valid reports whether a verdict, for example from a cache, is valid.
func (v Verdict) Valid() bool {
	return v.Verdict == Understood || v.Verdict == NotUnderstood || v.Verdict == Unsure
}

// ErrNoVerdict reports that a judge answered without a verdict.
var ErrNoVerdict = errors.New("the judge gave no usable verdict")

const verdictTries = 3

// Key identifies an evaluation by the model and its address, the rubric, the number
// of votes and the prompt.
func (c *Client) Key(k Case, votes int) string {
	data, _ := json.Marshal([]string{
		c.o.API, c.o.URL, c.o.Model,
		RubricVersion, rubric, fmt.Sprint(votes), makePrompt(k),
	})
	return fmt.Sprintf("%x", sha256.Sum256(data))
}

// Judge requests votes evaluations of a case. Several votes use a higher temperature
// and different seeds, because equal answers would count as one vote.
func (c *Client) Judge(ctx context.Context, k Case, votes int) (Verdict, error) {
	text := makePrompt(k)
	return poll(votes, func(n int) (verdict, reason string, err error) {
		d := draw{seed: n}
		if votes > 1 {
			d.temperature = 0.7
		}
		return c.vote(ctx, text, k, d)
	})
}

// poll collects the votes. A verdict needs more than half of them; otherwise the
// result is unsure. An error ends the poll, unless the judge's answer was merely
// unusable; votes that cannot change the result are counted.
func poll(votes int, ask func(n int) (verdict, reason string, err error)) (Verdict, error) {
	votes = max(votes, 1)
	var out Verdict
	reasons, count := map[string]string{}, map[string]int{}
	var last error
	for n := range votes {
		verdict, reason, err := ask(n + 1)
		if err != nil {
			last = err
			if errors.Is(err, ErrNoVerdict) {
				continue
			}
			break
		}
		out.Votes = append(out.Votes, verdict)
		count[verdict]++
		if reasons[verdict] == "" {
			reasons[verdict] = reason
		}
	}
	for verdict, n := range count {
		if 2*n > votes {
			out.Verdict, out.Reason = verdict, reasons[verdict]
			return out, nil
		}
	}
	if last != nil {
		if len(out.Votes) > 0 {
			last = fmt.Errorf("%d of %d votes are not a majority: %w", len(out.Votes), votes, last)
		}
		return Verdict{}, last
	}
	out.Verdict, out.Reason = Unsure, "the votes differ"
	return out, nil
}

// vote requests one vote on a case.
func (c *Client) vote(ctx context.Context, text string, k Case, d draw) (verdict, reason string, err error) {
	err = c.evaluate(ctx, rubric, text, d, func(answer string) (err error) {
		verdict, reason, err = readVerdict(answer, k, true)
		return err
	})
	return verdict, reason, err
}

// evaluate requests an evaluation, and again if read refuses the answer. The retry does
// not include the unusable answer, which may repeat the text to evaluate.
func (c *Client) evaluate(ctx context.Context, system, text string, d draw, read func(answer string) error) error {
	var bad error
	for range verdictTries {
		turn := text
		if bad != nil {
			turn += "\nAn earlier answer was refused: " + bad.Error() + ". Answer with the JSON object alone."
		}
		m, err := c.chat(ctx, system, []Message{{Role: "user", Text: turn}}, nil, d)
		if err != nil && !errors.Is(err, ErrUnusable) {
			return err
		}
		if err == nil {
			err = read(thought(m.Text))
		}
		if err == nil {
			return nil
		}
		bad = err
		d.seed += 100
	}
	return fmt.Errorf("%w: %w", ErrNoVerdict, bad)
}

// thought removes the reasoning before an answer, which some local models add, and
// the code fence that many add around JSON.
func thought(s string) string {
	s = strings.TrimSpace(s)
	if i := strings.LastIndex(s, "</think>"); i >= 0 && strings.HasPrefix(s, "<think>") {
		s = strings.TrimSpace(s[i+len("</think>"):])
	}
	if rest, ok := strings.CutSuffix(s, "```"); ok {
		rest, fenced := strings.CutPrefix(rest, "```")
		rest = strings.TrimPrefix(rest, "json")
		if fenced && !strings.Contains(rest, "```") {
			return strings.TrimSpace(rest)
		}
	}
	return s
}
