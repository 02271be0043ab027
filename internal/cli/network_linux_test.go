package cli_test

import (
	"bytes"
	"fmt"
	"net"
	"os"
	"os/exec"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"unsafe"
)

// check opens no connection except to the server. It runs in its own network namespace,
// whose kernel counters include every attempt to connect or to send a datagram, even
// without a route.
func TestCheckOpensOnlyTheConnectionToTheServer(t *testing.T) {
	t.Parallel()
	for _, tc := range []struct {
		name      string
		args      []string
		connects  bool // to anything
		elsewhere bool // to what is not in the namespace
	}{
		{"file", []string{"mcptest", "check", "--fail-on", "error", "tools.json"}, false, false},
		{"stdio", []string{"mcptest", "check", "--", "mcptest", "mock", "--preset", "echo"}, false, false},
		{"HTTP", []string{"sh", "-c", "mcptest mock --preset echo --http 4711 & mcptest check --wait-for-ready 20s --url http://127.0.0.1:4711/mcp; code=$?; kill $!; exit $code"}, true, false},
		// The counters detect each kind of attempt.
		{"a connection elsewhere", []string{"mcptest", "check", "--url", "http://192.0.2.1/mcp"}, true, true},
		{"a look-up of a name", []string{"mcptest", "check", "--url", "http://example.com/mcp"}, true, true},
	} {
		t.Run(tc.name, func(t *testing.T) {
			t.Parallel()
			cmd := exec.Command("netcount", tc.args...)
			cmd.Dir = t.TempDir()
			if err := os.WriteFile(cmd.Dir+"/tools.json", []byte(`{"tools":[{"name":"a","inputSchema":{"type":"object"}}]}`), 0o600); err != nil {
				t.Fatal(err)
			}
			cmd.SysProcAttr = &syscall.SysProcAttr{
				Cloneflags:  syscall.CLONE_NEWUSER | syscall.CLONE_NEWNET,
				UidMappings: []syscall.SysProcIDMap{{ContainerID: 0, HostID: os.Getuid(), Size: 1}},
				GidMappings: []syscall.SysProcIDMap{{ContainerID: 0, HostID: os.Getgid(), Size: 1}},
			}
			var out, errs bytes.Buffer
			cmd.Stdout, cmd.Stderr = &out, &errs
			if err := cmd.Start(); err != nil {
				if os.Getenv("MCPTEST_REQUIRE_SERVERS") != "" {
					t.Fatalf("no network namespace can be made: %v", err)
				}
				t.Skipf("no network namespace can be made: %v", err)
			}
			if err := cmd.Wait(); err != nil {
				t.Fatalf("%v: %s", err, errs.Bytes())
			}
			count := counters(t, out.String())
			if !tc.elsewhere && !strings.Contains(errs.String(), "checked: ") {
				t.Errorf("the check did not finish: %s", errs.Bytes())
			}
			elsewhere := count["Ip.OutNoRoutes"] + count["Udp.OutDatagrams"] + count["Icmp.OutMsgs"]
			if (elsewhere > 0) != tc.elsewhere {
				t.Errorf("%d packets or attempts that are not of the connection to the server: %v", elsewhere, count)
			}
			if tc.connects != (count["Tcp.ActiveOpens"]+elsewhere > 0) {
				t.Errorf("connections: %d, expected some: %v", count["Tcp.ActiveOpens"], tc.connects)
			}
			// Every connection stays in this namespace, and only the server listens there.
			if count["Tcp.ActiveOpens"]-count["Tcp.AttemptFails"] > count["Tcp.PassiveOpens"] {
				t.Errorf("a connection left the namespace: %v", count)
			}
		})
	}
}

// counters reads /proc/net/snmp: lines in pairs, names and values.
func counters(t *testing.T, text string) map[string]int {
	t.Helper()
	out := map[string]int{}
	lines := strings.Split(strings.TrimSpace(text), "\n")
	for i := 0; i+1 < len(lines); i += 2 {
		names, values := strings.Fields(lines[i]), strings.Fields(lines[i+1])
		for j := 1; j < len(names) && j < len(values); j++ {
			out[strings.TrimSuffix(names[0], ":")+"."+names[j]], _ = strconv.Atoi(values[j])
		}
	}
	if len(out) == 0 {
		t.Fatalf("no counters: %q", text)
	}
	return out
}

// netcountMain runs a command in the network namespace that it was started in,
// with its output on standard error, and prints the counters of the namespace.
func netcountMain() {
	if err := loopbackUp(); err != nil {
		fmt.Fprintln(os.Stderr, "netcount:", err)
		os.Exit(1)
	}
	cmd := exec.Command(os.Args[1], os.Args[2:]...)
	cmd.Stdout, cmd.Stderr = os.Stderr, os.Stderr
	_ = cmd.Run() // the output shows it
	data, err := os.ReadFile("/proc/self/net/snmp")
	if err != nil {
		fmt.Fprintln(os.Stderr, "netcount:", err)
		os.Exit(1)
	}
	os.Stdout.Write(data)
}

// loopbackUp brings up the loopback interface of a new namespace.
func loopbackUp() error {
	fd, err := syscall.Socket(syscall.AF_INET, syscall.SOCK_DGRAM, 0)
	if err != nil {
		return err
	}
	defer syscall.Close(fd)
	var request struct {
		name  [syscall.IFNAMSIZ]byte
		flags uint16
		_     [22]byte
	}
	copy(request.name[:], "lo")
	request.flags = syscall.IFF_UP
	if _, _, errno := syscall.Syscall(syscall.SYS_IOCTL, uintptr(fd), syscall.SIOCSIFFLAGS, uintptr(unsafe.Pointer(&request))); errno != 0 {
		return errno
	}
	_, err = net.InterfaceByName("lo")
	return err
}
