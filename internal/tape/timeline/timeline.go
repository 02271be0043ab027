package timeline

import (
	"cmp"
	"fmt"
	"slices"
	"strings"
	"time"

	"mcptest/internal/client/protocol"
	"mcptest/internal/tape/cassette"
	"mcptest/internal/tape/verify"
)

// Kind says what a row is about.
type Kind string

// Kinds of rows.
const (
	Request      Kind = "request"
	Response     Kind = "response"
	Notification Kind = "notification"
	NoMessage    Kind = "no message" // a line of standard output, for instance
	Stderr       Kind = "stderr"
	HTTP         Kind = "http" // a request or response without a body
	End          Kind = "end"
)

// Row is one line of the timeline.
type Row struct {
	Frame    *cassette.Frame // which it belongs to
	Kind     Kind
	Session  int
	At       time.Time
	ToServer bool
	Method   string        // of a response: that of its request
	Name     string        // of a tool, prompt or resource
	ID       string        // as JSON text
	Took     time.Duration // of a response, since its request; negative: unknown
	Size     int64
	Status   int    // of HTTP
	Text     string // of what is no message
	// Violations were found in this row.
	Violations []protocol.Violation
	// HasTest is set for a request that a test can be made of.
	HasTest bool
}

// IsMessage reports whether the row is about the data of its frame.
func (row *Row) IsMessage() bool {
	switch row.Kind {
	case Request, Response, Notification, NoMessage:
		return true
	}
	return false
}

// shownText bounds the text of a row that is no message.
const shownText = 2 << 10

// Read returns the rows of a cassette. loose are violations that belong to no row.
func Read(c *cassette.Cassette, found []verify.Violation) (rows []Row, loose []protocol.Violation, err error) {
	calls, err := c.Calls()
	if err != nil {
		return nil, nil, err
	}
	clients := c.ListClients(calls)
	r := &reader{
		cassette: c, scan: protocol.NewScanner(), begun: map[*cassette.Frame]*cassette.Call{},
		answered: map[*cassette.Frame]*cassette.Call{}, open: map[request]sent{}, found: map[int][]protocol.Violation{},
	}
	for _, call := range calls {
		if call.Request != nil {
			r.begun[call.Request] = call
		}
		if call.Response != nil {
			r.answered[call.Response] = call
			r.noteBadResult(call, clients[call.Session])
		}
	}
	for _, v := range found {
		if line := v.Line(); line > 0 {
			r.found[line] = append(r.found[line], v.Violation)
		} else {
			loose = append(loose, v.Violation)
		}
	}
	for i := range c.Frames {
		r.add(&c.Frames[i])
	}
	return r.rows, r.place(loose), c.Err()
}

// noteBadResult adds what is wrong with the result of a call.
func (r *reader) noteBadResult(call *cassette.Call, client *cassette.RecordedClient) {
	if client == nil || client.Protocol == "" {
		return
	}
	line := call.Response.Line
	r.found[line] = append(r.found[line], findBadResult(r.cassette, call, client.Protocol)...)
}

// place adds violations that belong to no request to the row with their bytes, and returns
// those without one.
func (r *reader) place(loose []protocol.Violation) (left []protocol.Violation) {
	if len(loose) == 0 {
		return nil
	}
	byBytes := map[string][]int{}
	for i := range r.rows {
		row := &r.rows[i]
		if !row.ToServer && row.IsMessage() {
			excerpt := protocol.Excerpt(r.cassette.Data(row.Frame))
			byBytes[excerpt] = append(byBytes[excerpt], i)
		}
	}
	for _, v := range loose {
		i := slices.IndexFunc(byBytes[v.Excerpt], func(i int) bool { return !r.rows[i].has(v.Kind) })
		if i < 0 {
			left = append(left, v)
			continue
		}
		row := &r.rows[byBytes[v.Excerpt][i]]
		row.Violations = append(row.Violations, v)
	}
	return left
}

// has reports whether a violation of a kind was found in the row.
func (row *Row) has(kind string) bool {
	return slices.ContainsFunc(row.Violations, func(v protocol.Violation) bool { return v.Kind == kind })
}

