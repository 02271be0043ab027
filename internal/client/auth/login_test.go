package auth_test

import (
	"context"
	"errors"
	"io"
	"net/http"
	"net/http/httptest"
	"net/url"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"mcptest/internal/base/testkit"
	"mcptest/internal/client/auth"
)

// browse is a user with a browser who accepts everything.
func browse(t *testing.T) auth.Person {
	return auth.Person{Open: func(address string) {
		go func() {
			resp, err := http.Get(address)
			if err != nil {
				t.Error(err)
				return
			}
			text, _ := io.ReadAll(resp.Body)
			_ = resp.Body.Close()
			if !strings.Contains(string(text), "can be closed") && !strings.Contains(string(text), "was refused") {
				t.Errorf("the browser shows %q", text)
			}
		}()
	}}
}

func storeOf(t *testing.T) *auth.Store {
	return auth.OpenStore(filepath.Join(t.TempDir(), "settings", "tokens.json"))
}

func mustLogIn(t *testing.T, c auth.Config) auth.Login {
	t.Helper()
	l, err := auth.LogIn(t.Context(), c, browse(t))
	if err != nil {
		t.Fatal(err)
	}
	return l
}

func TestLoginWithABrowser(t *testing.T) {
	t.Parallel()
	s := newAuthority(t)
	var seen secrets
	c := auth.Config{Grant: auth.AuthorizationCode, Resource: s.URL + "/mcp", Store: storeOf(t), Secret: seen.add}
	l := mustLogIn(t, c)
	testkit.Equal(t, "the stored login", []string{l.ClientID, l.Issuer, l.Resource}, []string{"registered", s.URL, s.URL + "/mcp"})
	if !slices.Contains(seen.all, "token-1") {
		t.Errorf("declared %q", seen.all)
	}
	// A later run uses the login without prompting.
	testkit.Equal(t, "the response", get(t, newAuthorizer(t, c), s.URL+"/mcp"), response{Status: 200, Scopes: "read"})
	testkit.Equal(t, "the number of logins", s.logins, 1)
	// For another server there is no token, and the error names the command.
	c.Resource, c.LoginCommand = s.URL+"/write", "mcptest login write"
	err := get(t, newAuthorizer(t, c), s.URL+"/write").Err
	var need *auth.LoginError
	if !errors.As(err, &need) || !strings.HasSuffix(err.Error(), "run: mcptest login write") {
		t.Errorf("got %v", err)
	}
}

// A request with another state, which any web page can send, does not end the login.
func TestForeignAnswer(t *testing.T) {
	t.Parallel()
	s := newAuthority(t)
	p := auth.Person{Open: func(address string) {
		u, _ := url.Parse(address)
		back := u.Query().Get("redirect_uri")
		resp, err := http.Get(back + "?code=evil&state=guess")
		if err != nil || resp.StatusCode != 400 {
			t.Errorf("a foreign answer: %v, %v", resp, err)
		}
		browse(t).Open(address)
	}}
	if _, err := auth.LogIn(t.Context(), auth.Config{Grant: auth.AuthorizationCode, Resource: s.URL + "/mcp", Store: storeOf(t)}, p); err != nil {
		t.Error(err)
	}
}

// The browser shows the outcome of the whole login: the code may be worthless.
func TestPageAfterTheExchange(t *testing.T) {
	t.Parallel()
	for shown, set := range map[string]func(*authority, *auth.Config){
		"You are logged in.":                 func(*authority, *auth.Config) {},
		"The login failed. See the terminal": func(a *authority, _ *auth.Config) { a.broken = true },
		"The login failed.": func(a *authority, _ *auth.Config) {
			a.tells = map[string]any{"authorization_response_iss_parameter_supported": true}
		},
		"The login failed. See the terminal for": func(_ *authority, c *auth.Config) { c.Store = auth.OpenStore("/dev/null/tokens.json") },
		"was refused: access_denied":             func(a *authority, _ *auth.Config) { a.refuse = true },
	} {
		s := newAuthority(t)
		c := auth.Config{Grant: auth.AuthorizationCode, Resource: s.URL + "/mcp", Store: storeOf(t)}
		set(s, &c)
		page := make(chan string, 1)
		_, err := auth.LogIn(t.Context(), c, auth.Person{Open: func(address string) {
			go func() {
				resp, err := http.Get(address)
				if err != nil {
					page <- err.Error()
					return
				}
				text, _ := io.ReadAll(resp.Body)
				_ = resp.Body.Close()
				page <- string(text)
			}()
		}})
		if text := <-page; !strings.Contains(text, shown) || (err == nil) != strings.Contains(text, "logged in") {
			t.Errorf("the login ended with %v, and the browser shows %q, want %q in it", err, text, shown)
		}
	}
}

