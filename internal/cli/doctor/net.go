package doctor

import (
	"cmp"
	"context"
	"crypto/tls"
	"crypto/x509"
	"errors"
	"fmt"
	"net"
	"net/http"
	"net/url"
	"strings"
	"time"

	"mcptest/internal/base/web"
	"mcptest/internal/run/connect"
)

// The layers below MCP of a server with an address.

// netTime limits each of these layers.
const netTime = 10 * time.Second

// certificateSoon is the remaining validity of a certificate below which a warning is
// shown.
const certificateSoon = 14 * 24 * time.Hour

// listAddressSteps returns the steps below MCP. With a proxy, the name and connection
// examined are those of the proxy, and TLS is observed together with HTTP.
func (e *examination) listAddressSteps() []step {
	u, err := url.Parse(e.server.URL)
	if err != nil {
		return []step{func(context.Context) bool { return e.addFailure("dns", err) }}
	}
	n := &netCheck{examination: e, via: u}
	if proxy, err := http.ProxyFromEnvironment(&http.Request{URL: u}); err == nil && proxy != nil {
		n.via, n.proxied = proxy, true
	}
	steps := []step{n.checkDNS, n.checkTCP}
	if u.Scheme == "https" && !n.proxied {
		steps = append(steps, n.checkTLS)
	}
	return append(steps, n.checkHTTP, e.checkHandshake)
}

type netCheck struct {
	*examination
	via     *url.URL // the address to connect to
	proxied bool
}

// splitAddress returns the host and port to connect to.
func (n *netCheck) splitAddress() (host, port string) {
	byScheme := map[string]string{"http": "80", "https": "443", "socks5": "1080", "socks5h": "1080"}
	return n.via.Hostname(), cmp.Or(n.via.Port(), byScheme[n.via.Scheme])
}

func (n *netCheck) checkDNS(ctx context.Context) bool {
	host, _ := n.splitAddress()
	l := Layer{Name: "dns", State: OK}
	if n.proxied {
		l.Details = []string{"through the proxy " + n.via.Redacted() + " (HTTP_PROXY, HTTPS_PROXY)"}
	}
	if net.ParseIP(host) != nil {
		l.Message = host + " is an IP address"
		return n.addLayer(l)
	}
	ctx, cancel := context.WithTimeout(ctx, netTime)
	defer cancel()
	start := time.Now()
	addrs, err := net.DefaultResolver.LookupHost(ctx, host)
	l.Took = time.Since(start)
	if err != nil {
		l.State = Fail
		l.Message, l.Hint = connect.Diagnose(n.server, err)
		return n.addLayer(l)
	}
	l.Message = host + " is " + strings.Join(addrs[:min(len(addrs), 4)], ", ")
	return n.addLayer(l)
}

func (n *netCheck) checkTCP(ctx context.Context) bool {
	host, port := n.splitAddress()
	ctx, cancel := context.WithTimeout(ctx, netTime)
	defer cancel()
	start := time.Now()
	conn, err := (&net.Dialer{}).DialContext(ctx, "tcp", net.JoinHostPort(host, port))
	l := Layer{Name: "tcp", State: OK, Took: time.Since(start)}
	if err == nil {
		l.Message = "connected to " + conn.RemoteAddr().String()
		_ = conn.Close()
		return n.addLayer(l)
	}
	l.State = Fail
	l.Message, l.Hint = connect.Diagnose(n.server, err)
	if errors.Is(err, context.DeadlineExceeded) {
		l.Message = fmt.Sprintf("no connection to %s within %s", net.JoinHostPort(host, port), netTime)
		l.Hint = "a firewall may be dropping packets, or the machine is down"
	}
	return n.addLayer(l)
}

func (n *netCheck) checkTLS(ctx context.Context) bool {
	config, err := connect.TLSConfig(n.server)
	if err != nil {
		return n.addFailure("tls", err)
	}
	config = cmp.Or(config, &tls.Config{MinVersion: tls.VersionTLS12})
	host, port := n.splitAddress()
	ctx, cancel := context.WithTimeout(ctx, netTime)
	defer cancel()
	start := time.Now()
	conn, err := (&tls.Dialer{Config: config}).DialContext(ctx, "tcp", net.JoinHostPort(host, port))
	l := Layer{Name: "tls", State: OK, Took: time.Since(start)}
	if err != nil {
		l.State = Fail
		l.Message, l.Hint = connect.Diagnose(n.server, err)
		return n.addLayer(l)
	}
	defer conn.Close()
	c, ok := conn.(*tls.Conn)
	if !ok {
		return n.addLayer(l)
	}
	state := c.ConnectionState()
	l.Message = tls.VersionName(state.Version)
	if len(state.PeerCertificates) > 0 {
		leaf := state.PeerCertificates[0]
		l.Message += fmt.Sprintf(", certificate for %s valid until %s", nameCertificate(leaf), leaf.NotAfter.UTC().Format("2006-01-02"))
		if left := time.Until(leaf.NotAfter); left < certificateSoon {
			l.State, l.Hint = Warn, fmt.Sprintf("the certificate expires in %.0f days", left.Hours()/24)
		}
	}
	if config.InsecureSkipVerify {
		l.State, l.Hint = Warn, "the certificate was not verified (--insecure)"
	}
	return n.addLayer(l)
}

func nameCertificate(c *x509.Certificate) string {
	if len(c.DNSNames) > 0 {
		return c.DNSNames[0]
	}
	return c.Subject.CommonName
}

// checkHTTP sends a GET request. Any HTTP response is accepted, as MCP does not begin with
// GET.
func (n *netCheck) checkHTTP(ctx context.Context) bool {
	config, err := connect.TLSConfig(n.server)
	if err != nil {
		return n.addFailure("http", err)
	}
	ctx, cancel := context.WithTimeout(ctx, netTime)
	defer cancel()
	req, err := http.NewRequestWithContext(ctx, http.MethodGet, n.server.URL, nil)
	if err != nil {
		return n.addFailure("http", err)
	}
	req.Header.Set("Accept", "text/event-stream")
	req.Header.Set("User-Agent", n.Connect.UserAgent)
	for _, h := range n.server.Headers {
		req.Header.Set(h.Name, h.Value)
	}
	transport := web.Once(config)
	defer transport.CloseIdleConnections()
	start := time.Now()
	resp, err := transport.RoundTrip(req)
	l := Layer{Name: "http", State: OK, Took: time.Since(start)}
	if err != nil {
		l.State = Fail
		l.Message, l.Hint = connect.Diagnose(n.server, err)
		return n.addLayer(l)
	}
	defer resp.Body.Close()
	l.Message = fmt.Sprintf("%s, GET returned %d %s", resp.Proto, resp.StatusCode, http.StatusText(resp.StatusCode))
	if server := resp.Header.Get("Server"); server != "" {
		l.Message += " by " + server
	}
	switch {
	case resp.StatusCode >= 500:
		l.State, l.Hint = Warn, "the server, or a proxy in front of it, failed: check its log"
	case resp.StatusCode >= 300 && resp.StatusCode < 400:
		l.State, l.Hint = Warn, "it redirects to "+resp.Header.Get("Location")+": use that address if it is the right one"
	}
	return n.addLayer(l)
}
