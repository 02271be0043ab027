package testkit

import "net"

// Listener is a listener of in-memory connections, for servers that run on a fake
// clock. Each connection that is sent to it is accepted; closing the channel ends it.
type Listener chan net.Conn

// Accept returns the next connection.
func (l Listener) Accept() (net.Conn, error) {
	if conn, ok := <-l; ok {
		return conn, nil
	}
	return nil, net.ErrClosed
}

// Close does nothing: who sends the connections closes the channel.
func (l Listener) Close() error { return nil }

// Addr returns an empty address.
func (l Listener) Addr() net.Addr { return &net.TCPAddr{} }
