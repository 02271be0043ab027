package cli_test

import (
	"fmt"
	"io"
	"log"
	"net"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// An address with the scheme of the other kind of port is recognized from what the
// server says or does.
func TestWrongScheme(t *testing.T) {
	t.Parallel()
	plain := httptest.NewServer(http.NotFoundHandler())
	defer plain.Close()
	tls := httptest.NewUnstartedServer(http.NotFoundHandler())
	tls.Config.ErrorLog = log.New(io.Discard, "", 0)
	tls.StartTLS()
	defer tls.Close()
	mute, err := net.Listen("tcp", "127.0.0.1:0") // closes connections without a word, as Node does
	if err != nil {
		t.Fatal(err)
	}
	defer mute.Close()
	go func() {
		for c, err := mute.Accept(); err == nil; c, err = mute.Accept() {
			_, _ = c.Read(make([]byte, 1))
			_ = c.(*net.TCPConn).CloseWrite()
			_, _ = io.Copy(io.Discard, c)
			_ = c.Close()
		}
	}()
	for url, want := range map[string]string{
		strings.Replace(plain.URL, "http:", "https:", 1): "the server does not speak TLS; did you mean http://?",
		strings.Replace(tls.URL, "https:", "http:", 1):   "the server speaks TLS; write https://",
		"http://" + mute.Addr().String():                 "A server on HTTPS needs https://",
	} {
		suite := filepath.Join(t.TempDir(), "suite.yml")
		text := fmt.Sprintf("servers: {api: {url: %q}}\ntools: [{name: a, tool: x}]\n", url+"/mcp")
		if err := os.WriteFile(suite, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		if code, out, _ := runCLI("run", suite); code != 1 || !strings.Contains(out, want) {
			t.Errorf("%s: exit code %d, want %q:\n%s", url, code, want, out)
		}
	}
}
