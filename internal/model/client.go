package model

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"math"
	"net/http"
	"net/url"
	"strings"
	"sync"
	"time"

	"mcptest/internal/base/jsonv"
	"mcptest/internal/base/web"
)

// The wire forms.
const (
	OpenAI    = "openai"
	Anthropic = "anthropic"
)

// Options select a model and limit its use. Zero values are the defaults listed with
// each field.
type Options struct {
	API       string // OpenAI
	URL       string // base address of /chat/completions or /v1/messages
	Model     string
	Key       string        // sent as the API requires; "" sends none
	MaxCalls  int           // 200 requests, retries included
	MaxTokens int           // 200,000, as counted by the endpoint, or estimated
	Timeout   time.Duration // of one request, 60 s
	// Temperature and AnswerTokens are those of Answer; nil: the endpoint's, 0: 4096.
	Temperature  *float64
	AnswerTokens int
	Purse        *Purse                          // one that is never empty
	Cost         func(input, output int) float64 // in USD; required by a Purse
	Wait         func(ctx context.Context, d time.Duration) error
	HTTP         *http.Client
}

// Client sends requests to one model. It is safe for concurrent use.
type Client struct {
	o Options

	mu     sync.Mutex
	calls  int
	tokens int
	left   map[string]bool // optional parameters that the endpoint rejects
}

// ErrCap reports that the limit of calls or tokens is reached.
var ErrCap = errors.New("the limit on model calls or tokens is reached")

// StatusError is an error response of the endpoint.
type StatusError struct {
	Status int
	Body   string // its beginning, in one line
}

// Error returns the status and the endpoint's message.
func (e *StatusError) Error() string {
	s := strings.TrimSpace(fmt.Sprintf("the model's endpoint responded with %d %s", e.Status, http.StatusText(e.Status)))
	if e.Body != "" {
		s += ": " + e.Body
	}
	switch {
	case e.Status == http.StatusNotFound:
		s += " (are the address and the model's name right?)"
	case e.Status >= 300 && e.Status < 400:
		s += " (redirects are not followed, so that the key stays where it was meant to go: give the final address)"
	}
	return s
}

// FinalError is an error of a transport that no retry changes.
type FinalError struct{ Err error }

// Error returns the text of the cause.
func (e *FinalError) Error() string { return e.Err.Error() }

// Unwrap returns the cause.
func (e *FinalError) Unwrap() error { return e.Err }

// New returns a client.
func New(o Options) *Client {
	o.API, o.Timeout = cmp.Or(o.API, OpenAI), cmp.Or(max(o.Timeout, 0), time.Minute)
	o.MaxCalls, o.MaxTokens = cmp.Or(max(o.MaxCalls, 0), 200), cmp.Or(max(o.MaxTokens, 0), 200_000)
	h := http.Client{}
	if o.HTTP != nil {
		h = *o.HTTP
	}
	h.CheckRedirect = web.NoRedirect
	o.HTTP = &h
	if o.Wait == nil {
		o.Wait = pause
	}
	o.Purse = cmp.Or(o.Purse, &Purse{Limit: math.Inf(1)})
	if o.Cost == nil {
		o.Cost = func(int, int) float64 { return 0 }
	}
	return &Client{o: o, left: map[string]bool{}}
}

func pause(ctx context.Context, d time.Duration) error {
	t := time.NewTimer(d)
	defer t.Stop()
	select {
	case <-t.C:
		return nil
	case <-ctx.Done():
		return context.Cause(ctx)
	}
}

// CheckURL returns an error if address cannot be that of an endpoint.
func CheckURL(address string) error {
	u, err := url.Parse(address)
	switch {
	case err != nil:
		return errors.New("it is not an address")
	case u.Scheme != "http" && u.Scheme != "https" || u.Host == "":
		return errors.New("expected an http or https address such as http://localhost:11434/v1")
	}
	return nil
}

// Kind returns "model".
func (c *Client) Kind() string { return "model" }

// Model returns the model's name.
func (c *Client) Model() string { return c.o.Model }

// Used returns the number of requests and of the tokens they used.
func (c *Client) Used() (calls, tokens int) {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.calls, c.tokens
}

// Chat sends a conversation and returns the model's turn. It requests the most
// repeatable answers: temperature 0 and a fixed seed.
func (c *Client) Chat(ctx context.Context, system string, turns []Message, tools []Tool) (Message, error) {
	return c.chat(ctx, system, turns, tools, draw{seed: 1})
}

func (c *Client) chat(ctx context.Context, system string, turns []Message, tools []Tool, d draw) (Message, error) {
	v, err := c.send(ctx, system, turns, tools, d)
	if err != nil {
		return Message{}, err
	}
	return c.read(v)
}

// Answer sends a conversation and returns the model's turn, with the reason of its end
// and what it used. Temperature is sent only if it is set.
func (c *Client) Answer(ctx context.Context, system string, turns []Message, tools []Tool) (Answer, error) {
	v, err := c.send(ctx, system, turns, tools, draw{chance: true})
	if err != nil {
		return Answer{}, err
	}
	m, err := c.read(v)
	a := Answer{Message: m, Model: v.Lookup("model").Text()}
	a.Input, a.Output = usage(v)
	a.Uncounted = whyUncounted(v)
	reason := cmp.Or(v.Lookup("choices").At(0).Lookup("finish_reason").Text(), v.Lookup("stop_reason").Text())
	switch {
	case errors.Is(err, ErrRefused):
		a.Stop, a.Text, err = Refused, strings.TrimPrefix(err.Error(), ErrRefused.Error()+": "), nil
	case reason == "length" || reason == "max_tokens" || reason == "model_context_window_exceeded":
		a.Stop, err = Truncated, nil
	}
	return a, err
}

func (c *Client) send(ctx context.Context, system string, turns []Message, tools []Tool, d draw) (jsonv.Value, error) {
	path, body := "chat/completions", openAIRequest(c.o.Model, system, turns, tools)
	if c.o.API == Anthropic {
		path, body = "v1/messages", anthropicRequest(c.o.Model, system, turns, tools)
	}
	body["max_tokens"] = answerTokens
	switch {
	case !d.chance:
		body["temperature"] = d.temperature
		if c.o.API != Anthropic {
			body["seed"] = d.seed
		}
	case c.o.Temperature != nil:
		body["temperature"] = *c.o.Temperature
		if *c.o.Temperature == 0 && c.o.API != Anthropic {
			body["seed"] = 1
		}
	}
	if d.chance && c.o.AnswerTokens > 0 {
		body["max_tokens"] = c.o.AnswerTokens
	}
	return c.post(ctx, c.address(path), body)
}

func (c *Client) read(v jsonv.Value) (Message, error) {
	if c.o.API == Anthropic {
		return anthropicAnswer(v)
	}
	return openAIAnswer(v)
}

// address returns the endpoint's address with a path appended. It keeps the query,
// which some endpoints need.
func (c *Client) address(path string) string {
	u, err := url.Parse(c.o.URL)
	if err != nil {
		return c.o.URL
	}
	if strings.HasSuffix(strings.TrimRight(u.Path, "/"), "/v1") {
		path = strings.TrimPrefix(path, "v1/")
	}
	return u.JoinPath(path).String()
}
