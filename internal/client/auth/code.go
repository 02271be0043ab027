package auth

import (
	"cmp"
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/http/cookiejar"
	"net/url"
	"slices"
	"strings"
	"time"

	"golang.org/x/oauth2"

	"mcptest/internal/base/web"
)

// code implements the grant authorization_code with PKCE (MCP 2025-11-25,
// authorization), without a browser. Its logins stay in memory.
type code struct {
	c       Config
	client  *http.Client
	login   *Login   // nil before the first one
	granted []string // scopes of all logins so far
	fresh   bool     // the token of login was got by a refresh after a refusal
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
	return &code{c: c, client: client}, nil
}

// checkClient rejects configurations that could send a secret to the wrong server.
func checkClient(c Config) error {
	if c.ClientSecret != "" && c.Issuer == "" {
		return fmt.Errorf("%s with a client secret needs issuer: the server under test must not choose where the secret is sent", c.Grant)
	}
	if c.ClientID == "" && (c.ClientSecret != "" || c.Issuer != "" && c.Headless) {
		return errors.New("an issuer and a client secret require client_id: a client that registers itself is not yet known to the issuer")
	}
	if c.ClientMetadataURL != "" {
		if u, err := url.Parse(c.ClientMetadataURL); err != nil || u.Scheme != "https" || strings.Trim(u.Path, "/") == "" {
			return errors.New("client_metadata_url must be an https address with a path: " + c.ClientMetadataURL)
		}
	}
	return nil
}

func (g *code) token(ctx context.Context) (*oauth2.Token, error) {
	if g.login != nil && g.login.isExpired() {
		isRefreshed := g.login.RefreshToken != "" && refresh(ctx, g.c, g.client, g.login) == nil
		if !isRefreshed && time.Now().After(g.login.Expiry) {
			g.login = nil // the next refusal starts another login
		}
	}
	if g.login == nil {
		return nil, nil
	}
	return g.login.token(), nil
}

// renew refreshes a token that was refused, or logs in if that is not possible. A later
// login adds the scopes that the server requires to those that were granted.
func (g *code) renew(ctx context.Context, resp *http.Response) error {
	guard, err := discoverProtection(ctx, g.client, resp.Request.URL.String(), resp)
	if err != nil {
		return err
	}
	if g.refreshes(guard, resp) && refresh(ctx, g.c, g.client, g.login) == nil {
		g.fresh = true
		return nil
	}
	if len(g.c.Scopes) > 0 && g.granted == nil {
		guard.scopes = g.c.Scopes
	}
	guard.scopes = mergeScopes(g.granted, guard.scopes)
	redirect := fmt.Sprintf("http://127.0.0.1:%d/callback", cmp.Or(g.c.RedirectPort, defaultPort))
	l, err := loginByCode(ctx, g.c, g.client, guard, redirect,
		func(ctx context.Context, start string) (url.Values, error) {
			return approveHeadless(ctx, g.client, start, redirect)
		})
	if err != nil {
		return err
	}
	g.login, g.granted, g.fresh = &l, l.Scopes, false
	return nil
}

// refreshes reports whether a refresh can replace a token that was refused: not if it
// lacks scopes, comes from another authorization server, or is itself the result of one.
func (g *code) refreshes(guard protection, resp *http.Response) bool {
	if g.login == nil || g.login.RefreshToken == "" || g.fresh || resp.StatusCode != http.StatusUnauthorized {
		return false
	}
	issuer, err := guard.chooseIssuer(g.c.Issuer)
	return err == nil && issuer == g.login.Issuer
}

