package scaffold

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"regexp"
	"slices"
	"strings"
	"unicode"

	"mcptest/internal/base/display"
	"mcptest/internal/base/jsonschema"
	"mcptest/internal/base/jsonv"
	"mcptest/internal/client/mcp"
	"mcptest/internal/client/protocol"
	"mcptest/internal/report/result"
	"mcptest/internal/run/inspect"
	"mcptest/internal/spec/draft"
)

// NotReadOnly is why most skipped tests are skipped.
const NotReadOnly = "the tool is not annotated read-only, so it was not called"

// NotOmitted is why a call without required arguments is skipped: it might change something.
const NotOmitted = "the tool is not annotated read-only, so it was not called without its arguments"

// maxTried is how many resources and prompts become tests.
const maxTried = 5

// RequestError is a request that the server did not respond to, or refused.
type RequestError struct {
	Method string // "": the handshake, or the run was interrupted
	Err    error
}

// Error returns the method and the reason.
func (e *RequestError) Error() string { return strings.TrimPrefix(e.Method+": "+e.Err.Error(), ": ") }

// Unwrap returns the reason.
func (e *RequestError) Unwrap() error { return e.Err }

// Observe makes every request of the suite in a session of its own. The first
// time it finds out which requests there are, and makes them twice: a server
// that counts calls begins again in each session.
func (d *Draft) Observe(ctx context.Context, o Options) error {
	d.Options = o
	if err := d.Conn.Open(ctx); err != nil {
		return &RequestError{"", err}
	}
	defer d.Conn.Close()
	if d.Suite.From == "" {
		if err := d.discover(ctx); err != nil {
			return err
		}
		if err := d.tryAll(ctx); err != nil {
			return err
		}
	}
	return d.tryAll(ctx)
}

// tryAll makes every request once.
func (d *Draft) tryAll(ctx context.Context) error {
	for _, t := range d.Suite.Tests {
		if t.Skip != "" {
			continue
		}
		a, why := d.try(ctx, t)
		if err := ctx.Err(); err != nil {
			return &RequestError{"", err}
		}
		if why == "" {
			if t.Skip = findDefect(t, a); t.Skip != "" {
				t.Defect = true
				continue
			}
		}
		if why == "" && t.Without != nil && !a.Refused() {
			t.Skip = "its schema requires " + strings.Join(t.Without, ", ") + ", but a call without was not refused"
			continue
		}
		if why == "" {
			t.Answers = append(t.Answers, a)
			continue
		}
		t.Skip = why
		// The server may still be busy with that request, or gone.
		d.Conn.Close()
		if err := d.Conn.Open(ctx); err != nil {
			return &RequestError{"", err}
		}
	}
	return nil
}

// discover lists what the server has.
func (d *Draft) discover(ctx context.Context) error {
	d.Suite.From = display.OneLine(d.Mask(d.Conn.ServerName()))
	d.Suite.Mask = d.Mask
	if sv := &d.Suite.Server; sv.Protocol == "" && d.Conn.Mute() {
		sv.Protocol, sv.Mute = d.Conn.Session().Protocol(), true
	}
	called := d.Conn.Implementation().Lookup("name").Text()
	if !d.named && called != "" {
		called = MakeShortName(d.Mask(called))
		d.Suite.Name, d.Suite.Server.Name = called, called
	}
	if d.Conn.Offers("tools") {
		tools, err := d.Conn.List(ctx, "tools/list", "tools")
		if err != nil {
			return &RequestError{"tools/list", err}
		}
		d.Suite.Tests = append(d.Suite.Tests, &draft.Test{Block: "protocol", Subject: "tools/list", List: "tools"})
		if err := d.addTools(tools); err != nil {
			return err
		}
	}
	d.addOthers(ctx)
	return nil
}

