package auth

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"slices"
	"strings"

	"github.com/modelcontextprotocol/go-sdk/oauthex"

	"mcptest/internal/base/web"
)

// protection is the metadata of a server under test about its authorization.
type protection struct {
	resource string   // resource to request a token for (RFC 8707)
	issuers  []string // its authorization servers; never empty
	scopes   []string // suggested scopes
	guessed  bool     // the server has no metadata
}

// discoverProtection reads the protected resource metadata of a server (RFC 9728): at the
// address in its 401 response, at its path, at the root. A server without metadata is
// its own authorization server (MCP 2025-03-26).
func discoverProtection(
	ctx context.Context, client *http.Client, server string, refusal *http.Response,
) (protection, error) {
	u, err := url.Parse(server)
	if err != nil {
		return protection{}, fmt.Errorf("read the server's address: %w", err)
	}
	u.User, u.Fragment = nil, ""
	origin := (&url.URL{Scheme: u.Scheme, Host: u.Host}).String()
	places := []string{
		origin + "/.well-known/oauth-protected-resource" + strings.TrimSuffix("/"+strings.TrimLeft(u.Path, "/"), "/"),
		origin + "/.well-known/oauth-protected-resource",
	}
	var out protection
	challenges, _ := oauthex.ParseWWWAuthenticate(refusal.Header.Values("WWW-Authenticate")) // a malformed one tells nothing
	for _, c := range challenges {
		if at := c.Params["resource_metadata"]; at != "" {
			places = slices.Insert(places, 0, at)
		}
		if c.Scheme == "bearer" && c.Params["scope"] != "" {
			out.scopes = strings.Fields(c.Params["scope"])
		}
	}
	var foreign error
	for _, place := range places {
		var meta struct {
			Resource string   `json:"resource"`
			Servers  []string `json:"authorization_servers"`
			Scopes   []string `json:"scopes_supported"`
		}
		found, err := readMetadata(ctx, client, place, &meta)
		switch {
		case err != nil || !found:
			continue
		case !covers(meta.Resource, u.String()):
			if foreign == nil {
				foreign = fmt.Errorf("the server's resource metadata at %s is for another server: its resource is %q, which does not cover %q", place, meta.Resource, u)
			}
			continue
		case len(meta.Servers) == 0:
			return protection{}, errors.New("the server's metadata names no authorization server")
		}
		out.resource, out.issuers = meta.Resource, meta.Servers
		if len(out.scopes) == 0 {
			out.scopes = meta.Scopes
		}
		return out, nil
	}
	out.resource, out.issuers, out.guessed = u.String(), []string{origin}, true
	return out, foreign
}

// covers reports whether a token for a resource is meant for a server: it has the same
// address, or is the same origin or a folder of it (RFC 9728, section 3.3, in the
// form that clients apply: servers at /mcp name their origin).
func covers(resource, server string) bool {
	r, err := url.Parse(MakeServerKey(resource))
	if err != nil {
		return false
	}
	s, err := url.Parse(MakeServerKey(server))
	if err != nil {
		return false
	}
	isSameOrigin := r.Scheme == s.Scheme && r.Host == s.Host
	hasOtherQuery := r.RawQuery != "" && r.RawQuery != s.RawQuery
	if !isSameOrigin || hasOtherQuery {
		return false
	}
	return strings.HasPrefix(strings.TrimSuffix(s.Path, "/")+"/", strings.TrimSuffix(r.Path, "/")+"/")
}

// chooseIssuer returns the authorization server to use: the configured one, which must be
// one of the server's, or else its first.
func (p protection) chooseIssuer(named string) (string, error) {
	if named == "" {
		return p.issuers[0], nil
	}
	if i := slices.IndexFunc(p.issuers, func(s string) bool { return sameIssuer(s, named) }); i >= 0 {
		return p.issuers[i], nil
	}
	return "", fmt.Errorf("the server's authorization server is %s, not %s", strings.Join(p.issuers, " or "), named)
}

