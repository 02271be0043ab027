package tee

import (
	"bytes"
	"cmp"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"strings"

	"mcptest/internal/tape/cassette"
)

// rewriteAddress returns an address that the server sends to a client as one of the proxy,
// which the client reached at host. An address of another server is unchanged, and
// reported.
func (p *Proxy) rewriteAddress(address, host string) string {
	u, err := url.Parse(address)
	if err != nil || u.Host == "" {
		return address // relative
	}
	u.Scheme = cmp.Or(u.Scheme, p.target.Scheme)
	if u.Scheme != p.target.Scheme || !strings.EqualFold(addPort(u), addPort(p.target)) {
		p.elsewhere.Do(func() {
			p.failed(fmt.Errorf("the server sends the client to %s, past the proxy: what the client sends there is not recorded", (&url.URL{
				Scheme: u.Scheme,
				Host:   u.Host,
				Path:   u.Path,
			}).String()))
		})
		return address
	}
	u.Scheme, u.Host = "http", host
	return u.String()
}

func addPort(u *url.URL) string {
	port := map[string]string{"http": "80", "https": "443"}[u.Scheme]
	return u.Hostname() + ":" + cmp.Or(u.Port(), port)
}

// rewriteRedirect changes the target of a redirect, and remembers that of the server's address.
func (p *Proxy) rewriteRedirect(res *http.Response, x *exchange) {
	to, err := res.Location()
	if err != nil || res.StatusCode/100 != 3 {
		return
	}
	login := res.StatusCode == http.StatusFound || res.StatusCode == http.StatusSeeOther // or another page
	if (x.endpoint || x.moved) && !login && addPort(to) == addPort(p.target) {
		p.mu.Lock()
		p.moved[to.Path] = true
		p.mu.Unlock()
	}
	res.Header.Set("Location", p.rewriteAddress(res.Header.Get("Location"), x.host))
}

// hasMoved reports whether the server's address redirects to a path.
func (p *Proxy) hasMoved(path string) bool {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.moved[path]
}

// maxEndpoint bounds the beginning of a stream of HTTP+SSE that is searched for the
// event with the address for messages.
const maxEndpoint = 64 << 10

// endpointBody changes the address for messages in the body of a stream of HTTP+SSE.
type endpointBody struct {
	io.ReadCloser
	address func(string) string
	in, out []byte
	found   bool
}

// Read reads from the body. The first events are passed on one at a time.
func (e *endpointBody) Read(b []byte) (int, error) {
	for len(e.out) == 0 && !e.found {
		part := make([]byte, 4096)
		n, err := e.ReadCloser.Read(part)
		e.in = append(e.in, part[:n]...)
		e.passLines(err != nil)
		if err != nil && len(e.out) == 0 {
			return 0, err
		}
	}
	if len(e.out) > 0 {
		n := copy(b, e.out)
		e.out = e.out[n:]
		return n, nil
	}
	return e.ReadCloser.Read(b)
}

// passLines moves complete events to the output, and everything once the address was found.
func (e *endpointBody) passLines(ended bool) {
	for !e.found {
		end := 0
		for _, blank := range []string{"\n\n", "\n\r\n", "\r\r"} {
			if at := bytes.Index(e.in, []byte(blank)); at >= 0 && (end == 0 || at+len(blank) < end) {
				end = at + len(blank)
			}
		}
		if end == 0 {
			e.found = ended || len(e.in) > maxEndpoint
			break
		}
		event := e.in[:end]
		e.in = e.in[end:]
		cassette.NewEvents().Feed(event, func(f cassette.Frame) {
			if e.found = f.Event.Type == "endpoint"; e.found {
				event = bytes.Replace(event, f.Data, []byte(e.address(string(f.Data))), 1)
			}
		})
		e.out = append(e.out, event...)
	}
	if e.found {
		e.out, e.in = append(e.out, e.in...), nil
	}
}
