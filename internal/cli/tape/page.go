package tape

import (
	"fmt"
	"iter"
	"strconv"
	"unicode/utf8"

	"mcptest/internal/base/secret"
	"mcptest/internal/cli/cmdutil"
	"mcptest/internal/client/wire"
	"mcptest/internal/report/html"
	"mcptest/internal/tape/cassette"
	"mcptest/internal/tape/timeline"
)

// Limits of the bytes in a page, so that a browser can show it.
const (
	pageMessage = 256 << 10 // of one message
	pageTotal   = 32 << 20  // of all
)

// page makes the messages of a page of the rows of a cassette.
type page struct {
	cassette *cassette.Cassette
	rows     []timeline.Row
	redactor *secret.Redactor
}

func newPage(s cmdutil.Streams, c *cassette.Cassette, rows []timeline.Row) *page {
	redactor := secret.NewRedactor()
	redactor.Add(secret.FindInEnviron(s.Env)...)
	redactor.Add(secret.Arguments(c.Server.Command)...)
	return &page{c, rows, redactor}
}

// walkMessages returns the rows as a page shows them. Their bytes are read one by one.
func (p *page) walkMessages() iter.Seq[html.Message] {
	return func(yield func(html.Message) bool) {
		left := pageTotal
		for i := range p.rows {
			m := p.makeMessage(&p.rows[i])
			m.Text, m.Cut = p.cutText(&p.rows[i], min(left, pageMessage))
			left -= len(m.Text)
			if !yield(m) {
				return
			}
		}
	}
}

// makeMessage returns a row without its bytes.
func (p *page) makeMessage(r *timeline.Row) html.Message {
	mask := p.redactor.String
	m := html.Message{
		Number: strconv.Itoa(r.Frame.Line), Time: fmt.Sprintf("%.3f s", r.Frame.At.Seconds()), Way: nameWay(r),
		What: mask(describeWhat(r)), ID: mask(r.ID), Size: wire.FormatByteSize(r.Size), ToServer: r.ToServer,
	}
	if r.Took >= 0 {
		m.Took = fmt.Sprintf("%.1f ms", float64(r.Took.Microseconds())/1000)
	}
	for _, v := range r.Violations {
		m.Problems = append(m.Problems, html.Problem{Kind: v.Kind, Message: mask(v.Msg), Rule: v.Rule()})
	}
	return m
}

// nameWay returns the direction of a row, or what it is.
func nameWay(r *timeline.Row) string {
	switch {
	case r.Kind == timeline.Stderr || r.Kind == timeline.End:
		return string(r.Kind)
	case r.ToServer:
		return "→ server"
	}
	return "← server"
}

// describeWhat returns what a row is about.
func describeWhat(r *timeline.Row) string {
	what := r.Method
	if r.Name != "" {
		what += " " + r.Name
	}
	switch r.Kind {
	case timeline.Response:
		what = "response " + what
	case timeline.HTTP, timeline.Stderr, timeline.End:
		what = r.Text
	case timeline.NoMessage:
		what = "no message"
	}
	if r.Status != 0 {
		what = fmt.Sprintf("HTTP %d %s", r.Status, what)
	}
	return what
}

// cutText returns the bytes of a row without secrets, at most so many, and what is missing.
func (p *page) cutText(r *timeline.Row, most int) (text, cut string) {
	text = r.Text
	if r.IsMessage() {
		text = string(p.redactor.Bytes(p.cassette.Data(r.Frame)))
	}
	text = p.redactor.String(text)
	if r.Frame.Omitted > 0 {
		cut = fmt.Sprintf("The recording has only the beginning of these %s.", wire.FormatByteSize(r.Frame.Omitted))
	}
	if len(text) <= most {
		return text, cut
	}
	for most > 0 && !utf8.RuneStart(text[most]) {
		most--
	}
	missing := wire.FormatByteSize(int64(len(text) - most))
	return text[:most], fmt.Sprintf("%s more are in line %d of the cassette.", missing, r.Frame.Line)
}

// mask returns lines without secrets.
func (p *page) mask(lines []string) []string { return p.redactor.Lines(lines) }
