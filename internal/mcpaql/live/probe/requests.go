package probe

import (
	"context"
	"slices"
	"strings"

	"mcptest/internal/base/jsonv"
	"mcptest/internal/base/lists"
	"mcptest/internal/mcpaql/evidence"
	"mcptest/internal/mcpaql/live/catalog"
	"mcptest/internal/mcpaql/live/change"
	"mcptest/internal/mcpaql/live/guard"
	"mcptest/internal/mcpaql/rule"
)

const noType = "ZzNoSuchType"

// requestProbe tests requests as a whole: malformed ones, the wrong endpoint, sizes,
// repetition, and a second session.
type requestProbe struct{ run *guard.Run }

// probeRequests sends requests that are invalid as a whole, all of them to the
// introspection tool, where they cannot change anything.
func (p requestProbe) probeRequests() {
	query := func(v jsonv.Value) jsonv.Value {
		return jsonv.ObjectOf("operation", "introspect", "params", jsonv.ObjectOf("query", v))
	}
	if !p.run.Bare {
		p.run.AddErrorTest("introspect with a query that does not exist", p.run.Caller.Send(p.run.Catalog.Reader, query(jsonv.String("zz_bad_query"))), "query")
		p.run.AddErrorTest("introspect with a number as query", p.run.Caller.Send(p.run.Catalog.Reader, query(jsonv.Int(42))), "query")
	}
	unknown := jsonv.ObjectOf("operation", guard.NoOperation, "params", jsonv.Object())
	p.run.AddErrorTest("an unknown operation", p.run.Caller.Send(p.run.Catalog.Reader, unknown), guard.NoOperation)
	without := jsonv.ObjectOf("params", jsonv.Object())
	p.run.AddErrorTest("a request without operation", p.run.Caller.Send(p.run.Catalog.Reader, without), "operation")
	p.run.AddErrorTest("a number as operation", p.run.Caller.Send(p.run.Catalog.Reader, jsonv.ObjectOf("operation", 42)), "operation")
	p.run.AddErrorTest("a call without arguments", p.run.Caller.Send(p.run.Catalog.Reader, jsonv.Value{}), "operation")
	p.run.Rows.Count("request")
	good := query(jsonv.String("operations"))
	for _, key := range []string{"_meta", "_request_id"} {
		v := jsonv.String("zz_conf")
		if key == "_meta" {
			v = jsonv.Object()
		}
		refused := func() (guard.Reply, bool) {
			r := p.run.Caller.Send(p.run.Catalog.Reader, good.With(key, v))
			return r, r.WasHeard() && !r.IsOK()
		}
		// The refusal is caused by the member if the same request without it is
		// accepted.
		if _, first := refused(); !first || !p.run.Caller.Send(p.run.Catalog.Reader, good).IsOK() {
			continue
		}
		if r, again := refused(); again {
			p.run.Rows.Fail("request.meta", r, "%s next to params is rejected: %s", key, r.FormatBrief())
		}
	}
	r := p.run.Caller.Send(p.run.Catalog.Reader, good.With("query", jsonv.String("types")))
	if r.IsOK() && r.Data().Lookup("operations").IsAbsent() && !r.Data().Lookup("types").IsAbsent() {
		p.run.Rows.Fail("request.params-win", r, "a parameter next to params overrides the one inside")
	}
}

// probeRouting sends operations to the endpoints of other categories.
func (p requestProbe) probeRouting() {
	t := p.run.Rows.Tests["routing"]
	if len(p.run.Catalog.Families) < 2 {
		t.NotApplicable = "there is only one endpoint"
		return
	}
	t.Incomplete = "no operation could be sent to another endpoint"
	reads := p.readToMisroute()
	if reads != nil {
		for _, category := range rule.SemanticCategories {
			if tool := p.run.Catalog.Families[category]; tool != "" && tool != reads.Tool {
				p.misroute(reads, tool, p.run.Builder.RebuildParams(reads))
			}
		}
	}
	done := map[string]bool{}
	for _, op := range p.run.Catalog.Operations {
		if op.Category == "READ" || done[op.Category] || p.run.Gate.Skipped[op.Name] != "" {
			continue
		}
		if op.Tool == p.run.Catalog.Reader || op.RequiresNothing() {
			continue
		}
		// The call is complete, so that it touches only the item that it names if it
		// is accepted.
		if params, why := p.run.Builder.BuildParams(op); why == "" {
			done[op.Category] = true
			p.misroute(op, p.run.Catalog.Reader, params)
		}
	}
}

