package auth

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"slices"

	"golang.org/x/oauth2"
	"golang.org/x/oauth2/clientcredentials"
)

// credentials implements the grant client_credentials (RFC 6749, section 4.4). It
// gets the token before the first request.
type credentials struct {
	c      Config
	client *http.Client
	config *clientcredentials.Config // nil until the token endpoint is discovered
	source oauth2.TokenSource
}

func newCredentials(c Config, client *http.Client) (*credentials, error) {
	switch {
	case c.TokenEndpoint == "" && c.Issuer == "":
		return nil, errors.New("client_credentials needs token_endpoint or issuer: the server under test must not choose where the secret is sent")
	case c.TokenEndpoint != "" && !isSafe(c.TokenEndpoint):
		return nil, errors.New("token_endpoint is neither https nor on this machine: " + c.TokenEndpoint)
	case c.ClientID == "" || c.ClientSecret == "":
		return nil, errors.New("client_credentials needs client_id and a secret")
	}
	return &credentials{c: c, client: client}, nil
}

func (g *credentials) token(ctx context.Context) (*oauth2.Token, error) {
	if err := g.discover(ctx); err != nil {
		return nil, err
	}
	if g.source == nil {
		// Tokens outlive the first request; the client's requestTime limits each
		// token request.
		g.source = g.config.TokenSource(context.WithValue(context.WithoutCancel(ctx), oauth2.HTTPClient, g.client))
	}
	return g.source.Token()
}

// renew drops the rejected token; the next request gets another one.
func (g *credentials) renew(context.Context, *http.Response) error {
	g.source = nil
	return nil
}

// discover determines the token endpoint and the authentication method.
func (g *credentials) discover(ctx context.Context) error {
	if g.config != nil {
		return nil
	}
	config := &clientcredentials.Config{
		ClientID: g.c.ClientID, ClientSecret: g.c.ClientSecret, TokenURL: g.c.TokenEndpoint, Scopes: g.c.Scopes,
		EndpointParams: url.Values{"resource": {g.c.Resource}},
	}
	if g.c.TokenEndpoint == "" {
		e, _, err := discoverEndpoints(ctx, g.client, g.c.Issuer)
		switch {
		case err != nil:
			return err
		case e.Token == "":
			return fmt.Errorf("the issuer %s does not report where it issues tokens: set token_endpoint", g.c.Issuer)
		}
		config.TokenURL = e.Token
		config.AuthStyle = chooseAuthStyle(e.Methods)
	}
	g.config = config
	return nil
}

// chooseAuthStyle returns how to send the secret: in a header, unless the server only
// accepts the body (RFC 8414, token_endpoint_auth_methods_supported).
func chooseAuthStyle(methods []string) oauth2.AuthStyle {
	switch {
	case len(methods) == 0 || slices.Contains(methods, "client_secret_basic"):
		return oauth2.AuthStyleInHeader
	case slices.Contains(methods, "client_secret_post"):
		return oauth2.AuthStyleInParams
	}
	return oauth2.AuthStyleAutoDetect
}