// endpoints are what the metadata of an issuer tells (RFC 8414, RFC 8628, RFC 7591, RFC
// 9207).
type endpoints struct {
	Issuer        string   `json:"issuer"`
	Authorization string   `json:"authorization_endpoint"`
	Token         string   `json:"token_endpoint"`
	Device        string   `json:"device_authorization_endpoint"`
	Registration  string   `json:"registration_endpoint"`
	Methods       []string `json:"token_endpoint_auth_methods_supported"`
	Scopes        []string `json:"scopes_supported"`
	PKCE          []string `json:"code_challenge_methods_supported"`
	NamesIssuer   bool     `json:"authorization_response_iss_parameter_supported"`
	TakesDocument bool     `json:"client_id_metadata_document_supported"`
}

// discoverEndpoints requests the endpoints of an issuer; found is false if it has no
// metadata.
func discoverEndpoints(ctx context.Context, client *http.Client, issuer string) (e endpoints, found bool, err error) {
	u, err := url.Parse(issuer)
	if err != nil {
		return endpoints{}, false, fmt.Errorf("read the issuer's address: %w", err)
	}
	path := strings.Trim(u.Path, "/")
	origin := u.Scheme + "://" + u.Host
	places := []string{"/.well-known/oauth-authorization-server", "/.well-known/openid-configuration"}
	if path != "" {
		places = []string{places[0] + "/" + path, places[1] + "/" + path, "/" + path + places[1]}
	}
	var unreadable error
	for _, place := range places {
		e = endpoints{}
		found, err := readMetadata(ctx, client, origin+place, &e)
		switch {
		case err != nil:
			unreadable = cmp.Or(unreadable, fmt.Errorf("ask the issuer %s for its endpoints: %w", issuer, err))
			continue
		case !found:
			continue
		case !sameIssuer(e.Issuer, issuer):
			return endpoints{}, true, fmt.Errorf("%s reports that it is the issuer %q", issuer, e.Issuer)
		}
		return e, true, e.check()
	}
	return endpoints{}, false, unreadable
}

// check rejects endpoints that a request with credentials must not be sent to.
func (e endpoints) check() error {
	for _, at := range []string{e.Authorization, e.Token, e.Device, e.Registration} {
		if at != "" && !isSafe(at) {
			return fmt.Errorf("the issuer %s has an endpoint that is neither https nor on this machine: %s", e.Issuer, at)
		}
	}
	return nil
}

// makeDefaultEndpoints are those of a server without metadata (MCP 2025-03-26).
func makeDefaultEndpoints(issuer string) endpoints {
	at := strings.TrimSuffix(issuer, "/")
	return endpoints{Issuer: issuer, Authorization: at + "/authorize", Token: at + "/token", Registration: at + "/register", PKCE: []string{"S256"}}
}

// readMetadata requests a JSON document; found is false if there is none.
func readMetadata(ctx context.Context, client *http.Client, at string, into any) (found bool, err error) {
	if !isSafe(at) {
		return false, errors.New("expected https, or http on this machine")
	}
	req, err := http.NewRequestWithContext(ctx, http.MethodGet, at, nil)
	if err != nil {
		return false, err
	}
	req.Header.Set("Accept", "application/json")
	resp, err := client.Do(req)
	if err != nil {
		return false, err
	}
	defer resp.Body.Close()
	switch {
	case resp.StatusCode >= 400 && resp.StatusCode < 500:
		return false, nil
	case resp.StatusCode != http.StatusOK:
		return false, fmt.Errorf("%s responded with HTTP %d", at, resp.StatusCode)
	}
	if err := json.NewDecoder(io.LimitReader(resp.Body, maxPage)).Decode(into); err != nil {
		return false, fmt.Errorf("%s: %w", at, err)
	}
	return true, nil
}

// isSafe reports whether requests to an address are encrypted or local.
func isSafe(address string) bool {
	u, err := url.Parse(address)
	return err == nil && u.Host != "" && (u.Scheme == "https" || u.Scheme == "http" && web.IsLoopback(u.Hostname()))
}