// reader makes rows of the frames of a cassette.
type reader struct {
	cassette *cassette.Cassette
	scan     *protocol.Scanner
	begun    map[*cassette.Frame]*cassette.Call // by the request
	answered map[*cassette.Frame]*cassette.Call // by the response
	open     map[request]sent                   // requests without a response so far
	found    map[int][]protocol.Violation       // by line
	rows     []Row
}

// request names a request by its session, its direction and its id.
type request struct {
	session  int
	toServer bool
	id       string
}

type sent struct {
	at     time.Duration
	method string
}

// add adds the rows of a frame: what was written to standard error before it, the message or
// the HTTP head without one, and the end.
func (r *reader) add(f *cassette.Frame) {
	base := Row{
		Frame: f, Session: f.Session, At: r.cassette.Recorded.Add(f.At), ToServer: f.Dir == cassette.ToServer, Took: -1,
	}
	if f.Stderr != "" {
		row := base
		row.ToServer, row.Kind, row.Text, row.Size = false, Stderr, f.Stderr, int64(len(f.Stderr))
		r.rows = append(r.rows, row)
	}
	switch {
	case f.Has():
		r.rows = append(r.rows, r.readMessage(base, f))
	case f.HTTP != nil:
		row := base
		row.Kind, row.Status, row.Text = HTTP, f.HTTP.Status, f.HTTP.Method
		row.Violations = r.found[f.Line]
		r.rows = append(r.rows, row)
	}
	if f.End != nil {
		row := base
		row.ToServer, row.Kind, row.Text = f.End.Client, End, endText(f)
		r.rows = append(r.rows, row)
	}
}

// readMessage completes the row of a frame with data.
func (r *reader) readMessage(row Row, f *cassette.Frame) Row {
	data := r.cassette.Data(f)
	row.Size = max(int64(len(data)), f.Omitted)
	row.Violations = r.found[f.Line]
	if f.HTTP != nil {
		row.Status = f.HTTP.Status
	}
	e := &protocol.Envelope{}
	if len(data) > 0 && data[0] == '{' && r.scan.Scan(data) == nil {
		e = &r.scan.Envelope
	}
	row.Method, row.ID = protocol.TextOf(e.Method), string(e.ID)
	row.Name = protocol.NameOf(row.Method, e.Params)
	here := request{f.Session, row.ToServer, row.ID}
	switch {
	case row.Method != "" && row.ID != "":
		row.Kind = Request
		r.open[here] = sent{f.At, row.Method}
		row.HasTest = isTestable(r.cassette, r.begun[f])
	case row.Method != "":
		row.Kind = Notification
	case row.ID != "":
		row.Kind = Response
		r.answer(&row, here, f)
	default:
		row.Kind, row.Text = NoMessage, string(data[:min(len(data), shownText)])
	}
	return row
}

// answer completes the row of a response with what is known of its request.
func (r *reader) answer(row *Row, here request, f *cassette.Frame) {
	here.toServer = !here.toServer
	if asked, ok := r.open[here]; ok {
		row.Method, row.Took = asked.method, f.At-asked.at
		delete(r.open, here)
	}
	if call := r.answered[f]; call != nil {
		row.Name = call.Name
	}
}

// testable are the methods that tests of a suite call.
var testable = map[string]bool{"tools/call": true, "resources/read": true, "prompts/get": true}

// isTestable reports whether a request, nil if it is none of the client, can become a test.
func isTestable(c *cassette.Cassette, call *cassette.Call) bool {
	return call != nil && testable[call.Method] && call.Response != nil && !c.Refused(call)
}

// endText says how a stream or a session ended.
func endText(f *cassette.Frame) string {
	what := "the session ended"
	if f.Stream > 0 {
		what = "the stream ended"
	}
	e := f.End
	if e.Client {
		what += ", by the client"
	}
	var why []string
	if e.Reason != "" {
		why = append(why, e.Reason)
	}
	if e.Exit != nil {
		why = append(why, cmp.Or(e.Exit.Signal, fmt.Sprintf("exit status %d", e.Exit.Code)))
	}
	why = append(why, e.Stderr...)
	if len(why) == 0 {
		return what
	}
	return what + ": " + strings.Join(why, "\n")
}
