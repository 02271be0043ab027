package auth

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"net/url"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"time"

	"mcptest/internal/base/osfile"
)

// Login is a stored user login: its tokens, and the data needed to refresh them. The
// store keeps one Login for each server, issuer and client.
type Login struct {
	Server string `json:"server"` // address of the server under test, as returned by MakeServerKey
	Issuer string `json:"issuer"`
	Client string `json:"client,omitempty"` // the configured client; "" for a registered one

	Resource      string   `json:"resource"` // resource of the token (RFC 8707)
	ClientID      string   `json:"client_id"`
	ClientSecret  string   `json:"client_secret,omitempty"` // of a client that was registered; others are not stored
	TokenEndpoint string   `json:"token_endpoint"`
	InHeader      bool     `json:"secret_in_header,omitempty"` // the secret is sent in a header
	Scopes        []string `json:"scopes,omitempty"`

	AccessToken  string    `json:"access_token"`
	TokenType    string    `json:"token_type,omitempty"`
	RefreshToken string    `json:"refresh_token,omitempty"`
	Expiry       time.Time `json:"expiry,omitzero"` // of the access token; zero: unknown
	Obtained     time.Time `json:"obtained"`
}

// Query selects a login. An empty Client or Issuer matches any.
type Query struct{ Server, Issuer, Client string }

func (q Query) fits(l Login) bool {
	isIssuer := q.Issuer == "" || sameIssuer(q.Issuer, l.Issuer)
	isClient := q.Client == "" || q.Client == l.Client
	return l.Server == MakeServerKey(q.Server) && isIssuer && isClient
}

// MakeServerKey normalizes an address: without user information, fragment and default
// port, with the host in lower case.
func MakeServerKey(address string) string {
	u, err := url.Parse(address)
	if err != nil {
		return address
	}
	u.User, u.Fragment, u.RawFragment = nil, "", ""
	u.Scheme, u.Host = strings.ToLower(u.Scheme), strings.ToLower(u.Host)
	if port := u.Port(); port == "443" && u.Scheme == "https" || port == "80" && u.Scheme == "http" {
		u.Host = strings.TrimSuffix(u.Host, ":"+port)
	}
	if u.Path == "/" {
		u.Path = ""
	}
	return u.String()
}

func sameIssuer(a, b string) bool { return strings.TrimSuffix(a, "/") == strings.TrimSuffix(b, "/") }

// Store is the file with user logins: JSON that only its owner may read, replaced
// atomically, changed by one process at a time.
type Store struct{ path string }

// OpenStore returns the store in a file, which need not exist.
func OpenStore(path string) *Store { return &Store{path: path} }

// FindDefaultStore returns the default path of the store.
func FindDefaultStore() (string, error) {
	dir, err := os.UserConfigDir()
	if err != nil {
		return "", fmt.Errorf("find the folder for settings: %w", err)
	}
	return filepath.Join(dir, "mcptest", "tokens.json"), nil
}

// Path returns the file's name.
func (s *Store) Path() string { return s.path }

const storeSchema = "mcptest.tokens/v1"

// contents is the format of the file.
type contents struct {
	Schema string  `json:"schema"`
	Logins []Login `json:"logins"`
}

// maxStore limits the size of the file.
const maxStore = 16 << 20

// List returns every login, the latest of each server first.
func (s *Store) List() ([]Login, error) {
	info, err := os.Stat(s.path)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return nil, nil
	case err != nil:
		return nil, fmt.Errorf("read the tokens: %w", err)
	case !info.Mode().IsRegular() || info.Size() > maxStore:
		return nil, fmt.Errorf("%s is not a token file", s.path)
	case runtime.GOOS != "windows" && info.Mode().Perm()&0o077 != 0:
		return nil, fmt.Errorf("%s is readable by other users (mode %04o), so it is not used: run chmod 600 on it, and log in again if it may have been read",
			s.path, info.Mode().Perm())
	}
	data, err := os.ReadFile(s.path)
	if err != nil {
		return nil, fmt.Errorf("read the tokens: %w", err)
	}
	var c contents
	// The text of a JSON error may quote the file, so it is not passed on.
	if json.Unmarshal(data, &c) != nil || c.Schema != storeSchema {
		return nil, fmt.Errorf("%s is not a token file of this version: remove it and log in again", s.path)
	}
	slices.SortStableFunc(c.Logins, func(a, b Login) int {
		return cmp.Or(cmp.Compare(a.Server, b.Server), b.Obtained.Compare(a.Obtained))
	})
	return c.Logins, nil
}

// Find returns the login that matches the query, or nil. If several match, it prefers
// that of a registered client, then the latest.
func (s *Store) Find(q Query) (*Login, error) {
	all, err := s.List()
	if err != nil {
		return nil, err
	}
	return find(all, q), nil
}

func find(all []Login, q Query) *Login {
	var best *Login
	for i := range all {
		if q.fits(all[i]) && (best == nil || best.Client != "" && all[i].Client == "") {
			best = &all[i]
		}
	}
	return best
}

// Put stores a login. It replaces an earlier one with the same server, issuer and
// client.
func (s *Store) Put(ctx context.Context, l Login) error {
	l.Server = MakeServerKey(l.Server)
	return s.update(ctx, func(all []Login) ([]Login, error) { return replace(all, l), nil })
}

func replace(all []Login, l Login) []Login {
	same := func(o Login) bool {
		return o.Server == l.Server && sameIssuer(o.Issuer, l.Issuer) && o.Client == l.Client
	}
	return append(slices.DeleteFunc(all, same), l)
}

// Remove removes the logins for which fits returns true and returns them.
func (s *Store) Remove(ctx context.Context, fits func(Login) bool) (gone []Login, err error) {
	if _, err := os.Stat(s.path); errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	err = s.update(ctx, func(all []Login) ([]Login, error) {
		gone = nil
		return slices.DeleteFunc(all, func(l Login) bool {
			if !fits(l) {
				return false
			}
			gone = append(gone, l)
			return true
		}), nil
	})
	return gone, err
}

// lockTime limits the wait for another process that has locked the file, for example
// for a refresh.
const lockTime = requestTime + 10*time.Second

// update changes the file while holding its lock. If change fails, nothing is
// written.
func (s *Store) update(ctx context.Context, change func([]Login) ([]Login, error)) error {
	dir := filepath.Dir(s.path)
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return fmt.Errorf("store the tokens: %w", err)
	}
	ctx, cancel := context.WithTimeout(ctx, lockTime)
	defer cancel()
	unlock, err := osfile.Lock(ctx, s.path+".lock")
	if err != nil {
		return fmt.Errorf("store the tokens: %w", err)
	}
	defer unlock()
	all, err := s.List()
	if err != nil {
		return err
	}
	if all, err = change(all); err != nil {
		return err
	}
	return s.write(all)
}

// write replaces the file atomically.
func (s *Store) write(all []Login) error {
	data, err := json.MarshalIndent(contents{storeSchema, all}, "", "  ")
	if err == nil {
		err = osfile.Replace(s.path, append(data, '\n'), 0o600)
	}
	if err != nil {
		return fmt.Errorf("store the tokens: %w", err)
	}
	return nil
}
