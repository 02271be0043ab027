package probe

import (
	"slices"
	"strings"

	"mcptest/internal/base/jsonv"
	"mcptest/internal/mcpaql/live/catalog"
	"mcptest/internal/mcpaql/live/guard"
)

// RunAll runs every test that the mode allows. It always removes what it created.
func RunAll(c *guard.Run) {
	defer c.Cleaner.Finish()
	c.ReportPhase("reading lists", 0, len(c.Catalog.Operations))
	c.Survey.HarvestLists()
	c.Watcher.Begin()
	c.Survey.HarvestOthers()
	c.Watcher.CheckReads()
	c.ReportPhase("detecting what changes by itself", 0, len(c.Catalog.Operations))
	c.Survey.WatchTime()
	// Operations that only read come first, so that the values they change are known
	// before the run writes anything.
	var reads, others []*catalog.Operation
	for _, op := range c.Catalog.Operations {
		if op.Category == "READ" {
			reads = append(reads, op)
		} else {
			others = append(others, op)
		}
	}
	probeAll(c, reads, 0)
	c.Watcher.CheckReads()
	probeAll(c, others, len(reads))
	c.ReportPhase("requests", len(c.Catalog.Operations), len(c.Catalog.Operations))
	requestProbe{c}.probeRequests()
	requestProbe{c}.stress()
	requestProbe{c}.probeRouting()
	featureProbe{c}.probeLevel2()
	featureProbe{c}.testPresets()
	featureProbe{c}.testPagination()
	c.ReportPhase("round trips", len(c.Catalog.Operations), len(c.Catalog.Operations))
	cycleProbe{c}.testRoundTrips()
	executionProbe{c}.testExecutions()
	if c.Caller.ExplainEnding() != "" {
		c.Caller.CutShort("create-read", "update", "merge", "input", "deleted")
	}
	c.Cleaner.CleanUp()
	requestProbe{c}.probeConsistency()
	requestProbe{c}.probeSession()
	semanticProbe{c}.testSemantics()
}

// probeAll probes operations one after the other; done is how many were probed before.
func probeAll(c *guard.Run, ops []*catalog.Operation, done int) {
	for i, op := range ops {
		c.ReportPhase("probing "+op.Name, done+i, len(c.Catalog.Operations))
		operationProbe{c}.probeOperation(op)
	}
}

// probeOperation runs the tests of one operation.
func (pr operationProbe) probeOperation(op *catalog.Operation) {
	if op.Detail.Kind() != jsonv.KindObject && pr.run.Gate.Skipped[op.Name] == "" {
		pr.run.Gate.Skipped[op.Name] = NotGeneratable + ": it has no detail"
	}
	if pr.run.Gate.Skipped[op.Name] != "" {
		return
	}
	if pr.run.Caller.Ctx.Err() != nil || pr.run.Caller.Dead != "" {
		pr.run.Gate.Skipped[op.Name] = pr.run.Caller.ExplainUntested()
		return
	}
	params, why := pr.run.Builder.BuildParams(op)
	if why != "" {
		pr.run.Gate.Skipped[op.Name] = NotGeneratable + ": " + why
		return
	}
	base, ok := pr.callBaseline(op, params)
	if !ok {
		return
	}
	for _, key := range guard.ListTokenParameters() {
		pr.run.Gates[op.Name] = pr.run.Gates[op.Name] || !base.Args.Lookup("params", key).IsAbsent()
	}
	pr.run.Base[op.Name] = base
	pr.probeAnswering(op, params, base)
}

// probeAnswering runs the tests of an operation that answers.
func (pr operationProbe) probeAnswering(op *catalog.Operation, params jsonv.Value, base guard.Reply) {
	isGivenOption := func(p catalog.Parameter) bool {
		return !p.Required && !params.Lookup(p.Name).IsAbsent()
	}
	if op.Creates() && slices.ContainsFunc(op.Params, isGivenOption) {
		pr.run.Rows.Skip("accuracy", op.Name, "",
			"not called with its required parameters only, because none of them can carry the mark of the run")
	}
	pr.testAccuracy(op, params, base)
	pr.testMissing(op)
	pr.testUnknown(op, base)
	pr.testWrongValues(op)
	if pr.run.Gates[op.Name] {
		confirmationProbe(pr).probeConfirmation(op)
	}
	if op.Category == "CREATE" && base.IsOK() {
		pr.testCreatedDefaults(op)
	}
	if op.Category == "READ" {
		pr.findUndocumented(op, base)
		pr.testDefaults(op, base)
		if base.IsOK() || strings.HasPrefix(base.Code(), "NOT_FOUND") { // otherwise it is refused for another reason
			pr.testNotFound(op)
		}
	}
}
