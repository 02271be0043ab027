package auth

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"strings"
	"time"

	"github.com/modelcontextprotocol/go-sdk/oauthex"
	"golang.org/x/oauth2"
	"golang.org/x/oauth2/clientcredentials"

	"mcptest/internal/base/shellwords"
)

// LoginError reports that the user must log in.
type LoginError struct {
	Server  string
	Why     string // "no token is stored"
	Command string // "mcptest login https://…"
}

// Error includes the command that logs in.
func (e *LoginError) Error() string {
	return fmt.Sprintf("a login to %s is required: %s; run: %s", e.Server, e.Why, e.Command)
}

// stored uses the tokens of an earlier login and refreshes them. It never interacts
// with the user.
type stored struct {
	c      Config
	client *http.Client
	login  *Login // as read last
}

func newStored(c Config, client *http.Client) (*stored, error) {
	if err := checkClient(c); err != nil {
		return nil, err
	}
	if c.Store == nil {
		return nil, errors.New("no token file is configured")
	}
	c.LoginCommand = cmp.Or(c.LoginCommand, "mcptest login "+c.Resource)
	return &stored{c: c, client: client}, nil
}

func (g *stored) query() Query {
	return Query{Server: g.c.Resource, Issuer: g.c.Issuer, Client: makeClientKey(g.c)}
}

// makeClientKey returns the configured client.
func makeClientKey(c Config) string {
	if c.ClientID != "" {
		return c.ClientID
	}
	return c.ClientMetadataURL
}

func (g *stored) loginError(format string, args ...any) error {
	return &LoginError{
		Server:  MakeServerKey(g.c.Resource),
		Why:     fmt.Sprintf(format, args...),
		Command: g.c.LoginCommand,
	}
}

// expirySlack is how long before its expiry a token counts as expired.
const expirySlack = 10 * time.Second

func (l *Login) isExpired() bool { return !l.Expiry.IsZero() && time.Until(l.Expiry) < expirySlack }

func (l *Login) token() *oauth2.Token {
	return &oauth2.Token{AccessToken: l.AccessToken, TokenType: l.TokenType, RefreshToken: l.RefreshToken, Expiry: l.Expiry}
}

func (g *stored) token(ctx context.Context) (*oauth2.Token, error) {
	if g.login == nil {
		var err error
		if g.login, err = g.c.Store.Find(g.query()); err != nil {
			return nil, err
		}
		if g.login == nil {
			return nil, g.loginError("no token is stored")
		}
	}
	if g.login.isExpired() {
		if err := g.refresh(ctx, g.login.AccessToken); err != nil {
			return nil, err
		}
	}
	return g.login.token(), nil
}

// renew replaces a token that the server rejected. Additional scopes require a login.
func (g *stored) renew(ctx context.Context, resp *http.Response) error {
	if resp.StatusCode == http.StatusForbidden {
		want := ""
		if challenges, err := oauthex.ParseWWWAuthenticate(resp.Header.Values("WWW-Authenticate")); err == nil {
			for _, c := range challenges {
				want = strings.TrimSpace(want + " " + c.Params["scope"])
			}
		}
		if want == "" {
			return g.loginError("the server requires more scopes than were granted, but does not name them")
		}
		err := &LoginError{Server: MakeServerKey(g.c.Resource), Why: fmt.Sprintf("the server requires the scope %q, which the token does not have", want), Command: g.c.LoginCommand}
		err.Command += " --scope " + shellwords.QuoteForShell(strings.Join(mergeScopes(g.grantedScopes(), strings.Fields(want)), " "))
		return err
	}
	_, used, _ := strings.Cut(resp.Request.Header.Get("Authorization"), " ")
	return g.refresh(ctx, used)
}

func (g *stored) grantedScopes() []string {
	if g.login == nil {
		return nil
	}
	return g.login.Scopes
}

func mergeScopes(a, b []string) []string {
	var out []string
	seen := map[string]bool{}
	for _, s := range append(append([]string{}, a...), b...) {
		if !seen[s] {
			seen[s] = true
			out = append(out, s)
		}
	}
	return out
}

