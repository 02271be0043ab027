package model

import (
	"bytes"
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"maps"
	"net/http"
	"net/url"
	"slices"
	"strconv"
	"strings"
	"time"

	"mcptest/internal/base/jsonv"
)

// Limits of one exchange.
const (
	maxAnswerBytes = 4 << 20
	maxTries       = 4
	slowTries      = 2 // of requests that timed out
	maxWait        = 20 * time.Second
	leastMasked    = 8 // bytes: a shorter key is only masked in errors, where that is harmless
	shownColumns   = 300
)

// post sends a request and retries it after temporary failures.
func (c *Client) post(ctx context.Context, address string, body object) (jsonv.Value, error) {
	var last error
	slow := 0
	for try := 0; try < maxTries; try++ {
		data, err := json.Marshal(c.without(body))
		if err != nil {
			return jsonv.Value{}, fmt.Errorf("encode the request: %w", err)
		}
		if !c.spend() {
			if last != nil {
				return jsonv.Value{}, fmt.Errorf("%w; before: %w", ErrCap, last)
			}
			return jsonv.Value{}, ErrCap
		}
		answer, _ := body["max_tokens"].(int)
		most := c.o.Cost(len(data), answer) // a token has at least one byte
		if !c.o.Purse.take(most) {
			return jsonv.Value{}, ErrSpent
		}
		v, size, wait, err := c.once(ctx, address, data)
		if err == nil {
			c.o.Purse.settle(most, c.count(v, len(data), size))
			return v, nil
		}
		c.o.Purse.settle(most, 0)
		if ctx.Err() != nil {
			return jsonv.Value{}, withLast(context.Cause(ctx), last)
		}
		if c.learn(err, body) {
			try-- // ends, because each retry has one parameter less
			continue
		}
		if errors.Is(err, context.DeadlineExceeded) {
			slow++
		}
		last = err
		if wait < 0 || slow == slowTries || try == maxTries-1 {
			break
		}
		wait = cmp.Or(wait, time.Second<<try)
		if err := c.o.Wait(ctx, min(wait, maxWait)); err != nil {
			return jsonv.Value{}, withLast(err, last)
		}
	}
	return jsonv.Value{}, last
}

// withLast adds to the end of a request why the endpoint was asked again.
func withLast(err, last error) error {
	if last == nil {
		return err
	}
	return fmt.Errorf("%w; before: %w", err, last)
}

// optional lists the parameters that an endpoint may reject, with their replacements.
var optional = []struct{ name, instead string }{{"temperature", ""}, {"seed", ""}, {"max_tokens", "max_completion_tokens"}}