func (d *Draft) addTools(tools []jsonv.Value) error {
	all := slices.Contains(d.Call, "*")
	unknown := slices.DeleteFunc(slices.Clone(d.Call), func(name string) bool { return name == "*" })
	for _, tool := range tools {
		n := tool.Lookup("name").Text()
		if n == "" {
			continue
		}
		t := &draft.Test{Block: "tools", Subject: n, Args: jsonschema.Arguments(tool.Lookup("inputSchema"))}
		asked := all || slices.Contains(d.Call, n)
		unknown = slices.DeleteFunc(unknown, func(u string) bool { return u == n })
		if !asked && !tool.Lookup("annotations", "readOnlyHint").Bool() {
			t.Skip = NotReadOnly
		}
		d.Suite.Tests = append(d.Suite.Tests, t)
		if required := tool.Lookup("inputSchema", "required").Texts(); len(required) > 0 {
			bad := &draft.Test{Block: "tools", Subject: n, Args: jsonv.Object(), Without: required}
			if !tool.Lookup("annotations", "readOnlyHint").Bool() || tool.Lookup("annotations", "destructiveHint").Bool() {
				bad.Skip = NotOmitted
			}
			d.Suite.Tests = append(d.Suite.Tests, bad)
		}
	}
	if len(unknown) > 0 {
		return fmt.Errorf("--call: %s", inspect.NoSuch("tool", unknown[0], inspect.Names(tools, "name")))
	}
	return nil
}

// addOthers finds resources, and prompts that need no arguments: reading them
// changes nothing. A list that is refused counts as empty, because servers
// without one may refuse it.
func (d *Draft) addOthers(ctx context.Context) {
	if d.Conn.Offers("resources") {
		resources, _ := d.Conn.List(ctx, "resources/list", "resources")
		d.addResources(resources)
	}
	if d.Conn.Offers("prompts") {
		prompts, _ := d.Conn.List(ctx, "prompts/list", "prompts")
		d.addPrompts(prompts)
	}
	if d.Conn.Offers("resources") {
		templates, _ := d.Conn.List(ctx, "resources/templates/list", "resourceTemplates")
		d.omit("resource templates, which need values of your choice", inspect.Names(templates, "uriTemplate"))
	}
}

func (d *Draft) addResources(list []jsonv.Value) {
	all := len(list)
	list = slices.DeleteFunc(slices.Clone(list), func(r jsonv.Value) bool {
		return d.Suite.WithoutLocal(r.Lookup("uri").Text()) != r.Lookup("uri").Text()
	})
	if n := all - len(list); n > 0 {
		d.Suite.Omitted = append(d.Suite.Omitted, display.Count(n, "resource")+" whose address refers to this machine")
	}
	some := min(len(list), maxTried)
	for _, r := range list[:some] {
		if uri := r.Lookup("uri").Text(); uri != "" {
			d.Suite.Tests = append(d.Suite.Tests, &draft.Test{Block: "resources", Subject: uri})
		}
	}
	d.omit("resources after the fifth", inspect.Names(list[some:], "uri"))
}

func (d *Draft) addPrompts(list []jsonv.Value) {
	n := 0
	var wanting, more []string
	for _, p := range list {
		needs := false
		for _, a := range p.Lookup("arguments").Elems() {
			needs = needs || a.Lookup("required").Bool()
		}
		called := p.Lookup("name").Text()
		switch {
		case called == "":
		case needs:
			wanting = append(wanting, called)
		case n == maxTried:
			more = append(more, called)
		default:
			n++
			d.Suite.Tests = append(d.Suite.Tests, &draft.Test{Block: "prompts", Subject: called})
		}
	}
	d.omit("prompts that require arguments", wanting)
	d.omit("prompts after the fifth", more)
}

// maxNamed is how many of the things that have no test are named.
const maxNamed = 10

