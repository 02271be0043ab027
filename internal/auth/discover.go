package auth

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/url"
	"slices"
	"strings"

	"github.com/modelcontextprotocol/go-sdk/oauthex"
)

// protection is the metadata of a server under test about its authorization.
type protection struct {
	resource string   // resource to request a token for (RFC 8707)
	issuers  []string // its authorization servers; never empty
	scopes   []string // suggested scopes
	guessed  bool     // the server has no metadata
}

// protectionOf reads the protected resource metadata of a server (RFC 9728): at the
// address in its 401 response, at its path, at the root. A server without metadata is
// its own authorization server (MCP 2025-03-26).
func protectionOf(ctx context.Context, client *http.Client, server string, refusal *http.Response) (protection, error) {
	u, err := url.Parse(server)
	if err != nil {
		return protection{}, fmt.Errorf("read the server's address: %w", err)
	}
	u.User, u.Fragment = nil, ""
	resource := u.String()
	origin := (&url.URL{Scheme: u.Scheme, Host: u.Host}).String()
	challenges, err := oauthex.ParseWWWAuthenticate(refusal.Header.Values("WWW-Authenticate"))
	if err != nil {
		return protection{}, fmt.Errorf("read the server's WWW-Authenticate header: %w", err)
	}
	var out protection
	places := [][2]string{
		{origin + "/.well-known/oauth-protected-resource" + strings.TrimSuffix("/"+strings.TrimLeft(u.Path, "/"), "/"), resource},
		{origin + "/.well-known/oauth-protected-resource", origin},
	}
	for _, c := range challenges {
		if at := c.Params["resource_metadata"]; at != "" {
			places = slices.Insert(places, 0, [2]string{at, resource})
		}
		if c.Scheme == "bearer" && c.Params["scope"] != "" {
			out.scopes = strings.Fields(c.Params["scope"])
		}
	}
	var foreign *foreignMetadataError
	for _, p := range places {
		meta, err := oauthex.GetProtectedResourceMetadata(ctx, p[0], p[1], client)
		if err != nil || meta == nil {
			if foreign == nil {
				foreign = foreignMetadata(p[0], err)
			}
			continue
		}
		if len(meta.AuthorizationServers) == 0 {
			return protection{}, errors.New("the server's metadata names no authorization server")
		}
		out.resource, out.issuers = meta.Resource, meta.AuthorizationServers
		if len(out.scopes) == 0 {
			out.scopes = meta.ScopesSupported
		}
		return out, nil
	}
	if foreign != nil {
		return protection{}, foreign
	}
	out.resource, out.issuers, out.guessed = resource, []string{origin}, true
	return out, nil
}

// foreignMetadataError reports metadata of a server that names another resource, so
// that a token for it would not be valid for the server (RFC 9728, section 3.3).
type foreignMetadataError struct{ at, resources string }

func (e *foreignMetadataError) Error() string {
	return "the server's resource metadata at " + e.at + " is for another server: its resource is " + e.resources
}

// foreignMetadata returns why the SDK rejected metadata of another resource, or nil
// for other errors.
func foreignMetadata(at string, err error) *foreignMetadataError {
	if err == nil {
		return nil
	}
	_, resources, ok := strings.Cut(err.Error(), "got metadata resource ")
	if !ok {
		return nil
	}
	return &foreignMetadataError{at, resources}
}

// issuer returns the authorization server to use: the configured one, which must be
// one of the server's, or else its first.
func (p protection) issuer(named string) (string, error) {
	if named == "" {
		return p.issuers[0], nil
	}
	if i := slices.IndexFunc(p.issuers, func(s string) bool { return sameIssuer(s, named) }); i >= 0 {
		return p.issuers[i], nil
	}
	return "", fmt.Errorf("the server's authorization server is %s, not %s", strings.Join(p.issuers, " or "), named)
}

// endpoints are the endpoints in the metadata of an issuer (RFC 8414, RFC 8628, RFC
// 7591).
type endpoints struct {
	Issuer       string   `json:"issuer"`
	Token        string   `json:"token_endpoint"`
	Device       string   `json:"device_authorization_endpoint"`
	Registration string   `json:"registration_endpoint"`
	Methods      []string `json:"token_endpoint_auth_methods_supported"`
	Scopes       []string `json:"scopes_supported"`
}

// endpointsOf requests the endpoints of an issuer. The SDK does that too for a login
// by redirects, but it does not support device endpoints, and requires PKCE, which
// the device grant does not use.
func endpointsOf(ctx context.Context, client *http.Client, issuer string) (endpoints, error) {
	u, err := url.Parse(issuer)
	if err != nil {
		return endpoints{}, fmt.Errorf("read the issuer's address: %w", err)
	}
	path := strings.Trim(u.Path, "/")
	origin := u.Scheme + "://" + u.Host
	places := []string{"/.well-known/oauth-authorization-server", "/.well-known/openid-configuration"}
	if path != "" {
		places = []string{places[0] + "/" + path, places[1] + "/" + path, "/" + path + places[1]}
	}
	for _, place := range places {
		e, found, err := readEndpoints(ctx, client, origin+place)
		switch {
		case err != nil:
			return endpoints{}, fmt.Errorf("ask the issuer %s for its endpoints: %w", issuer, err)
		case !found:
			continue
		case !sameIssuer(e.Issuer, issuer):
			return endpoints{}, fmt.Errorf("%s reports that it is the issuer %s", issuer, e.Issuer)
		}
		for _, at := range []string{e.Token, e.Device, e.Registration} {
			if at != "" && !safe(at) {
				return endpoints{}, fmt.Errorf("the issuer %s has an endpoint that is neither https nor on this machine: %s", issuer, at)
			}
		}
		return e, nil
	}
	return endpoints{}, fmt.Errorf("the issuer %s does not say where its endpoints are (RFC 8414)", issuer)
}

func readEndpoints(ctx context.Context, client *http.Client, at string) (e endpoints, found bool, err error) {
	if !safe(at) {
		return e, false, errors.New("expected https, or http on this machine")
	}
	req, err := http.NewRequestWithContext(ctx, http.MethodGet, at, nil)
	if err != nil {
		return e, false, err
	}
	resp, err := client.Do(req)
	if err != nil {
		return e, false, err
	}
	defer resp.Body.Close()
	switch {
	case resp.StatusCode >= 400 && resp.StatusCode < 500:
		return e, false, nil
	case resp.StatusCode != http.StatusOK:
		return e, false, fmt.Errorf("%s responded with HTTP %d", at, resp.StatusCode)
	}
	if err := json.NewDecoder(io.LimitReader(resp.Body, maxPage)).Decode(&e); err != nil {
		return e, false, fmt.Errorf("%s: %w", at, err)
	}
	return e, true, nil
}

// safe reports whether requests to an address are encrypted or local.
func safe(address string) bool {
	u, err := url.Parse(address)
	if err != nil || u.Host == "" {
		return false
	}
	ip := net.ParseIP(u.Hostname())
	return u.Scheme == "https" || u.Scheme == "http" && (u.Hostname() == "localhost" || ip != nil && ip.IsLoopback())
}
