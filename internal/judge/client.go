package judge

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"strings"
	"sync"
	"time"

	"mcptest/internal/jsonv"
)

// The wire forms.
const (
	OpenAI    = "openai"
	Anthropic = "anthropic"
)

// Options say which model is asked, and how much. Zero values are the
// defaults named with each field.
type Options struct {
	API       string // OpenAI
	URL       string // the address below which /chat/completions or /v1/messages is
	Model     string
	Key       string        // sent as the API wants it; "" sends none
	MaxCalls  int           // 200 requests, retries included
	MaxTokens int           // 200,000, as the endpoint counts them; estimated where it does not
	Timeout   time.Duration // of one request, 60 s
	Wait      func(ctx context.Context, d time.Duration) error
	HTTP      *http.Client
}

// Client asks one model. It is safe for concurrent use.
type Client struct {
	o Options

	mu     sync.Mutex
	calls  int
	tokens int
	left   map[string]bool // optional parameters that the endpoint does not take
}

// Why a question has no answer although the endpoint can be reached. Another
// question may fare better.
var (
	// ErrRefused says that the model, or a filter before it, refused.
	ErrRefused = errors.New("the model refused to answer")
	// ErrUnusable says that an answer came that is no turn of a conversation.
	ErrUnusable = errors.New("the model's answer cannot be used")
)

// ErrCap says that the caps on calls or tokens are reached.
var ErrCap = errors.New("the cap on model calls or tokens is reached")

// StatusError is an answer of the endpoint that is no completion.
type StatusError struct {
	Status int
	Body   string // its beginning, one line
}

// Error names the status and what the endpoint said.
func (e *StatusError) Error() string {
	s := strings.TrimSpace(fmt.Sprintf("the model's endpoint answered %d %s", e.Status, http.StatusText(e.Status)))
	if e.Body != "" {
		s += ": " + e.Body
	}
	switch {
	case e.Status == http.StatusNotFound:
		s += " (is the address right, and the model there?)"
	case e.Status >= 300 && e.Status < 400:
		s += " (redirects are not followed, so that the key stays where it was meant to go: give the final address)"
	}
	return s
}

// New returns a client.
func New(o Options) *Client {
	if o.API == "" {
		o.API = OpenAI
	}
	if o.MaxCalls <= 0 {
		o.MaxCalls = 200
	}
	if o.MaxTokens <= 0 {
		o.MaxTokens = 200_000
	}
	if o.Timeout <= 0 {
		o.Timeout = time.Minute
	}
	h := http.Client{}
	if o.HTTP != nil {
		h = *o.HTTP
	}
	h.CheckRedirect = func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }
	o.HTTP = &h
	if o.Wait == nil {
		o.Wait = pause
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

// CheckURL says what is wrong with an endpoint's address; nil for a good one.
func CheckURL(address string) error {
	u, err := url.Parse(address)
	switch {
	case err != nil:
		return errors.New("it is no address")
	case u.Scheme != "http" && u.Scheme != "https" || u.Host == "":
		return errors.New("want an http or https address such as http://localhost:11434/v1")
	}
	return nil
}

// Kind is "model".
func (c *Client) Kind() string { return "model" }

// Model returns the model's name.
func (c *Client) Model() string { return c.o.Model }

// Used returns the requests sent and the tokens they took.
func (c *Client) Used() (calls, tokens int) {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.calls, c.tokens
}

// Tool is a tool that the model may call.
type Tool struct {
	Name, Description string
	Schema            jsonv.Value
}

// Call is one call that the model made.
type Call struct {
	ID, Name  string
	Arguments jsonv.Value // as far as they are JSON, else absent
}

// Message is one turn of a conversation.
type Message struct {
	Role  string // "user", "assistant" or "tool"
	Text  string
	Calls []Call // of an assistant
	ID    string // of a tool's answer: the call it answers
}

// Chat sends a conversation and returns the model's turn. The model is asked
// to be as repeatable as it can: temperature 0 and a fixed seed.
func (c *Client) Chat(ctx context.Context, system string, turns []Message, tools []Tool) (Message, error) {
	return c.chat(ctx, system, turns, tools, draw{seed: 1})
}

// draw is how a model chooses its words.
type draw struct {
	seed        int
	temperature float64
}

func (c *Client) chat(ctx context.Context, system string, turns []Message, tools []Tool, d draw) (Message, error) {
	path, body, read := "chat/completions", openAIRequest(c.o.Model, system, turns, tools, d), openAIAnswer
	if c.o.API == Anthropic {
		path, body, read = "v1/messages", anthropicRequest(c.o.Model, system, turns, tools, d), anthropicAnswer
	}
	data, err := c.post(ctx, c.address(path), body)
	if err != nil {
		return Message{}, err
	}
	return read(data)
}

// address is the endpoint's address with a path below it. Its query, which
// some endpoints need, stays.
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
