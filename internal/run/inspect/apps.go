package inspect

import (
	"context"
	"errors"
	"fmt"
	"net"
	"net/http"
	"net/url"
	"slices"
	"strings"

	"mcptest/internal/base/jsonv"
	"mcptest/internal/client/mcp"
	"mcptest/internal/client/protocol"
	"mcptest/internal/client/wire"
	"mcptest/internal/offer/apps"
	"mcptest/internal/offer/surface"
)

const (
	// maxViews bounds the views that are read in one revision.
	maxViews = 100
	// maxViewBytes bounds what the answers with views hold together.
	maxViewBytes = 64 << 20
	// maxSilent is how many reads may stay without an answer before the others are left out.
	maxSilent = 2
)

// appReader reads what a server shows to clients with views and to others.
type appReader struct {
	conn   *Conn
	server apps.Server
	notes  []string
	bytes  int
}

// ReadApps reads what MCP Apps are judged by, with connections of its own: the lists as a
// client gets them that declares the extension for views and as another one does, in each era
// that the server speaks, and the views. own is what c was shown, which may be closed: over
// stdio, one process runs at a time. No tool is called.
func (c *Conn) ReadApps(ctx context.Context, own apps.Listing) (server apps.Server, notes []string) {
	r := &appReader{conn: c}
	r.server.Address = makePublic(c.o.Server.URL)
	r.server.Listings = []apps.Listing{own}
	r.visit(ctx, own.Revision, own)
	isModern := protocol.VersionOf(own.Revision).Era() == protocol.EraStateless
	if c.o.Server.Protocol == mcp.Auto && isModern && ctx.Err() == nil {
		r.visit(ctx, "", apps.Listing{})
	}
	return r.server, r.notes
}

// visit reads lists and views in one revision; "" is the era of sessions, which the server
// need not speak. known is a list that was read already.
func (r *appReader) visit(ctx context.Context, version string, known apps.Listing) {
	isFirst := known.Revision != ""
	if !r.readAs(ctx, version, true, isFirst) {
		return
	}
	needsPlain := !isFirst || known.Declared
	if needsPlain && r.server.HasApps() && ctx.Err() == nil {
		r.readAs(ctx, version, false, true)
	}
}

// readAs reads the lists, and the views if the extension is declared. It reports whether a
// session could be opened.
func (r *appReader) readAs(ctx context.Context, version string, declared, expected bool) bool {
	client := r.conn.viewAs(version, declared)
	defer client.Close()
	who := "a client that declares " + apps.Extension
	if !declared {
		who = "a client that does not declare " + apps.Extension
	}
	if err := client.Open(ctx); err != nil {
		if expected {
			r.note("MCP Apps were not judged as %s sees them: %v", who, err)
		}
		return false
	}
	offer, err := client.Survey(ctx)
	if err == nil {
		err = offer.Failed[surface.Tool]
	}
	if err != nil {
		r.note("MCP Apps were not judged as %s sees them in %s: %v", who, client.session.Protocol(), err)
		return true
	}
	listing := apps.Listing{
		Revision:     client.session.Protocol(),
		Declared:     declared,
		Tools:        offer.Lists[surface.Tool],
		Resources:    offer.Lists[surface.Resource],
		Capabilities: client.session.ServerInfo().Lookup("capabilities"),
	}
	r.server.Listings = append(r.server.Listings, listing)
	if declared {
		r.readViews(ctx, client, listing.Revision)
	}
	return true
}

func (r *appReader) note(format string, args ...any) {
	r.notes = append(r.notes, fmt.Sprintf(format, args...))
}

// readViews reads the views that are known in a revision.
func (r *appReader) readViews(ctx context.Context, client *Conn, revision string) {
	uris, silent := r.server.Views(revision), 0
	for i, uri := range uris {
		switch {
		case i == maxViews:
			r.note("of %d views in %s, %d were read", len(uris), revision, maxViews)
			return
		case r.bytes > maxViewBytes || silent == maxSilent || ctx.Err() != nil:
			r.note("of %d views in %s, %d were read: the server is too slow, or the views are too large", len(uris), revision, i)
			return
		}
		read, answered := readView(ctx, client, uri)
		read.Revision = revision
		r.server.Reads = append(r.server.Reads, read.Read)
		r.bytes += read.bytes
		if !answered {
			silent++
		}
	}
}

