package proxy

import (
	"errors"
	"fmt"
	"io"
	"net"
	"os/exec"
	"strings"
	"sync"
	"time"
)

// IsolateArg is the first argument that makes this program prepare a network
// namespace and then become another program.
const IsolateArg = "__isolate"

// ErrNoNamespace is the reason why this system has no isolation.
var ErrNoNamespace = errors.New("network namespaces exist on Linux only")

// probeTime is how long the test of a namespace may take.
const probeTime = 5 * time.Second

// Isolation lets programs run in network namespaces that have nothing but a
// loopback interface. The ports of the proxy and of doubles exist in it too, and
// the names of the declared hosts lead to the proxy, so that programs that ignore
// proxies reach it as well.
//
// In a namespace, this program opens the listeners, sends them to the runner, and
// then becomes the program that is tested: no helper process stays.
type Isolation struct {
	proxy *Proxy
	self  string
	ports []port
	ln    *net.UnixListener

	mu     sync.Mutex
	closed bool
	conns  map[io.Closer]bool
	active sync.WaitGroup
}

// port is a port of a namespace and what serves it.
type port struct {
	addr  string // in the namespace
	serve func(net.Listener)
}

// The ports of HTTP and HTTPS, which programs use that ignore proxies.
const (
	httpAddr  = "127.0.0.1:80"
	httpsAddr = "127.0.0.1:443"
)

// ports returns what a namespace offers: the proxy, the declared hosts, and other
// addresses of this machine, such as those of doubles.
func (p *Proxy) ports(others []string) []port {
	list := []port{{p.Addr(), func(l net.Listener) { _ = p.outer.Serve(l) }}}
	if len(p.options.Hosts) > 0 {
		list = append(list,
			port{httpAddr, func(l net.Listener) { _ = p.inner.Serve(&direct{Listener: l}) }},
			port{httpsAddr, func(l net.Listener) { p.accept(l, func(c net.Conn) { p.direct(c) }) }})
	}
	for _, addr := range others {
		list = append(list, port{addr, func(l net.Listener) {
			p.accept(l, func(c net.Conn) {
				if p.hold(c) {
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

// direct answers a connection of a program that takes the proxy for the host.
func (p *Proxy) direct(c net.Conn) {
	if !p.hold(c) {
		c.Close()
		return
	}
	host := ""
	for name := range p.options.Hosts { // what it wants is in the TLS handshake, if it says so
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

// Change makes a command run in a namespace of its own.
func (i *Isolation) Change(cmd *exec.Cmd) {
	addrs := make([]string, len(i.ports))
	for n, port := range i.ports {
		addrs[n] = port.addr
	}
	var hosts []string
	for host := range i.proxy.options.Hosts {
		hosts = append(hosts, host)
	}
	args := []string{i.self, IsolateArg, i.ln.Addr().String(), strings.Join(addrs, ","), strings.Join(hosts, ","), cmd.Path}
	cmd.Args = append(args, cmd.Args...)
	cmd.Path = i.self
	inNamespace(cmd)
}

// hold notes what Close must close; it returns false, and closes it, if the
// isolation has ended.
func (i *Isolation) hold(c io.Closer) bool {
	i.mu.Lock()
	defer i.mu.Unlock()
	if i.closed {
		c.Close()
		return false
	}
	i.conns[c] = true
	return true
}

func (i *Isolation) drop(c io.Closer) {
	i.mu.Lock()
	delete(i.conns, c)
	i.mu.Unlock()
	c.Close()
}

// Close ends the listeners in all namespaces.
func (i *Isolation) Close() {
	i.mu.Lock()
	i.closed = true
	for c := range i.conns {
		c.Close()
	}
	i.mu.Unlock()
	i.ln.Close()
	i.active.Wait()
}

// notAllowed explains why a namespace could not be made.
func notAllowed(err error, output string) error {
	if output = strings.TrimSpace(output); output != "" {
		err = fmt.Errorf("%w: %s", err, output)
	}
	return fmt.Errorf("a network namespace is not allowed here: %w", err)
}
