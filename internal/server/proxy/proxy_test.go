package proxy

import (
	"bufio"
	"crypto/tls"
	"crypto/x509"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"net/url"
	"os"
	"os/exec"
	"slices"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"mcptest/internal/server/upstream"
)

// problems collects the problems that a proxy reports.
type problems struct {
	mu   sync.Mutex
	list []Problem
	more chan struct{}
}

func (p *problems) add(x Problem) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.list = append(p.list, x)
	select {
	case p.more <- struct{}{}:
	default:
	}
}

// expect waits for one more problem.
func (p *problems) expect(t *testing.T, kind, host, text string) {
	t.Helper()
	select {
	case <-p.more:
	case <-time.After(time.Minute):
		t.Fatalf("no problem of kind %s was reported", kind)
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	last := p.list[len(p.list)-1]
	if last.Kind != kind || last.Host != host || !strings.Contains(last.Message, text) {
		t.Errorf("got %+v, expected %s %s %s", last, kind, host, text)
	}
}

// host answers requests and records those that the proxy refused.
type host struct {
	mu      sync.Mutex
	refused []string
}

func (h *host) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	if r.Header.Get("Upgrade") != "" {
		w.WriteHeader(http.StatusNotImplemented)
	}
	fmt.Fprintf(w, "%s %s%s", r.Method, r.Host, r.URL)
}

func (h *host) Refuse(r upstream.Refusal) {
	h.mu.Lock()
	defer h.mu.Unlock()
	line, _, _ := strings.Cut(r.Head, "\r\n")
	h.refused = append(h.refused, fmt.Sprintf("%d %s", r.Status, line))
}

func start(t *testing.T, o Options) (*Proxy, *problems) {
	t.Helper()
	seen := &problems{more: make(chan struct{}, 1)}
	o.Report = seen.add
	if o.Hosts == nil {
		o.Hosts = map[string]Host{"api.example.com": &host{}}
	}
	p, err := Start(o)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(p.Close)
	return p, seen
}

// client returns an HTTP client that uses the proxy and the certificates in its
// variables.
func client(t *testing.T, p *Proxy, change func(*tls.Config)) *http.Client {
	t.Helper()
	pool := x509.NewCertPool()
	for _, kv := range p.Environ() {
		if file, ok := strings.CutPrefix(kv, "SSL_CERT_FILE="); ok {
			data, err := os.ReadFile(file)
			if err != nil || !pool.AppendCertsFromPEM(data) {
				t.Fatal("no certificate", err)
			}
			if strings.Contains(string(data), "PRIVATE") {
				t.Error("the file has a private key")
			}
		}
	}
	config := &tls.Config{RootCAs: pool}
	if change != nil {
		change(config)
	}
	transport := &http.Transport{Proxy: http.ProxyURL(&url.URL{Scheme: "http", Host: p.Addr()}), TLSClientConfig: config}
	t.Cleanup(transport.CloseIdleConnections)
	return &http.Client{Transport: transport, Timeout: 20 * time.Second}
}

func get(t *testing.T, c *http.Client, address string) (int, string) {
	t.Helper()
	res, err := c.Get(address)
	if err != nil {
		return 0, err.Error()
	}
	defer res.Body.Close()
	body, err := io.ReadAll(res.Body)
	if err != nil {
		t.Fatal(err)
	}
	return res.StatusCode, string(body)
}

func TestRequests(t *testing.T) {
	p, seen := start(t, Options{})
	c := client(t, p, nil)
	for _, address := range []string{"https://api.example.com/a?b=1", "https://API.example.com:443/x", "http://api.example.com/y"} {
		if status, body := get(t, c, address); status != 200 || !strings.HasPrefix(strings.ToLower(body), "get api.example.com/") {
			t.Errorf("%s: %d %s", address, status, body)
		}
	}
	for _, address := range []string{"https://other.example.com/", "http://other.example.com/", "https://169.254.169.254/latest"} {
		status, body := get(t, c, address)
		if status != 502 && !strings.Contains(body, "Bad Gateway") {
			t.Errorf("%s: %d %s", address, status, body)
		}
		u, _ := url.Parse(address)
		host := u.Host
		if u.Scheme == "https" {
			host += ":443"
		}
		seen.expect(t, Undeclared, host, "the proxy responded with 502")
	}
	get(t, c, "https://other.example.com/again")
	seen.mu.Lock()
	defer seen.mu.Unlock()
	if len(seen.list) != 3 {
		t.Errorf("the same host is reported again: %v", seen.list)
	}
}

