package wire

import (
	"bytes"
	"context"
	"fmt"
	"io"
	"net/http"
	"net/http/httptrace"
	"net/url"
	"strconv"
	"strings"
	"time"

	"mcptest/internal/client/protocol"
)

// httpRequest is a request that may be sent more than once.
type httpRequest struct {
	verb   string
	url    *url.URL
	header http.Header
	body   []byte // may be nil

	retries  int       // after 429 and 503
	blindly  bool      // also without Retry-After
	asks     *Outgoing // non-nil: only if this call may be sent twice
	until    time.Time // the caller's deadline; zero if the context has it
	attempts int
	tries    []HTTPAttempt
	notAgain string // why there was no further retry
}

// HTTPAttempt is an attempt that failed with 429 or 503 and was repeated.
type HTTPAttempt struct {
	Status int
	Wait   time.Duration // before the next attempt
}

// Limits of retries.
const (
	retryDefault = 2
	retryPause   = time.Second      // without Retry-After
	retryLongest = 30 * time.Second // a longer Retry-After prevents a retry
)

// sendRequest sends a request, follows redirects within the origin, handles a challenge
// once, and retries after 429 and 503 according to the policy.
func (t *HTTP) sendRequest(ctx context.Context, r *httpRequest) (*http.Response, error) {
	challenged := false
	for u, hops := r.url, 0; ; {
		resp, err := t.sendOnce(ctx, r, u)
		if err != nil {
			return nil, err
		}
		s := resp.StatusCode
		switch {
		case s == 301 || s == 302 || s == 303 || s == 307 || s == 308:
			next, err := findRedirect(r, u, resp, hops, t.lim.Redirects)
			if err != nil || next == nil {
				return resp, err
			}
			u, hops = next, hops+1
			r.attempts--
		case (s == 401 || s == 403) && t.o.Auth != nil && !t.guest && !challenged:
			over := t.beginPause()
			again, err := t.o.Auth.Challenged(ctx, resp)
			over()
			if err != nil {
				drain(resp.Body)
				return nil, err
			}
			if !again {
				return resp, nil
			}
			challenged = true
			r.attempts-- // only attempts on a busy server are counted
			drain(resp.Body)
		case s == 429 || s == 503:
			over := t.beginPause()
			again := r.retry(ctx, resp)
			over()
			if !again {
				return resp, nil
			}
		default:
			return resp, nil
		}
	}
}

// sendOnce sends the request once.
func (t *HTTP) sendOnce(ctx context.Context, r *httpRequest, u *url.URL) (*http.Response, error) {
	req := t.proto.WithContext(ctx)
	req.Method, req.URL, req.Host, req.Header = r.verb, u, u.Host, r.header
	if host := r.header.Get("Host"); host != "" {
		req.Host = host
	}
	if r.body != nil {
		req.ContentLength = int64(len(r.body))
		req.GetBody = r.open
		req.Body, _ = r.open()
	}
	if err := t.authorize(ctx, r, req); err != nil {
		return nil, err
	}
	r.attempts++
	if !t.wrote.Load() {
		req = req.WithContext(t.noticeWrite(ctx))
	}
	resp, err := t.rt.RoundTrip(req)
	t.wrote.Store(true)
	t.heard.Store(time.Now().UnixNano())
	return resp, err
}

// authorize adds credentials to a request.
func (t *HTTP) authorize(ctx context.Context, r *httpRequest, req *http.Request) error {
	if t.o.Auth == nil {
		return nil
	}
	req.Header = r.header.Clone()
	if t.guest {
		t.o.Auth.Reuse(req)
		return nil
	}
	over := t.beginPause()
	defer over()
	return t.o.Auth.Authorize(ctx, req)
}

// noticeWrite returns a context for a request that notices when it is written: until
// then, the server can't respond. Only the first request is watched, because later ones
// have a connection.
func (t *HTTP) noticeWrite(ctx context.Context) context.Context {
	return httptrace.WithClientTrace(ctx, &httptrace.ClientTrace{
		WroteRequest: func(httptrace.WroteRequestInfo) { t.wrote.Store(true) },
	})
}

