package proc

import (
	"net"
	"strings"
	"testing"
)

// The listening program is found by its address, in the kernel's form.
func TestListeners(t *testing.T) {
	for _, at := range []string{"127.0.0.1:0", "[::1]:0", "0.0.0.0:0", "[::]:0"} {
		l, err := net.Listen("tcp", at)
		if err != nil {
			t.Logf("%s: %v", at, err)
			continue
		}
		defer l.Close()
		c, err := net.Dial("tcp", l.Addr().String())
		if err != nil {
			t.Fatal(err)
		}
		defer c.Close()
		addr := c.RemoteAddr().(*net.TCPAddr)
		if found := listeners(addr); len(found) != 1 || !strings.HasPrefix(found[0], "socket:[") {
			t.Errorf("%s: %v", at, found)
		}
		other := &Process{ref: Ref{Pid: 1 << 22}}
		if who := ForeignListener(other, addr); !strings.Contains(who, "proc.test") {
			t.Errorf("%s: the owner is %q", at, who)
		}
		addr.IP = net.IPv4(127, 0, 0, 9)
		if at == "127.0.0.1:0" && listeners(addr) != nil {
			t.Errorf("%s does not listen at %s", at, addr)
		}
	}
}
