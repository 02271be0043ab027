package auth

import (
	"context"
	"errors"
	"fmt"
	"html"
	"io"
	"log"
	"net"
	"net/http"
	"net/url"
	"strconv"
	"time"
)

// comeback is a local HTTP server for the redirect that ends a login (RFC 8252,
// section 7.3).
type comeback struct {
	address string
	server  *http.Server
	answers chan url.Values
	states  chan string   // expected state of the next response
	ended   chan struct{} // is closed at the end of the login
	failed  error         // why it failed; set before ended is closed
}

// listenBack listens on a loopback port; 0 selects any free one.
func listenBack(ctx context.Context, port int) (*comeback, error) {
	l, err := (&net.ListenConfig{}).Listen(ctx, "tcp", net.JoinHostPort("127.0.0.1", strconv.Itoa(port)))
	if err != nil {
		return nil, fmt.Errorf("listen for the end of the login: %w", err)
	}
	c := &comeback{
		address: fmt.Sprintf("http://%s/callback", l.Addr()),
		answers: make(chan url.Values, 1), states: make(chan string, 1), ended: make(chan struct{}),
	}
	mux := http.NewServeMux()
	mux.HandleFunc("GET /callback", c.handleCallback)
	c.server = &http.Server{Handler: mux, ReadHeaderTimeout: requestTime, MaxHeaderBytes: 64 << 10, ErrorLog: log.New(io.Discard, "", 0)}
	go func() { _ = c.server.Serve(l) }()
	return c, nil
}

// handleCallback handles the redirect of the current login. Any program can send a request
// to this port, so requests with another state are ignored.
func (c *comeback) handleCallback(w http.ResponseWriter, r *http.Request) {
	h := w.Header()
	h.Set("Content-Type", "text/html; charset=utf-8")
	h.Set("Content-Security-Policy", "default-src 'none'")
	h.Set("Cache-Control", "no-store")
	h.Set("Referrer-Policy", "no-referrer")
	q := r.URL.Query()
	select {
	case state := <-c.states:
		if q.Get("state") != state {
			c.states <- state
			break
		}
		c.answers <- q
		<-c.ended // the code is exchanged for a token only now
		e := q.Get("error")
		switch {
		case e != "":
			writePage(w, http.StatusOK, "The login was refused: "+e+". See the terminal for details.")
		case c.failed != nil:
			writePage(w, http.StatusOK, "The login failed. See the terminal for details.")
		default:
			writePage(w, http.StatusOK, "You are logged in. This window can be closed.")
		}
		return
	default:
	}
	writePage(w, http.StatusBadRequest, "mcptest is not waiting for this login.")
}

func writePage(w http.ResponseWriter, status int, text string) {
	w.WriteHeader(status)
	_, _ = fmt.Fprintf(w, "<!doctype html><title>mcptest</title><p>%s</p>\n", html.EscapeString(text))
}

// wait opens the address of the login and waits for its end.
func (c *comeback) wait(ctx context.Context, start string, open func(string)) (url.Values, error) {
	u, err := url.Parse(start)
	if err != nil || u.Scheme != "https" && u.Scheme != "http" {
		return nil, errors.New("the address of the login is not a web address")
	}
	c.states <- u.Query().Get("state")
	open(start)
	select {
	case q := <-c.answers:
		return q, nil
	case <-ctx.Done():
		return nil, fmt.Errorf("not logged in: %w", context.Cause(ctx))
	}
}

// close tells the browser how the login ended, and stops listening.
func (c *comeback) close(err error) {
	c.failed = err
	close(c.ended)
	ctx, cancel := context.WithTimeout(context.Background(), time.Second)
	defer cancel()
	if c.server.Shutdown(ctx) != nil {
		_ = c.server.Close()
	}
}
