package inspect

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

	"mcptest/internal/base/display"
	"mcptest/internal/base/jsonv"
	"mcptest/internal/base/lists"
	"mcptest/internal/base/source"
	"mcptest/internal/client/check"
	"mcptest/internal/client/mcp"
	"mcptest/internal/client/protocol"
	"mcptest/internal/offer/surface"
)

// List reads every page of a list. key is the member of the result that is the
// list.
func (c *Conn) List(ctx context.Context, method, key string) ([]jsonv.Value, error) {
	items, _, err := c.Pages(ctx, method, key)
	return items, err
}

// Pages is like List, and also returns the results that contained the list.
func (c *Conn) Pages(ctx context.Context, method, key string) (items, pages []jsonv.Value, err error) {
	limits := c.o.Connect.Limits.FillDefaults()
	items, err = surface.Pages(ctx, method, key, surface.Limits{
		Items: limits.Items,
		Pages: limits.Pages,
	}, func(ctx context.Context, method string, params jsonv.Value) (jsonv.Value, error) {
		res, err := c.Result(ctx, method, params)
		pages = append(pages, res)
		return res, err
	})
	return items, pages, err
}

// FindWrongArguments says which arguments the inputSchema of a tool does not allow.
func FindWrongArguments(tool, args jsonv.Value) []string {
	wrong, _ := check.Arguments(tool.Lookup("inputSchema"), args)
	for i, fault := range wrong {
		wrong[i] = "argument " + fault
	}
	return wrong
}

// CheckCall checks the response of a tool as a run does, and returns the
// warnings; violations are added to the exchange. The tool list is read for the
// tool's schemas if there is a response.
func (c *Conn) CheckCall(ctx context.Context, tool string, args jsonv.Value, x *mcp.Exchange) (warnings []string) {
	var known jsonv.Value
	if x.Response != nil && c.o.Server.ValidateOutput && c.Offers("tools") {
		tools, err := c.List(ctx, "tools/list", "tools")
		if err != nil {
			warnings = append(warnings, "the tool list could not be read, so outputSchema is not checked: "+err.Error())
		}
		called := func(t jsonv.Value) bool { return t.Lookup("name").Text() == tool }
		known = lists.First(tools, called)
	}
	return append(warnings, c.CheckCallOf(ctx, tool, known, args, x)...)
}

// CheckCallOf is CheckCall for a tool whose definition is known; it is absent if the server
// does not list the tool.
func (c *Conn) CheckCallOf(ctx context.Context, tool string, known, args jsonv.Value, x *mcp.Exchange) (warnings []string) {
	var schema *check.OutputSchema
	if c.o.Server.ValidateOutput && x.Response != nil && !known.IsAbsent() {
		schema = check.NewOutputSchema(known.Lookup("outputSchema"))
		warnings = FindWrongArguments(known, args)
	}
	found := check.ToolCall(ctx, c.session.Protocol(), tool, schema, x)
	for i, v := range found.Violations {
		found.Violations[i].Tolerated = c.o.Server.Tolerate[v.Kind]
	}
	for i := range found.Violations {
		found.Violations[i].ID = x.ID
	}
	c.report(found.Violations)
	c.session.Report(found.Violations)
	x.Violations = append(x.Violations, found.Violations...)
	return append(warnings, found.Warnings...)
}

// Unlisted adds to the error of a request that the name it used is not in the
// list of the server, if that is so. list is the list: tools or prompts.
func (c *Conn) Unlisted(ctx context.Context, err error, list, name string) error {
	refused, ok := errors.AsType[*protocol.RPCError](err)
	if ok && refused.Code != protocol.CodeInvalidParams && refused.Code != protocol.CodeMethodNotFound || !c.Offers(list) {
		return err
	}
	items, failed := c.List(ctx, list+"/list", list)
	names := Names(items, "name")
	if failed != nil || slices.Contains(names, name) {
		return err
	}
	return fmt.Errorf("%s: %w", NoSuch(strings.TrimSuffix(list, "s"), name, names), err)
}

// fewNames is up to how many names a message lists.
const fewNames = 10

// NoSuch says that a server has no tool or prompt of a name, and which it has.
func NoSuch(what, name string, names []string) string {
	text := fmt.Sprintf("the server has no %s %q", what, name)
	if hint := source.DidYouMean(name, names); hint != "" {
		return text + source.Parenthesis(hint)
	}
	if len(names) == 0 || len(names) > fewNames {
		return text
	}
	return text + "; it has " + strings.Join(names, ", ")
}

// Name is a member that should be a string, in words if it is not.
func Name(v jsonv.Value, key string) string {
	switch m := v.Lookup(key); m.Kind() {
	case jsonv.KindString:
		return m.Text()
	case jsonv.KindAbsent:
		return "(no " + key + ")"
	default:
		return m.Short(40)
	}
}

// Names are the names of the entries of a list.
func Names(list []jsonv.Value, key string) (names []string) {
	for _, v := range list {
		names = append(names, Name(v, key))
	}
	return names
}