// learn reports whether an endpoint rejected an optional parameter, and records it.
// Reasoning models do not support temperature, and some have another name for the
// limit of an answer.
func (c *Client) learn(err error, body object) bool {
	var status *StatusError
	if !errors.As(err, &status) || status.Status != http.StatusBadRequest {
		return false
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	for _, p := range optional {
		_, sent := body[p.name]
		isKnown := p.instead == "" || c.o.API == OpenAI
		if sent && !c.left[p.name] && isKnown && strings.Contains(status.Body, p.name) {
			c.left[p.name] = true
			return true
		}
	}
	return false
}

// without returns a request without the rejected parameters.
func (c *Client) without(body object) object {
	c.mu.Lock()
	defer c.mu.Unlock()
	out := maps.Clone(body)
	for _, p := range optional {
		if v, sent := out[p.name]; sent && c.left[p.name] {
			delete(out, p.name)
			if p.instead != "" {
				out[p.instead] = v
			}
		}
	}
	return out
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

// count adds the tokens that the endpoint reports, or an estimate from the number of
// bytes, and returns what they cost.
func (c *Client) count(v jsonv.Value, sent, received int) float64 {
	input, output := usage(v)
	if input+output == 0 {
		input, output = sent/4, received/4
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	c.tokens += input + output
	return c.o.Cost(input, output)
}

// mostTokens is more than any request or answer has.
const mostTokens = 100_000_000

// whyUncounted says why the tokens that an endpoint reports are not those of an answer; "" if they
// can be.
func whyUncounted(v jsonv.Value) string {
	counts := v.Lookup("usage")
	if counts.Kind() != jsonv.KindObject {
		return "the endpoint did not count the tokens (usage is missing)"
	}
	for key, n := range counts.Members() {
		if !slices.Contains(append(requestTokens[:len(requestTokens):len(requestTokens)], answerTokenKeys...), key) || n.Kind() == jsonv.KindNull {
			continue
		}
		if whole, ok := n.Int64(); !ok || whole < 0 || whole > mostTokens {
			return "the endpoint counted tokens that can't be (usage." + key + ": " + n.Short(40) + ")"
		}
	}
	if input, output := usage(v); input == 0 || output == 0 {
		return fmt.Sprintf("the endpoint counted no tokens (%d of the request, %d of the answer)", input, output)
	}
	return ""
}

// The keys of the numbers of tokens in usage.
var (
	requestTokens   = []string{"prompt_tokens", "input_tokens", "cache_creation_input_tokens", "cache_read_input_tokens"}
	answerTokenKeys = []string{"completion_tokens", "output_tokens"}
)

// usage returns the tokens that an endpoint reports. Those that it wrote to or read from
// a cache are tokens of the request.
func usage(v jsonv.Value) (input, output int) {
	sum := func(keys ...string) (all int) {
		for _, key := range keys {
			n, _ := v.Lookup("usage", key).Int64()
			all += int(min(max(n, 0), 1<<30))
		}
		return all
	}
	return sum(requestTokens...), sum(answerTokenKeys...)
}

// once sends a request. size is that of the response; wait is negative if a retry is
// useless.
func (c *Client) once(ctx context.Context, address string, data []byte) (v jsonv.Value, size int, wait time.Duration, err error) {
	ctx, cancel := context.WithTimeout(ctx, c.o.Timeout)
	defer cancel()
	req, err := http.NewRequestWithContext(ctx, http.MethodPost, address, bytes.NewReader(data))
	if err != nil {
		return v, 0, -1, errors.New("the model's address is not an address")
	}
	c.head(req.Header)
	resp, err := c.o.HTTP.Do(req)
	if err != nil {
		if final, ok := errors.AsType[*FinalError](err); ok {
			return v, 0, -1, final.Err
		}
		return v, 0, 0, c.explainUnreached(req.URL.Host, err)
	}
	defer resp.Body.Close()
	body, err := io.ReadAll(io.LimitReader(resp.Body, maxAnswerBytes+1))
	if resp.StatusCode != http.StatusOK {
		return v, 0, retryAfter(resp), &StatusError{resp.StatusCode, c.shown(errorText(body))}
	}
	switch {
	case len(body) > maxAnswerBytes:
		return v, 0, -1, fmt.Errorf("%w: it is over %d MiB", ErrUnusable, maxAnswerBytes>>20)
	case err != nil:
		return v, 0, 0, fmt.Errorf("read the model's response: %w", err)
	}
	body = c.maskKey(body)
	if v, err = jsonv.Parse(body); err != nil {
		kind, _, _ := strings.Cut(resp.Header.Get("Content-Type"), ";")
		if kind = c.shown(kind); strings.Contains(kind, "html") || strings.Contains(kind, "event-stream") {
			return v, 0, -1, fmt.Errorf("the model's endpoint responded with %s, expected JSON: %s", kind, c.shown(string(body)))
		}
		return v, 0, 0, fmt.Errorf("%w: it is not JSON: %w", ErrUnusable, err)
	}
	return v, len(body), 0, nil
}

// head sets the headers that an endpoint requires.
func (c *Client) head(h http.Header) {
	h.Set("Content-Type", "application/json")
	h.Set("Accept", "application/json")
	switch {
	case c.o.API == Anthropic:
		h.Set("anthropic-version", "2023-06-01")
		if c.o.Key != "" {
			h.Set("x-api-key", c.o.Key)
		}
	case c.o.Key != "":
		h.Set("Authorization", "Bearer "+c.o.Key)
	}
}

// retryAfter returns how long to wait before a retry: negative if it is useless, 0 if
// the endpoint does not specify it.
func retryAfter(resp *http.Response) time.Duration {
	s := resp.StatusCode
	switch {
	case s == http.StatusTooManyRequests, s == http.StatusRequestTimeout, s >= 500:
	default:
		return -1
	}
	after := strings.TrimSpace(resp.Header.Get("Retry-After"))
	if n, err := strconv.ParseFloat(after, 64); err == nil && n > 0 {
		return time.Duration(min(n, maxWait.Seconds()) * float64(time.Second))
	}
	if t, err := http.ParseTime(after); err == nil {
		return max(time.Until(t), 0)
	}
	return 0
}

// errorText returns the message of an endpoint's error, or the whole body if it does
// not have the usual form.
func errorText(body []byte) string {
	v, err := jsonv.Parse(body)
	if err != nil {
		return string(body)
	}
	text := errorIn(v)
	if text == "" {
		return string(body)
	}
	if p := v.Lookup("error", "param").Text(); p != "" && !strings.Contains(text, p) {
		text += " (" + p + ")"
	}
	return text
}

// explainUnreached describes why there was no response, without the address, whose user and
// query may be secrets.
func (c *Client) explainUnreached(host string, err error) error {
	if u, ok := errors.AsType[*url.Error](err); ok {
		err = u.Err
	}
	return fmt.Errorf("ask the model at %s: %w", host, err)
}

// maskKey returns a response with the key masked.
func (c *Client) maskKey(body []byte) []byte {
	if len(c.o.Key) < leastMasked {
		return body
	}
	return bytes.ReplaceAll(body, []byte(c.o.Key), []byte("[key]"))
}

// shown returns the beginning of a response, with the key masked.
func (c *Client) shown(s string) string {
	if c.o.Key != "" {
		s = strings.ReplaceAll(s, c.o.Key, "[key]")
	}
	return clip(s)
}
