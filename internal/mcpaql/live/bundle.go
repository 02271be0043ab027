package live

import (
	"slices"
	"strings"
	"time"

	"mcptest/internal/base/jsonv"
	"mcptest/internal/base/lists"
	"mcptest/internal/mcpaql/evidence"
	"mcptest/internal/mcpaql/live/catalog"
	"mcptest/internal/mcpaql/live/guard"
	"mcptest/internal/mcpaql/live/probe"
	"mcptest/internal/mcpaql/rule"
	"mcptest/internal/mcpaql/semantic"
)

// bundle completes the evidence with the data about the run itself.
type bundle struct{ run *guard.Run }

// finish fills in the data about the run itself.
func (b bundle) finish() {
	b.reportAccepted()
	b.reportUnsentValues()
	b.run.JudgeDates()
	probe.UnseenRows{Run: b.run}.SettleRows()
	for _, t := range b.run.Rows.Tests {
		if t.Cases == 0 && t.Incomplete == "" {
			t.Incomplete = "nothing that the run could call shows it"
		}
	}
	b.run.Evidence.Live = b.describeRun()
	if b.run.Options.Probed {
		b.keepProbed()
	}
}

// reportAccepted says which parameters each operation accepted.
func (b bundle) reportAccepted() {
	for _, op := range b.run.Catalog.Operations {
		names := listAccepted(op, b.run.Accepted[op.Name])
		if len(names) > 0 || b.run.Base[op.Name].IsOK() {
			accepted := evidence.Accepted{Operation: op.Name, Parameters: names}
			b.run.Evidence.Accepted = append(b.run.Evidence.Accepted, accepted)
		}
	}
}

// listAccepted returns accepted parameters without repetition: those that the operation
// documents in its order, then the others by name.
func listAccepted(op *catalog.Operation, accepted []string) []string {
	names := []string{}
	for _, p := range op.Params {
		if slices.Contains(accepted, p.Name) {
			names = append(names, p.Name)
		}
	}
	for _, name := range slices.Compact(slices.Sorted(slices.Values(accepted))) {
		if op.FindParam(name) == nil {
			names = append(names, name)
		}
	}
	return names
}

// reportUnsentValues says which values of the user no call had, and why.
func (b bundle) reportUnsentValues() {
	for _, op := range b.run.Catalog.Operations {
		for _, p := range op.Params {
			_, given := b.run.Options.FindGiven(op.Name, p.Name)
			sent := b.run.Caller.GivenSent[[2]string{op.Name, p.Name}]
			if !given || sent {
				continue
			}
			says := "the value of --values was not sent: " + b.explainUnsent(op, p)
			b.run.Rows.SkipByPolicy("accuracy", op.Name, p.Name, says)
			if !b.run.Options.Values.Lookup(op.Name, p.Name).IsAbsent() {
				b.run.Notices = append(b.run.Notices, op.Name+" "+p.Name+": "+says)
			}
		}
	}
}

// explainUnsent returns why no call had the value of the user for a parameter.
func (b bundle) explainUnsent(op *catalog.Operation, p catalog.Parameter) string {
	if skipped := b.run.Gate.Skipped[op.Name]; skipped != "" {
		return skipped
	}
	if op.Creates() && p.Rehearses() {
		return "with it the create stores nothing that another row could examine"
	}
	if ending := b.run.Caller.ExplainEnding(); ending != "" {
		return ending
	}
	if refused := b.findRefusal(op, p); refused != "" {
		return refused
	}
	return "no call of this mode has the parameter"
}

// describePolicy returns what the user allowed the run to call.
func (b bundle) describePolicy() jsonv.Value {
	o := b.run.Options
	policy := jsonv.ObjectOf(
		"mode", o.Mode,
		"allow", jsonv.List(o.Allow, jsonv.String),
		"deny", jsonv.List(o.Deny, jsonv.String),
		"max_calls", o.MaxCalls,
	)
	if o.Values.Len() > 0 {
		policy = policy.With("values", jsonv.Bool(true))
	}
	return policy
}

