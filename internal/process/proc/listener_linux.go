package proc

import (
	"encoding/binary"
	"fmt"
	"net"
	"os"
	"path/filepath"
	"slices"
	"strings"
)

// proxies are programs that listen on behalf of a container or a service that their
// client started.
var proxies = []string{"docker-proxy", "rootlesskit", "rootlessport", "pasta", "pasta.avx2", "slirp4netns", "conmon", "gvproxy", "systemd"}

// ForeignListener returns the name of the process that listens at a loopback address if
// it does not belong to p's run: it is neither in its group nor has the run's mark. It
// returns "" if that is unknown: for a process of another user, and for one that may
// listen for a container that p started.
func ForeignListener(p *Process, addr *net.TCPAddr) (owner string) {
	sockets := listeners(addr)
	if !addr.IP.IsLoopback() || len(sockets) == 0 {
		return ""
	}
	table := processes()
	group := pidsOf(membersIn(table, p.ref))
	mark, _, _ := strings.Cut(p.mark, ".") // of the run
	for _, q := range table {
		if !hasOpen(q.Pid, sockets) {
			continue
		}
		comm, _ := os.ReadFile(fmt.Sprintf("/proc/%d/comm", q.Pid))
		if slices.Contains(group, q.Pid) || mark != "" && hasMark(q.Pid, mark) {
			return ""
		}
		if slices.Contains(proxies, strings.TrimSpace(string(comm))) {
			return ""
		}
		owner = fmt.Sprintf("pid %d (%s)", q.Pid, leftovers([]procInfo{q})[0].Command)
	}
	return owner
}

func pidsOf(list []procInfo) (out []int) {
	for _, p := range list {
		out = append(out, p.Pid)
	}
	return out
}

// hasOpen reports whether a process has one of the files open.
func hasOpen(pid int, files []string) bool {
	links, _ := filepath.Glob(fdPath(pid, "*"))
	return slices.ContainsFunc(links, func(l string) bool {
		file, err := os.Readlink(l)
		return err == nil && slices.Contains(files, file)
	})
}

// listeners returns the sockets that listen at an address, in the form of links to
// open files (proc_pid_net(5)).
func listeners(addr *net.TCPAddr) (out []string) {
	const local, state, inode, listen = 1, 3, 9, "0A"
	var want []string
	for _, ip := range []net.IP{net.IPv4zero.To4(), net.IPv6zero, addr.IP.To4(), addr.IP.To16()} {
		want = append(want, fmt.Sprintf("%s:%04X", kernelHex(ip), addr.Port))
	}
	for _, table := range []string{"tcp", "tcp6"} {
		data, _ := os.ReadFile("/proc/self/net/" + table)
		for line := range strings.Lines(string(data)) {
			if f := strings.Fields(line); len(f) > inode && f[state] == listen && slices.Contains(want, f[local]) {
				out = append(out, "socket:["+f[inode]+"]")
			}
		}
	}
	return out
}

// kernelHex formats an address like the kernel: words of 32 bits in the byte order of
// the machine.
func kernelHex(ip net.IP) (s string) {
	for ; len(ip) > 0; ip = ip[4:] {
		s += fmt.Sprintf("%08X", binary.NativeEndian.Uint32(ip))
	}
	return s
}