// Requests that the proxy refuses are requests for their host.
func TestRefusals(t *testing.T) {
	const badHeader = " HTTP/1.1\r\nHost: api.example.com\r\nBad Name: 1\r\n\r\n"
	h := &host{}
	p, seen := start(t, Options{Hosts: map[string]Host{"api.example.com": h}})
	for _, tt := range []struct{ tunnel, sent, want string }{
		{"", "GET http://api.example.com/a" + badHeader, "400 GET http://api.example.com/a HTTP/1.1"},
		{"", "GET http://user:pw@api.example.com/a" + badHeader, "400 GET http://user:pw@api.example.com/a HTTP/1.1"},
		{"", "GET /a HTTP/1.1\r\nHost: api.example.com\r\n\r\n", "400 GET /a\nHost: api.example.com"},
		{"", "OPTIONS * HTTP/1.1\r\nHost: api.example.com\r\n\r\n", "400 OPTIONS *\nHost: api.example.com"},
		{"api.example.com:80", "GET /b" + badHeader, "400 GET /b HTTP/1.1"},
		{"api.example.com:443", "POST /c HTTP/1.1\r\nHost: api.example.com\r\nExpect: magic\r\n\r\n", "417 POST /c HTTP/1.1"},
		{"api.example.com:80", "PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n", "505 PRI *"},
	} {
		var conn net.Conn
		if tt.tunnel != "" {
			conn = connectTo(t, p, tt.tunnel)
		} else {
			var err error
			if conn, err = net.Dial("tcp", p.Addr()); err != nil {
				t.Fatal(err)
			}
		}
		if strings.HasSuffix(tt.tunnel, "443") {
			conn = tls.Client(conn, &tls.Config{ServerName: "api.example.com", InsecureSkipVerify: true})
		}
		fmt.Fprint(conn, tt.sent)
		_, _ = conn.Read(make([]byte, 100))
		conn.Close()
		h.mu.Lock()
		if got := strings.Join(h.refused, ", "); got != tt.want {
			t.Errorf("%q: %q, expected %q", tt.sent, got, tt.want)
		}
		h.refused = nil
		h.mu.Unlock()
	}
	for sent, want := range map[string]string{"GET http://other.example.com/a" + badHeader: Undeclared, "nothing like a request, at all\r\n\r\n": Unsupported} {
		conn, err := net.Dial("tcp", p.Addr())
		if err != nil {
			t.Fatal(err)
		}
		fmt.Fprint(conn, sent)
		_, _ = conn.Read(make([]byte, 100))
		conn.Close()
		seen.mu.Lock()
		if !slices.ContainsFunc(seen.list, func(x Problem) bool { return x.Kind == want }) {
			t.Errorf("%q: %+v", sent, seen.list)
		}
		seen.mu.Unlock()
	}
}

// Some clients ask a proxy for an https address without a tunnel.
func TestAbsolute(t *testing.T) {
	p, _ := start(t, Options{})
	conn, err := net.Dial("tcp", p.Addr())
	if err != nil {
		t.Fatal(err)
	}
	defer conn.Close()
	fmt.Fprintf(conn, "GET https://api.example.com/abs HTTP/1.1\r\nHost: api.example.com\r\n\r\n")
	res, err := http.ReadResponse(bufio.NewReader(conn), nil)
	if err != nil {
		t.Fatal(err)
	}
	defer res.Body.Close()
	if body, _ := io.ReadAll(res.Body); string(body) != "GET api.example.com/abs" {
		t.Errorf("got %s", body)
	}
}