// omit notes what has no test.
func (d *Draft) omit(what string, names []string) {
	if len(names) == 0 {
		return
	}
	text := what + ": " + strings.Join(names[:min(len(names), maxNamed)], ", ")
	if more := len(names) - maxNamed; more > 0 {
		text += fmt.Sprintf(" and %d more", more)
	}
	d.Suite.Omitted = append(d.Suite.Omitted, d.Suite.WithoutLocal(d.Mask(text)))
}

// try makes the request of a test. Why is not empty when there was no response
// that a test could be made of.
func (d *Draft) try(ctx context.Context, t *draft.Test) (a draft.Answer, why string) {
	method, params := t.Subject, jsonv.Value{}
	named := func(key string) jsonv.Value {
		return jsonv.ObjectOf(key, t.Subject)
	}
	switch t.Block {
	case "tools":
		method, params = "tools/call", named("name").With("arguments", t.Args)
	case "resources":
		method, params = "resources/read", named("uri")
	case "prompts":
		method, params = "prompts/get", named("name")
	}
	x := d.Conn.Do(ctx, method, params)
	_, ok := errors.AsType[*mcp.TimeoutError](x.Cause)
	switch {
	case ok:
		return a, fmt.Sprintf("it did not respond within %s when it was tried (increase --timeout)", d.Conn.Server().Timeout)
	case x.Cause != nil:
		return a, "it did not respond when it was tried: " + x.Cause.Error()
	}
	if e := x.RPCError(); e != nil {
		return draft.Answer{Code: jsonv.Int(int64(e.Code)), Reason: e.Message}, ""
	}
	v, err := jsonv.Parse(x.Result)
	if err != nil {
		return a, fmt.Sprintf("the response can't be read: %v", err)
	}
	for _, block := range v.Lookup("content").Elems() {
		a.Reason = cmp.Or(a.Reason, block.Lookup("text").Text())
	}
	a.Result = v
	return a, ""
}

// saysUnknownTool reports whether a refusal says that there is no tool of a name.
func saysUnknownTool(reason, name string) bool {
	name = regexp.QuoteMeta(name)
	before := `\b(?:unknown|no such|invalid|unsupported) tool\W{0,4}` + name + `(?:\W|$)`
	after := `\btool\W{0,4}` + name + `\W{1,4}(?:is |was |does )?(?:not found|not exist|not registered|not available|unknown)`
	return regexp.MustCompile(`(?i)` + before + `|` + after).MatchString(reason)
}

// findDefect says why a refusal contradicts a list of the server: what it lists can be read
// and got, and exists; "" if it does not.
func findDefect(t *draft.Test, a draft.Answer) string {
	if t.List != "" || !a.Refused() {
		return ""
	}
	doing := ""
	switch t.Block {
	case "resources":
		doing = "reading"
	case "prompts":
		doing = "getting"
	case "tools":
		unimplemented := jsonv.Equal(a.Code, jsonv.Int(protocol.CodeMethodNotFound))
		if !unimplemented && !saysUnknownTool(a.Reason, t.Subject) {
			return "" // it refuses the arguments
		}
		doing = "calling"
	}
	reason := display.Truncate(display.OneLine(a.Reason), 200)
	if !a.Code.IsAbsent() {
		reason = strings.TrimSpace("error " + a.Code.String() + " " + reason)
	}
	return "the server lists it, but " + doing + " it got " + reason + ": a likely defect of the server"
}

// MakeShortName makes a name for the suite and the server out of what the server
// calls itself: the last part, in letters that need no quotes.
func MakeShortName(called string) string {
	called = called[strings.LastIndexByte(called, '/')+1:]
	out := strings.Map(func(r rune) rune {
		isWord := unicode.IsLetter(r) || unicode.IsDigit(r) || r == '-' || r == '_'
		if r < unicode.MaxASCII && isWord {
			return r
		}
		return -1
	}, called)
	if out = strings.Trim(out, "-_"); out == "" {
		return "server"
	}
	return out
}

