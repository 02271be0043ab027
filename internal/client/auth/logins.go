package auth

import (
	"fmt"
	"slices"
	"strings"
	"sync"
)

// Logins are the authorizers of a run. Sessions with equal configurations share one, so
// that they log in once.
type Logins struct {
	mu   sync.Mutex
	made map[string]*Authorizer // by key
}

// NewLogins returns an empty Logins.
func NewLogins() *Logins { return &Logins{made: map[string]*Authorizer{}} }

// Get returns the authorizer of a configuration. Trust names what the configuration of
// TLS depends on. A nil *Logins makes another one for each call.
func (l *Logins) Get(c Config, trust string) (*Authorizer, error) {
	if l == nil {
		return New(c)
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	key := c.makeKey() + "\n" + trust
	if a := l.made[key]; a != nil {
		return a, nil
	}
	a, err := New(c)
	if err == nil {
		l.made[key] = a
	}
	return a, err
}

// makeKey is equal for configurations that get the same tokens in the same way.
func (c Config) makeKey() string {
	scopes := slices.Sorted(slices.Values(c.Scopes))
	parts := []string{
		c.Grant, c.Resource, c.ClientID, c.ClientSecret, c.TokenEndpoint, c.Issuer, c.ClientMetadataURL,
		strings.Join(scopes, " "), fmt.Sprint(c.RedirectPort, c.Headless),
	}
	if c.Store != nil && c.Grant != ClientCredentials && !c.Headless {
		parts = append(parts, c.Store.Path(), c.LoginCommand) // the command is a part of messages
	}
	return fmt.Sprintf("%q", parts)
}
