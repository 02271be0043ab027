package result

import "slices"

// Conversation is what a model and the tools said to each other in one trial.
type Conversation struct {
	Model     string         `json:"model"`                // the name in the suite
	ModelName string         `json:"model_name,omitempty"` // the name in the answers
	System    string         `json:"system,omitempty"`
	Tools     []string       `json:"tools,omitempty"` // that the model was offered
	Messages  []ModelMessage `json:"messages"`
	// Stop is why it ended: end, turns, refusal, truncated or budget; empty after an error.
	Stop         string  `json:"stop,omitempty"`
	Turns        int     `json:"turns"` // answers of the model
	InputTokens  int     `json:"input_tokens,omitempty"`
	OutputTokens int     `json:"output_tokens,omitempty"`
	DurationMS   float64 `json:"duration_ms"`
	// CostUSD is absent for a model without a price.
	CostUSD *float64 `json:"cost_usd,omitempty"`
}

// Tokens returns the tokens of requests and answers together.
func (c *Conversation) Tokens() int { return c.InputTokens + c.OutputTokens }

// listConversations returns those of the case and of its attempts.
func (c *Case) listConversations() []*Conversation {
	all := []*Conversation{c.Conversation}
	for i := range c.Attempts {
		all = append(all, c.Attempts[i].Conversation)
	}
	return slices.DeleteFunc(all, func(said *Conversation) bool { return said == nil })
}

// listTexts returns what was said, by anyone.
func (c *Conversation) listTexts() (out []*string) {
	out = append(out, &c.System)
	for i := range c.Messages {
		m := &c.Messages[i]
		out = append(out, &m.Role, &m.Text)
		for j := range m.Calls {
			call := &m.Calls[j]
			out = append(out, &call.Name, &call.Server, &call.Arguments, &call.Text)
		}
	}
	return out
}

// ModelMessage is one message of a conversation. Results of calls are with the calls.
type ModelMessage struct {
	Role         string      `json:"role"` // user or assistant
	Text         string      `json:"text,omitempty"`
	Calls        []ModelCall `json:"calls,omitempty"`
	InputTokens  int         `json:"input_tokens,omitempty"`
	OutputTokens int         `json:"output_tokens,omitempty"`
}

// ModelCall is one call that a model made.
type ModelCall struct {
	Name      string `json:"name"`
	Server    string `json:"server,omitempty"`
	Arguments string `json:"arguments"` // JSON, or the text that is none
	// Filled is set if the model wrote nothing, blanks or null for the arguments.
	Filled  bool   `json:"filled,omitempty"`
	Text    string `json:"text,omitempty"`
	Refused bool   `json:"refused,omitempty"`
	// Executed is set if the server was called; Mocked, if a mock answered.
	Executed bool `json:"executed,omitempty"`
	Mocked   bool `json:"mocked,omitempty"`
}
