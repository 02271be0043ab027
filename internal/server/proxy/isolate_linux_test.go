package proxy

import (
	"fmt"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"strings"
	"syscall"
	"testing"

	"mcptest/internal/base/testkit"
)

func TestMain(m *testing.M) {
	if len(os.Args) > 1 && os.Args[1] == IsolateArg {
		if err := BecomeIsolated(os.Args[2:]); err != nil {
			fmt.Fprintln(os.Stderr, err)
			os.Exit(1)
		}
		os.Exit(0)
	}
	os.Exit(m.Run())
}

// A program in a namespace reaches only the proxy, with or without the variables, and
// other doubles.
func TestIsolation(t *testing.T) {
	double := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) { fmt.Fprint(w, "a double") }))
	defer double.Close()
	closed := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) { fmt.Fprint(w, "outside") }))
	defer closed.Close()
	p, seen := start(t, Options{})
	isolation, err := p.Isolate("/proc/self/exe", []string{double.Listener.Addr().String()})
	if err != nil {
		t.Skip(err)
	}
	defer isolation.Close()
	run := func(env []string, argv ...string) (string, error) {
		path, err := exec.LookPath(argv[0])
		if err != nil {
			t.Skip(err)
		}
		cmd := exec.Command(path, argv[1:]...)
		cmd.Args[0], cmd.Env, cmd.SysProcAttr = argv[0], append(os.Environ(), env...), &syscall.SysProcAttr{Setsid: true}
		isolation.Change(cmd)
		out, err := cmd.CombinedOutput()
		return strings.TrimSpace(string(out)), err
	}
	ca := []string{"SSL_CERT_FILE=" + p.certificate(), "CURL_CA_BUNDLE=" + p.certificate()}
	const answer = "GET api.example.com/x"
	for _, c := range []struct {
		env  []string
		url  string
		want string
	}{
		{p.Environ(), "https://api.example.com/x", answer},
		{p.Environ(), "http://api.example.com/x", answer},
		{ca, "https://api.example.com/x", answer},
		{ca, "http://api.example.com/x", answer},
		{p.Environ(), double.URL, "a double"},
		{ca, double.URL, "a double"},
	} {
		if out, err := run(c.env, "curl", "-sS", "--max-time", "20", c.url); err != nil || out != c.want {
			t.Errorf("%s with %d variables: %s %v", c.url, len(c.env), out, err)
		}
	}
	for _, url := range []string{closed.URL, "http://192.0.2.1/"} {
		if out, err := run(ca, "curl", "-sS", "--max-time", "20", url); err == nil {
			t.Errorf("%s was reached: %s", url, out)
		}
	}
	seen.mu.Lock()
	if len(seen.list) > 0 {
		t.Errorf("got %v", seen.list)
	}
	seen.mu.Unlock()
	if out, err := run(nil, "sh", "-c", "echo $0 $1; exit 7", "x", "y"); out != "x y" || err == nil || err.Error() != "exit status 7" {
		t.Errorf("got %q %v", out, err)
	}
	if os.Getuid() != 0 {
		if out, _ := run(nil, "sh", "-c", "grep CapEff /proc/self/status"); !strings.HasSuffix(out, "0000000000000000") {
			t.Errorf("rights are left: %s", out)
		}
	}
	testkit.Wait(t, "the listeners of ended programs to be closed", func() bool {
		isolation.mu.Lock()
		defer isolation.mu.Unlock()
		return len(isolation.open) == 0
	})
}

// Close ends the open connections of running programs.
func TestIsolationClose(t *testing.T) {
	p, _ := start(t, Options{})
	isolation, err := p.Isolate("/proc/self/exe", nil)
	if err != nil {
		t.Skip(err)
	}
	path, err := exec.LookPath("cat")
	if err != nil {
		t.Skip(err)
	}
	cmd := exec.Command(path)
	cmd.SysProcAttr = &syscall.SysProcAttr{}
	in, _ := cmd.StdinPipe()
	out, _ := cmd.StdoutPipe()
	isolation.Change(cmd)
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	fmt.Fprint(in, "x")
	if _, err := io.ReadFull(out, make([]byte, 1)); err != nil {
		t.Fatal(err)
	}
	isolation.Close()
	in.Close()
	if err := cmd.Wait(); err != nil {
		t.Error(err)
	}
	if _, err := net.Dial("unix", isolation.ln.Addr().String()); err == nil {
		t.Error("the socket is open")
	}
}
