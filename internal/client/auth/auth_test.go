package auth_test

import (
	"errors"
	"io"
	"net/http"
	"net/url"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"mcptest/internal/base/testkit"
	"mcptest/internal/client/auth"
)

// response is what a request got: the server responds with the scopes of the token.
type response struct {
	Status int
	Scopes string // sorted
	Err    error
}

// get requests an address like the transport: a challenge is answered once.
func get(t *testing.T, a *auth.Authorizer, address string) response {
	t.Helper()
	for again := true; ; {
		req, err := http.NewRequestWithContext(t.Context(), http.MethodGet, address, nil)
		if err != nil {
			return response{Err: err}
		}
		if err := a.Authorize(t.Context(), req); err != nil {
			return response{Err: err}
		}
		resp, err := http.DefaultTransport.RoundTrip(req)
		if err != nil {
			return response{Err: err}
		}
		if (resp.StatusCode == 401 || resp.StatusCode == 403) && again {
			if again, err = a.Challenged(t.Context(), resp); err != nil {
				return response{Status: resp.StatusCode, Err: err}
			}
			if again {
				again = false
				_ = resp.Body.Close()
				continue
			}
		}
		text, _ := io.ReadAll(resp.Body)
		_ = resp.Body.Close()
		scopes := strings.Fields(string(text))
		slices.Sort(scopes)
		return response{Status: resp.StatusCode, Scopes: strings.Join(scopes, " ")}
	}
}

// secrets collects the declared secrets.
type secrets struct {
	mu  sync.Mutex
	all []string
}

func (s *secrets) add(v ...string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.all = append(s.all, v...)
}

func newAuthorizer(t *testing.T, c auth.Config) *auth.Authorizer {
	t.Helper()
	a, err := auth.New(c)
	if err != nil {
		t.Fatal(err)
	}
	return a
}

func TestHeadlessLogin(t *testing.T) {
	t.Parallel()
	s := newAuthority(t)
	var seen secrets
	a := newAuthorizer(t, auth.Config{Grant: auth.AuthorizationCode, Headless: true, Resource: s.URL + "/mcp", Secret: seen.add})
	testkit.Equal(t, "the first response", get(t, a, s.URL+"/mcp"), response{Status: 200, Scopes: "read"})
	if !slices.Contains(seen.all, "token-1") || !slices.Contains(seen.all, "refresh-token-1") {
		t.Errorf("declared %q", seen.all)
	}
	// A step-up keeps the scopes that were already granted.
	testkit.Equal(t, "the response after a step-up", get(t, a, s.URL+"/write"), response{Status: 200, Scopes: "read write"})
	testkit.Equal(t, "the number of logins", s.logins, 2)
}

func TestScopesOfTheUser(t *testing.T) {
	t.Parallel()
	s := newAuthority(t)
	a := newAuthorizer(t, auth.Config{Grant: auth.AuthorizationCode, Headless: true, Scopes: []string{"read", "mine"}})
	testkit.Equal(t, "the first response", get(t, a, s.URL+"/mcp"), response{Status: 200, Scopes: "mine read"})
	testkit.Equal(t, "the response after a step-up", get(t, a, s.URL+"/write"), response{Status: 200, Scopes: "mine read write"})
}

func TestRefresh(t *testing.T) {
	t.Parallel()
	s := newAuthority(t)
	s.short = true // within the ten seconds in which a token counts as expired
	a := newAuthorizer(t, auth.Config{Grant: auth.AuthorizationCode, Headless: true})
	for range 2 {
		testkit.Equal(t, "the response", get(t, a, s.URL+"/mcp"), response{Status: 200, Scopes: "read"})
	}
	if s.logins != 1 || !slices.Contains(s.requests, "refresh_token") {
		t.Errorf("%d logins, token requests %q", s.logins, s.requests)
	}
}

// Metadata of another resource is reported as such, not as the failure that it causes.
func TestMetadataOfAnotherResource(t *testing.T) {
	t.Parallel()
	s := newAuthority(t)
	s.names = "/other"
	a := newAuthorizer(t, auth.Config{Grant: auth.AuthorizationCode, Headless: true})
	err := get(t, a, s.URL+"/mcp").Err
	want := "log in: the server's resource metadata at " + s.URL + "/.well-known/oauth-protected-resource/mcp is for another server: its resource is \"" + s.URL + "/other\", which does not cover \"" + s.URL + "/mcp\""
	testkit.Equal(t, "the error", err, errors.New(want))
}

// A resource that covers the server's address is accepted in each of these forms.
func TestResourceOfTheServer(t *testing.T) {
	t.Parallel()
	for names, covers := range map[string]bool{"/": true, "/mcp": true, "/mcp/": true, "/mc": false, "/mcp/deeper": false, "/mcp?a=b": false} {
		s := newAuthority(t)
		s.names = names
		a := newAuthorizer(t, auth.Config{Grant: auth.AuthorizationCode, Headless: true})
		if got := get(t, a, s.URL+"/mcp"); (got.Err == nil && got.Status == 200) != covers {
			t.Errorf("%s: %+v; want accepted %v", names, got, covers)
		}
	}
}

