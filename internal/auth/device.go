package auth

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"net/http"
	"slices"

	"github.com/modelcontextprotocol/go-sdk/oauthex"
	"golang.org/x/oauth2"
)

// deviceGrant is the name of the device grant on the wire (RFC 8628).
const deviceGrant = "urn:ietf:params:oauth:grant-type:device_code"

// byDevice logs in with the device grant: the user enters a short code in a browser
// on any machine, while this program polls.
func byDevice(ctx context.Context, c Config, client *http.Client, guard protection, p Person, l *Login) error {
	e, err := endpointsOf(ctx, client, l.Issuer)
	switch {
	case err != nil:
		return err
	case e.Device == "" || e.Token == "":
		return fmt.Errorf("the authorization server %s has no device grant; try without --device", l.Issuer)
	}
	if err := deviceClient(ctx, c, client, e, l); err != nil {
		return err
	}
	secret := cmp.Or(c.ClientSecret, l.ClientSecret)
	c.Secret(l.secrets()...)
	l.TokenEndpoint = e.Token
	if l.Scopes = c.Scopes; len(l.Scopes) == 0 {
		l.Scopes = guard.scopes
	}
	if slices.Contains(e.Scopes, "offline_access") {
		l.Scopes = union(l.Scopes, []string{"offline_access"})
	}
	config := &oauth2.Config{
		ClientID: l.ClientID, ClientSecret: secret, Scopes: l.Scopes,
		Endpoint: oauth2.Endpoint{TokenURL: e.Token, DeviceAuthURL: e.Device, AuthStyle: oauth2.AuthStyleInParams},
	}
	opts := []oauth2.AuthCodeOption{oauth2.SetAuthURLParam("resource", l.Resource)}
	begin := opts
	if secret != "" {
		// Package oauth2 does not authenticate the client here.
		begin = append(slices.Clone(opts), oauth2.SetAuthURLParam("client_secret", secret))
	}
	if l.InHeader = secret != "" && authStyle(e.Methods) == oauth2.AuthStyleInHeader; l.InHeader {
		config.Endpoint.AuthStyle = oauth2.AuthStyleInHeader
	}
	ctx = context.WithValue(ctx, oauth2.HTTPClient, client)
	asked, err := config.DeviceAuth(ctx, begin...)
	if err != nil {
		return deviceError("begin the login", err)
	}
	if asked.DeviceCode == "" || asked.UserCode == "" || asked.VerificationURI == "" {
		return errors.New("begin the login: the response of the authorization server has no code")
	}
	c.Secret(asked.DeviceCode)
	p.Enter(asked.UserCode, asked.VerificationURI, asked.VerificationURIComplete, asked.Expiry)
	t, err := config.DeviceAccessToken(ctx, asked, opts...)
	switch {
	case errors.Is(err, context.DeadlineExceeded) && ctx.Err() == nil:
		return errors.New("the code has expired before it was entered; log in again")
	case ctx.Err() != nil:
		return fmt.Errorf("not logged in: %w", context.Cause(ctx))
	case err != nil:
		return deviceError("wait for the login", err)
	}
	l.take(t)
	return nil
}

// deviceClient determines the client: the one in the configuration, or one that it
// registers (RFC 7591).
func deviceClient(ctx context.Context, c Config, client *http.Client, e endpoints, l *Login) error {
	if l.ClientID = clientKey(c); l.ClientID != "" {
		return nil
	}
	if e.Registration == "" {
		return fmt.Errorf("the authorization server %s does not register clients: pass the id of a registered one with --client-id", l.Issuer)
	}
	got, err := oauthex.RegisterClient(ctx, e.Registration, &oauthex.ClientRegistrationMetadata{
		ClientName: "mcptest", GrantTypes: []string{deviceGrant, "refresh_token"}, TokenEndpointAuthMethod: "none",
		// Servers that only implement RFC 7591 require one, although there is no
		// redirect.
		RedirectURIs: []string{"http://127.0.0.1/callback"},
	}, client)
	if err != nil {
		return fmt.Errorf("register the client: %w", err)
	}
	l.ClientID, l.ClientSecret = got.ClientID, got.ClientSecret
	return nil
}

// deviceError converts an error of the authorization server.
func deviceError(doing string, err error) error {
	var said *oauth2.RetrieveError
	if !errors.As(err, &said) {
		return fmt.Errorf("%s: %w", doing, err)
	}
	switch said.ErrorCode {
	case "access_denied":
		return errors.New("the login was refused (access_denied)")
	case "expired_token":
		return errors.New("the code has expired before it was entered (expired_token); log in again")
	}
	return fmt.Errorf("%s: %s", doing, plainError(said))
}
