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

// Person is asked to log in.
type Person struct {
	// Open is handed the address of a login by redirects, for a browser.
	Open func(address string)
	// Enter is handed the short code of the device grant and where to enter
	// it; complete is that address with the code in it, or empty.
	Enter func(code, address, complete string, ends time.Time)
}

// LogIn has a person log in to c.Resource with the grant AuthorizationCode or
// DeviceCode, and keeps what comes of it in c.Store. It waits as long as ctx
// lives. An error of the authorization server is reported in its own words.
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
		guard.issuers = guard.issuers[:1] // the one that the SDK takes
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
		return Login{}, fmt.Errorf("%w (the server did not ask for a login: it answered with HTTP %d)", err, refusal.status)
	}
	c.Secret(l.secrets()...)
	return l, c.Store.Put(ctx, l)
}

// refusal is how the server answered a request without credentials. It looks
// like a 401 where it was none, so that a login may be tried all the same.
type refusal struct {
	*http.Response
	asked  bool // it was one
	status int
}

// noNeed is the error of a server that neither asked for a login nor says who
// would give one.
func (r *refusal) noNeed() error {
	if r.status >= 200 && r.status < 300 {
		return fmt.Errorf("the server needs no login: it answered a request without credentials with HTTP %d; nothing is to be done", r.status)
	}
	return fmt.Errorf("the server asks for no login: it answered a request without credentials with HTTP %d, where 401 asks for one; is the address right?", r.status)
}

// plainly says in words what a client's library says of an answer that is not
// what an authorization server gives.
func plainly(err error) error {
	s := err.Error()
	for _, step := range []struct{ said, means string }{
		{"failed to register client: ", "the authorization server let no client register itself (--client-id names one that is registered)"},
		{"failed to get authorization server metadata: ", "the authorization server's metadata can't be used (RFC 8414)"},
	} {
		rest, ok := strings.CutPrefix(s, step.said)
		if !ok {
			continue
		}
		for _, inner := range []string{"failed to decode registration error response: ", "failed to decode successful registration response: "} {
			if strings.HasPrefix(rest, inner) {
				rest = "its answer is not what RFC 7591 has"
			}
		}
		return fmt.Errorf("%s: %s", step.means, strings.TrimPrefix(rest, "registration failed with status "))
	}
	return err
}

// knock sends the first request of a session without credentials, to learn
// who guards the server.
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

// byRedirect logs in with the grant authorization_code: a browser is sent to
// the authorization server and comes back to an address of this machine.
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
		return fmt.Errorf("the authorization server gave no token: %s", plainError(said))
	}
	return err
}
