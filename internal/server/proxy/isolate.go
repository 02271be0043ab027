package proxy

import (
	"errors"
	"fmt"
	"maps"
	"net"
	"os/exec"
	"slices"
	"strings"
	"sync"
	"time"

	"mcptest/internal/base/lists"
)

// IsolateArg is the first argument that makes this program prepare a network
// namespace and then execute another program.
const IsolateArg = "__isolate"

// ErrNoNamespace is the reason why this system has no isolation.
var ErrNoNamespace = errors.New("network namespaces exist on Linux only")

// probeTime limits the duration of the test of a namespace.
const probeTime = 5 * time.Second

// Isolation runs programs in network namespaces that have only a loopback interface.
// The ports of the proxy and of doubles exist in it too, and the names of the
// declared hosts resolve to the proxy, so that programs that ignore proxies reach it
// as well.
// In a namespace, this program opens the listeners, sends them to the runner, and
// then executes the tested program: no helper process remains.
type Isolation struct {
	proxy *Proxy
	self  string
	ports []port
	ln    *net.UnixListener
	closers
	active sync.WaitGroup
}

// port is a port of a namespace and its handler.
type port struct {
	addr  string // in the namespace
	serve func(net.Listener)
}

// The ports of HTTP and HTTPS, used by programs that ignore proxies.
const (
	httpAddr  = "127.0.0.1:80"
	httpsAddr = "127.0.0.1:443"
)

// ports returns the ports of a namespace: the proxy, the declared hosts, and other
// addresses of this machine, such as those of doubles.
func (p *Proxy) ports(others []string) []port {
	list := []port{{p.Addr(), func(l net.Listener) { _ = p.outer.Serve(p.guardOuter(l)) }}}
	if len(p.options.Hosts) > 0 {
		list = append(list,
			port{httpAddr, func(l net.Listener) { _ = p.inner.Serve(p.guardInner(&direct{Listener: l})) }},
			port{httpsAddr, func(l net.Listener) { p.accept(l, func(c net.Conn) { p.direct(c) }) }})
	}
	for _, addr := range others {
		list = append(list, port{addr, func(l net.Listener) {
			p.accept(l, func(c net.Conn) {
				if p.tunnels.hold(c) {
					p.pipe(newPeeked(c), addr)
				}
			})
		}})
	}
	return list
}

// accept serves each connection of a listener in a goroutine.
func (p *Proxy) accept(l net.Listener, serve func(net.Conn)) {
	for {
		c, err := l.Accept()
		if err != nil {
			return
		}
		go serve(c)
	}
}

// direct handles a connection of a program that connects to the proxy as if it were
// the host.
func (p *Proxy) direct(c net.Conn) {
	if !p.tunnels.hold(c) {
		return
	}
	host := ""
	for name := range p.options.Hosts { // the requested name is in the TLS handshake, if present
		host = name
	}
	p.tunnel(newPeeked(c), host)
}

// direct is a listener of requests for a host without TLS.
type direct struct{ net.Listener }

// Accept waits for the next connection.
func (d *direct) Accept() (net.Conn, error) {
	c, err := d.Listener.Accept()
	if err != nil {
		return nil, err
	}
	return &tunnel{Conn: c, closed: func() {}}, nil
}

// Change makes a command run in a separate namespace.
func (i *Isolation) Change(cmd *exec.Cmd) {
	addrs := lists.Map(i.ports, func(port port) string { return port.addr })
	hosts := slices.Collect(maps.Keys(i.proxy.options.Hosts))
	args := []string{i.self, IsolateArg, i.ln.Addr().String(), strings.Join(addrs, ","), strings.Join(hosts, ","), cmd.Path}
	cmd.Args = append(args, cmd.Args...)
	cmd.Path = i.self
	inNamespace(cmd)
}

// Close ends the listeners in all namespaces.
func (i *Isolation) Close() {
	i.end()
	i.ln.Close()
	i.active.Wait()
}

// notAllowed explains why a namespace could not be created.
func notAllowed(err error, output string) error {
	if output = strings.TrimSpace(output); output != "" {
		err = fmt.Errorf("%w: %s", err, output)
	}
	return fmt.Errorf("a network namespace is not allowed here: %w", err)
}