func TestNamedProblems(t *testing.T) {
	t.Run("pinning", func(t *testing.T) {
		p, seen := start(t, Options{})
		get(t, client(t, p, func(c *tls.Config) { c.RootCAs = x509.NewCertPool() }), "https://api.example.com/")
		seen.expect(t, Untrusted, "api.example.com", "pinning")
	})
	t.Run("HTTP/2 only", func(t *testing.T) {
		p, seen := start(t, Options{})
		get(t, client(t, p, func(c *tls.Config) { c.NextProtos = []string{"h2"} }), "https://api.example.com/")
		seen.expect(t, Unsupported, "api.example.com", "HTTP/2")
	})
	t.Run("HTTP/2 without TLS", func(t *testing.T) {
		p, seen := start(t, Options{})
		conn := connectTo(t, p, "api.example.com:80")
		fmt.Fprint(conn, "PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n")
		seen.expect(t, Unsupported, "api.example.com", "HTTP/2")
	})
	t.Run("WebSocket", func(t *testing.T) {
		p, seen := start(t, Options{})
		c := client(t, p, nil)
		req, _ := http.NewRequest("GET", "https://api.example.com/socket", nil)
		req.Header.Set("Upgrade", "websocket")
		req.Header.Set("Connection", "Upgrade")
		res, err := c.Do(req)
		if err != nil {
			t.Fatal(err)
		}
		res.Body.Close()
		if res.StatusCode != 501 {
			t.Errorf("got %d", res.StatusCode)
		}
		seen.expect(t, Unsupported, "api.example.com", "WebSocket")
	})
	t.Run("no HTTP", func(t *testing.T) {
		p, seen := start(t, Options{})
		conn := connectTo(t, p, "api.example.com:443")
		fmt.Fprint(conn, "\x00\x03\x00\x01user\x00postgres\x00database\x00x\x00\x00\r\n\r\n")
		seen.expect(t, Unsupported, "api.example.com", "that is not HTTP")
	})
	t.Run("no HTTP in TLS", func(t *testing.T) {
		p, seen := start(t, Options{})
		conn := tls.Client(connectTo(t, p, "api.example.com:443"), &tls.Config{ServerName: "api.example.com", InsecureSkipVerify: true})
		fmt.Fprint(conn, "EHLO me\r\n\r\n")
		seen.expect(t, Unsupported, "api.example.com", "that is not HTTP")
	})
	t.Run("another port", func(t *testing.T) {
		p, seen := start(t, Options{})
		if _, body := get(t, client(t, p, nil), "https://api.example.com:8443/"); !strings.Contains(body, "Bad Gateway") {
			t.Error(body)
		}
		seen.expect(t, Undeclared, "api.example.com:8443", "not declared as an upstream")
		if status, _ := get(t, client(t, p, nil), "http://api.example.com:8443/"); status != 502 {
			t.Error(status)
		}
		for _, address := range []string{"https://api.example.com/", "http://api.example.com/", "https://api.example.com:443/"} {
			if status, body := get(t, client(t, p, nil), address); status != 200 {
				t.Errorf("%s: %d %s", address, status, body)
			}
		}
	})
	t.Run("declared port", func(t *testing.T) {
		p, seen := start(t, Options{Ports: map[string]string{"api.example.com": "8443"}})
		if status, body := get(t, client(t, p, nil), "https://api.example.com:8443/"); status != 200 {
			t.Error(status, body)
		}
		get(t, client(t, p, nil), "https://api.example.com/")
		seen.expect(t, Undeclared, "api.example.com:443", "not declared as an upstream")
	})
	t.Run("undeclared name in TLS", func(t *testing.T) {
		p, seen := start(t, Options{})
		get(t, client(t, p, func(c *tls.Config) { c.ServerName = "evil.example.com" }), "https://api.example.com/")
		seen.expect(t, Undeclared, "evil.example.com", "not declared as an upstream")
	})
}

// connectTo opens a tunnel by hand.
func connectTo(t *testing.T, p *Proxy, addr string) net.Conn {
	t.Helper()
	conn, err := net.Dial("tcp", p.Addr())
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { conn.Close() })
	fmt.Fprintf(conn, "CONNECT %s HTTP/1.1\r\nHost: %[1]s\r\n\r\n", addr)
	res, err := http.ReadResponse(bufio.NewReader(conn), &http.Request{Method: "CONNECT"})
	if err != nil || res.StatusCode != 200 {
		t.Fatal(res, err)
	}
	return conn
}

// The wait for a program that sends nothing through its tunnel has a limit.
func TestSilence(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		ours, theirs := net.Pipe()
		defer theirs.Close()
		var got []Problem
		p := &Proxy{options: Options{Report: func(x Problem) { got = append(got, x) }}}
		began := time.Now()
		p.tunnel(&peeked{ours, bufio.NewReader(ours)}, "db.example.com")
		if len(got) != 1 || got[0].Kind != Unsupported || time.Since(began) != handshakeTime {
			t.Errorf("got %v after %s", got, time.Since(began))
		}
	})
}

