package probe

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"net"
	"net/http"
	"net/http/httptrace"
	"net/url"
	"sync/atomic"
	"time"

	"mcptest/internal/base/web"
)

// checkLimit limits one check, so that a host that drops packets is tried again; it
// allows for a slow first response.
const checkLimit = 10 * time.Second

func checkTCP(ctx context.Context, addr string) (net.Addr, error) {
	d := net.Dialer{Timeout: checkLimit}
	conn, err := d.DialContext(ctx, "tcp", addr)
	if err != nil {
		return nil, short(ctx, err)
	}
	defer conn.Close()
	return conn.RemoteAddr(), nil
}

// checkHTTP sends one request. Status 200-399 is ready, and any below 500 of an MCP
// server; redirects are not followed.
// It does not read the body, which may be an endless stream, and uses no proxy.
func (p Probe) checkHTTP(ctx context.Context) (net.Addr, error) {
	ctx, cancel := context.WithTimeout(ctx, checkLimit)
	defer cancel()
	var peer atomic.Pointer[net.Addr]
	ctx = httptrace.WithClientTrace(ctx, &httptrace.ClientTrace{GotConn: func(i httptrace.GotConnInfo) {
		peer.Store(new(i.Conn.RemoteAddr()))
	}})
	req, err := http.NewRequestWithContext(ctx, http.MethodGet, p.url, nil)
	if err != nil {
		return nil, fmt.Errorf("make the request: %w", err)
	}
	req.Header.Set("Accept", "*/*")
	maps.Copy(req.Header, p.header)
	if host := req.Header.Get("Host"); host != "" {
		req.Host = host
	}
	client := http.Client{
		Transport:     &http.Transport{DisableKeepAlives: true, TLSClientConfig: p.tls},
		CheckRedirect: web.NoRedirect,
	}
	res, err := client.Do(req)
	if err != nil {
		if err = short(ctx, err); errors.Is(err, errSilent) && peer.Load() != nil {
			err = errMute
		}
		return nil, err
	}
	res.Body.Close()
	status := res.StatusCode
	switch {
	case p.ofServer && status < http.StatusInternalServerError:
	case p.ofServer:
		return nil, responsef("it responds with HTTP %s; any status below 500 would do, because it is the address of a server", res.Status)
	case status < 200 || status > 399:
		return nil, responsef("it responds with HTTP %s; 200 to 399 would do, and tcp://%s waits only for the port", res.Status, net.JoinHostPort(req.URL.Hostname(), portOf(req.URL)))
	}
	return *peer.Load(), nil
}

var (
	errSilent = errors.New("no response")
	errMute   = errors.New("it accepts connections, but does not respond")
)

// responseError says that a response came, and why it does not do.
type responseError struct{ text string }

func (e *responseError) Error() string { return e.text }

func responsef(format string, args ...any) error {
	return &responseError{fmt.Sprintf(format, args...)}
}

// short removes the parts of a network error that repeat the address.
func short(ctx context.Context, err error) error {
	if ctx.Err() != nil || errors.Is(err, context.DeadlineExceeded) || errors.Is(err, context.Canceled) {
		return errSilent
	}
	if ue, ok := errors.AsType[*url.Error](err); ok {
		err = ue.Err
	}
	if op, ok := errors.AsType[*net.OpError](err); ok && op.Err != nil {
		err = op.Err
	}
	return err
}
