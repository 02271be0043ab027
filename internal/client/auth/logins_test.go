package auth_test

import (
	"sync"
	"testing"

	"mcptest/internal/base/testkit"
	"mcptest/internal/client/auth"
)

// Equal configurations share one login, and others share nothing.
func TestLogins(t *testing.T) {
	t.Parallel()
	s := newAuthority(t)
	logins := auth.NewLogins()
	base := auth.Config{Grant: auth.AuthorizationCode, Headless: true, Resource: s.URL + "/mcp"}
	scoped, other := base, base
	scoped.Scopes = []string{"read", "mine"}
	other.RedirectPort = 33500
	var wg sync.WaitGroup
	for _, c := range []auth.Config{base, base, scoped, base, other, scoped} {
		wg.Go(func() {
			a, err := logins.Get(c, "")
			if err != nil {
				t.Error(err)
				return
			}
			testkit.Equal(t, "the status", get(t, a, c.Resource).Status, 200)
		})
	}
	wg.Wait()
	testkit.Equal(t, "the number of logins", s.logins, 3)
	trusting, err := logins.Get(base, "insecure")
	testkit.Equal(t, "the error", err, nil)
	testkit.Equal(t, "the response with another trust", get(t, trusting, base.Resource), response{Status: 200, Scopes: "read"})
	testkit.Equal(t, "the number of logins with another trust", s.logins, 4)
}

// A login that failed is not begun again, and all get its error.
func TestFailedLoginOnce(t *testing.T) {
	t.Parallel()
	s := newAuthority(t)
	s.refuse = true
	a := newAuthorizer(t, auth.Config{Grant: auth.AuthorizationCode, Headless: true})
	var wg sync.WaitGroup
	for range 8 {
		wg.Go(func() {
			if got := get(t, a, s.URL+"/mcp"); got.Err == nil {
				t.Errorf("no error, status %d", got.Status)
			}
		})
	}
	wg.Wait()
	testkit.Equal(t, "the number of registered clients", len(s.clients), 1)
}

// A refused token is refreshed once, before another login.
func TestRefusedTokenIsRefreshed(t *testing.T) {
	t.Parallel()
	s := newAuthority(t)
	a := newAuthorizer(t, auth.Config{Grant: auth.AuthorizationCode, Headless: true})
	ok := response{Status: 200, Scopes: "read"}
	testkit.Equal(t, "the first response", get(t, a, s.URL+"/mcp"), ok)
	s.revoke()
	testkit.Equal(t, "the response with a refused token", get(t, a, s.URL+"/mcp"), ok)
	testkit.Equal(t, "the logins after a refresh", s.logins, 1)
	s.revoke()
	testkit.Equal(t, "the response with a refused refreshed token", get(t, a, s.URL+"/mcp"), ok)
	testkit.Equal(t, "the logins", s.logins, 2)
}
