package tee_test

import (
	"context"
	"net"
	"net/http"
	"net/http/httptest"
	"net/url"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"mcptest/internal/base/testkit"
	"mcptest/internal/tape/tee"
)

// Many servers close a connection that was idle for five seconds: a request that is
// sent as this happens fails.
func TestProxyDoesNotUseAConnectionThatTheServerMayClose(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		target, _ := url.Parse("http://localhost/mcp")
		var seen frames
		tap := tee.NewTap(seen.record)
		proxy := tee.NewProxy(target, false, tap, func(err error) { t.Error(err) })
		server, accepted := &http.Server{Handler: mcpServer()}, make(testkit.Listener)
		go func() { _ = server.Serve(accepted) }()
		dials := 0
		proxy.Dial(func(context.Context, string, string) (net.Conn, error) {
			dials++
			here, there := net.Pipe()
			accepted <- there
			return here, nil
		})
		for i := range 2 {
			w := httptest.NewRecorder()
			proxy.ServeHTTP(w, httptest.NewRequest(http.MethodPost, "http://localhost/mcp", strings.NewReader(`{"id":1,"method":"initialize"}`)))
			<-time.After(5 * time.Second)
			if w.Code != http.StatusOK || dials != i+1 {
				t.Errorf("request %d: status %d, %d connections", i+1, w.Code, dials)
			}
		}
		close(accepted)
		_ = server.Close()
		tap.Close()
	})
}