// readToMisroute returns a READ operation that can be called. If there is none, it is one
// that is sent without parameters: an endpoint refuses it before it checks those.
func (p requestProbe) readToMisroute() (reads *catalog.Operation) {
	for _, op := range p.run.Catalog.Operations {
		if op.Category != "READ" || op.Name == "introspect" {
			continue
		}
		if p.run.Gate.Skipped[op.Name] == "" {
			return op
		}
		if reads == nil && p.run.Gate.ExplainBarred(op) == "" {
			reads = op
		}
	}
	return reads
}

// isEndpointCode reports whether an error says that an operation belongs to another tool.
func isEndpointCode(code string) bool {
	return code == "VALIDATION_ENDPOINT_MISMATCH" || code == "VALIDATION_WRONG_ENDPOINT"
}

func (p requestProbe) misroute(op *catalog.Operation, tool string, params jsonv.Value) {
	r := p.run.Keeper.AttemptOn(tool, op, op.Request(params))
	if !r.WasHeard() {
		return
	}
	p.run.Rows.Count("routing")
	code := r.Code()
	switch {
	case r.IsOK(), op.Category != "READ" && code == "VALIDATION_MISSING_PARAM":
		p.run.Rows.Fail("routing.refused", r, "%s accepts %s, which belongs to %s", tool, op.Name, op.Tool)
	case r.IsRefused() && (isEndpointCode(code) || evidence.ContainsName(r.Message(), op.Tool)):
		p.run.AddErrorTest(op.Name+" on "+tool, r, op.Tool)
	default:
		p.run.Rows.Fail("routing.named", r,
			"%s on %s is rejected without naming %s: %s", op.Name, tool, op.Tool, r.FormatBrief())
		p.run.AddErrorTest(op.Name+" on "+tool, r, op.Tool)
	}
}

// probeLevel2 tests field selection and batches.
func (pr featureProbe) probeLevel2() {
	for _, op := range pr.run.Catalog.Operations {
		p := op.FindParam("fields")
		base := pr.run.Base[op.Name]
		if op.Category != "READ" || p == nil || !base.IsOK() {
			continue
		}
		one := catalog.Sample(base.Data())
		keys := catalog.ListScalarKeys(one)
		if len(keys) < 3 || one.Len() < 3 {
			continue
		}
		want := keys[len(keys)-2:]
		r := pr.run.Caller.Call(op, pr.run.Builder.RebuildParams(op).With("fields", jsonv.List(want, jsonv.String)))
		if !r.WasSent() {
			pr.run.Caller.CutShort("fields")
		}
		if !r.IsOK() {
			continue
		}
		if pr.run.Evidence.FieldSelection = hasOnlyFields(catalog.Sample(r.Data()), want); pr.run.Evidence.FieldSelection {
			break
		}
	}
	if pr.run.Caller.ExplainEnding() != "" {
		pr.run.Caller.CutShort("fields")
	}
	pr.probeBatch()
}

