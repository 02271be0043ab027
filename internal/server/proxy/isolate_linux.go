package proxy

import (
	"context"
	"fmt"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"

	"golang.org/x/sys/unix"
)

// Isolate returns an Isolation for programs in namespaces that reach the proxy and
// other addresses of this machine. self is this program. The error is the reason why
// that is not possible here.
func (p *Proxy) Isolate(self string, others []string) (*Isolation, error) {
	if err := probe(self); err != nil {
		return nil, err
	}
	ln, err := net.ListenUnix("unix", &net.UnixAddr{Name: filepath.Join(p.folder, "ns"), Net: "unix"})
	if err != nil {
		return nil, fmt.Errorf("listen for namespaces: %w", err)
	}
	i := &Isolation{proxy: p, self: self, ports: p.ports(others), ln: ln}
	i.active.Go(i.welcome)
	return i, nil
}

// probe tests whether a namespace can be created.
func probe(self string) error {
	ctx, cancel := context.WithTimeout(context.Background(), probeTime)
	defer cancel()
	cmd := exec.CommandContext(ctx, self, IsolateArg)
	cmd.SysProcAttr = &syscall.SysProcAttr{}
	cmd.WaitDelay = probeTime
	inNamespace(cmd)
	if out, err := cmd.CombinedOutput(); err != nil {
		return notAllowed(err, string(out))
	}
	return nil
}

// inNamespace makes a command start in new namespaces with the rights that the
// preparation needs. A user who is not root has no rights left after it.
func inNamespace(cmd *exec.Cmd) {
	a := cmd.SysProcAttr
	a.Cloneflags |= syscall.CLONE_NEWUSER | syscall.CLONE_NEWNET | syscall.CLONE_NEWNS
	a.UidMappings = []syscall.SysProcIDMap{{ContainerID: os.Getuid(), HostID: os.Getuid(), Size: 1}}
	a.GidMappings = []syscall.SysProcIDMap{{ContainerID: os.Getgid(), HostID: os.Getgid(), Size: 1}}
	a.AmbientCaps = []uintptr{unix.CAP_NET_ADMIN, unix.CAP_NET_BIND_SERVICE, unix.CAP_SYS_ADMIN}
}

// welcome accepts the listeners of each new namespace.
func (i *Isolation) welcome() {
	for {
		c, err := i.ln.AcceptUnix()
		if err != nil {
			return
		}
		if i.hold(c) {
			i.active.Go(func() { i.serve(c) })
		}
	}
}

// serve serves the listeners of a namespace until the last process in it that has
// the connection ends.
func (i *Isolation) serve(c *net.UnixConn) {
	defer i.drop(c)
	listeners, err := receive(c, len(i.ports))
	if err != nil {
		return
	}
	for n, l := range listeners {
		if i.hold(l) {
			defer i.drop(l)
			i.active.Go(func() { i.ports[n].serve(l) })
		}
	}
	if _, err := c.Write([]byte{1}); err != nil {
		return
	}
	_, _ = c.Read(make([]byte, 1))
}

// receive reads n listeners from a connection.
func receive(c *net.UnixConn, n int) ([]net.Listener, error) {
	oob := make([]byte, syscall.CmsgSpace(4*n))
	_, size, _, _, err := c.ReadMsgUnix(make([]byte, 1), oob)
	if err != nil {
		return nil, err
	}
	messages, err := syscall.ParseSocketControlMessage(oob[:size])
	if err != nil {
		return nil, err
	}
	var out []net.Listener
	for _, m := range messages {
		fds, err := syscall.ParseUnixRights(&m)
		if err != nil {
			return nil, err
		}
		for _, fd := range fds {
			f := os.NewFile(uintptr(fd), "listener")
			l, err := net.FileListener(f)
			f.Close()
			if err != nil {
				return nil, err
			}
			out = append(out, l)
		}
	}
	if len(out) != n {
		return nil, fmt.Errorf("%d of %d listeners were received", len(out), n)
	}
	return out, nil
}

// BecomeIsolated prepares the namespaces that this process was started in, and
// executes the program in args. It returns only if that fails, or if args contains no
// program.
func BecomeIsolated(args []string) error {
	if err := loopbackUp(); err != nil {
		return fmt.Errorf("activate the loopback interface: %w", err)
	}
	if err := unix.Mount("", "/", "", unix.MS_REC|unix.MS_PRIVATE, ""); err != nil {
		return fmt.Errorf("separate the mounts: %w", err)
	}
	if len(args) < 4 {
		return nil
	}
	socket, addrs, hosts, path, argv := args[0], args[1], args[2], args[3], args[4:]
	if hosts != "" {
		if err := nameHosts(strings.Split(hosts, ","), filepath.Dir(socket)); err != nil {
			return fmt.Errorf("name the hosts: %w", err)
		}
	}
	if err := send(socket, strings.Split(addrs, ",")); err != nil {
		return fmt.Errorf("open the ports of the namespace: %w", err)
	}
	if err := unix.Prctl(unix.PR_CAP_AMBIENT, unix.PR_CAP_AMBIENT_CLEAR_ALL, 0, 0, 0); err != nil {
		return fmt.Errorf("drop privileges: %w", err)
	}
	return fmt.Errorf("%s: %w", path, syscall.Exec(path, argv, os.Environ()))
}

func loopbackUp() error {
	fd, err := unix.Socket(unix.AF_INET, unix.SOCK_DGRAM|unix.SOCK_CLOEXEC, 0)
	if err != nil {
		return err
	}
	defer unix.Close(fd)
	lo, err := unix.NewIfreq("lo")
	if err != nil {
		return err
	}
	lo.SetUint16(unix.IFF_UP | unix.IFF_RUNNING)
	return unix.IoctlIfreq(fd, unix.SIOCSIFFLAGS, lo)
}

// nameHosts makes the names of hosts resolve to this machine, for this namespace
// only.
func nameHosts(hosts []string, folder string) error {
	const file = "/etc/hosts"
	old, err := os.ReadFile(file)
	if err != nil {
		return err
	}
	text := "127.0.0.1 " + strings.Join(hosts, "\n127.0.0.1 ") + "\n" + string(old)
	f, err := os.CreateTemp(folder, "hosts-")
	if err != nil {
		return err
	}
	_, err = f.WriteString(text)
	closed := f.Close()
	if err == nil {
		err = closed
	}
	if err == nil {
		err = os.Chmod(f.Name(), 0o644)
	}
	if err == nil {
		err = unix.Mount(f.Name(), file, "", unix.MS_BIND, "")
	}
	return err
}

// send opens listeners and passes them to the runner. The connection stays open in
// the program, so that the runner detects its end.
func send(socket string, addrs []string) error {
	conn, err := net.DialUnix("unix", nil, &net.UnixAddr{Name: socket, Net: "unix"})
	if err != nil {
		return err
	}
	var fds []int
	for _, addr := range addrs {
		l, err := net.Listen("tcp", addr)
		if err != nil {
			return err
		}
		f, err := l.(*net.TCPListener).File()
		if err != nil {
			return err
		}
		defer f.Close()
		fds = append(fds, int(f.Fd()))
	}
	if _, _, err := conn.WriteMsgUnix([]byte{1}, syscall.UnixRights(fds...), nil); err != nil {
		return err
	}
	if _, err := conn.Read(make([]byte, 1)); err != nil {
		return fmt.Errorf("the runner does not accept the listeners: %w", err)
	}
	f, err := conn.File()
	if err != nil {
		return err
	}
	_, err = unix.FcntlInt(f.Fd(), unix.F_SETFD, 0)
	return err
}
