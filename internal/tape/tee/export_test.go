package tee

import (
	"context"
	"net"
	"net/http"
)

// SetLimit limits the bytes that wait to be recorded.
func (t *Tap) SetLimit(n int) { t.limit = n }

// Dial sets how connections to the server are opened.
func (p *Proxy) Dial(dial func(ctx context.Context, network, addr string) (net.Conn, error)) {
	p.proxy.Transport.(*http.Transport).DialContext = dial
}
