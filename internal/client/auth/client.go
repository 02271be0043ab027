package auth

import (
	"bytes"
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"slices"

	"golang.org/x/oauth2"
)

// identity is the OAuth client that mcptest is for an authorization server.
type identity struct {
	id, secret string
	style      oauth2.AuthStyle // how the token endpoint gets the secret
}

// chooseIdentity determines the client: the one in the configuration, or one that it
// registers.
func chooseIdentity(
	ctx context.Context, c Config, web *http.Client, e endpoints, register registration,
) (identity, error) {
	switch {
	case c.ClientMetadataURL != "" && e.TakesDocument:
		return identity{id: c.ClientMetadataURL, style: oauth2.AuthStyleInParams}, nil
	case c.ClientID != "" && c.ClientSecret == "":
		return identity{id: c.ClientID, style: oauth2.AuthStyleInParams}, nil
	case c.ClientID != "":
		return identity{c.ClientID, c.ClientSecret, chooseAuthStyle(e.Methods)}, nil
	case e.Registration == "":
		return identity{}, fmt.Errorf("the authorization server %s does not register clients: pass the id of a registered one with --client-id", e.Issuer)
	}
	out, err := register.send(ctx, web, e)
	if err != nil {
		return identity{}, fmt.Errorf("the authorization server did not register the client (pass the id of a registered one with --client-id): %w", err)
	}
	if out.secret != "" {
		c.Secret(out.secret)
	}
	return out, nil
}

// registration is a request to register a client (RFC 7591).
type registration struct {
	Name      string   `json:"client_name"`
	Redirects []string `json:"redirect_uris"`
	Grants    []string `json:"grant_types"`
	Responses []string `json:"response_types,omitempty"`
	Method    string   `json:"token_endpoint_auth_method"`
	Type      string   `json:"application_type"`
}

func (r registration) send(ctx context.Context, web *http.Client, e endpoints) (identity, error) {
	r.Name, r.Type, r.Method = "mcptest", "native", chooseAuthMethod(e.Methods)
	body, err := json.Marshal(r)
	if err != nil {
		return identity{}, err
	}
	req, err := http.NewRequestWithContext(ctx, http.MethodPost, e.Registration, bytes.NewReader(body))
	if err != nil {
		return identity{}, err
	}
	req.Header.Set("Content-Type", "application/json")
	req.Header.Set("Accept", "application/json")
	resp, err := web.Do(req)
	if err != nil {
		return identity{}, err
	}
	defer resp.Body.Close()
	var got struct {
		ID          string `json:"client_id"`
		Secret      string `json:"client_secret"`
		Method      string `json:"token_endpoint_auth_method"`
		Error       string `json:"error"`
		Description string `json:"error_description"`
	}
	err = json.NewDecoder(io.LimitReader(resp.Body, maxPage)).Decode(&got)
	created := resp.StatusCode == http.StatusCreated || resp.StatusCode == http.StatusOK
	switch {
	case got.Error != "":
		return identity{}, errors.New(explainError(&oauth2.RetrieveError{ErrorCode: got.Error, ErrorDescription: got.Description}))
	case !created:
		return identity{}, fmt.Errorf("it responded with HTTP %d", resp.StatusCode)
	case err != nil || got.ID == "":
		return identity{}, errors.New("its response does not follow RFC 7591")
	}
	out := identity{got.ID, got.Secret, oauth2.AuthStyleInParams}
	if got.Secret != "" && cmp.Or(got.Method, r.Method) == "client_secret_basic" {
		out.style = oauth2.AuthStyleInHeader
	}
	return out, nil
}

// chooseAuthMethod returns how a registered client identifies itself to the token endpoint:
// without a secret if possible, as the program can't keep one; otherwise in the body,
// which more servers read than the header, which is the default of RFC 8414.
func chooseAuthMethod(supported []string) string {
	for _, m := range []string{"none", "client_secret_post"} {
		if slices.Contains(supported, m) {
			return m
		}
	}
	return "client_secret_basic"
}
