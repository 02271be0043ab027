package web

import (
	"crypto/tls"
	"errors"
	"fmt"
	"net"
	"net/http"
	"net/http/httputil"
	"strings"
	"time"
)

// KeepIdle limits how long an unused connection is kept: many servers close theirs after
// 5 s, and a request sent at that moment fails.
const KeepIdle = 4 * time.Second

// Once returns a transport for single requests: it keeps no connection.
func Once(config *tls.Config) *http.Transport {
	return &http.Transport{Proxy: http.ProxyFromEnvironment, TLSClientConfig: config, ForceAttemptHTTP2: true, DisableKeepAlives: true}
}

// NewForwarding returns a transport that passes data on as the server sends it.
func NewForwarding() *http.Transport {
	t := http.DefaultTransport.(*http.Transport).Clone()
	t.DisableCompression, t.IdleConnTimeout = true, KeepIdle
	return t
}

// NoRedirect is a CheckRedirect that returns the redirect as the response.
func NoRedirect(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }

// CheckSameOrigin is a CheckRedirect that rejects redirects that leave the
// origin, because requests contain credentials, and more than five.
func CheckSameOrigin(req *http.Request, via []*http.Request) error {
	first := via[0].URL
	switch {
	case len(via) > 5:
		return errors.New("more than 5 redirects")
	case req.URL.Scheme != first.Scheme || req.URL.Host != first.Host:
		return fmt.Errorf("%s://%s redirects to another origin, which is not followed", first.Scheme, first.Host)
	}
	return nil
}

// ForwardUnchanged keeps what a reverse proxy would change in a request.
func ForwardUnchanged(r *httputil.ProxyRequest) {
	r.Out.URL.RawQuery = r.In.URL.RawQuery // also if it is malformed
	for _, name := range []string{"Forwarded", "X-Forwarded-For", "X-Forwarded-Host", "X-Forwarded-Proto"} {
		if values, ok := r.In.Header[name]; ok {
			r.Out.Header[name] = values
		}
	}
}

// IsLoopback reports whether a host is this machine.
func IsLoopback(host string) bool {
	return strings.EqualFold(host, "localhost") || net.ParseIP(host).IsLoopback()
}

// Paced returns a wrapper of transports that sends one request in each pause, around
// another one that may be nil.
func Paced(pause time.Duration, wrap func(http.RoundTripper) http.RoundTripper) func(http.RoundTripper) http.RoundTripper {
	tick := time.Tick(pause)
	return func(next http.RoundTripper) http.RoundTripper {
		if wrap != nil {
			next = wrap(next)
		}
		return roundTripper(func(req *http.Request) (*http.Response, error) {
			select {
			case <-tick:
				return next.RoundTrip(req)
			case <-req.Context().Done():
				return nil, req.Context().Err()
			}
		})
	}
}

type roundTripper func(*http.Request) (*http.Response, error)

func (f roundTripper) RoundTrip(req *http.Request) (*http.Response, error) { return f(req) }
