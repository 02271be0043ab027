package judge

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"strings"
)

// Judge is who judges: a model (Client) or a program (Program).
type Judge interface {
	// Kind is "model" or "program".
	Kind() string
	// Model names the model, or the program with its arguments.
	Model() string
	// Key identifies a judgement, for caches; "" says that another judgement
	// of the same may differ, so that it must not be kept.
	Key(k Case, votes int) string
	// Judge gives a verdict that more than half of the votes agree on. An
	// error says that there is none; it is never a verdict.
	Judge(ctx context.Context, k Case, votes int) (Verdict, error)
}

// The verdicts.
const (
	Understood    = "understood"
	NotUnderstood = "not_understood"
	Unsure        = "unsure"
)

// Case is what is to be judged. Calls is a JSON list of {operation, params}.
type Case struct{ Question, Facts, Answer, Calls string }

// Verdict is the outcome of the votes.
type Verdict struct {
	Verdict string
	Reason  string
	Votes   []string // one verdict a vote
}

// Valid reports whether a verdict, from a cache for example, is one.
func (v Verdict) Valid() bool {
	return v.Verdict == Understood || v.Verdict == NotUnderstood || v.Verdict == Unsure
}

// ErrNoVerdict says that a judge answered, and not with a verdict.
var ErrNoVerdict = errors.New("the judge gave no usable verdict")

const verdictTries = 3

// Key identifies a judgement: the model and where it is, the rubric, the
// number of votes and the prompt.
func (c *Client) Key(k Case, votes int) string {
	data, _ := json.Marshal([]string{c.o.API, c.o.URL, c.o.Model, RubricVersion, rubric, fmt.Sprint(votes), prompt(k)})
	sum := sha256.Sum256(data)
	return hex.EncodeToString(sum[:])
}

// Judge has the model judge a case as often as votes says. Several votes are
// drawn with some freedom and a seed each: the same words every time would be
// one vote.
func (c *Client) Judge(ctx context.Context, k Case, votes int) (Verdict, error) {
	text := prompt(k)
	return poll(votes, func(n int) (verdict, reason string, err error) {
		d := draw{seed: n}
		if votes > 1 {
			d.temperature = 0.7
		}
		return c.vote(ctx, text, k, d)
	})
}

// poll asks for every vote. A verdict needs more than half of the votes that
// were asked for; votes that differ are unsure. A vote that cannot be had
// ends the poll, unless the judge merely answered badly; what it cannot change
// any more counts.
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
		if count[verdict]++; reasons[verdict] == "" {
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
			last = fmt.Errorf("%d of %d votes are no majority: %w", len(out.Votes), votes, last)
		}
		return Verdict{}, last
	}
	out.Verdict, out.Reason = Unsure, "the votes differ"
	return out, nil
}

// vote asks once, and again when the answer is not what was asked for. What
// it said is not shown to it again: it may have repeated what it judges.
func (c *Client) vote(ctx context.Context, text string, k Case, d draw) (verdict, reason string, err error) {
	var bad error
	for range verdictTries {
		turn := text
		if bad != nil {
			turn += "\nAn earlier answer was refused: " + bad.Error() + ". Answer with the JSON object alone."
		}
		m, err := c.chat(ctx, rubric, []Message{{Role: "user", Text: turn}}, nil, d)
		if err != nil && !errors.Is(err, ErrUnusable) {
			return "", "", err
		}
		if err == nil {
			verdict, reason, err = readVerdict(thought(m.Text), k, true)
		}
		if err == nil {
			return verdict, reason, nil
		}
		bad = err
		d.seed += 100
	}
	return "", "", fmt.Errorf("%w: %w", ErrNoVerdict, bad)
}

// thought is an answer without the thinking aloud before it, which some
// local models do, and without the fence that many put round JSON.
func thought(s string) string {
	s = strings.TrimSpace(s)
	if i := strings.LastIndex(s, "</think>"); i >= 0 && strings.HasPrefix(s, "<think>") {
		s = strings.TrimSpace(s[i+len("</think>"):])
	}
	if rest, ok := strings.CutSuffix(s, "```"); ok {
		rest, fenced := strings.CutPrefix(rest, "```")
		if rest = strings.TrimPrefix(rest, "json"); fenced && !strings.Contains(rest, "```") {
			return strings.TrimSpace(rest)
		}
	}
	return s
}