// open returns the body from its beginning, as a reader type that net/http recognizes
// as being in memory: otherwise it sends header and body in two writes.
func (r *httpRequest) open() (io.ReadCloser, error) {
	return io.NopCloser(bytes.NewReader(r.body)), nil
}

// findRedirect returns the address of a redirect, or nil to use the response.
// Credentials never leave the origin, so no request does.
func findRedirect(r *httpRequest, from *url.URL, resp *http.Response, hops, limit int) (*url.URL, error) {
	where := resp.Header.Get("Location")
	if where == "" {
		return nil, nil
	}
	next, err := from.Parse(where)
	drain(resp.Body)
	switch {
	case err != nil:
		return nil, fmt.Errorf("HTTP %d redirects to %q, which is not an address", resp.StatusCode, protocol.Excerpt([]byte(where)))
	case from.Scheme == "https" && next.Scheme == "http":
		return nil, fmt.Errorf("HTTP %d redirects from https down to http (http://%s), which is not followed: everything would be sent without encryption",
			resp.StatusCode, protocol.Excerpt([]byte(next.Host)))
	case next.Scheme != from.Scheme || !strings.EqualFold(next.Host, from.Host):
		return nil, fmt.Errorf("HTTP %d redirects to another origin (%s://%s), which is not followed: use that address if it is the right one",
			resp.StatusCode, next.Scheme, protocol.Excerpt([]byte(next.Host)))
	case limit < 0:
		return nil, fmt.Errorf("HTTP %d redirects to %s, and no redirects are followed", resp.StatusCode, protocol.Excerpt([]byte(where)))
	case hops >= limit:
		return nil, fmt.Errorf("more than %d redirects", limit)
	case r.verb == http.MethodPost && resp.StatusCode < 307:
		return nil, fmt.Errorf("HTTP %d redirects a POST, which would make it a GET (307 and 308 would not)", resp.StatusCode)
	}
	next.User = nil
	return next, nil
}

// retry reports whether to retry a request after a temporary error, and waits until
// then.
func (r *httpRequest) retry(ctx context.Context, resp *http.Response) bool {
	if len(r.tries) >= r.retries {
		return false
	}
	wait, said := retryAfter(resp.Header.Get("Retry-After"), time.Now())
	if !said {
		wait = retryPause
	}
	if r.notAgain = r.explainNoRetry(ctx, wait, said); r.notAgain != "" {
		return false
	}
	r.asks = nil
	r.tries = append(r.tries, HTTPAttempt{resp.StatusCode, wait})
	drain(resp.Body)
	select {
	case <-time.After(wait):
	case <-ctx.Done():
	}
	return true // if the context has ended, the next attempt reports it
}

// explainNoRetry returns why a request is not retried, or "".
func (r *httpRequest) explainNoRetry(ctx context.Context, wait time.Duration, said bool) string {
	until := r.until
	if until.IsZero() {
		until, _ = ctx.Deadline()
	}
	switch {
	case !said && !r.blindly:
		return "it has no Retry-After"
	case wait > retryLongest:
		return fmt.Sprintf("Retry-After asks for %s, and the limit is %s", wait.Round(time.Second), retryLongest)
	case !until.IsZero() && time.Until(until) < wait:
		return fmt.Sprintf("Retry-After asks for %s, longer than the call's time limit", wait.Round(time.Second))
	case r.asks != nil && !r.asks.Idempotent(ctx, r.asks.Params):
		return "the tool has no idempotentHint; retry_http repeats any call"
	}
	return ""
}

// retryAfter parses seconds or a date (RFC 9110 section 10.2.3).
func retryAfter(v string, now time.Time) (time.Duration, bool) {
	v = strings.TrimSpace(v)
	if n, err := strconv.ParseUint(v, 10, 31); err == nil {
		return time.Duration(n) * time.Second, true
	}
	if at, err := http.ParseTime(v); err == nil {
		return max(0, at.Sub(now)), true
	}
	return 0, false
}

// drain reads the rest of a body if it is short, so that the connection can be
// reused, and closes it.
func drain(b io.ReadCloser) {
	_, _ = io.CopyN(io.Discard, b, drainBytes)
	_ = b.Close()
}