// FormatViolation is a violation in one line.
func FormatViolation(v protocol.Violation) string {
	s := v.Kind + ": " + v.Msg
	if v.Excerpt != "" {
		s += ": " + v.Excerpt
	}
	if v.Tolerated {
		s += " (tolerated)"
	}
	return s
}

// Detail are the further lines of an error, such as the end of stderr.
func Detail(err error) []string {
	for e := err; e != nil; e = errors.Unwrap(e) {
		if d, ok := e.(interface{ Detail() string }); ok && d.Detail() != "" {
			return strings.Split(strings.TrimRight(d.Detail(), "\n"), "\n")
		}
	}
	return nil
}

// Again says how often Readings reads the lists of a server.
type Again struct {
	Sessions   int  // at least 1
	AfterCalls bool // also after calls
}

// Reading is a server's responses to the requests for all its lists at one time.
type Reading struct {
	Name      string // when it was
	Offer     *surface.Offer
	Announced bool // with list_changed, in the same session
	Called    bool // tools were called before
}

// maxCalls bounds the calls of Readings.
const maxCalls = 20

// Readings reads all lists of the server several times: twice in the first
// session, once in each further one, and after calls in the last. Only tools
// that are declared to read only, and require no arguments, are called. see gets
// the first reading, which has no name, and the others; each should equal the first
// unless a list_changed notification of its session announced it. In a stateless
// protocol version, only subscribers are notified.
func (c *Conn) Readings(ctx context.Context, o Again, see func(Reading)) error {
	mark := c.session.Mark()
	first, err := c.Complete(ctx)
	if err != nil {
		return err
	}
	see(Reading{Offer: first})
	second, err := c.readAgain(ctx, mark, "the second time in a session")
	if err != nil {
		return err
	}
	see(second)
	for i := 2; i <= o.Sessions; i++ {
		c.ReportRemaining()
		c.Close()
		if err := c.Open(ctx); err != nil {
			return err
		}
		mark = c.session.Mark()
		offer, err := c.Complete(ctx)
		if err != nil {
			return err
		}
		see(Reading{Name: fmt.Sprintf("in session %d", i), Offer: offer})
	}
	if !o.AfterCalls {
		return nil
	}
	calls := 0
	for _, tool := range first.Lists[surface.Tool] {
		if isHarmless(tool) && calls < maxCalls {
			calls++ // whether it succeeds does not matter
			c.Do(ctx, "tools/call", jsonv.ObjectOf("name", tool.Lookup("name"), "arguments", jsonv.Object()))
		}
	}
	last, err := c.readAgain(ctx, mark, "after "+display.Count(calls, "call"))
	last.Called = true
	switch {
	case err != nil:
		return err
	case c.session.Era() == protocol.EraStateless:
		last.Name += fmt.Sprintf(" (%s notifies only subscribers)", c.session.Protocol())
	case !last.Announced:
		last.Name += ", without list_changed"
	}
	see(last)
	return nil
}

// readAgain reads the lists once more in a session.
func (c *Conn) readAgain(ctx context.Context, since mcp.Mark, name string) (Reading, error) {
	offer, err := c.Complete(ctx)
	return Reading{Name: name, Offer: offer, Announced: c.session.ListChanged(since)}, err
}

// Complete reads every list that the server offers; one that can't be read is an error, and
// one that the server does not implement counts as empty.
func (c *Conn) Complete(ctx context.Context) (*surface.Offer, error) {
	offer, err := c.Survey(ctx)
	if err != nil {
		return nil, err
	}
	if err := offer.Err(); err != nil {
		return nil, err
	}
	return offer, nil
}

// SelfAnnouncing returns the methods of the lists that the server announces as changed
// whenever they are read.
func (c *Conn) SelfAnnouncing(ctx context.Context) []string { return c.session.SelfAnnouncing(ctx) }

// SelfAnnouncements says which lists the server announces as changed whenever they are read.
func (c *Conn) SelfAnnouncements(ctx context.Context) (warnings []string) {
	for _, method := range c.SelfAnnouncing(ctx) {
		warnings = append(warnings, method+": each request for the list makes the server announce that it has changed (list_changed): a client that then reads it again never stops")
	}
	return warnings
}

// Survey reads every list that the server offers, as far as possible.
func (c *Conn) Survey(ctx context.Context) (*surface.Offer, error) {
	limits := c.o.Connect.Limits.FillDefaults()
	bounds := surface.Limits{Items: limits.Items, Pages: limits.Pages}
	return surface.Fetch(ctx, c.session.ServerInfo(), bounds, c.Result)
}

// isHarmless reports whether a tool is declared to read only, and can be called
// without arguments.
func isHarmless(tool jsonv.Value) bool {
	hint := func(name string) bool { return jsonv.Equal(tool.Lookup("annotations", name), jsonv.Bool(true)) }
	return hint("readOnlyHint") && !hint("destructiveHint") && tool.Lookup("inputSchema", "required").Len() == 0
}