// Adapt changes the suite after a run of it; false if there was nothing that it
// could change. Violations are tolerated, and a test that fails for another
// reason expects less or is skipped.
func (d *Draft) Adapt(r *result.Run) (changed bool) {
	before := slices.Clone(d.Suite.Server.Tolerate)
	tolerate := func(kind string) bool {
		// What this trial tolerated already is not why a test failed.
		return !slices.Contains(before, kind) && d.tolerate(kind)
	}
	for _, f := range r.Findings {
		if f.Severity == "error" {
			changed = tolerate(f.Kind) || changed
		}
	}
	attributed := false // requests to upstreams, to a test
	names := d.Suite.Names()
	for c, err := range r.Cases.All() {
		if err != nil {
			continue
		}
		at := slices.Index(names, c.Name)
		if at >= 0 && d.expectRequests(d.Suite.Tests[at], c) {
			changed, attributed = true, true
			continue
		}
		if c.Status != result.Fail && c.Status != result.Error {
			continue
		}
		forgiven := false
		for _, v := range c.Violations {
			forgiven = tolerate(v.Kind) || forgiven
		}
		if !forgiven && at >= 0 {
			d.relax(d.Suite.Tests[at], c.Message)
			forgiven = true
		}
		changed = changed || forgiven
	}
	unmatched := func(f result.Finding) bool { return f.Kind == "unmatched-upstream-request" }
	if !attributed && slices.ContainsFunc(r.Findings, unmatched) {
		changed = d.allowUpstreams() || changed
	}
	slices.Sort(d.Suite.Server.Tolerate)
	return changed
}

// tolerate adds a kind of violations to the suite; false if no suite can tolerate it.
func (d *Draft) tolerate(kind string) bool {
	isKind := func(k protocol.ViolationKind) bool { return k.Name == kind }
	if kind != "output-schema" && !slices.ContainsFunc(protocol.ViolationKinds, isKind) {
		return false
	}
	if !slices.Contains(d.Suite.Server.Tolerate, kind) {
		d.Suite.Server.Tolerate = append(d.Suite.Server.Tolerate, kind)
	}
	return true
}

// allowUpstreams allows all requests to upstreams; false if they were allowed.
func (d *Draft) allowUpstreams() (changed bool) {
	for _, u := range d.Suite.Upstreams {
		changed = changed || !u.Allowed
		u.Allowed = true
	}
	return changed
}

// expectRequests expects the requests that a test made the server send to upstreams,
// and skips a test that needs one that no route answers. It reports whether the
// test is now another one.
func (d *Draft) expectRequests(t *draft.Test, c *result.Case) bool {
	var sent []draft.Requested
	for _, q := range c.Upstream {
		path, _, _ := strings.Cut(q.URL, "?")
		allowed := func(u *draft.Upstream) bool {
			return u.Name == q.Upstream && u.Allowed
		}
		if q.Unmatched && !slices.ContainsFunc(d.Suite.Upstreams, allowed) {
			t.Requested, t.Skip = nil, fmt.Sprintf("it sent %s %s to %s, which was not recorded", q.Method, path, q.Upstream)
			return true
		}
		sent = append(sent, draft.Requested{Upstream: q.Upstream, Method: q.Method, Path: path})
	}
	if t.Skip != "" || t.Unsteady || t.Loose || slices.Equal(sent, t.Requested) {
		return false
	}
	t.Unsteady = t.Requested != nil
	t.Requested = sent
	if t.Unsteady {
		t.Requested = nil
	}
	return true
}

// relax expects less of a test that failed: one that is refused in different
// ways is only expected to be answered, any other is skipped.
func (d *Draft) relax(t *draft.Test, message string) {
	unexamined := strings.Contains(message, "no assertion examines")
	if !t.Loose && t.List == "" && (unexamined || t.Refused()) {
		t.Loose = true
		return
	}
	t.Skip = "it failed when the suite was tried: " + message
}