// The authority can certify only the declared hosts, for one day.
func TestConstraints(t *testing.T) {
	for _, hosts := range [][]string{{"api.example.com", "10.1.2.3"}, {"api.example.com"}, {"10.1.2.3"}} {
		ca, err := newAuthority(hosts)
		if err != nil {
			t.Fatal(err)
		}
		roots := x509.NewCertPool()
		roots.AddCert(ca.cert)
		for _, host := range []string{"api.example.com", "10.1.2.3", "www.example.com", "example.com", "10.1.2.4", "::1"} {
			leaf, err := ca.leaf(host)
			if err != nil {
				t.Fatal(err)
			}
			cert, err := x509.ParseCertificate(leaf.Certificate[0])
			if err != nil {
				t.Fatal(err)
			}
			_, err = cert.Verify(x509.VerifyOptions{Roots: roots, DNSName: host})
			if declared := slices.Contains(hosts, host); (err == nil) != declared {
				t.Errorf("hosts %v, certificate for %s: %v", hosts, host, err)
			}
			if cert.NotAfter.Sub(cert.NotBefore) > lifetime {
				t.Errorf("valid for %s", cert.NotAfter.Sub(cert.NotBefore))
			}
		}
	}
}

// The address of another double on this machine can be reached through the proxy.
func TestPass(t *testing.T) {
	other := httptest.NewTLSServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) { fmt.Fprint(w, "other") }))
	defer other.Close()
	addr := other.Listener.Addr().String()
	p, _ := start(t, Options{Pass: func(a string) bool { return a == addr }})
	conn := tls.Client(connectTo(t, p, addr), &tls.Config{InsecureSkipVerify: true})
	fmt.Fprint(conn, "GET / HTTP/1.0\r\n\r\n")
	if body, err := io.ReadAll(conn); err != nil || !strings.HasSuffix(string(body), "other") {
		t.Errorf("%s %v", body, err)
	}
}

// A request to such an address without a tunnel keeps its headers.
func TestPassHeaders(t *testing.T) {
	got := make(chan http.Header, 1)
	other := httptest.NewServer(http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) { got <- r.Header }))
	defer other.Close()
	addr := other.Listener.Addr().String()
	p, _ := start(t, Options{Pass: func(a string) bool { return a == addr }})
	q, err := http.NewRequest(http.MethodGet, other.URL, nil)
	if err != nil {
		t.Fatal(err)
	}
	names := []string{"Forwarded", "X-Forwarded-For", "X-Forwarded-Host", "X-Forwarded-Proto"}
	for _, name := range names {
		q.Header.Set(name, "as sent")
	}
	res, err := client(t, p, nil).Do(q)
	if err != nil {
		t.Fatal(err)
	}
	res.Body.Close()
	header := <-got
	for _, name := range names {
		if values := header[name]; !slices.Equal(values, []string{"as sent"}) {
			t.Errorf("%s: %q", name, values)
		}
	}
}

// A closed proxy leaves nothing: no file, no port, no open tunnel.
func TestClose(t *testing.T) {
	p, _ := start(t, Options{})
	conn := connectTo(t, p, "api.example.com:443")
	p.Close()
	if _, err := conn.Read(make([]byte, 1)); err == nil {
		t.Error("the tunnel is open")
	}
	if _, err := os.Stat(p.folder); !os.IsNotExist(err) {
		t.Errorf("the folder is there: %v", err)
	}
	if c, err := net.Dial("tcp", p.Addr()); err == nil {
		c.Close()
		t.Error("the port is open")
	}
}

// Common programs use the variables.
func TestPrograms(t *testing.T) {
	p, _ := start(t, Options{})
	for name, argv := range map[string][]string{
		"curl":   {"curl", "-sS", "https://api.example.com/c"},
		"python": {"python3", "-c", "import urllib.request as u; print(u.urlopen('https://api.example.com/c').read().decode())"},
		"git":    {"git", "ls-remote", "https://api.example.com/c"},
	} {
		path, err := exec.LookPath(argv[0])
		if err != nil {
			t.Logf("%s is not installed", argv[0])
			continue
		}
		cmd := exec.Command(path, argv[1:]...)
		cmd.Env = append(os.Environ(), p.Environ()...)
		out, err := cmd.CombinedOutput()
		if err != nil || name != "git" && strings.TrimSpace(string(out)) != "GET api.example.com/c" {
			t.Errorf("%s: %s %v", name, out, err)
		}
	}
}
