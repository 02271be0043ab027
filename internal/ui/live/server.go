package live

import (
	"context"
	"errors"
	"slices"
	"strings"
	"sync"

	"mcptest/internal/base/jsonv"
	"mcptest/internal/client/conn"
	"mcptest/internal/client/mcp"
	"mcptest/internal/client/protocol"
	"mcptest/internal/client/wire"
	"mcptest/internal/run/connect"
	"mcptest/internal/run/inspect"
	"mcptest/internal/spec/plan"
)

// Status is the state of a connection.
type Status string

// The states of a connection.
const (
	Off        Status = "not connected"
	Connecting Status = "connecting"
	Connected  Status = "connected"
	Failed     Status = "failed"
	Ended      Status = "ended"
)

// Server is a server of the command line, and the session with it.
type Server struct {
	ID int

	mu      sync.Mutex
	def     *plan.Server
	status  Status
	version string   // the protocol version that the person chose
	reason  []string // of the status, a line each
	unread  string   // why the lists could not be read
	layers  []Layer
	who     string // name and version of the server
	spoken  []string
	offer   *Offer
	offers  int
	checked int // the number of the lists that were examined
	running *Call
	conn    *inspect.Conn
	over    chan struct{}      // closed when conn is
	cancel  context.CancelFunc // ends what the connection is doing

	use chan struct{} // held by what uses the connection
}

// View is a server at one time.
type View struct {
	ID      int
	Def     *plan.Server
	Status  Status
	Version string
	Reason  []string
	Unread  string // why the lists could not be read; empty while they are being read
	Layers  []Layer
	Who     string
	Spoken  []string // protocol versions that the server is known to speak, that of the session first
	Offer   *Offer
	Offers  int // grows when the lists are read again
	Checked int // Offers when they were examined
	Call    int // that is running; 0: none
}

// Tool returns the definition of a tool, absent if the server does not list it.
func (v View) Tool(name string) jsonv.Value { return v.Offer.tool(name) }

// View returns the server as it is now.
func (s *Server) View() View {
	s.mu.Lock()
	defer s.mu.Unlock()
	v := View{
		ID: s.ID, Def: s.def, Status: s.status, Version: s.version, Reason: s.reason, Unread: s.unread,
		Layers: s.layers,
		Who:    s.who, Spoken: s.spoken, Offer: s.offer, Offers: s.offers, Checked: s.checked,
	}
	if s.running != nil {
		v.Call = s.running.ID
	}
	return v
}

// set changes the state of the connection.
func (s *Server) set(status Status, reason ...string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.status, s.reason, s.unread = status, reason, ""
}

// end closes the connection. The caller holds it.
func (s *Server) end() {
	s.mu.Lock()
	c, over := s.conn, s.over
	s.conn, s.status, s.reason, s.unread, s.offer, s.layers = nil, Off, nil, "", nil, nil
	s.mu.Unlock()
	if c != nil {
		close(over)
		c.Close()
	}
}

// note looks at an event for what the server's state says.
func (s *Server) note(e conn.Event) {
	if e.Frame == nil || e.Frame.Dir != wire.FromServer {
		return
	}
	switch {
	case e.Frame.Method == "notifications/progress":
		s.mu.Lock()
		defer s.mu.Unlock()
		if s.running != nil && len(e.Frame.Raw) < 64<<10 {
			s.running.progress = append([]byte(nil), protocol.MemberOf(e.Frame.Raw, "params")...)
		}
	case strings.HasSuffix(e.Frame.Method, "/list_changed"):
		s.mu.Lock()
		defer s.mu.Unlock()
		if s.offer != nil {
			changed := *s.offer
			changed.Changed = true
			s.offer = &changed
		}
	}
}

// chooseCapabilities returns the capabilities of the page, unless the suite says which ones to declare: a
// person can answer each.
func chooseCapabilities(sv *plan.Server) jsonv.Value {
	if !sv.Client.Declares.IsAbsent() {
		return sv.Client.Declares
	}
	modes := jsonv.ObjectOf("form", jsonv.Object(), "url", jsonv.Object())
	return jsonv.ObjectOf("elicitation", modes, "sampling", jsonv.Object(), "roots", jsonv.Object())
}

// whyVersion says which version is spoken, and how it was found.
func whyVersion(sess *mcp.Session, chosen string) string {
	era := "a session"
	if sess.Era() == protocol.EraStateless {
		era = "stateless"
	}
	text := "protocol " + sess.Protocol() + ", " + era
	how := sess.Detection()
	switch {
	case chosen != "" && chosen != mcp.Auto:
		return text + ": it was chosen"
	case how != "":
		return text + ": " + how
	case sess.Era() == protocol.EraStateless:
		return text + ": the server answered server/discover"
	}
	return text + ": the server answered initialize"
}

// spokenBy returns the protocol versions that a server is known to speak: that of the session, and those
// that it listed.
func spokenBy(sess *mcp.Session) []string {
	out := []string{sess.Protocol()}
	for _, name := range sess.ServerInfo().Lookup("supportedVersions").Texts() {
		if protocol.VersionOf(name).Known() && !slices.Contains(out, name) {
			out = append(out, name)
		}
	}
	return out
}

// failure explains why there is no connection.
func failure(sv *plan.Server, err error) []string {
	msg, hint := err.Error(), ""
	if !errors.As(err, new(*connect.NotReadyError)) {
		msg, hint = connect.Diagnose(sv, err)
	}
	lines := append([]string{msg}, inspect.Detail(err)...)
	if hint != "" {
		lines = append(lines, "hint: "+hint)
	}
	return lines
}
