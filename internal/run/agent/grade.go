package agent

import (
	"context"
	"errors"
	"fmt"
	"strings"

	"mcptest/internal/assert/grading"
	spec "mcptest/internal/spec/agent"
	"mcptest/internal/spec/suite"
)

// Judge returns what grades texts for the matchers of a test. ctx is that of the test
// without the limit of its calls. failed gets the error if there is no grade: then the test
// has no outcome.
func (m *Models) Judge(
	ctx context.Context, s *suite.Suite, action suite.Action, test string, attempt int, failed func(error),
) func(context.Context, *grading.Grading, string) (grading.Grade, error) {
	prompt := ""
	if c, ok := action.(*spec.Conversation); ok {
		prompt = c.Prompt
	}
	return func(_ context.Context, g *grading.Grading, text string) (grading.Grade, error) {
		grade, err := m.grade(ctx, s, g, test, attempt, prompt, text)
		if err != nil {
			err = fmt.Errorf("%s gave no grade: %w", g.Model, err)
			failed(err)
		}
		return grade, err
	}
}

// grade lets a model grade a text. The rubric may contain the prompt of the test, "" if
// it has none; the model sees nothing else of the test.
func (m *Models) grade(
	ctx context.Context, s *suite.Suite, g *grading.Grading, test string, attempt int, prompt, text string,
) (grading.Grade, error) {
	switch {
	case m == nil:
		return grading.Grade{}, errors.New("models cannot be asked here")
	case prompt == "" && g.NamesPrompt():
		return grading.Grade{}, fmt.Errorf("the rubric contains %s, and this test has no prompt", grading.Prompt)
	}
	client, err := m.Client(s, g.Model, test, attempt)
	if err != nil {
		return grading.Grade{}, err
	}
	said, err := client.Grade(ctx, strings.ReplaceAll(g.Rubric, grading.Prompt, prompt), text, g.Ask())
	if err != nil {
		m.Broke(s, g.Model, test)
	}
	return grading.Grade{Score: said.Score, Reason: said.Reason, Votes: said.Votes}, err
}
