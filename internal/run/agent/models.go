package agent

import (
	"fmt"

	spec "mcptest/internal/spec/agent"
	"mcptest/internal/spec/suite"
)

// Models are the models of a run. A nil Models has only script.
type Models struct{}

// Speaker returns what answers a conversation of a test, and its price.
func (m *Models) Speaker(s *suite.Suite, c *spec.Conversation, test string) (Speaker, *spec.Price, error) {
	if c.Model == scripted {
		return &Player{Script: c.Script}, nil, nil
	}
	return nil, nil, fmt.Errorf("the model %s cannot be asked here", c.Model)
}