// A client that registers itself asks for a way to identify itself that the token
// endpoint supports, and uses it.
func TestRegistration(t *testing.T) {
	t.Parallel()
	for want, methods := range map[string][]string{
		"none":                {"client_secret_basic", "client_secret_post", "none"},
		"client_secret_post":  {"client_secret_basic", "client_secret_post"},
		"client_secret_basic": {"client_secret_basic", "private_key_jwt"},
	} {
		s := newAuthority(t)
		s.methods = methods
		var seen secrets
		c := auth.Config{Grant: auth.AuthorizationCode, Headless: true, Resource: s.URL + "/mcp", Secret: seen.add}
		ok := response{Status: 200, Scopes: "read"}
		testkit.Equal(t, want+": the response to a headless client", get(t, newAuthorizer(t, c), s.URL+"/mcp"), ok)
		c.Headless, c.Store, s.short = false, storeOf(t), true
		mustLogIn(t, c)
		testkit.Equal(t, want+": the response after a refresh", get(t, newAuthorizer(t, c), s.URL+"/mcp"), ok)
		testkit.Equal(t, "the registered methods", s.clients, []string{want, want})
		refresh := strings.TrimSpace("refresh_token " + map[string]string{"client_secret_basic": "issued-secret-0"}[want])
		if !slices.Contains(s.requests[2:], refresh) {
			t.Errorf("%s: token requests %q, want %q among them", want, s.requests[2:], refresh)
		}
		if want != "none" && !slices.Contains(seen.all, "issued-secret-0") {
			t.Errorf("%s: the client's secret is not declared: %q", want, seen.all)
		}
	}
}

// A headless login begins again when a token has expired and is not refreshed.
func TestExpiredTokens(t *testing.T) {
	t.Parallel()
	for name, set := range map[string]func(*authority){
		"no refresh tokens":     func(a *authority) { a.single = true },
		"refresh tokens expire": func(a *authority) { a.ended = true },
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := newAuthority(t)
			s.short = true
			set(s)
			a := newAuthorizer(t, auth.Config{Grant: auth.AuthorizationCode, Headless: true})
			for i := range 2 {
				testkit.Equal(t, "the response", get(t, a, s.URL+"/mcp"), response{Status: 200, Scopes: "read"})
				testkit.Equal(t, "the number of logins", s.logins, i+1)
				time.Sleep(2 * time.Second) // the tokens' life
			}
		})
	}
}

// The server may name several authorization servers, of which the user chooses one.
func TestSecondIssuer(t *testing.T) {
	t.Parallel()
	s, other := newAuthority(t), newAuthority(t)
	s.issuer = "https://first.example.com " + other.URL
	c := auth.Config{Grant: auth.AuthorizationCode, Headless: true, ClientID: "known", Issuer: other.URL}
	testkit.Equal(t, "the error", get(t, newAuthorizer(t, c), s.URL+"/mcp").Err, nil)
	testkit.Equal(t, "the number of issued tokens", other.issued, 1)
}

func TestLoginOnceForManyRequests(t *testing.T) {
	t.Parallel()
	s := newAuthority(t)
	a := newAuthorizer(t, auth.Config{Grant: auth.AuthorizationCode, Headless: true})
	var wg sync.WaitGroup
	for range 8 {
		wg.Go(func() {
			testkit.Equal(t, "the response", get(t, a, s.URL+"/mcp"), response{Status: 200, Scopes: "read"})
		})
	}
	wg.Wait()
	if s.logins != 1 {
		t.Errorf("%d logins, want 1", s.logins)
	}
}

func TestClientCredentials(t *testing.T) {
	t.Parallel()
	for _, by := range []string{"token_endpoint", "issuer"} {
		s, trap := newAuthority(t), newAuthority(t)
		s.issuer = trap.URL // the server under test points elsewhere
		c := auth.Config{Grant: auth.ClientCredentials, Resource: s.URL + "/mcp", ClientID: "ci", ClientSecret: "correct-horse", Scopes: []string{"read"}}
		if by == "issuer" {
			c.Issuer = s.URL
		} else {
			c.TokenEndpoint = s.URL + "/token"
		}
		a := newAuthorizer(t, c)
		for range 3 {
			testkit.Equal(t, by+": the response", get(t, a, s.URL+"/mcp"), response{Status: 200, Scopes: "read"})
		}
		testkit.Equal(t, by+": the requests to the other issuer", trap.requests, nil)
		testkit.Equal(t, by+": the number of issued tokens", s.issued, 1)
		// A rejected token is replaced only once.
		s.lose = true
		got := get(t, a, s.URL+"/mcp")
		testkit.Equal(t, by+": the response to a rejected token", got, response{Status: 401, Scopes: got.Scopes})
		testkit.Equal(t, by+": the number of issued tokens", s.issued, 2)
	}
}

