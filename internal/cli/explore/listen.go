package explore

import (
	"errors"
	"net"
	"net/http"
	"strconv"
	"time"
)

// listen listens on a port of this machine, 0 for a free one, over IPv4 and, if there is
// one, IPv6.
func listen(port int) ([]net.Listener, int, error) {
	four, err := net.Listen("tcp4", net.JoinHostPort("127.0.0.1", strconv.Itoa(port)))
	if err != nil {
		return nil, 0, err
	}
	port = four.Addr().(*net.TCPAddr).Port
	list := []net.Listener{four}
	if six, err := net.Listen("tcp6", net.JoinHostPort("::1", strconv.Itoa(port))); err == nil {
		list = append(list, six)
	}
	return list, port, nil
}

// serve answers requests until the server is closed.
func serve(listeners []net.Listener, handler http.Handler) *http.Server {
	server := &http.Server{Handler: handler, ReadHeaderTimeout: 10 * time.Second, MaxHeaderBytes: 64 << 10}
	for _, l := range listeners {
		go func() {
			if err := server.Serve(l); !errors.Is(err, http.ErrServerClosed) {
				_ = l.Close()
			}
		}()
	}
	return server
}
