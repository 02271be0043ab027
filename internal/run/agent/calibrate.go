package agent

import (
	"context"
	"fmt"

	"mcptest/internal/base/display"
	"mcptest/internal/base/stats"
	"mcptest/internal/report/result"
	spec "mcptest/internal/spec/agent"
	"mcptest/internal/spec/suite"
)

// shownLabels is the number of labels that a message names.
const shownLabels = 5

// Calibrate lets a model grade texts with labels, and returns how often both agree as an
// assertion, with the status of the test: the lower bound of the share's interval must
// reach what is asked. An error says that there is no grade of a text.
func (m *Models) Calibrate(
	ctx context.Context, s *suite.Suite, k *spec.Calibration, test string, attempt int,
) (result.Status, result.Assertion, error) {
	agreed := 0
	var differ []string
	for i, label := range k.Texts {
		grade, err := m.grade(ctx, s, k.Grading(), test, attempt, "", label.Text)
		if ctx.Err() != nil {
			return "", result.Assertion{}, context.Cause(ctx)
		}
		if err != nil {
			return "", result.Assertion{}, fmt.Errorf("%s gave no grade to text %d of %d: %w", k.Model, i+1, len(k.Texts), err)
		}
		if pass, why := k.Grading().Passes(grade); pass == label.Good {
			agreed++
		} else {
			differ = append(differ, fmt.Sprintf("line %d, labeled good: %t; %s", label.Pos.Line, label.Good, why))
		}
	}
	n := len(k.Texts)
	low, high := stats.ComputeClopperPearson(agreed, n, spec.Confidence)
	text := fmt.Sprintf("%s agrees with %d of %d labels, the share is between %.3g and %.3g", k.Model, agreed, n, low, high)
	status := result.Pass
	switch {
	case high < k.Agreement:
		status, text = result.Fail, fmt.Sprintf("%s: below %v", text, k.Agreement)
	case low < k.Agreement:
		status, text = result.Inconclusive, fmt.Sprintf("%s: whether it is at least %v is not decided; more labels narrow it", text, k.Agreement)
	}
	out := result.Assertion{Target: "agreement", Matcher: fmt.Sprintf("at least %v", k.Agreement), Pass: status == result.Pass, Message: text}
	for _, line := range differ[:min(shownLabels, len(differ))] {
		out.Notes = append(out.Notes, display.OneLine(line))
	}
	if more := len(differ) - shownLabels; more > 0 {
		out.Notes = append(out.Notes, fmt.Sprintf("%d more differ", more))
	}
	if out.Pass {
		out.Notes, out.Message = append([]string{text}, out.Notes...), ""
	}
	return status, out, nil
}
