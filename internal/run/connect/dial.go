package connect

import (
	"context"
	"crypto/tls"
	"crypto/x509"
	"fmt"
	"net/http"
	"os"
	"slices"
	"strings"

	"mcptest/internal/client/auth"
	"mcptest/internal/client/wire"
	"mcptest/internal/process/proc"
	"mcptest/internal/spec/plan"
)

// Options are the parameters of a transport in addition to the server's definition.
type Options struct {
	Registry *proc.Registry
	Limits   wire.Limits
	Grace    proc.Grace

	OneEra    bool   // see [mcp.Options]
	Launcher  bool   // see [proc.Spec.Launcher]
	UserAgent string // HTTP
	Tokens    string // the file with user logins
	// Logins are shared by sessions that log in once; nil: each transport logs in by
	// itself.
	Logins *auth.Logins
	// Sessions are those that the command has opened so far; nil: they are not kept.
	Sessions *Sessions
	// Secret receives values that must not appear in any output (OAuth tokens); it
	// may be nil.
	Secret func(values ...string)
	// Wrap is [wire.HTTPOptions.Wrap].
	Wrap func(http.RoundTripper) http.RoundTripper
}

// NewLogins returns the shared logins of a run; see [Options].
func NewLogins() *auth.Logins { return auth.NewLogins() }

// Dial opens the transport of a server.
func Dial(ctx context.Context, s *plan.Server, o Options) (wire.Transport, error) {
	if s.Argv == nil {
		return dialHTTP(s, o)
	}
	spec := proc.Spec{
		Name:        s.Name,
		Argv:        slices.Concat(s.Argv, s.Added),
		Dir:         s.Dir,
		Env:         s.Env,
		Change:      s.Change,
		Prepare:     s.Prepare(),
		Registry:    o.Registry,
		OutputLimit: int64(o.Limits.Stderr),
		Launcher:    o.Launcher,
		Strays:      true,
	}
	// The process must outlive the handshake's deadline.
	return wire.NewStdio(context.WithoutCancel(ctx), spec, wire.StdioOptions{Limits: o.Limits, Grace: o.Grace})
}

// MakeHTTPOptions returns the options of a server's HTTP transport, without its headers
// and credentials.
func MakeHTTPOptions(s *plan.Server, o Options) wire.HTTPOptions {
	return wire.HTTPOptions{Kind: s.Transport, Limits: o.Limits, Retries: s.RetryHTTP, UserAgent: o.UserAgent, Wrap: o.Wrap}
}

// dialHTTP makes the transport of a server with an address.
func dialHTTP(s *plan.Server, o Options) (wire.Transport, error) {
	h := MakeHTTPOptions(s, o)
	h.Header = http.Header{}
	for _, kv := range s.Headers {
		h.Header.Add(kv.Name, kv.Value)
	}
	var err error
	if h.TLS, err = TLSConfig(s); err != nil {
		return nil, err
	}
	if s.Auth != nil && s.Auth.OAuth != nil {
		if h.Auth, err = newAuthorizer(s, o, h.TLS); err != nil {
			return nil, err
		}
	}
	return wire.NewHTTP(s.URL, h)
}

// newAuthorizer returns what gets the tokens of a server with auth.oauth.
func newAuthorizer(s *plan.Server, o Options, config *tls.Config) (*auth.Authorizer, error) {
	c := OAuth(s)
	c.TLS, c.Secret = config, o.Secret
	if o.Tokens != "" {
		c.Store = auth.OpenStore(o.Tokens)
	}
	trust := ""
	if s.TLS != nil {
		trust = fmt.Sprintf("%t %q", s.TLS.Insecure, s.TLS.CAFile)
	}
	return o.Logins.Get(c, trust)
}

// Authorize adds the server's headers and credentials to a request, as its transport
// does, and returns the TLS configuration for it.
func Authorize(req *http.Request, s *plan.Server, o Options) (*tls.Config, error) {
	for _, h := range s.Headers {
		req.Header.Add(h.Name, h.Value)
	}
	config, err := TLSConfig(s)
	if err == nil && s.Auth != nil && s.Auth.OAuth != nil {
		var a *auth.Authorizer
		if a, err = newAuthorizer(s, o, config); err == nil {
			err = a.Authorize(req.Context(), req)
		}
	}
	return config, err
}

// OAuth configures how a token is obtained for a server that has auth.oauth.
func OAuth(s *plan.Server) auth.Config {
	c := s.Auth.OAuth
	port := 0
	if c.RedirectPort != nil {
		port = *c.RedirectPort
	}
	return auth.Config{
		Grant: c.Grant, Resource: s.URL, ClientID: c.ClientID, ClientSecret: s.ClientSecret, TokenEndpoint: c.TokenEndpoint, Issuer: c.Issuer,
		ClientMetadataURL: c.ClientMetadataURL, Scopes: strings.Fields(c.Scope), RedirectPort: port, Headless: c.Headless,
		LoginCommand: s.LoginCommand(),
	}
}

// TLSConfig returns the TLS configuration of a server; nil means the system's
// defaults.
func TLSConfig(s *plan.Server) (*tls.Config, error) {
	if s.TLS == nil {
		return nil, nil
	}
	c := &tls.Config{InsecureSkipVerify: s.TLS.Insecure, MinVersion: tls.VersionTLS12}
	if s.TLS.CAFile == "" {
		return c, nil
	}
	pem, err := os.ReadFile(s.TLS.CAFile)
	if err != nil {
		return nil, fmt.Errorf("read tls.ca_file: %w", err)
	}
	if c.RootCAs, err = x509.SystemCertPool(); err != nil {
		c.RootCAs = x509.NewCertPool()
	}
	if !c.RootCAs.AppendCertsFromPEM(pem) {
		return nil, fmt.Errorf("tls.ca_file %s contains no certificate", s.TLS.CAFile)
	}
	return c, nil
}
