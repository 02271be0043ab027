package skills

import (
	"context"
	"fmt"
	"hash/fnv"

	"mcptest/internal/base/jsonv"
	"mcptest/internal/client/mcp"
	"mcptest/internal/client/protocol"
	"mcptest/internal/offer/skill"
	"mcptest/internal/run/probe/exam"
	"mcptest/internal/run/probe/verdict"
)

// The methods of the extension.
const (
	methodList      = "skills/list"
	methodGet       = "skills/get"
	methodDirectory = "resources/directory/read"
	methodRead      = "resources/read"
)

// Limits of what is read of one server.
const (
	mostSkills      = 20
	mostFiles       = 200
	mostBytes       = 16 << 20
	mostDirectories = 100
	mostFailures    = 20 // of one rule
)

// examiner examines the skills of one server.
type examiner struct {
	*exam.Visit
	caps     jsonv.Value // what the requests declare
	declared jsonv.Value // the capabilities of the server for such a client
	failures map[string]int

	listed    listing
	files     map[string]*file // that were read, by identity
	read      int64            // bytes
	second    int              // files that were read again
	refreshed int              // bytes of entries that were requested again
	skipped   int              // files that were not read
	withheld  int              // directories that were not read
	knowsGet  bool             // skills/get has answered for a listed skill
}

// file is a file that was read.
type file struct {
	x    *mcp.Exchange // nil once the contents were judged
	seen skill.Seen
	err  string // why there are no contents
}

// source is an entry, and the method that returned it.
type source struct {
	method string
	entry  skill.Entry
}

// do makes a request of a client that declares the extension.
func (e *examiner) do(ctx context.Context, method string, params jsonv.Value) *mcp.Exchange {
	meta := jsonv.ObjectOf(protocol.MetaCapabilities, e.caps)
	return e.Send(ctx, mcp.Call{Method: method, Params: params.With("_meta", meta).Append(nil)})
}

// get requests the entry of a skill.
func (e *examiner) get(ctx context.Context, uri string) *mcp.Exchange {
	return e.do(ctx, methodGet, jsonv.ObjectOf("uri", uri))
}

// list reads the skills that the server lists.
func (e *examiner) list(ctx context.Context, see func(*mcp.Exchange, []jsonv.Value)) listing {
	l := listing{pager: pager{method: methodList, member: "skills", params: jsonv.Object(), see: see}}
	l.run(ctx, e.do)
	for _, def := range l.items {
		l.entries = append(l.entries, skill.Read(def))
	}
	l.items = nil
	return l
}

// isStillListed reports whether a skill is listed when the list is requested again.
func (e *examiner) isStillListed(ctx context.Context, uri string) bool {
	if e.listed.isLong() {
		return true
	}
	again := e.list(ctx, nil)
	_, ok := again.find(uri)
	return ok
}

// mostRefreshed bounds the bytes of entries that are requested again.
const mostRefreshed = 32 << 20

// refresh returns the entry of a skill as the same method returns it now, or why it is not
// known. A long list is not read again: skills/get is asked instead.
func (e *examiner) refresh(ctx context.Context, s source) (now skill.Entry, why string) {
	if e.refreshed > mostRefreshed {
		return now, "the entries are too large to be requested again for each file"
	}
	if s.method == methodList && !e.listed.isLong() {
		again := e.list(ctx, nil)
		e.refreshed += again.size
		now, ok := again.find(s.entry.URI)
		if !ok {
			return now, "the skill is gone from the list"
		}
		return now, ""
	}
	x := e.get(ctx, s.entry.URI)
	e.refreshed += len(x.Result)
	def := exam.Result(x).Lookup("skill")
	if def.Kind() != jsonv.KindObject {
		return now, "skills/get got " + exam.Answer(x)
	}
	return skill.Read(def), ""
}

// makeEvidence returns what evidence shows as the request of an entry.
func makeEvidence(method string, def jsonv.Value) verdict.Evidence {
	return verdict.Evidence{Sent: method, Received: verdict.Excerpt(def.Short(2000), 1000)}
}

// fail enters a failure about a subject. A rule that very many files break has the first ones.
func (e *examiner) fail(f skill.Finding, evidence verdict.Evidence) {
	if e.failures[f.Rule]++; e.failures[f.Rule] <= mostFailures {
		e.EnterAbout(f.Subject, exam.BrokenBy(evidence, "%s", f.Message), f.Rule)
	}
}

// check provokes a rule, until it has failed very often.
func (e *examiner) check(ctx context.Context, rule, subject string, provoke func(context.Context) exam.Outcome) {
	if e.failures[rule] >= mostFailures {
		return
	}
	last := exam.Outcome{}
	e.Check(ctx, rule, subject, func(ctx context.Context) exam.Outcome {
		last = provoke(ctx)
		return last
	})
	if last.Verdict == verdict.Fail {
		e.failures[rule]++
	}
}

// expectRefusal expects the error -32602.
func expectRefusal(x *mcp.Exchange, method, uri string) exam.Outcome {
	switch {
	case exam.GotCode(x, protocol.CodeInvalidParams):
		return exam.Held()
	case exam.RPCError(x) == nil && x.Result == nil:
		return exam.Unverified("%s got %s", method, exam.Answer(x))
	}
	const form = "%s of %s got %s, expected the error %d"
	return exam.Broken(x, form, method, skill.Shown(uri), exam.Answer(x), protocol.CodeInvalidParams)
}

// inventName returns a name that no server has, the same one for equal seeds.
func (e *examiner) inventName(what string) string {
	h := fnv.New64a()
	fmt.Fprintf(h, "%s %d", what, e.Seed)
	return fmt.Sprintf("mcptest-no-such-%s-%x", what, h.Sum64())
}