// probeBatch sends a batch of introspection queries, and compares both features
// with the capabilities that the adapter declares.
func (pr featureProbe) probeBatch() {
	part := func(op, query string) jsonv.Value {
		request := jsonv.ObjectOf("operation", op)
		if query != "" {
			request = request.With("params", jsonv.ObjectOf("query", query))
		}
		return request
	}
	list := jsonv.Array(part("introspect", "operations"), part(guard.NoOperation, ""), part("introspect", "types"))
	r := pr.run.Caller.Send(pr.run.Catalog.Reader, jsonv.ObjectOf("operations", list))
	if !r.WasSent() {
		pr.run.Caller.CutShort("batch")
	}
	if !r.IsOK() && evidence.ContainsName(r.Message(), "operation") {
		if again := pr.run.Caller.Send(pr.run.Catalog.Reader, jsonv.ObjectOf("operation", "batch", "operations", list)); again.IsOK() {
			pr.run.AddDialect("a batch needs operation: batch")
			r = again
		}
	}
	if r.IsOK() && r.Envelope.Lookup("results").Kind() == jsonv.KindArray {
		pr.run.Evidence.BatchOperations = true
		pr.run.Evidence.BatchExample = pr.run.Caller.RedactAnswer(r)
		pr.run.BatchSent = list.Len()
	}
	proto := pr.run.Evidence.OperationsList.Lookup("data", "_protocol", "capabilities")
	wasSeen := map[string]bool{
		"batch":           pr.run.Evidence.BatchOperations,
		"field_selection": pr.run.Evidence.FieldSelection,
	}
	for name, seen := range wasSeen {
		if pr.run.Caller.Short["batch"] != "" || name == "field_selection" && pr.run.Caller.Short["fields"] != "" {
			continue
		}
		flag := proto.Lookup(name)
		if flag.Kind() == jsonv.KindBool && flag.Bool() != seen && pr.run.Options.Mode != guard.ModePlan {
			pr.run.Rows.Tests["tools"].Cases++
			pr.run.Rows.Fail("tools.capability", r,
				"_protocol.capabilities.%s is %v, but the run showed %v", name, flag.Bool(), seen)
		}
	}
}

// hasOnlyFields reports whether an object contains only the requested fields and
// identifiers.
func hasOnlyFields(v jsonv.Value, want []string) bool {
	keys := v.Keys()
	lacks := func(w string) bool { return !slices.Contains(keys, w) }
	other := func(k string) bool { return k != "id" && !strings.HasSuffix(k, "_id") && !slices.Contains(want, k) }
	return v.Kind() == jsonv.KindObject && !slices.ContainsFunc(want, lacks) && !slices.ContainsFunc(keys, other)
}

// probeConsistency repeats the requests from the beginning of the run.
func (p requestProbe) probeConsistency() {
	if p.run.Bare {
		return
	}
	for range 2 { // a list may alternate between two orders
		r := p.run.Caller.Introspect("query", "operations")
		if !r.WasSent() {
			break
		}
		p.run.Rows.Count("consistency")
		first := p.run.Evidence.OperationsList
		if r.IsOK() && !jsonv.Equal(change.DropVolatile(first), change.DropVolatile(r.Envelope)) {
			p.run.Rows.Fail("consistency.repeat", r, "the operation list changed during the session")
			break
		}
	}
	p.testEffects()
	for _, q := range [][3]string{{"operations", guard.NoOperation, "operation"}, {"types", noType, "type"}} {
		r := p.run.Caller.Introspect("query", q[0], "name", q[1])
		if !r.WasSent() {
			continue
		}
		p.run.Rows.Count("consistency")
		v, there := r.Data().Get(q[2])
		if !r.IsOK() || !there || v.Kind() != jsonv.KindNull {
			p.run.Rows.Fail("consistency.null", r,
				"asked for an unknown %s: expected success with %s: null, got %s", q[2], q[2], r.FormatBrief())
		}
	}
}

// testEffects repeats the requests from before the run. Values that differ from one
// moment to the next, such as a clock or a log of calls, are not evidence.
func (p requestProbe) testEffects() {
	var changed []guard.Reply
	for _, op := range p.run.Catalog.Operations {
		before, known := p.run.Lister.First[op.Name]
		l := p.run.Gate.Census.FindListing(op)
		isMoving := l != nil && l.Moving || p.run.Watcher.IsRecord(op)
		if !known || isMoving || len(p.run.Ledger.Leftovers) > 0 {
			continue
		}
		r := p.run.Caller.Send(op.Tool, before.Args)
		if r.IsOK() && !(change.Mask{}).IsAlike(before.Envelope, r.Envelope) {
			changed = append(changed, r)
		}
	}
	if len(changed) == 0 || !p.run.Caller.Tape.Pause(p.run.Caller.Ctx, p.run.Options.Spread) {
		return
	}
	for _, r := range changed {
		own := change.Mask{"data.content[].text": false} // a rendered text may have any number in it
		for range 2 * guard.Controls {
			if later := p.run.Caller.Send(r.Tool, r.Args); later.IsOK() {
				own.Learn(r.Envelope, later.Envelope)
			}
		}
		name := r.Args.Lookup("operation").Text()
		if path, differs := own.FindDifference(p.run.Lister.First[name].Envelope, r.Envelope); differs {
			p.run.Rows.Fail("consistency.effects", r,
				"%s returns a different result at the end of the run, although everything that the run created was removed: %s differs", name, path)
		}
	}
}

