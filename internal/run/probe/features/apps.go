package features

import (
	"context"
	"slices"
	"strings"

	"mcptest/internal/base/jsonv"
	"mcptest/internal/client/mcp"
	"mcptest/internal/offer/apps"
	"mcptest/internal/offer/surface"
	"mcptest/internal/run/probe/argument"
	"mcptest/internal/run/probe/exam"
	"mcptest/internal/run/probe/verdict"
)

// The rules about views, by what they need.
const (
	ruleExists   = "ui-resource-exists"
	ruleScheme   = "ui-scheme"
	ruleMime     = "ui-mime"
	ruleContent  = "ui-content"
	ruleHTML     = "ui-html"
	ruleDeclares = "ui-capability"
	ruleFallback = "ui-fallback-tool"
)

// appsExam examines MCP Apps in one revision.
type appsExam struct {
	*exam.Visit
	server  apps.Server
	session *mcp.Session             // of a client that declares the extension; nil: none could be opened
	refused string                   // why
	reads   map[string]*mcp.Exchange // by URI
}

// Apps examines tools with views: as a client is shown them that declares the extension, and
// as another one is.
func Apps(ctx context.Context, v *exam.Visit) {
	a := &appsExam{Visit: v, reads: map[string]*mcp.Exchange{}}
	own := apps.ShowsViews(v.Pinned.Client.Declares)
	a.server.Listings = []apps.Listing{{
		Revision: v.Version.Name, Declared: own, Tools: v.Tools, Resources: v.Resources, Capabilities: v.Caps,
	}}
	v.Close() // over stdio, one process runs at a time
	a.open(ctx, own)
	defer a.end()
	if !a.server.HasApps() {
		v.EnterAll("apps", exam.Inapplicable("no tool has a view, and no resource is one"))
		return
	}
	a.readViews(ctx)
	a.judge(ctx)
	a.end() // before tools are called in a session of the ordinary client
	a.callViewed(ctx)
}

// open opens the session of a client that declares the extension and reads the lists. If the
// ordinary client does, the other list is that of one that does not.
func (a *appsExam) open(ctx context.Context, own bool) {
	if own {
		plain, err := a.Open(ctx, apps.Declaring(a.Pinned.Client.Declares, false))
		if err == nil {
			a.list(ctx, plain, false)
			a.End(plain)
		}
	}
	session, err := a.Open(ctx, apps.Declaring(a.Pinned.Client.Declares, true))
	if err != nil {
		a.refused = "a client that declares the extension could not connect: " + err.Error()
		return
	}
	a.session = session
	if !own {
		a.list(ctx, session, true)
	}
}

// list reads the lists of tools and resources in a session.
func (a *appsExam) list(ctx context.Context, session *mcp.Session, declared bool) {
	listing := apps.Listing{
		Revision: a.Version.Name, Declared: declared, Capabilities: session.ServerInfo().Lookup("capabilities"),
	}
	for _, l := range surface.Lists() {
		isNeeded := l.Kind == surface.Tool || l.Kind == surface.Resource
		if !isNeeded || listing.Capabilities.Lookup(l.Capability).IsAbsent() {
			continue
		}
		read := exam.Read(ctx, l, a.Within(a.Reply, session))
		if l.Kind == surface.Resource {
			listing.Resources = read.Items
			continue
		}
		listing.Tools = read.Items
		if read.Pages[len(read.Pages)-1].Result == nil {
			return // what it does not show is not known
		}
	}
	a.server.Listings = append(a.server.Listings, listing)
}

// end ends the session of the client that declares the extension.
func (a *appsExam) end() {
	if a.session != nil {
		a.End(a.session)
		a.session = nil
	}
}

// readViews reads the views.
func (a *appsExam) readViews(ctx context.Context) {
	for i, uri := range a.server.Views(a.Version.Name) {
		if i == maxReads || a.session == nil || ctx.Err() != nil {
			return
		}
		x := a.read(ctx, uri)
		a.reads[uri] = x
		read := apps.Read{Revision: a.Version.Name, URI: uri, Result: exam.Result(x)}
		switch {
		case exam.RefusesAll(exam.Status(x)) || exam.Another(x) || isLost(x):
			read.Unknown = exam.Answer(x)
		case x.Result == nil:
			read.Failure = exam.Answer(x)
		}
		a.server.Reads = append(a.server.Reads, read)
	}
}

func (a *appsExam) read(ctx context.Context, uri string) *mcp.Exchange {
	call := mcp.Call{Method: "resources/read", Params: exam.Text(jsonv.ObjectOf("uri", uri))}
	return a.Within(a.Reply, a.session)(ctx, call)
}

