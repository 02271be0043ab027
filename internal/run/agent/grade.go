package agent

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"sync"

	"mcptest/internal/assert/grading"
	"mcptest/internal/model"
	spec "mcptest/internal/spec/agent"
	"mcptest/internal/spec/suite"
)

// Judges are the models of a run that grade texts. The zero value is ready to use.
type Judges struct {
	mu      sync.Mutex
	clients map[*spec.Model]*model.Client
}

// Of returns what grades texts for the matchers of a test. ctx is that of the test without
// the limit of its calls. failed gets the reason if there is no grade: then the test has no
// outcome.
func (j *Judges) Of(ctx context.Context, s *suite.Suite, action suite.Action, failed func(why string)) func(context.Context, *grading.Grading, string) (grading.Grade, error) {
	prompt := ""
	if c, ok := action.(*spec.Conversation); ok {
		prompt = c.Prompt
	}
	return func(_ context.Context, g *grading.Grading, text string) (grading.Grade, error) {
		m, _ := s.Models.Get(g.Model)
		grade, err := j.grade(ctx, m, g, prompt, text)
		if err != nil {
			failed(fmt.Sprintf("%s gave no grade: %v", g.Model, err))
		}
		return grade, err
	}
}

// grade lets a model grade a text. The rubric may contain the prompt of the test, "" if
// it has none; the model sees nothing else of the test.
func (j *Judges) grade(ctx context.Context, m *spec.Model, g *grading.Grading, prompt, text string) (grading.Grade, error) {
	rubric := g.Rubric
	switch {
	case m == nil:
		return grading.Grade{}, errors.New("the suite does not declare it")
	case m.KeyEnv != "" && m.Key == "":
		return grading.Grade{}, fmt.Errorf("the environment variable %s with its key is not set", m.KeyEnv)
	case prompt == "" && g.NamesPrompt():
		return grading.Grade{}, fmt.Errorf("the rubric contains %s, and this test has no prompt", grading.Prompt)
	}
	said, err := j.client(m).Grade(ctx, strings.ReplaceAll(rubric, grading.Prompt, prompt), text, g.Ask())
	return grading.Grade{Score: said.Score, Reason: said.Reason, Votes: said.Votes}, err
}

// client returns the client of a model, one for a run, so that its limits hold for the
// run.
func (j *Judges) client(m *spec.Model) *model.Client {
	j.mu.Lock()
	defer j.mu.Unlock()
	c := j.clients[m]
	if c == nil {
		if j.clients == nil {
			j.clients = map[*spec.Model]*model.Client{}
		}
		c = model.New(model.Options{API: m.API, URL: m.URL, Model: m.Model, Key: m.Key, MaxCalls: maxGrades, MaxTokens: maxGradeTokens})
		j.clients[m] = c
	}
	return c
}

// Limits of the requests to one judge in a run.
const (
	maxGrades      = 10_000
	maxGradeTokens = 50_000_000
)