// findRefusal returns why calls with a parameter were not sent, as the rows say; "" if they do not.
func (b bundle) findRefusal(op *catalog.Operation, p catalog.Parameter) string {
	for _, u := range b.run.Rows.Untested {
		if u.Lookup("operation").Text() == op.Name && u.Lookup("parameter").Text() == p.Name {
			return u.Lookup("reason").Text()
		}
	}
	return ""
}

// keepProbed removes the operations with a required parameter that was never
// left out from the evidence: the prototype's rules fail a detail without such
// a case. Their accepted parameters go too, because they fail without a detail.
func (b bundle) keepProbed() {
	b.run.Evidence.OperationDetails = slices.DeleteFunc(b.run.Evidence.OperationDetails, func(d jsonv.Value) bool {
		return b.isUnprobed(evidence.ReadDetail(d).Value.Lookup("name").Text())
	})
	b.run.Evidence.Accepted = slices.DeleteFunc(b.run.Evidence.Accepted, func(a evidence.Accepted) bool {
		return b.isUnprobed(a.Operation)
	})
	b.run.Evidence.Live = b.run.Evidence.Live.With("partial", jsonv.Bool(true))
}

// isUnprobed reports whether a required parameter of an operation was never left out.
func (b bundle) isUnprobed(name string) bool {
	op := b.run.Catalog.FindOperation(name)
	if op == nil {
		return false
	}
	isSkipped := b.run.Gate.Skipped[name] != "" || b.isRequiredUntested(name)
	return isSkipped || !op.RequiresNothing() && !b.wasCalledWithout(name)
}

// isRequiredUntested reports whether a row says that a required parameter of an operation was
// not left out.
func (b bundle) isRequiredUntested(name string) bool {
	return slices.ContainsFunc(b.run.Rows.Untested, func(u jsonv.Value) bool {
		return u.Lookup("test").Text() == "required" && u.Lookup("operation").Text() == name
	})
}

// wasCalledWithout reports whether an operation was called without a required parameter.
func (b bundle) wasCalledWithout(name string) bool {
	return slices.ContainsFunc(b.run.Evidence.MissingRequired, func(c evidence.ParameterCase) bool {
		return c.Operation == name
	})
}

// liveNote is the member x_live of a bundle: what was done to collect the evidence. The
// absent parts are left out.
type liveNote struct {
	Tool     string        `member:"tool,omitempty"` // this program
	Started  string        `member:"started"`
	Finished string        `member:"finished"`
	Target   string        `member:"target,omitempty"`
	Repeat   string        `member:"repeat,omitempty"` // the command line
	Protocol string        `member:"mcp.protocolVersion,omitempty"`
	Server   jsonv.Value   `member:"mcp.serverInfo"`
	Tools    []string      `member:"tools,omitempty"`
	Unasked  []jsonv.Value `member:"unasked,omitempty"`
	Model    jsonv.Value   `member:"model"`
	Judge    jsonv.Value   `member:"judge"`
	Dialect  []string      `member:"dialect,omitempty"`
	Modes    []string      `member:"modes"`
	Policy   jsonv.Value   `member:"policy"`
	Run      string        `member:"run,omitempty"`
	Calls    int           `member:"calls"`
	Ended    string        `member:"ended,omitempty"` // why the run ended early
	Batch    int           `member:"batch_sent,omitempty"`
	Skipped  []jsonv.Value `member:"skipped,omitempty"`
	Notices  []string      `member:"notices,omitempty"`
	Untested []jsonv.Value `member:"untested,omitempty"`
	CutShort jsonv.Value   `member:"cut_short"` // rows, and why they had no time for all
	Volatile []string      `member:"volatile_paths,omitempty"`
	Cleanup  []jsonv.Value `member:"cleanup,omitempty"`
	Left     []jsonv.Value `member:"leftovers,omitempty"`
	Changed  []jsonv.Value `member:"changed,omitempty"`
	Lists    jsonv.Value   `member:"lists"`
	Unread   []string      `member:"unchecked,omitempty"`
	Tests    []guard.Row   `member:"tests,omitempty"`
	Calling  []jsonv.Value `member:"transcript,omitempty"`
}