func TestNoLoginWithoutA401(t *testing.T) {
	t.Parallel()
	srv := httptest.NewServer(http.NotFoundHandler())
	defer srv.Close()
	_, err := auth.LogIn(t.Context(), auth.Config{Grant: auth.AuthorizationCode, Resource: srv.URL + "/mcp", Store: storeOf(t)}, browse(t))
	if err == nil || !strings.Contains(err.Error(), "with HTTP 404 instead of 401; is the address right?") {
		t.Errorf("got %v", err)
	}
}

func TestLoginsOfAPersonThatFail(t *testing.T) {
	t.Parallel()
	for name, tt := range map[string]struct {
		set    func(*authority)
		config auth.Config
		says   string
	}{
		"refused":       {set: func(a *authority) { a.refuse = true }, says: "refused the login: access_denied"},
		"no login":      {set: func(a *authority) { a.page = true }, says: "not logged in"},
		"wrong issuer":  {config: auth.Config{Issuer: "https://id.example.com"}, says: "not https://id.example.com"},
		"secret":        {config: auth.Config{ClientID: "a", ClientSecret: "correct-horse"}, says: "needs issuer"},
		"no device":     {config: auth.Config{Grant: auth.DeviceCode}, set: func(a *authority) { a.issuer = "http://127.0.0.1:1" }, says: "ask the issuer"},
		"no such grant": {config: auth.Config{Grant: auth.ClientCredentials}, says: "requires no login"},
	} {
		s := newAuthority(t)
		if tt.set != nil {
			tt.set(s)
		}
		c := tt.config
		if c.Resource, c.Store = s.URL+"/mcp", storeOf(t); c.Grant == "" {
			c.Grant = auth.AuthorizationCode
		}
		ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
		p := browse(t)
		if s.page {
			p.Open = func(string) { cancel() }
		}
		_, err := auth.LogIn(ctx, c, p)
		cancel()
		if err == nil || !strings.Contains(err.Error(), tt.says) {
			t.Errorf("%s: got %v, want %q in it", name, err, tt.says)
		}
		if all, err := c.Store.List(); err != nil || len(all) > 0 {
			t.Errorf("%s: kept %v, %v", name, all, err)
		}
	}
}

// Eight processes share an expired token: only one refreshes it, because the authorization
// server accepts each refresh token once.
func TestRefreshOfAStoredToken(t *testing.T) {
	t.Parallel()
	s := newAuthority(t)
	s.short = true
	c := auth.Config{Grant: auth.AuthorizationCode, Resource: s.URL + "/mcp", Store: storeOf(t)}
	mustLogIn(t, c)
	s.short = false
	var wg sync.WaitGroup
	for range 8 {
		wg.Go(func() {
			a, err := auth.New(c)
			if err != nil {
				t.Error(err)
				return
			}
			testkit.Equal(t, "the response", get(t, a, s.URL+"/mcp"), response{Status: 200, Scopes: "read"})
		})
	}
	wg.Wait()
	if s.issued != 2 {
		t.Errorf("%d tokens issued, want 2: %q", s.issued, s.requests)
	}
	// A token that the server rejects is refreshed, even if it has not expired.
	s.mu.Lock()
	clear(s.tokens)
	s.mu.Unlock()
	testkit.Equal(t, "the response to the refreshed token", get(t, newAuthorizer(t, c), s.URL+"/mcp"), response{Status: 200, Scopes: "read"})
	testkit.Equal(t, "the number of issued tokens", s.issued, 3)
	l, err := c.Store.Find(auth.Query{Server: c.Resource})
	if err != nil || l == nil {
		t.Fatalf("found %+v, %v", l, err)
	}
	testkit.Equal(t, "the stored refresh token", l.RefreshToken, "refresh-token-3") // the last one
}