// loginByCode logs in with the grant authorization_code. visit opens an address in a browser
// and returns the parameters with which it ended at the redirect address.
func loginByCode(
	ctx context.Context, c Config, client *http.Client, guard protection, redirect string,
	visit func(ctx context.Context, start string) (url.Values, error),
) (l Login, err error) {
	l = Login{Server: MakeServerKey(c.Resource), Client: makeClientKey(c), Resource: guard.resource}
	if l.Issuer, err = guard.chooseIssuer(c.Issuer); err != nil {
		return l, err
	}
	e, found, err := discoverEndpoints(ctx, client, l.Issuer)
	if !found && err == nil {
		e = makeDefaultEndpoints(l.Issuer)
		err = e.check()
	}
	switch {
	case err != nil:
		return l, err
	case e.Authorization == "" || e.Token == "":
		return l, fmt.Errorf("the authorization server %s has no login by redirects", l.Issuer)
	case !slices.Contains(e.PKCE, "S256"):
		return l, fmt.Errorf("the authorization server %s does not support PKCE with S256, which MCP requires: its metadata lists the methods %q", l.Issuer, e.PKCE)
	}
	who, err := chooseIdentity(ctx, c, client, e, registration{
		Redirects: []string{redirect}, Grants: []string{"authorization_code", "refresh_token"}, Responses: []string{"code"},
	})
	if err != nil {
		return l, err
	}
	l.Scopes = guard.scopes
	if slices.Contains(e.Scopes, "offline_access") {
		l.Scopes = mergeScopes(l.Scopes, []string{"offline_access"})
	}
	config := &oauth2.Config{
		ClientID: who.id, ClientSecret: who.secret, Scopes: l.Scopes, RedirectURL: redirect,
		Endpoint: oauth2.Endpoint{AuthURL: e.Authorization, TokenURL: e.Token, AuthStyle: who.style},
	}
	verifier, state := oauth2.GenerateVerifier(), rand.Text()
	resource := oauth2.SetAuthURLParam("resource", l.Resource)
	end, err := visit(ctx, config.AuthCodeURL(state, oauth2.S256ChallengeOption(verifier), resource))
	if err != nil {
		return l, err
	}
	answer, err := answer(end, state, e)
	if err != nil {
		return l, err
	}
	t, err := config.Exchange(context.WithValue(ctx, oauth2.HTTPClient, client), answer, oauth2.VerifierOption(verifier), resource)
	if said, ok := errors.AsType[*oauth2.RetrieveError](err); ok {
		err = errors.New(explainError(said))
	}
	if err != nil {
		return l, fmt.Errorf("the authorization server returned no token: %w", err)
	}
	l.by(c, who, e.Token, t)
	return l, nil
}

// approveHeadless follows the redirects of a login to the redirect address, without user
// interaction.
func approveHeadless(ctx context.Context, client *http.Client, start, redirect string) (url.Values, error) {
	jar, err := cookiejar.New(nil)
	if err != nil {
		return nil, fmt.Errorf("keep cookies: %w", err)
	}
	browser := &http.Client{Transport: client.Transport, Timeout: client.Timeout, Jar: jar, CheckRedirect: web.NoRedirect}
	at := start
	for range maxHops {
		req, err := http.NewRequestWithContext(ctx, http.MethodGet, at, nil)
		if err != nil {
			return nil, fmt.Errorf("open the login: %w", err)
		}
		resp, err := browser.Do(req)
		if err != nil {
			return nil, fmt.Errorf("open the login: %w", unwrapURLError(err))
		}
		_, _ = io.CopyN(io.Discard, resp.Body, maxPage)
		_ = resp.Body.Close()
		next, err := resp.Location()
		if err != nil {
			return nil, fmt.Errorf("the login at %s requires a user (HTTP %d): headless requires a server that redirects immediately", req.URL.Host, resp.StatusCode)
		}
		if back := *next; back.Scheme+"://"+back.Host+back.Path == redirect {
			return next.Query(), nil
		}
		if next.Scheme != "http" && next.Scheme != "https" {
			return nil, fmt.Errorf("the login redirects to %s:, which is not a web address", next.Scheme)
		}
		at = next.String()
	}
	return nil, fmt.Errorf("the login redirects more than %d times", maxHops)
}

// unwrapURLError returns an error of a request without its address, which contains the state of
// the login.
func unwrapURLError(err error) error {
	if ue, ok := errors.AsType[*url.Error](err); ok {
		return ue.Err
	}
	return err
}

// answer returns the code in the parameters of the redirect address (RFC 6749, section
// 4.1.2). A response of another login or of another authorization server has none (RFC
// 9207).
func answer(q url.Values, state string, e endpoints) (code string, err error) {
	iss := q.Get("iss")
	switch {
	case q.Get("state") != state:
		return "", errors.New("the authorization server redirected with the state of another login")
	case iss == "" && e.NamesIssuer:
		return "", errors.New("the authorization server redirected without iss, although its metadata announces it (RFC 9207)")
	case iss != "" && iss != e.Issuer:
		return "", fmt.Errorf("the login ended at another authorization server: iss is %q, expected %q (RFC 9207)", iss, e.Issuer)
	case q.Get("error") != "":
		return "", fmt.Errorf("the authorization server refused the login: %s", strings.TrimSpace(q.Get("error")+" "+q.Get("error_description")))
	case q.Get("code") == "":
		return "", errors.New("the authorization server redirected without a code")
	}
	return q.Get("code"), nil
}