// viewRead is an answer with its size.
type viewRead struct {
	apps.Read
	bytes int
}

// readView reads one view. answered is false if nothing came in time.
func readView(ctx context.Context, client *Conn, uri string) (read viewRead, answered bool) {
	x := client.Do(ctx, "resources/read", jsonv.ObjectOf("uri", uri))
	result, err := client.ResultOf(x)
	read = viewRead{apps.Read{URI: uri, Result: result}, len(x.Response)}
	kind := result.Lookup("resultType").Text()
	switch {
	case err == nil && (kind == "" || kind == "complete"):
	case err == nil:
		read.Unknown = "the answer is " + kind
	case isTooLong(x):
		read.Unknown = err.Error()
	case errors.As(err, new(*mcp.TimeoutError)):
		read.Unknown = err.Error()
		return read, false
	default:
		read.Failure, read.Unknown = findFaultOfRead(client, err)
	}
	return read, true
}

// isTooLong reports whether an answer is longer than what is read here; a host may read it.
func isTooLong(x *mcp.Exchange) bool {
	return slices.ContainsFunc(x.Violations, func(v protocol.Violation) bool { return v.Kind == protocol.Oversize })
}

// findFaultOfRead says why a view could not be read: for a reason of its own, or for one that
// says nothing about it.
func findFaultOfRead(client *Conn, err error) (failure, unknown string) {
	if refused, ok := errors.AsType[*wire.HTTPError](err); ok {
		if saysNothing(refused.Info.Status) {
			return "", fmt.Sprintf("HTTP %d", refused.Info.Status)
		}
		return err.Error(), ""
	}
	if errors.As(err, new(*protocol.RPCError)) || client.o.Server.URL == "" {
		return err.Error(), ""
	}
	return "", err.Error() // of the network
}

// saysNothing reports whether a status is that of a server that is busy or wants credentials.
func saysNothing(status int) bool {
	return slices.Contains([]int{
		http.StatusUnauthorized, http.StatusForbidden, http.StatusTooManyRequests,
		http.StatusBadGateway, http.StatusServiceUnavailable, http.StatusGatewayTimeout,
	}, status)
}

// viewAs returns a connection to the same server as a client that declares the extension, or not.
func (c *Conn) viewAs(version string, declared bool) *Conn {
	other := c.Another(version)
	other.o.Violations, other.o.Watch = nil, nil
	other.o.Capabilities = apps.Declaring(c.readDeclared(), declared)
	if other.o.Capabilities.IsAbsent() {
		other.o.Capabilities = jsonv.Object()
	}
	return other
}

// readDeclared are the capabilities of the client.
func (c *Conn) readDeclared() jsonv.Value {
	if c.o.Capabilities.IsAbsent() {
		return c.o.Server.Client.Declares
	}
	return c.o.Capabilities
}

// ShowsViews reports whether the client of a connection declares that it shows views.
func (c *Conn) ShowsViews() bool { return apps.ShowsViews(c.readDeclared()) }

// makePublic is an address if everybody reaches the server under it, else "".
func makePublic(address string) string {
	u, err := url.Parse(address)
	if err != nil || u.Hostname() == "" {
		return ""
	}
	host := strings.ToLower(u.Hostname())
	if ip := net.ParseIP(host); ip != nil && !(ip.IsGlobalUnicast() && !ip.IsPrivate()) {
		return ""
	}
	for _, suffix := range []string{"localhost", ".local", ".internal", ".test"} {
		if strings.HasSuffix(host, suffix) {
			return ""
		}
	}
	if net.ParseIP(host) == nil && !strings.Contains(host, ".") {
		return ""
	}
	return address
}
