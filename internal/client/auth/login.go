package auth

import (
	"bytes"
	"context"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"time"
)

// Person interacts with the user during a login.
type Person struct {
	// Open opens the address of a login by redirects in a browser.
	Open func(address string)
	// Enter shows the short code of the device grant and the address to enter it;
	// complete is the address that includes the code, or empty.
	Enter func(code, address, complete string, ends time.Time)
}

// LogIn lets a user log in to c.Resource with the grant AuthorizationCode or
// DeviceCode, and stores the login in c.Store. It waits until ctx ends. An error
// message of the authorization server is returned unchanged.
func LogIn(ctx context.Context, c Config, p Person) (Login, error) {
	if c.Secret == nil {
		c.Secret = func(...string) {}
	}
	if err := checkClient(c); err != nil {
		return Login{}, err
	}
	client := newClient(c)
	refusal, err := requestUnauthorized(ctx, client, c.Resource)
	if err != nil {
		return Login{}, err
	}
	guard, err := discoverProtection(ctx, client, c.Resource, refusal.Response)
	if err != nil {
		return Login{}, err
	}
	if guard.guessed && !refusal.asked {
		return Login{}, refusal.explainNoNeed()
	}
	if len(c.Scopes) > 0 {
		guard.scopes = c.Scopes
	}
	var l Login
	switch c.Grant {
	case AuthorizationCode:
		l, err = loginByRedirect(ctx, c, client, guard, p)
	case DeviceCode:
		l, err = loginByDevice(ctx, c, client, guard, p)
	default:
		err = fmt.Errorf("the grant %s requires no login", c.Grant)
	}
	if err != nil && !refusal.asked {
		err = fmt.Errorf("%w (the server did not ask for a login: it responded with HTTP %d)", err, refusal.status)
	}
	return l, err
}

// refusal is the server's response to a request without credentials. A response
// without a challenge is treated like a 401, so that a login can be attempted.
type refusal struct {
	*http.Response
	asked  bool // it was a challenge
	status int
}

// explainNoNeed returns the error for a server that neither requires a login nor has
// metadata.
func (r *refusal) explainNoNeed() error {
	if r.status >= 200 && r.status < 300 {
		return fmt.Errorf("the server needs no login: it responded to a request without credentials with HTTP %d; there is nothing to do", r.status)
	}
	return fmt.Errorf("the server does not request a login: it responded to a request without credentials with HTTP %d instead of 401; is the address right?", r.status)
}

// requestUnauthorized sends the first request of a session without credentials, to discover the
// authorization server.
func requestUnauthorized(ctx context.Context, client *http.Client, server string) (*refusal, error) {
	const hello = `{"jsonrpc":"2.0","id":1,"method":"initialize","params":{"protocolVersion":"2025-11-25","capabilities":{},` +
		`"clientInfo":{"name":"mcptest-login","version":"1"}}}`
	req, err := http.NewRequestWithContext(ctx, http.MethodPost, server, bytes.NewReader([]byte(hello)))
	if err != nil {
		return nil, fmt.Errorf("read the server's address: %w", err)
	}
	req.URL.User = nil
	req.Header.Set("Content-Type", "application/json")
	req.Header.Set("Accept", "application/json, text/event-stream")
	resp, err := client.Do(req)
	if err != nil {
		return nil, fmt.Errorf("ask %s: %w", MakeServerKey(server), unwrapURLError(err))
	}
	_, _ = io.CopyN(io.Discard, resp.Body, maxPage)
	_ = resp.Body.Close()
	out := &refusal{asked: resp.StatusCode == http.StatusUnauthorized, status: resp.StatusCode}
	out.Response = &http.Response{StatusCode: http.StatusUnauthorized, Header: http.Header{}, Body: http.NoBody, Request: req}
	if out.asked {
		out.Header = resp.Header
	}
	if id := resp.Header.Get("Mcp-Session-Id"); id != "" && !out.asked {
		if bye, err := http.NewRequestWithContext(ctx, http.MethodDelete, req.URL.String(), nil); err == nil {
			bye.Header.Set("Mcp-Session-Id", id)
			if resp, err := client.Do(bye); err == nil {
				_ = resp.Body.Close()
			}
		}
	}
	return out, nil
}

// loginByRedirect logs in with the grant authorization_code: a browser opens the
// authorization server, which redirects to a local address.
func loginByRedirect(
	ctx context.Context, c Config, client *http.Client, guard protection, p Person,
) (l Login, err error) {
	back, err := listenBack(ctx, c.RedirectPort)
	if err != nil {
		return l, err
	}
	defer func() { back.close(err) }()
	if l, err = loginByCode(ctx, c, client, guard, back.address, func(ctx context.Context, start string) (url.Values, error) {
		return back.wait(ctx, start, p.Open)
	}); err != nil {
		return l, err
	}
	return l, c.Store.Put(ctx, l)
}
