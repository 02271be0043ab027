package agent

import (
	"errors"
	"fmt"

	"mcptest/internal/model"
	spec "mcptest/internal/spec/agent"
	"mcptest/internal/spec/suite"
)

// Models are the models of a run. A nil Models has only script.
type Models struct {
	// Client returns the client of a model of a suite, for an attempt of a test, from 1.
	Client func(s *suite.Suite, name, test string, attempt int) (*model.Client, error)
	// Broken, if set, is called if a conversation with a model ends with an error.
	Broken func(s *suite.Suite, name, test string)
}

// ErrCap reports that the run has cost what it may.
var ErrCap = model.ErrSpent

// ErrSkipped reports that no model is asked in this run.
var ErrSkipped = errors.New("models are not asked (--model-mode off)")

// Speaker returns the model of a conversation, and its price.
func (m *Models) Speaker(s *suite.Suite, c *spec.Conversation, test string, attempt int) (Speaker, *spec.Price, error) {
	if c.Model == scripted {
		return &Player{Script: c.Script}, nil, nil
	}
	if m == nil {
		return nil, nil, fmt.Errorf("the model %s cannot be asked here", c.Model)
	}
	client, err := m.Client(s, c.Model, test, attempt)
	if err != nil {
		return nil, nil, err
	}
	declared, _ := s.Models.Get(c.Model)
	return client, declared.Price, nil
}

// Broke notes that a conversation ended with an error.
func (m *Models) Broke(s *suite.Suite, name, test string) {
	if m != nil && m.Broken != nil {
		m.Broken(s, name, test)
	}
}

// StaleError reports that a recording has no answer to a request: the prompt, the
// definitions or the results differ from those that were recorded.
type StaleError struct{ Model, Why, Again string }

// Error returns what differs, and how to record again.
func (e *StaleError) Error() string {
	return fmt.Sprintf("stale: the recording of the model %s has no answer to this request: %s; no request was sent; record again with %s", e.Model, e.Why, e.Again)
}
