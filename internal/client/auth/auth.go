package auth

import (
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"net"
	"net/http"
	"slices"
	"strings"
	"sync/atomic"
	"time"

	"github.com/modelcontextprotocol/go-sdk/oauthex"
	"golang.org/x/oauth2"

	"mcptest/internal/base/web"
)

// The grants.
const (
	ClientCredentials = "client_credentials"
	AuthorizationCode = "authorization_code"
	DeviceCode        = "device_code"
)

// Config defines how to get a token.
type Config struct {
	Grant             string // one of the grants above
	Resource          string // address of the server under test
	ClientID          string
	ClientSecret      string
	TokenEndpoint     string // ClientCredentials
	Issuer            string // the authorization server; it must be the discovered one
	ClientMetadataURL string // AuthorizationCode: identifies the client to servers that support such documents
	Scopes            []string
	RedirectPort      int // AuthorizationCode; 0: defaultPort when Headless, else any free one
	Headless          bool
	Store             *Store // stores user logins; not used with Headless and ClientCredentials
	LoginCommand      string // the command that logs in
	TLS               *tls.Config
	Transport         http.RoundTripper      // to authorization servers; nil: over the network
	Secret            func(values ...string) // is called with every token; may be nil
}

// Authorizer adds a token to requests and gets another one if a server requires it.
// It is safe for concurrent use: one caller logs in, and the others wait for the result.
type Authorizer struct {
	grant  grant
	secret func(...string)
	latest atomic.Pointer[oauth2.Token] // the last used token; nil for none

	turn   chan struct{}    // holds one value while a caller gets a token
	failed map[string]error // why logins failed, by what the server had asked for
}

// grant is one way to get a token.
type grant interface {
	// token returns the current token, refreshed if necessary; nil if there is none
	// yet.
	token(ctx context.Context) (*oauth2.Token, error)
	// renew gets a token for a request that was rejected.
	renew(ctx context.Context, resp *http.Response) error
}

// requestTime limits each request to an authorization server.
const requestTime = 30 * time.Second

// New validates the configuration. Nothing is sent before the first request.
func New(c Config) (*Authorizer, error) {
	client := newClient(c)
	if c.Secret == nil {
		c.Secret = func(...string) {}
	}
	a := &Authorizer{secret: c.Secret, turn: make(chan struct{}, 1), failed: map[string]error{}}
	var err error
	switch {
	case c.Grant == ClientCredentials:
		a.grant, err = newCredentials(c, client)
	case c.Grant == AuthorizationCode && c.Headless:
		a.grant, err = newCode(c, client)
	case c.Grant == AuthorizationCode || c.Grant == DeviceCode:
		a.grant, err = newStored(c, client)
	default:
		err = fmt.Errorf("unknown grant %q", c.Grant)
	}
	if err != nil {
		return nil, fmt.Errorf("auth.oauth: %w", err)
	}
	return a, nil
}

// newClient returns the HTTP client for authorization servers.
func newClient(c Config) *http.Client {
	if c.Transport == nil {
		c.Transport = web.Once(c.TLS)
	}
	return &http.Client{Timeout: requestTime, CheckRedirect: web.CheckSameOrigin, Transport: c.Transport}
}

// begin waits until no other caller gets a token. The function it returns ends that of
// this caller.
func (a *Authorizer) begin(ctx context.Context) (end func(), err error) {
	select {
	case a.turn <- struct{}{}:
		return func() { <-a.turn }, nil
	case <-ctx.Done():
		return nil, fmt.Errorf("wait for the login of another session: %w", context.Cause(ctx))
	}
}

// Authorize adds the token, if there is one, to a request.
func (a *Authorizer) Authorize(ctx context.Context, req *http.Request) error {
	end, err := a.begin(ctx)
	if err != nil {
		return err
	}
	defer end()
	t, err := a.grant.token(ctx)
	if err != nil {
		return explain("get a token", err)
	}
	a.keep(t)
	a.Reuse(req)
	return nil
}

// Reuse adds the token that was used last, if there is one, to a request. It gets no
// other token.
func (a *Authorizer) Reuse(req *http.Request) {
	if t := a.latest.Load(); t != nil {
		req.Header.Set("Authorization", t.Type()+" "+t.AccessToken)
	}
}

// explain adds the current operation to an error, unless the error is clear without
// it.
func explain(doing string, err error) error {
	if login, ok := errors.AsType[*LoginError](err); ok {
		return login
	}
	return fmt.Errorf("%s: %w", doing, err)
}

// keep declares a token as a secret before it is used. It may be nil.
func (a *Authorizer) keep(t *oauth2.Token) {
	last := a.latest.Load()
	if t != nil && (last == nil || last.AccessToken != t.AccessToken) {
		a.secret(t.AccessToken)
		if t.RefreshToken != "" {
			a.secret(t.RefreshToken)
		}
	}
	a.latest.Store(t)
}

// Challenged gets a token after a response with status 401, or 403 because of missing
// scopes. It reports whether to send the request again.
func (a *Authorizer) Challenged(ctx context.Context, resp *http.Response) (again bool, err error) {
	if resp.StatusCode == http.StatusForbidden && !isInsufficientScope(resp) {
		return false, nil
	}
	if _, own := a.grant.(*credentials); own && resp.StatusCode == http.StatusForbidden {
		return false, nil // its scopes are configured: a further token would have the same
	}
	end, err := a.begin(ctx)
	if err != nil {
		return false, err
	}
	defer end()
	_, used, _ := strings.Cut(resp.Request.Header.Get("Authorization"), " ")
	if last := a.latest.Load(); last != nil && used != last.AccessToken {
		return true, nil // another request has got a token
	}
	asked := readChallenge(resp)
	if err := a.failed[asked]; err != nil {
		return false, err // it would fail again
	}
	err = a.renew(ctx, resp)
	if err != nil && ctx.Err() == nil && !errors.As(err, new(net.Error)) {
		a.failed[asked] = err
	}
	return err == nil, err
}

// readChallenge returns what a server asked for when it refused a request.
func readChallenge(resp *http.Response) string {
	return fmt.Sprintf("%d %q", resp.StatusCode, resp.Header.Values("WWW-Authenticate"))
}

// renew gets a token for a request that was refused.
func (a *Authorizer) renew(ctx context.Context, resp *http.Response) error {
	if err := a.grant.renew(ctx, resp); err != nil {
		return explain("log in", err)
	}
	t, err := a.grant.token(ctx)
	if err != nil {
		return explain("get a token", err)
	}
	a.keep(t)
	return nil
}

// isInsufficientScope reports whether a 403 requires more scopes (RFC 6750, section
// 3.1).
func isInsufficientScope(resp *http.Response) bool {
	challenges, err := oauthex.ParseWWWAuthenticate(resp.Header.Values("WWW-Authenticate"))
	if err != nil {
		return false
	}
	return slices.ContainsFunc(challenges, func(c oauthex.Challenge) bool { return c.Params["error"] == "insufficient_scope" })
}