func TestExpiredLogin(t *testing.T) {
	t.Parallel()
	s := newAuthority(t)
	s.short = true
	c := auth.Config{Grant: auth.AuthorizationCode, Resource: s.URL + "/mcp", Store: storeOf(t)}
	mustLogIn(t, c)
	s.ended = true
	err := get(t, newAuthorizer(t, c), s.URL+"/mcp").Err
	if err == nil || !strings.Contains(err.Error(), "invalid_grant: the refresh token has expired") || !strings.Contains(err.Error(), "run: mcptest login "+s.URL+"/mcp") {
		t.Errorf("got %v", err)
	}
	if strings.Contains(err.Error(), "refresh-token-1") {
		t.Errorf("the error shows the token: %v", err)
	}
}

// Only a user can grant more scopes: the error names the command.
func TestStepUpOfAStoredToken(t *testing.T) {
	t.Parallel()
	s := newAuthority(t)
	c := auth.Config{Grant: auth.AuthorizationCode, Resource: s.URL + "/mcp", Store: storeOf(t)}
	mustLogIn(t, c)
	err := get(t, newAuthorizer(t, c), s.URL+"/write").Err
	if err == nil || !strings.Contains(err.Error(), `requires the scope "write"`) || !strings.HasSuffix(err.Error(), "--scope 'read write'") {
		t.Fatalf("got %v", err)
	}
	c.Scopes = []string{"read", "write"}
	mustLogIn(t, c)
	testkit.Equal(t, "the response", get(t, newAuthorizer(t, c), s.URL+"/write"), response{Status: 200, Scopes: "read write"})
	if all, _ := c.Store.List(); len(all) != 1 {
		t.Errorf("%d logins are kept, want the new one in place of the old", len(all))
	}
}

// inProcess handles requests without a network, so that time can be simulated.
type inProcess struct{ h http.Handler }

func (p inProcess) RoundTrip(r *http.Request) (*http.Response, error) {
	w := httptest.NewRecorder()
	p.h.ServeHTTP(w, r)
	resp := w.Result()
	resp.Request = r
	return resp, nil
}

// Device logins: the authorization server's responses to each poll, and the result. RFC
// 8628 section 3.5 defines the interval.
func TestDeviceGrant(t *testing.T) {
	t.Parallel()
	const pending, slow = "authorization_pending", "slow_down"
	for name, tt := range map[string]struct {
		polls []string
		says  string
		gaps  []time.Duration
	}{
		"at once":       {polls: []string{""}},
		"pending":       {polls: []string{pending, pending, ""}, gaps: []time.Duration{time.Second, time.Second}},
		"slower":        {polls: []string{slow, pending, ""}, gaps: []time.Duration{6 * time.Second, 6 * time.Second}},
		"denied":        {polls: []string{pending, "access_denied"}, says: "was refused (access_denied)"},
		"expired":       {polls: []string{pending, "expired_token"}, says: "has expired before it was entered (expired_token)"},
		"never entered": {polls: []string{pending}, says: "has expired before it was entered"},
		"another error": {polls: []string{"invalid_client"}, says: "wait for the login: invalid_client"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			store := storeOf(t)
			synctest.Test(t, func(t *testing.T) {
				mux, s := newAuthorityMux()
				s.Server = &httptest.Server{URL: "http://127.0.0.1:1"}
				s.polls = tt.polls
				var seen secrets
				shown := ""
				c := auth.Config{Grant: auth.DeviceCode, Resource: s.URL + "/mcp", Store: store, Transport: inProcess{mux}, Secret: seen.add, Scopes: []string{"read"}}
				_, err := auth.LogIn(t.Context(), c, auth.Person{Enter: func(code, address, _ string, _ time.Time) { shown = code + " at " + address }})
				// The package oauth2 leaves a body open; the request's time limit closes it.
				defer time.Sleep(time.Minute)
				testkit.Equal(t, "what the user sees", shown, "WDJB-MJHT at http://127.0.0.1:1/enter")
				if !slices.Contains(seen.all, "the-device-code") {
					t.Errorf("declared %q", seen.all)
				}
				if tt.says != "" {
					if err == nil || !strings.Contains(err.Error(), tt.says) {
						t.Errorf("got %v, want %q in it", err, tt.says)
					}
					return
				}
				l, ferr := store.Find(auth.Query{Server: c.Resource})
				if err != nil || ferr != nil || l == nil {
					t.Fatalf("kept %+v: %v, %v", l, err, ferr)
				}
				testkit.Equal(t, "the stored token", l.AccessToken, "token-1")
				for i, want := range tt.gaps {
					if got := s.pollsAt[i+1].Sub(s.pollsAt[i]); got != want {
						t.Errorf("question %d came after %s, want %s", i+2, got, want)
					}
				}
			})
		})
	}
}

