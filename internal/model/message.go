package model

import (
	"errors"

	"mcptest/internal/base/jsonv"
)

// Tool is a tool that the model may call.
type Tool struct {
	Name, Description string
	Schema            jsonv.Value
}

// Call is one call that the model made.
type Call struct {
	ID, Name  string
	Arguments jsonv.Value // absent if they are not JSON
	Raw       string      // then: what was sent
	Filled    bool        // the model wrote Raw, which means no arguments: {} is meant
}

// Text returns the arguments as text.
func (c Call) Text() string {
	if c.Arguments.IsAbsent() {
		return c.Raw
	}
	return c.Arguments.String()
}

// Message is one turn of a conversation.
type Message struct {
	Role  string // "user", "assistant" or "tool"
	Text  string
	Calls []Call // of an assistant
	ID    string // of a tool's result: the call it belongs to
	// IsError is set if the result of a call is a failure.
	IsError bool
}

// Why an answer ended other than with a call or by itself.
const (
	Refused   = "refused"
	Truncated = "truncated"
)

// Answer is a turn of a model.
type Answer struct {
	Message
	Stop          string // "", Refused or Truncated
	Input, Output int    // tokens, as the endpoint counts them
	// Uncounted says why they are not known: the endpoint counts none, or what can't be.
	Uncounted string
	Model     string // its name, as the endpoint gives it
}

// draw holds the sampling parameters of a request.
type draw struct {
	seed        int
	temperature float64
	chance      bool // as the endpoint and the model's declaration say, without a seed
}

// answerTokens is the limit of one turn of the model.
const answerTokens = 4096

// object is the body of a request.
type object = map[string]any

// Errors of a question although the endpoint can be reached. Other questions may
// succeed.
var (
	// ErrRefused reports that the model, or a filter before it, refused to answer.
	ErrRefused = errors.New("the model refused to answer")
	// ErrUnusable reports a response that is not a turn of a conversation.
	ErrUnusable = errors.New("the model's answer cannot be used")
)