func TestSecretStaysWithItsIssuer(t *testing.T) {
	t.Parallel()
	s, trap := newAuthority(t), newAuthority(t)
	s.issuer = trap.URL
	a := newAuthorizer(t, auth.Config{Grant: auth.AuthorizationCode, Headless: true, ClientID: "ci", ClientSecret: "correct-horse", Issuer: s.URL})
	if got := get(t, a, s.URL+"/mcp"); got.Err == nil {
		t.Errorf("HTTP %d and no error, though the issuer is another one", got.Status)
	}
	testkit.Equal(t, "the requests to the other issuer", trap.requests, nil)
	testkit.Equal(t, "the number of logins there", trap.logins, 0)
}

func TestLoginsThatFail(t *testing.T) {
	t.Parallel()
	for name, tt := range map[string]struct {
		set  func(*authority)
		says string
	}{
		"a page":                     {func(a *authority) { a.page = true }, "requires a user (HTTP 200)"},
		"refused":                    {func(a *authority) { a.refuse = true }, "refused the login: access_denied"},
		"no end":                     {func(a *authority) { a.forever = true }, "redirects more than 10 times"},
		"no server there":            {func(a *authority) { a.issuer = "http://127.0.0.1:1" }, "ask the issuer"},
		"another login":              {func(a *authority) { a.back = url.Values{"state": {"guess"}} }, "the state of another login"},
		"mixed up":                   {func(a *authority) { a.back = url.Values{"iss": {"https://evil.example.com"}} }, `iss is "https://evil.example.com", expected "http://127.0.0.1:`},
		"silent iss":                 {func(a *authority) { a.tells = map[string]any{"authorization_response_iss_parameter_supported": true} }, "without iss, although its metadata announces it"},
		"no PKCE":                    {func(a *authority) { a.tells = map[string]any{"code_challenge_methods_supported": []string{"plain"}} }, `does not support PKCE with S256, which MCP requires: its metadata lists the methods ["plain"]`},
		"metadata of another issuer": {func(a *authority) { a.tells = map[string]any{"issuer": "https://id.example.com"} }, `reports that it is the issuer "https://id.example.com"`},
		"tokens over plain HTTP":     {func(a *authority) { a.tells = map[string]any{"token_endpoint": "http://id.example.com/token"} }, "neither https nor on this machine: http://id.example.com/token"},
		"login over plain HTTP":      {func(a *authority) { a.tells = map[string]any{"authorization_endpoint": "http://id.example.com/"} }, "neither https nor on this machine: http://id.example.com/"},
		"a login that is no address": {func(a *authority) { a.tells = map[string]any{"authorization_endpoint": "javascript:alert(1)"} }, "neither https nor on this machine: javascript:alert(1)"},
		"no registration":            {func(a *authority) { a.tells = map[string]any{"registration_endpoint": nil} }, "does not register clients: pass the id of a registered one with --client-id"},
		"refused client":             {func(a *authority) { a.broken = true }, "the authorization server returned no token: invalid_client: Client secret is required"},
	} {
		s := newAuthority(t)
		tt.set(s)
		a := newAuthorizer(t, auth.Config{Grant: auth.AuthorizationCode, Headless: true})
		err := get(t, a, s.URL+"/mcp").Err
		if err == nil || !strings.Contains(err.Error(), tt.says) {
			t.Errorf("%s: got %v, want %q in it", name, err, tt.says)
		} else if strings.Contains(err.Error(), "state=") {
			t.Errorf("%s: the state of the login is shown: %v", name, err)
		}
	}
}

func TestForbiddenIsNotAChallenge(t *testing.T) {
	t.Parallel()
	a := newAuthorizer(t, auth.Config{Grant: auth.AuthorizationCode, Headless: true})
	again, err := a.Challenged(t.Context(), &http.Response{StatusCode: 403, Header: http.Header{}, Body: http.NoBody, Request: &http.Request{}})
	if again || err != nil {
		t.Errorf("again %v, %v", again, err)
	}
}

func TestConfigurationsThatAreRefused(t *testing.T) {
	t.Parallel()
	for says, c := range map[string]auth.Config{
		"needs token_endpoint or issuer":   {Grant: auth.ClientCredentials, ClientID: "a", ClientSecret: "b"},
		"needs client_id and a secret":     {Grant: auth.ClientCredentials, Issuer: "https://id.example.com"},
		"neither https nor":                {Grant: auth.ClientCredentials, ClientID: "a", ClientSecret: "b", TokenEndpoint: "http://id.example.com/token"},
		"with a client secret needs":       {Grant: auth.AuthorizationCode, Headless: true, ClientID: "a", ClientSecret: "b"},
		"require client_id":                {Grant: auth.AuthorizationCode, Headless: true, Issuer: "https://id.example.com"},
		"unknown grant":                    {Grant: "password", ClientID: "a"},
		"no token file":                    {Grant: auth.AuthorizationCode},
		"device_code with a client secret": {Grant: auth.DeviceCode, ClientID: "a", ClientSecret: "b"},
	} {
		if _, err := auth.New(c); err == nil || !strings.Contains(err.Error(), says) {
			t.Errorf("%+v: %v, want %q in it", c, err, says)
		}
	}
}