func TestStore(t *testing.T) {
	t.Parallel()
	s := storeOf(t)
	const at = "https://MCP.example.com:443/mcp"
	put := func(l auth.Login) {
		t.Helper()
		if err := s.Put(t.Context(), l); err != nil {
			t.Fatal(err)
		}
	}
	now := time.Now().UTC().Truncate(time.Second)
	put(auth.Login{Server: at, Issuer: "https://a.example", AccessToken: "one", Obtained: now})
	put(auth.Login{Server: at, Issuer: "https://a.example/", AccessToken: "two", Obtained: now})
	put(auth.Login{Server: at, Issuer: "https://a.example", Client: "mine", AccessToken: "three", Obtained: now.Add(time.Minute)})
	put(auth.Login{Server: at, Issuer: "https://b.example", Client: "mine", AccessToken: "four", Obtained: now.Add(-time.Minute)})
	for q, want := range map[auth.Query]string{
		{Server: "https://mcp.example.com/mcp#x"}:                                                "two",
		{Server: "https://user@mcp.example.com/mcp"}:                                             "two",
		{Server: "https://mcp.example.com/mcp", Client: "mine"}:                                  "three",
		{Server: "https://mcp.example.com/mcp", Client: "mine", Issuer: "https://b.example/"}:    "four",
		{Server: "https://mcp.example.com/mcp", Client: "other"}:                                 "",
		{Server: "http://mcp.example.com/mcp"}:                                                   "",
		{Server: "https://mcp.example.com/mcp/other"}:                                            "",
		{Server: "https://mcp.example.com:8443/mcp"}:                                             "",
		{Server: "https://mcp.example.com/mcp", Client: "mine", Issuer: "https://other.example"}: "",
	} {
		l, err := s.Find(q)
		got := ""
		if l != nil {
			got = l.AccessToken
		}
		if err != nil || got != want {
			t.Errorf("%+v: got %q, %v, want %q", q, got, err, want)
		}
	}
	info, err := os.Stat(s.Path())
	if err != nil || info.Mode().Perm() != 0o600 {
		t.Errorf("mode %v, %v", info.Mode(), err)
	}
	if left, _ := filepath.Glob(filepath.Join(filepath.Dir(s.Path()), ".tokens-*")); len(left) > 0 {
		t.Errorf("left behind: %q", left)
	}
	gone, err := s.Remove(t.Context(), func(l auth.Login) bool { return l.Client == "mine" })
	testkit.Equal(t, "the error", err, nil)
	testkit.Equal(t, "the number of removed logins", len(gone), 2)
	all, _ := s.List()
	testkit.Equal(t, "the number of logins that are left", len(all), 1)
}

func TestStoresThatAreRefused(t *testing.T) {
	t.Parallel()
	for says, make := range map[string]func(path string) error{
		"is readable by other users (mode 0640)": func(p string) error {
			return errors.Join(os.WriteFile(p, []byte(`{"schema":"mcptest.tokens/v1"}`), 0o600), os.Chmod(p, 0o640))
		},
		"is not a token file of this version": func(p string) error {
			return os.WriteFile(p, []byte(`{"schema":"x","access_token":"secret-1"}`), 0o600)
		},
		"is not a token file": func(p string) error { return os.Mkdir(p, 0o700) },
	} {
		s := auth.OpenStore(filepath.Join(t.TempDir(), "tokens.json"))
		if err := make(s.Path()); err != nil {
			t.Fatal(err)
		}
		if _, err := s.List(); err == nil || !strings.Contains(err.Error(), says) || strings.Contains(err.Error(), "secret-1") {
			t.Errorf("got %v, want %q in it", err, says)
		}
		if err := s.Put(t.Context(), auth.Login{}); err == nil {
			t.Errorf("%s: it was overwritten", says)
		}
	}
}
