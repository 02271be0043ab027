package auth

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"strings"
	"time"

	"github.com/modelcontextprotocol/go-sdk/auth"
	"golang.org/x/oauth2"
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
	refusal, err := knock(ctx, client, c.Resource)
	if err != nil {
		return Login{}, err
	}
	guard, err := protectionOf(ctx, client, c.Resource, refusal.Response)
	if err != nil {
		return Login{}, err
	}
	if guard.guessed && !refusal.asked {
		return Login{}, refusal.noNeed()
	}
	if c.Grant == AuthorizationCode {
		guard.issuers = guard.issuers[:1] // the SDK uses the first
	}
	issuer, err := guard.issuer(c.Issuer)
	if err != nil {
		return Login{}, err
	}
	l := Login{Server: ServerKey(c.Resource), Issuer: issuer, Client: clientKey(c), Resource: guard.resource}
	switch c.Grant {
	case AuthorizationCode:
		err = byRedirect(ctx, c, client, refusal, p, &l)
	case DeviceCode:
		err = byDevice(ctx, c, client, guard, p, &l)
	default:
		err = fmt.Errorf("the grant %s requires no login", c.Grant)
	}
	if err != nil {
		err = plainly(err)
		if refusal.asked {
			return Login{}, err
		}
		return Login{}, fmt.Errorf("%w (the server did not ask for a login: it responded with HTTP %d)", err, refusal.status)
	}
	c.Secret(l.secrets()...)
	return l, c.Store.Put(ctx, l)
}

// refusal is the server's response to a request without credentials. A response
// without a challenge is treated like a 401, so that a login can be attempted.
type refusal struct {
	*http.Response
	asked  bool // it was a challenge
	status int
}

// noNeed returns the error for a server that neither requires a login nor has
// metadata.
func (r *refusal) noNeed() error {
	if r.status >= 200 && r.status < 300 {
		return fmt.Errorf("the server needs no login: it responded to a request without credentials with HTTP %d; there is nothing to do", r.status)
	}
	return fmt.Errorf("the server does not request a login: it responded to a request without credentials with HTTP %dinstead of 401; is the address right?", r.status)
}

// plainly rewrites a library's error about an invalid response of the authorization
// server.
func plainly(err error) error {
	s := err.Error()
	for _, step := range []struct{ said, means string }{
		{"failed to register client: ", "the authorization server did not register the client (pass the id of a registered one with --client-id)"},
		{"failed to get authorization server metadata: ", "the authorization server's metadata can't be used (RFC 8414)"},
	} {
		rest, ok := strings.CutPrefix(s, step.said)
		if !ok {
			continue
		}
		for _, inner := range []string{"failed to decode registration error response: ", "failed to decode successful registration response: "} {
			if strings.HasPrefix(rest, inner) {
				rest = "its response does not follow RFC 7591"
			}
		}
		return fmt.Errorf("%s: %s", step.means, strings.TrimPrefix(rest, "registration failed with status "))
	}
	return err
}

// knock sends the first request of a session without credentials, to discover the
// authorization server.
func knock(ctx context.Context, client *http.Client, server string) (*refusal, error) {
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
		return nil, fmt.Errorf("ask %s: %w", ServerKey(server), bare(err))
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

// byRedirect logs in with the grant authorization_code: a browser opens the
// authorization server, which redirects to a local address.
func byRedirect(ctx context.Context, c Config, client *http.Client, r *refusal, p Person, l *Login) error {
	back, err := listenBack(ctx, c.RedirectPort)
	if err != nil {
		return err
	}
	defer back.close()
	config := handlerConfig(c, client, back.address)
	config.ScopeFilter = func(found []string) []string {
		if len(c.Scopes) > 0 {
			return c.Scopes
		}
		return found
	}
	config.AuthorizationCodeFetcher = func(ctx context.Context, args *auth.AuthorizationArgs) (*auth.AuthorizationResult, error) {
		return back.wait(ctx, args.URL, p.Open)
	}
	config.NewTokenSource = func(_ context.Context, used *oauth2.Config, t *oauth2.Token) (oauth2.TokenSource, error) {
		l.ClientID, l.TokenEndpoint, l.Scopes = used.ClientID, used.Endpoint.TokenURL, used.Scopes
		l.InHeader = used.Endpoint.AuthStyle == oauth2.AuthStyleInHeader
		if c.ClientSecret == "" {
			l.ClientSecret = used.ClientSecret
		}
		l.take(t)
		return oauth2.StaticTokenSource(t), nil
	}
	handler, err := auth.NewAuthorizationCodeHandler(config)
	if err != nil {
		return err
	}
	err = handler.Authorize(ctx, r.Request, r.Response)
	if said, ok := errors.AsType[*oauth2.RetrieveError](err); ok {
		return fmt.Errorf("the authorization server returned no token: %s", plainError(said))
	}
	return err
}
