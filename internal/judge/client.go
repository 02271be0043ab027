package judge

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"strconv"
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
	MaxTokens int           // 200,000, as the endpoint counts them
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
}

// Bounds of one exchange.
const (
	maxAnswerBytes = 4 << 20
	maxTries       = 4
	maxWait        = 20 * time.Second
	answerTokens   = 1024
)

// ErrCap says that the caps on calls or tokens are reached.
var ErrCap = errors.New("the cap on model calls or tokens is reached")

// StatusError is an answer of the endpoint that is no completion.
type StatusError struct {
	Status int
	Body   string // its beginning
}

// Error names the status and what the endpoint said.
func (e *StatusError) Error() string {
	return fmt.Sprintf("the model's endpoint answered %d %s: %s", e.Status, http.StatusText(e.Status), e.Body)
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
	if o.HTTP == nil {
		o.HTTP = &http.Client{}
	}
	if o.Wait == nil {
		o.Wait = func(ctx context.Context, d time.Duration) error {
			t := time.NewTimer(d)
			defer t.Stop()
			select {
			case <-t.C:
				return nil
			case <-ctx.Done():
				return context.Cause(ctx)
			}
		}
	}
	return &Client{o: o}
}

// Model returns the model's name.
func (c *Client) Model() string { return c.o.Model }

// Used returns the requests sent and the tokens that the endpoint counted.
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

// Chat sends a conversation and returns the model's turn.
func (c *Client) Chat(ctx context.Context, system string, turns []Message, tools []Tool) (Message, error) {
	path, body := "/chat/completions", openAIRequest(c.o.Model, system, turns, tools)
	if c.o.API == Anthropic {
		path, body = "/v1/messages", anthropicRequest(c.o.Model, system, turns, tools)
	}
	data, err := c.post(ctx, path, body)
	if err != nil {
		return Message{}, err
	}
	if c.o.API == Anthropic {
		return anthropicAnswer(data)
	}
	return openAIAnswer(data)
}

// post sends a request, again when the endpoint refuses it for now.
func (c *Client) post(ctx context.Context, path string, body any) (jsonv.Value, error) {
	data, err := json.Marshal(body)
	if err != nil {
		return jsonv.Value{}, fmt.Errorf("encode the request: %w", err)
	}
	var last error
	for try := range maxTries {
		if !c.spend() {
			return jsonv.Value{}, ErrCap
		}
		v, wait, err := c.once(ctx, path, data)
		if err == nil {
			c.count(v.Lookup("usage"))
			return v, nil
		}
		if last = err; wait < 0 || ctx.Err() != nil || try == maxTries-1 {
			break
		}
		if wait == 0 {
			wait = time.Second << try
		}
		if err := c.o.Wait(ctx, min(wait, maxWait)); err != nil {
			return jsonv.Value{}, err
		}
	}
	return jsonv.Value{}, last
}

func (c *Client) spend() bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.calls >= c.o.MaxCalls || c.tokens >= c.o.MaxTokens {
		return false
	}
	c.calls++
	return true
}

func (c *Client) count(usage jsonv.Value) {
	c.mu.Lock()
	defer c.mu.Unlock()
	for _, key := range []string{"prompt_tokens", "completion_tokens", "input_tokens", "output_tokens"} {
		n, _ := usage.Lookup(key).Int64()
		c.tokens += int(min(max(n, 0), 1<<30))
	}
}

// once sends a request. wait is negative when trying again is of no use.
func (c *Client) once(ctx context.Context, path string, data []byte) (v jsonv.Value, wait time.Duration, err error) {
	ctx, cancel := context.WithTimeout(ctx, c.o.Timeout)
	defer cancel()
	req, err := http.NewRequestWithContext(ctx, http.MethodPost, strings.TrimRight(c.o.URL, "/")+path, bytes.NewReader(data))
	if err != nil {
		return v, -1, fmt.Errorf("the model's address: %w", err)
	}
	req.Header.Set("Content-Type", "application/json")
	switch {
	case c.o.API == Anthropic:
		req.Header.Set("anthropic-version", "2023-06-01")
		if c.o.Key != "" {
			req.Header.Set("x-api-key", c.o.Key)
		}
	case c.o.Key != "":
		req.Header.Set("Authorization", "Bearer "+c.o.Key)
	}
	resp, err := c.o.HTTP.Do(req)
	if err != nil {
		return v, 0, fmt.Errorf("ask the model: %w", err)
	}
	defer resp.Body.Close()
	body, err := io.ReadAll(io.LimitReader(resp.Body, maxAnswerBytes+1))
	if err != nil {
		return v, 0, fmt.Errorf("read the model's answer: %w", err)
	}
	if len(body) > maxAnswerBytes {
		return v, -1, errors.New("the model's answer is over 4 MiB")
	}
	if resp.StatusCode != http.StatusOK {
		wait = -1
		if resp.StatusCode == http.StatusTooManyRequests || resp.StatusCode >= 500 {
			n, _ := strconv.Atoi(resp.Header.Get("Retry-After"))
			wait = time.Duration(max(n, 0)) * time.Second
		}
		return v, wait, &StatusError{resp.StatusCode, c.shown(string(body))}
	}
	if v, err = jsonv.Parse(body); err != nil {
		return v, 0, fmt.Errorf("the model's answer is not JSON: %w", err)
	}
	return v, 0, nil
}

// shown is the beginning of what an endpoint said, without the key.
func (c *Client) shown(s string) string {
	if c.o.Key != "" {
		s = strings.ReplaceAll(s, c.o.Key, "[key]")
	}
	s = strings.Join(strings.Fields(s), " ")
	if r := []rune(s); len(r) > 300 {
		s = string(r[:300]) + "…"
	}
	return s
}
