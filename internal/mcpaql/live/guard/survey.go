package guard

import (
	"strings"

	"mcptest/internal/base/jsonv"
	"mcptest/internal/mcpaql/live/catalog"
	"mcptest/internal/mcpaql/live/change"
)

// survey reads what the adapter holds, before the run changes anything.
type survey struct {
	values
	lister  *lister
	builder *builder
	watcher *watcher
	steady  *steadiness
}

// reads reports whether an operation only reads items, and is called.
func (s *survey) reads(op *catalog.Operation) bool {
	return op.Category == "READ" && op.Name != "introspect" && s.Gate.Skipped[op.Name] == ""
}

// HarvestLists calls the list operations, and keeps the identifiers in their answers for
// other operations.
func (s *survey) HarvestLists() {
	s.harvest(func(op *catalog.Operation) bool { return op.Verb == "list" })
}

// HarvestOthers is like HarvestLists for the other operations that may list something.
func (s *survey) HarvestOthers() {
	s.harvest(func(op *catalog.Operation) bool {
		switch op.Verb {
		case "list":
			return false
		case "get", "search":
			return true
		}
		return strings.HasSuffix(op.Resource, "s")
	})
}

func (s *survey) harvest(isChosen func(*catalog.Operation) bool) {
	for _, op := range s.Catalog.Operations {
		if !s.reads(op) || op.FindIDParam() != nil || !isChosen(op) {
			continue
		}
		params, why := s.builder.BuildParams(op)
		if why != "" {
			continue
		}
		r := s.Caller.Call(op, params)
		if !r.IsOK() {
			continue
		}
		s.lister.First[op.Name] = r
		for _, item := range catalog.FindItems(r.Data(), catalog.ListDepth) {
			if item.Lookup("type").Text() == "text" && item.Lookup("text").Kind() == jsonv.KindString {
				continue // content of MCP, which names nothing
			}
			s.builder.keepHarvest(op.Resource, item)
		}
	}
}

// WatchTime calls every operation that only reads three times, the third time more
// than a second later, so that a clock or a counter shows. Those that read something of
// the run come last: it is created then, and the lists show it.
func (s *survey) WatchTime() {
	readsOthers := func(op *catalog.Operation) bool { return !s.builder.readsOwn(op) }
	s.watchReads(readsOthers)
	before, hasRepeated := s.watchReads(s.builder.readsOwn)
	if hasRepeated {
		s.watcher.reportEffects(before, s.watcher.CheckReads())
	}
}

// watchReads calls the chosen operations twice, reads the lists, and calls the operations
// again. It returns the content of the lists, and false if there was no third time.
func (s *survey) watchReads(isChosen func(*catalog.Operation) bool) (before *change.Census, hasRepeated bool) {
	list := s.planRereads(isChosen)
	for i, r := range list {
		if list[i] = s.Caller.Send(r.Tool, r.Args); list[i].IsOK() {
			s.steady.repeatCall(s.Catalog.FindOperation(r.operation()), list[i])
		}
	}
	before = s.watcher.CheckReads()
	if len(list) == 0 || !s.Caller.Tape.Pause(s.Caller.Ctx, s.Options.Spread) {
		return before, false
	}
	for _, first := range list {
		if first.IsOK() {
			s.steady.repeatCall(s.Catalog.FindOperation(first.operation()), first)
		}
	}
	return before, true
}

// planRereads returns the calls whose answers may differ, of the chosen operations.
func (s *survey) planRereads(isChosen func(*catalog.Operation) bool) (list []Reply) {
	for _, op := range s.Catalog.Operations {
		if !s.reads(op) || s.Caller.ExplainEnding() != "" {
			continue
		}
		if !isChosen(op) || s.steady.known[op.Name] {
			continue
		}
		params, why := s.builder.BuildParams(op)
		if why == "" {
			list = append(list, Reply{Tool: op.Tool, Args: jsonv.ObjectOf("operation", op.Name, "params", params)})
		}
	}
	return list
}
