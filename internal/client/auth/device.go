package auth

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"slices"

	"golang.org/x/oauth2"
)

// deviceGrant is the name of the device grant on the wire (RFC 8628).
const deviceGrant = "urn:ietf:params:oauth:grant-type:device_code"

// loginByDevice logs in with the device grant: the user enters a short code in a browser
// on any machine, while this program polls.
func loginByDevice(
	ctx context.Context, c Config, client *http.Client, guard protection, p Person,
) (l Login, err error) {
	l = Login{
		Server:   MakeServerKey(c.Resource),
		Client:   makeClientKey(c),
		Resource: guard.resource,
		Scopes:   guard.scopes,
	}
	if l.Issuer, err = guard.chooseIssuer(c.Issuer); err != nil {
		return l, err
	}
	e, found, err := discoverEndpoints(ctx, client, l.Issuer)
	switch {
	case err != nil:
		return l, err
	case !found:
		return l, fmt.Errorf("the issuer %s does not say where its endpoints are (RFC 8414)", l.Issuer)
	case e.Device == "" || e.Token == "":
		return l, fmt.Errorf("the authorization server %s has no device grant; try without --device", l.Issuer)
	}
	who, err := chooseIdentity(ctx, c, client, e, registration{
		Grants: []string{deviceGrant, "refresh_token"},
		// Servers that only implement RFC 7591 require one, although there is no redirect.
		Redirects: []string{"http://127.0.0.1/callback"},
	})
	if err != nil {
		return l, err
	}
	if slices.Contains(e.Scopes, "offline_access") {
		l.Scopes = mergeScopes(l.Scopes, []string{"offline_access"})
	}
	config := &oauth2.Config{
		ClientID: who.id, ClientSecret: who.secret, Scopes: l.Scopes,
		Endpoint: oauth2.Endpoint{TokenURL: e.Token, DeviceAuthURL: e.Device, AuthStyle: who.style},
	}
	opts := []oauth2.AuthCodeOption{oauth2.SetAuthURLParam("resource", l.Resource)}
	begin := opts
	if who.secret != "" {
		// Package oauth2 does not authenticate the client here.
		begin = append(slices.Clone(opts), oauth2.SetAuthURLParam("client_secret", who.secret))
	}
	ctx = context.WithValue(ctx, oauth2.HTTPClient, client)
	asked, err := config.DeviceAuth(ctx, begin...)
	if err != nil {
		return l, explainDeviceError("begin the login", err)
	}
	if asked.DeviceCode == "" || asked.UserCode == "" || asked.VerificationURI == "" {
		return l, errors.New("begin the login: the response of the authorization server has no code")
	}
	c.Secret(asked.DeviceCode)
	p.Enter(asked.UserCode, asked.VerificationURI, asked.VerificationURIComplete, asked.Expiry)
	t, err := awaitDeviceToken(ctx, config, asked, opts)
	if err != nil {
		return l, err
	}
	l.by(c, who, e.Token, t)
	return l, c.Store.Put(ctx, l)
}

// awaitDeviceToken waits until the person has entered the code.
func awaitDeviceToken(
	ctx context.Context, config *oauth2.Config, asked *oauth2.DeviceAuthResponse, opts []oauth2.AuthCodeOption,
) (*oauth2.Token, error) {
	t, err := config.DeviceAccessToken(ctx, asked, opts...)
	switch {
	case errors.Is(err, context.DeadlineExceeded) && ctx.Err() == nil:
		return nil, errors.New("the code has expired before it was entered; log in again")
	case ctx.Err() != nil:
		return nil, fmt.Errorf("not logged in: %w", context.Cause(ctx))
	case err != nil:
		return nil, explainDeviceError("wait for the login", err)
	}
	return t, nil
}

// explainDeviceError converts an error of the authorization server.
func explainDeviceError(doing string, err error) error {
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
	return fmt.Errorf("%s: %s", doing, explainError(said))
}
