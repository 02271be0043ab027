package cli_test

import (
	"bytes"
	"encoding/json"
	"encoding/pem"
	"io"
	"log"
	"net"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"mcptest/internal/cli"
	"mcptest/internal/cli/cmdutil"
)

// runCLI runs mcptest in this process.
func runCLI(args ...string) (code int, stdout, stderr string) {
	var out, errs bytes.Buffer
	code = cli.Main(args, cmdutil.Streams{In: strings.NewReader(""), Out: &out, Err: &errs, Env: os.Environ(), Exit: func(int) {}})
	return code, out.String(), errs.String()
}

// diagnosis is the output of doctor --json.
type diagnosis struct {
	OK     bool `json:"ok"`
	Layers []struct {
		Layer, Status, Message, Hint string
		Details                      []string
	} `json:"layers"`
	StoppedAt string `json:"stopped_at"`
}

func diagnose(t *testing.T, args ...string) (diagnosis, int) {
	t.Helper()
	code, out, errs := runCLI(append([]string{"doctor", "--json"}, args...)...)
	var d diagnosis
	if err := json.Unmarshal([]byte(out), &d); err != nil {
		t.Fatalf("doctor %v: exit %d, output %q, %q: %v", args, code, out, errs, err)
	}
	return d, code
}

// states returns the layers as "dns:ok tcp:fail".
func (d diagnosis) states() string {
	var out []string
	for _, l := range d.Layers {
		out = append(out, l.Layer+":"+l.Status)
	}
	return strings.Join(out, " ")
}

func (d diagnosis) text() string {
	var b strings.Builder
	for _, l := range d.Layers {
		b.WriteString(l.Layer + ": " + l.Message + " | " + l.Hint + " | " + strings.Join(l.Details, "; ") + "\n")
	}
	return b.String()
}

const (
	stateless = "http:ok auth:ok handshake:ok protocol:ok list:ok schemas:warn messages:ok"
	wholeURL  = "http:ok auth:ok handshake:ok protocol:ok list:ok schemas:warn second:ok messages:ok"
)

func TestDoctorOfAddresses(t *testing.T) {
	t.Parallel()
	healthy := httptest.NewServer(sdkHandler("stateful"))
	t.Cleanup(healthy.Close)
	secure := httptest.NewUnstartedServer(sdkHandler("stateless"))
	secure.Config.ErrorLog = log.New(io.Discard, "", 0) // of handshakes that are meant to fail
	secure.StartTLS()
	t.Cleanup(secure.Close)
	ca := filepath.Join(t.TempDir(), "ca.pem")
	if err := os.WriteFile(ca, pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: secure.Certificate().Raw}), 0o600); err != nil {
		t.Fatal(err)
	}
	locked := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("WWW-Authenticate", `Bearer realm="test"`)
		w.WriteHeader(http.StatusUnauthorized)
	}))
	t.Cleanup(locked.Close)
	lost := httptest.NewServer(http.NotFoundHandler())
	t.Cleanup(lost.Close)
	mute := listen(t, "SSH-2.0-nothing\r\n")

	for _, tt := range []struct {
		name   string
		args   []string
		states string
		says   string
	}{
		{"healthy", []string{"--url", healthy.URL}, "dns:ok tcp:ok " + wholeURL, "no description"},
		{"name", []string{"--url", strings.Replace(healthy.URL, "127.0.0.1", "localhost", 1)}, "dns:ok tcp:ok " + wholeURL, "localhost is"},
		{"trusted", []string{"--url", secure.URL, "--ca-file", ca}, "dns:ok tcp:ok tls:ok " + stateless, "TLS 1.3, certificate for example.com"},
		{"insecure", []string{"--url", secure.URL, "--insecure"}, "dns:ok tcp:ok tls:warn " + stateless, "was not verified"},
		{"untrusted", []string{"--url", secure.URL}, "dns:ok tcp:ok tls:fail", "--ca-file"},
		{"https to http", []string{"--url", strings.Replace(healthy.URL, "http:", "https:", 1)}, "dns:ok tcp:ok tls:fail", "did you mean http://"},
		{"locked", []string{"--url", locked.URL}, "dns:ok tcp:ok http:ok auth:fail", `WWW-Authenticate: Bearer realm="test"`},
		{"wrong token", []string{"--url", locked.URL, "-H", "Authorization: Bearer correct-horse"}, "dns:ok tcp:ok http:ok auth:fail", "rejected the credentials"},
		{"lost", []string{"--url", lost.URL}, "dns:ok tcp:ok http:ok handshake:fail", "is the path right?"},
		{"no HTTP", []string{"--url", "http://" + mute}, "dns:ok tcp:ok http:fail", "is not HTTP"},
		{"no listener", []string{"--url", "http://127.0.0.1:1"}, "dns:ok tcp:fail", "nothing is listening there"},
		{"no name", []string{"--url", "http://no-such-host.invalid"}, "dns:fail", "is not found"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			d, code := diagnose(t, tt.args...)
			if d.states() != tt.states {
				t.Errorf("layers %s, want %s\n%s", d.states(), tt.states, d.text())
			}
			if !strings.Contains(d.text(), tt.says) {
				t.Errorf("want %q in\n%s", tt.says, d.text())
			}
			fails := strings.Contains(tt.states, "fail")
			if d.OK == fails || (code == 1) != fails || (d.StoppedAt != "") != fails {
				t.Errorf("ok %v, exit code %d, stopped at %q", d.OK, code, d.StoppedAt)
			}
			if strings.Contains(d.text(), "correct-horse") {
				t.Error("the token is shown")
			}
		})
	}
}

// listen sends a fixed text on every connection.
func listen(t *testing.T, text string) string {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = l.Close() })
	go func() {
		for {
			c, err := l.Accept()
			if err != nil {
				return
			}
			_, _ = c.Write([]byte(text))
			_ = c.Close()
		}
	}()
	return l.Addr().String()
}