// probeSession opens a second session and requests the operations there.
func (p requestProbe) probeSession() {
	confirmationProbe(p).explainNoConfirmation()
	p.run.Rows.Tests["session"].Incomplete = "no second session could be opened"
	if p.run.Caller.Dead != "" || p.run.Caller.Ctx.Err() != nil {
		return
	}
	unused := confirmationProbe(p).requestConfirmation()
	s, err := p.run.Caller.Tape.Dial(p.run.Caller.Ctx, "")
	if err != nil || s == nil {
		return
	}
	old := p.run.Caller.Session
	p.run.Caller.Session = s
	r := p.run.Caller.Introspect("query", "operations")
	if unused != nil && p.run.Caller.Session == s {
		if again := unused(); again.IsOK() {
			p.run.Rows.Fail("session.token", again,
				"%s accepts a token of the previous session", again.Args.Lookup("operation").Text())
		}
	}
	if p.run.Caller.Session == s { // otherwise it ended and was replaced
		p.run.Caller.Session = old
		s.Close(context.WithoutCancel(p.run.Caller.Ctx))
	}
	if !r.WasSent() {
		return
	}
	p.run.Rows.Count("session")
	if !slices.Equal(sortOperations(p.run.Evidence.OperationsList), sortOperations(r.Response())) {
		p.run.Rows.Fail("session.same", r, "the operation list of a new session is different")
	}
}

// sortOperations returns the list in sorted order, because consistency checks the
// order separately.
func sortOperations(answer jsonv.Value) []string {
	list := lists.Map(answer.Lookup("data", "operations").List(), jsonv.Value.String)
	slices.Sort(list)
	return slices.Compact(list)
}

// The limits of requests that apply unless an adapter documents others (D 4.7.5).
const (
	defaultString  = 1 << 20
	defaultArray   = 10_000
	defaultNesting = 32
	maxStress      = 10 << 20 // limits above it are not tested
)

// stress sends introspect requests that exceed the limits of the adapter; they cannot
// change anything.
func (p requestProbe) stress() {
	t := p.run.Rows.Tests["limits"]
	switch {
	case !p.run.Options.Stress:
		t.NotApplicable = "--stress was not given"
		return
	case p.run.Bare:
		t.Incomplete = "introspect takes no query, so there is no harmless request over a limit"
		return
	}
	t.Incomplete = "no request over a limit could be sent"
	limits := p.run.Evidence.OperationsList.Lookup("data", "_protocol", "limits")
	if limits.Kind() != jsonv.KindObject {
		p.run.Rows.Fail("limits.documented", guard.Reply{}, "_protocol has no limits")
	}
	limit := func(key string, otherwise int) int {
		if n, ok := limits.Lookup(key).Int64(); ok && n > 0 && n < maxStress {
			return int(n)
		}
		return otherwise
	}
	zeros := slices.Repeat([]jsonv.Value{jsonv.Int(0)}, limit("max_array_elements", defaultArray)+1)
	nested := jsonv.Int(0)
	for range limit("max_nesting_depth", defaultNesting) + 1 {
		nested = jsonv.Array(nested)
	}
	for _, big := range []struct {
		what  string
		value jsonv.Value
		typed bool // of the parameter's type, so that only its size is wrong
	}{
		{"a text of more characters than max_string_length", jsonv.String(strings.Repeat("z", limit("max_string_length", defaultString)+1)), true},
		{"more elements than max_array_elements", jsonv.Array(zeros...), false},
		{"more levels than max_nesting_depth", nested, false},
	} {
		r := p.run.Caller.Introspect("query", "operations", "name", big.value)
		if !r.WasSent() {
			continue
		}
		p.run.Rows.Count("limits")
		switch {
		case r.IsOK():
			p.run.Rows.Fail("limits.enforced", r, "introspect accepts %s", big.what)
		case r.IsRefused() && r.Code() != "VALIDATION_PAYLOAD_TOO_LARGE" && big.typed:
			p.run.Rows.Fail("limits.code", r, "introspect refuses %s with another code: %s", big.what, r.FormatBrief())
		}
	}
}
