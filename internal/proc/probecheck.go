package proc

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/url"
	"time"
)

// checkLimit bounds one look, so that a host that swallows packets is asked
// again; a slow first answer still fits.
const checkLimit = 10 * time.Second

func checkTCP(ctx context.Context, addr string) error {
	d := net.Dialer{Timeout: checkLimit}
	conn, err := d.DialContext(ctx, "tcp", addr)
	if err != nil {
		return short(err)
	}
	return conn.Close()
}

// checkHTTP asks once. 200-399 is ready, so a redirect is an answer and is
// never followed, to wherever it points. No proxy is used.
func checkHTTP(ctx context.Context, target string) error {
	ctx, cancel := context.WithTimeout(ctx, checkLimit)
	defer cancel()
	req, err := http.NewRequestWithContext(ctx, http.MethodGet, target, nil)
	if err != nil {
		return fmt.Errorf("make the request: %w", err)
	}
	req.Header.Set("Accept", "*/*")
	client := http.Client{
		Transport:     &http.Transport{DisableKeepAlives: true},
		CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse },
	}
	res, err := client.Do(req)
	if err != nil {
		return short(err)
	}
	defer res.Body.Close()
	_, _ = io.CopyN(io.Discard, res.Body, 4<<10)
	if res.StatusCode < 200 || res.StatusCode > 399 {
		return fmt.Errorf("it answers HTTP %s", res.Status)
	}
	return nil
}

var errSilent = errors.New("no answer")

// short drops the parts of a network error that repeat the address.
func short(err error) error {
	if errors.Is(err, context.DeadlineExceeded) || errors.Is(err, context.Canceled) {
		return errSilent
	}
	var ue *url.Error
	if errors.As(err, &ue) {
		err = ue.Err
	}
	var op *net.OpError
	if errors.As(err, &op) && op.Err != nil {
		err = op.Err
	}
	return err
}
