package auth

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/http/cookiejar"
	"net/url"
	"slices"

	"github.com/modelcontextprotocol/go-sdk/auth"
	"github.com/modelcontextprotocol/go-sdk/oauthex"
	"golang.org/x/oauth2"
)

// code implements the grant authorization_code with PKCE (MCP 2025-11-25,
// authorization), without a browser.
type code struct {
	handler *auth.AuthorizationCodeHandler
	client  *http.Client
	steps   int // logins so far
}

const (
	defaultPort = 33418
	maxHops     = 10      // redirects of a login
	maxPage     = 1 << 20 // bytes read of an intermediate page
)

func newCode(c Config, client *http.Client) (*code, error) {
	if err := checkClient(c); err != nil {
		return nil, err
	}
	port := cmp.Or(c.RedirectPort, defaultPort)
	redirect := fmt.Sprintf("http://127.0.0.1:%d/callback", port)
	g := &code{client: client}
	config := handlerConfig(c, client, redirect)
	config.ScopeFilter = func(found []string) []string { return g.scopes(c.Scopes, found) }
	config.AuthorizationCodeFetcher = func(ctx context.Context, args *auth.AuthorizationArgs) (*auth.AuthorizationResult, error) {
		return headless(ctx, client, args.URL, redirect)
	}
	var err error
	g.handler, err = auth.NewAuthorizationCodeHandler(config)
	return g, err
}

// checkClient rejects configurations that could send a secret to the wrong server.
func checkClient(c Config) error {
	if c.ClientSecret != "" && c.Issuer == "" {
		return fmt.Errorf("%s with a client secret needs issuer: the server under test must not choose where the secret is sent", c.Grant)
	}
	if c.ClientID == "" && (c.ClientSecret != "" || c.Issuer != "" && c.Headless) {
		return errors.New("an issuer and a client secret require client_id: a client that registers itself is not yet known to the issuer")
	}
	return nil
}

// handlerConfig returns the SDK's configuration of a login by redirects, in the parts
// that interactive and headless logins share.
func handlerConfig(c Config, client *http.Client, redirect string) *auth.AuthorizationCodeHandlerConfig {
	config := &auth.AuthorizationCodeHandlerConfig{RedirectURL: redirect, Client: client, RequestRefreshToken: true}
	if c.ClientMetadataURL != "" {
		config.ClientIDMetadataDocumentConfig = &auth.ClientIDMetadataDocumentConfig{URL: c.ClientMetadataURL}
	}
	if c.ClientID == "" {
		config.DynamicClientRegistrationConfig = &auth.DynamicClientRegistrationConfig{Metadata: &oauthex.ClientRegistrationMetadata{
			ClientName: "mcptest", RedirectURIs: []string{redirect},
			GrantTypes: []string{"authorization_code", "refresh_token"}, ResponseTypes: []string{"code"},
		}}
		return config
	}
	config.PreregisteredClient = &oauthex.ClientCredentials{ClientID: c.ClientID, Issuer: c.Issuer}
	if c.ClientSecret != "" {
		config.PreregisteredClient.ClientSecretAuth = &oauthex.ClientSecretAuth{ClientSecret: c.ClientSecret}
	}
	return config
}

// scopes returns the scopes to request: those of the user, or the discovered ones.
// Later logins add the scopes that the server requires.
func (g *code) scopes(written, found []string) []string {
	if len(written) == 0 {
		return found
	}
	if g.steps == 0 {
		return slices.Clone(written)
	}
	return union(written, found)
}

func (g *code) token(ctx context.Context) (*oauth2.Token, error) {
	source, err := g.handler.TokenSource(ctx)
	if err != nil || source == nil {
		return nil, err
	}
	return source.Token()
}

func (g *code) renew(ctx context.Context, resp *http.Response) error {
	// The token source must outlive this request.
	err := g.handler.Authorize(ctx, resp.Request, resp)
	if err == nil {
		g.steps++
		return nil
	}
	// The SDK ignores metadata of another resource and fails later.
	var foreign *foreignMetadataError
	if _, why := protectionOf(ctx, g.client, resp.Request.URL.String(), resp); errors.As(why, &foreign) {
		return foreign
	}
	return err
}

// headless follows the redirects of a login to the redirect address, without user
// interaction.
func headless(ctx context.Context, client *http.Client, start, redirect string) (*auth.AuthorizationResult, error) {
	jar, err := cookiejar.New(nil)
	if err != nil {
		return nil, fmt.Errorf("keep cookies: %w", err)
	}
	browser := &http.Client{
		Transport: client.Transport, Timeout: client.Timeout, Jar: jar,
		CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse },
	}
	at := start
	for range maxHops {
		req, err := http.NewRequestWithContext(ctx, http.MethodGet, at, nil)
		if err != nil {
			return nil, fmt.Errorf("open the login: %w", err)
		}
		resp, err := browser.Do(req)
		if err != nil {
			return nil, fmt.Errorf("open the login: %w", bare(err))
		}
		_, _ = io.CopyN(io.Discard, resp.Body, maxPage)
		_ = resp.Body.Close()
		next, err := resp.Location()
		if err != nil {
			return nil, fmt.Errorf("the login at %s requires a user (HTTP %d): headless requires a server that redirects immediately", req.URL.Host, resp.StatusCode)
		}
		if back := *next; back.Scheme+"://"+back.Host+back.Path == redirect {
			return answer(next.Query())
		}
		if next.Scheme != "http" && next.Scheme != "https" {
			return nil, fmt.Errorf("the login redirects to %s:, which is not a web address", next.Scheme)
		}
		at = next.String()
	}
	return nil, fmt.Errorf("the login redirects more than %d times", maxHops)
}

// bare returns an error of a request without its address, which contains the state of
// the login.
func bare(err error) error {
	if ue, ok := errors.AsType[*url.Error](err); ok {
		return ue.Err
	}
	return err
}

// answer parses the parameters of the redirect address (RFC 6749, section 4.1.2; RFC
// 9207 for iss).
func answer(q url.Values) (*auth.AuthorizationResult, error) {
	if e := q.Get("error"); e != "" {
		return nil, fmt.Errorf("the authorization server refused the login: %s %s", e, q.Get("error_description"))
	}
	if q.Get("code") == "" {
		return nil, errors.New("the authorization server redirected without a code")
	}
	return &auth.AuthorizationResult{Code: q.Get("code"), State: q.Get("state"), Iss: q.Get("iss")}, nil
}