// describeRun returns the bundle's x_live object.
func (b bundle) describeRun() jsonv.Value {
	o, session := b.run.Options, b.run.Caller.Session
	note := liveNote{
		Tool:     o.Program,
		Started:  b.run.Started.UTC().Format(time.RFC3339),
		Finished: b.run.Caller.Tape.Now().UTC().Format(time.RFC3339),
		Target:   o.Target,
		Repeat:   o.Repeat,
		Protocol: session.Protocol(),
		Server:   session.ServerInfo(),
		Tools:    lists.Map(b.run.Catalog.Tools, func(t catalog.Tool) string { return t.Name }),
		Unasked:  b.run.Unasked,
		Dialect:  b.run.Dialect,
		Modes:    b.run.Modes,
		Policy:   b.describePolicy(),
		Run:      o.RunID,
		Calls:    b.run.Caller.Calls,
		Ended:    b.run.Caller.ExplainEnding(),
		Batch:    b.run.BatchSent,
		Skipped:  b.listSkippedOperations(),
		Notices:  b.run.Notices,
		Untested: b.run.Rows.Untested,
		Volatile: b.listVolatilePaths(),
		Cleanup:  b.run.Cleaner.Cleaned,
		Left:     b.run.Ledger.Leftovers,
		Changed:  b.run.Watcher.Changed,
		Lists:    b.describeComparedLists(),
		Unread:   b.run.Cleaner.Unchecked,
		Calling:  b.run.Caller.Transcript,
	}
	if m := o.Asking.Model; m != nil {
		note.Model = semantic.JudgeNote(m).Without("kind")
	}
	if j := o.Asking.Judge; j != nil {
		note.Judge = semantic.JudgeNote(j)
	}
	for _, id := range evidence.ListKeys(b.run.Caller.Short) {
		note.CutShort = note.CutShort.With(id, jsonv.String(b.run.Caller.Short[id]))
	}
	for _, t := range rule.Tests() {
		if t.Live {
			note.Tests = append(note.Tests, *b.run.Rows.Tests[t.ID])
		}
	}
	return evidence.Encode(note)
}

// listVolatilePaths are the places in answers that differ from call to call.
func (b bundle) listVolatilePaths() (paths []string) {
	for _, op := range b.run.Catalog.Operations {
		for _, path := range evidence.ListKeys(b.run.Steady.Masks[op.Name]) {
			paths = append(paths, op.Name+": "+path)
		}
	}
	return paths
}

// describeComparedLists says on what it rests that no data of others changed: how many lists were
// compared, and which READ operations were never called. Absent for a run without a census.
func (b bundle) describeComparedLists() jsonv.Value {
	census := b.run.Gate.Census
	if census == nil {
		return jsonv.Value{}
	}
	called := map[string]bool{}
	for _, x := range b.run.Caller.Transcript {
		called[x.Lookup("arguments", "operation").Text()] = true
	}
	var uncalled []string
	for _, op := range b.run.Catalog.Operations {
		if op.Category == "READ" && op.Name != "introspect" && !called[op.Name] {
			uncalled = append(uncalled, op.Name)
		}
	}
	compared := jsonv.ObjectOf("compared", len(census.Lists))
	if len(uncalled) > 0 {
		compared = compared.With("uncalled", jsonv.List(uncalled, jsonv.String))
	}
	return compared
}

// listSkippedOperations lists the operations that were not called, with the reason.
func (b bundle) listSkippedOperations() (skipped []jsonv.Value) {
	for _, op := range b.run.Catalog.Operations {
		if reason := b.run.Gate.Skipped[op.Name]; reason != "" {
			word, detail, _ := strings.Cut(reason, ": ")
			if word != probe.NotGeneratable {
				word, detail = reason, ""
			}
			entry := jsonv.ObjectOf("operation", op.Name, "reason", word)
			if detail != "" {
				entry = entry.With("detail", jsonv.String(detail))
			}
			skipped = append(skipped, entry)
		}
	}
	return skipped
}