// isLost reports whether a request got a status of HTTP and no message: the response was too
// slow, or the session has ended. That says nothing about a view.
func isLost(x *mcp.Exchange) bool { return x.Result == nil && exam.RPCError(x) == nil }

// judge enters what was found, and for the other rules that they hold.
func (a *appsExam) judge(ctx context.Context) {
	found, _ := apps.Judge(a.server)
	for _, rule := range []string{ruleExists, ruleScheme, ruleMime, ruleContent, ruleHTML, ruleDeclares, ruleFallback} {
		a.Enter(a.otherwise(ctx, rule), rule)
		for _, f := range found {
			isBinding := f.Level == apps.LevelError || rule == ruleFallback && f.Level == apps.LevelWarning
			isSeen := rule != ruleDeclares || a.refused == "" // as a client with the extension sees it
			if f.Rule == rule && isBinding && isSeen {
				a.fail(ctx, f)
			}
		}
	}
}

// otherwise is the outcome of a rule that nothing breaks.
func (a *appsExam) otherwise(ctx context.Context, rule string) exam.Outcome {
	if ctx.Err() != nil {
		return exam.Unverified(verdict.TimeReason+"%v", context.Cause(ctx))
	}
	if rule == ruleScheme {
		return exam.Held()
	}
	if a.refused != "" {
		return exam.Unverified("%s", a.refused)
	}
	if rule == ruleDeclares {
		return exam.Held()
	}
	if rule == ruleFallback {
		if len(a.server.Listings) < 2 {
			return exam.Unverified("the tools were not listed to a client with views and to another one")
		}
		return exam.Held()
	}
	if len(a.server.Reads) == 0 {
		return exam.Unverified("no view could be read")
	}
	for _, r := range a.server.Reads {
		switch {
		case r.Unknown != "":
			return exam.Unverified("the view %s was not read: %s", r.URI, r.Unknown)
		case r.Failure != "" && rule != ruleExists:
			return exam.Unverified("the view %s could not be read", r.URI)
		}
	}
	if left := len(a.server.Views(a.Version.Name)) - len(a.server.Reads); left > 0 {
		return exam.Unverified("%d of the views were not read", left)
	}
	return exam.Held()
}

// fail enters a finding. A view that could not be read is read again.
func (a *appsExam) fail(ctx context.Context, f apps.Finding) {
	subject, uri := f.Subject, strings.TrimPrefix(f.Subject, "resource ")
	evidence := &mcp.Exchange{Request: []byte("tools/list"), Response: []byte(f.Message)}
	if f.Tool != "" {
		subject = "tool " + f.Tool
		tool := a.findTool(f.Tool)
		evidence, uri = placeOf("tools/list", tool), apps.URIOf(tool)
	}
	if x := a.reads[uri]; x != nil && f.Rule != ruleScheme && f.Rule != ruleFallback {
		evidence = x
	}
	seen := false
	a.Check(ctx, f.Rule, subject, func(ctx context.Context) exam.Outcome {
		if f.Rule == ruleExists && seen && a.session != nil {
			x := a.read(ctx, uri)
			if isLost(x) {
				return exam.Unverified("%s", exam.Answer(x))
			}
			return exam.BrokenIf(x.Result == nil, x, "%s", f.Message)
		}
		seen = true
		return exam.Broken(evidence, "%s", f.Message)
	})
}

// findTool returns a tool of any list.
func (a *appsExam) findTool(name string) jsonv.Value {
	for _, l := range a.server.Listings {
		for _, tool := range l.Tools {
			if tool.Lookup("name").Text() == name {
				return tool
			}
		}
	}
	return jsonv.Value{}
}

// callViewed calls the read-only tools with a view that were not called before.
func (a *appsExam) callViewed(ctx context.Context) {
	if !slices.ContainsFunc(a.Tools, isJudgedByText) {
		a.Enter(exam.Unverified("no tool with a view has readOnlyHint: true, and others are not called"), ruleText)
	}
	for _, tool := range a.Tools {
		wasCalled := slices.Contains(a.Viewed, tool.Lookup("name").Text())
		if !a.Applies(ruleText) || wasCalled || !isJudgedByText(tool) || ctx.Err() != nil {
			continue
		}
		x, why := a.Call(ctx, tool, argument.Valid(tool))
		if why != "" {
			a.EnterAbout(exam.Subject(tool), exam.Unverified("%s", why), ruleText)
			continue
		}
		judgeFallback(ctx, a.Visit, tool, x)
	}
}