// refresh replaces a token that is no longer valid, with the file locked: if two
// processes need it, one refreshes the token, and the other uses the result. A
// refresh that has started is always completed, because the authorization server may
// accept each refresh token only once.
func (g *stored) refresh(ctx context.Context, used string) error {
	ctx = context.WithoutCancel(ctx)
	return g.c.Store.update(ctx, func(all []Login) ([]Login, error) {
		l := find(all, g.query())
		switch {
		case l == nil:
			return nil, g.loginError("its token is gone from %s", g.c.Store.Path())
		case l.AccessToken != used && !l.isExpired():
			g.login = l // another process has refreshed it
			return all, nil
		case l.RefreshToken == "":
			return nil, g.loginError("the token has expired or was rejected, and it can't be refreshed")
		}
		next := *l
		if err := g.exchange(ctx, &next); err != nil {
			return nil, err
		}
		g.login = &next
		return replace(all, next), nil
	})
}

// exchange refreshes a stored login.
func (g *stored) exchange(ctx context.Context, l *Login) error {
	err := refresh(ctx, g.c, g.client, l)
	refused, ok := errors.AsType[*oauth2.RetrieveError](err)
	switch {
	case ok && refused.ErrorCode == "invalid_grant":
		return g.loginError("the login has expired (%s)", explainError(refused))
	case ok:
		return fmt.Errorf("refresh the token: %s", explainError(refused))
	case err != nil:
		return fmt.Errorf("refresh the token: %w", err)
	}
	return nil
}

// refresh exchanges the refresh token (RFC 6749, section 6). Package oauth2 omits
// the resource, which MCP requires in every token request, so the request is built
// here.
func refresh(ctx context.Context, c Config, client *http.Client, l *Login) error {
	c.Secret(l.listSecrets()...)
	secret := cmp.Or(l.ClientSecret, c.ClientSecret)
	style := oauth2.AuthStyleInParams
	if l.InHeader && secret != "" {
		style = oauth2.AuthStyleInHeader
	}
	config := &clientcredentials.Config{
		ClientID: l.ClientID, ClientSecret: secret, TokenURL: l.TokenEndpoint, AuthStyle: style,
		EndpointParams: url.Values{"grant_type": {"refresh_token"}, "refresh_token": {l.RefreshToken}, "resource": {l.Resource}},
	}
	t, err := config.Token(context.WithValue(ctx, oauth2.HTTPClient, client))
	if err != nil {
		return err
	}
	l.take(t)
	c.Secret(l.listSecrets()...)
	return nil
}

func (l *Login) listSecrets() []string {
	var secrets []string
	for _, s := range []string{l.AccessToken, l.RefreshToken, l.ClientSecret} {
		if s != "" {
			secrets = append(secrets, s)
		}
	}
	return secrets
}

// by completes a login with the client that logged in, and its token.
func (l *Login) by(c Config, who identity, tokenEndpoint string, t *oauth2.Token) {
	l.ClientID, l.TokenEndpoint, l.InHeader = who.id, tokenEndpoint, who.style == oauth2.AuthStyleInHeader
	if c.ClientSecret == "" { // a secret of the user is not stored
		l.ClientSecret = who.secret
	}
	l.take(t)
	c.Secret(l.listSecrets()...)
}

// take stores a new token. Without a new refresh token, the old one remains.
func (l *Login) take(t *oauth2.Token) {
	l.AccessToken = t.AccessToken
	l.TokenType = t.TokenType
	l.Expiry = t.Expiry.UTC().Truncate(time.Second)
	l.Obtained = time.Now().UTC().Truncate(time.Second)
	if t.Expiry.IsZero() {
		l.Expiry = time.Time{}
	}
	if t.RefreshToken != "" {
		l.RefreshToken = t.RefreshToken
	}
	if scope, ok := t.Extra("scope").(string); ok && scope != "" {
		l.Scopes = strings.Fields(scope)
	}
}

// explainError returns the error of an authorization server without its body, which may
// repeat parts of the request.
func explainError(e *oauth2.RetrieveError) string {
	s := e.ErrorCode
	if s == "" && e.Response != nil {
		return fmt.Sprintf("the authorization server responded with HTTP %d", e.Response.StatusCode)
	}
	if e.ErrorDescription != "" {
		s += ": " + e.ErrorDescription
	}
	return s
}
