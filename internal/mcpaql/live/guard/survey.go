package guard

import (
	"strings"

	"mcptest/internal/base/jsonv"
	"mcptest/internal/mcpaql/live/catalog"
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

// HarvestLists calls the list operations, or the others that may list something, and
// keeps the identifiers in their answers for other operations.
func (s *survey) HarvestLists(lists bool) {
	for _, op := range s.Catalog.Operations {
		if !s.reads(op) || op.FindIDParam() != nil || (op.Verb == "list") != lists {
			continue
		}
		if op.Verb != "list" && op.Verb != "get" && op.Verb != "search" && !strings.HasSuffix(op.Resource, "s") {
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
	for _, own := range []bool{false, true} {
		list := s.planRereads(own)
		for i, r := range list {
			if list[i] = s.Caller.Send(r.Tool, r.Args); list[i].IsOK() {
				s.steady.repeatCall(s.Catalog.FindOperation(r.operation()), list[i])
			}
		}
		read := s.watcher.CheckReads()
		if len(list) == 0 || !s.Caller.Tape.Pause(s.Caller.Ctx, s.Options.Spread) {
			continue
		}
		for _, first := range list {
			if first.IsOK() {
				s.steady.repeatCall(s.Catalog.FindOperation(first.operation()), first)
			}
		}
		if own {
			s.watcher.reportEffects(read, s.watcher.CheckReads())
		}
	}
}

// planRereads returns the calls whose answers may differ, of operations that read something
// of the run, or of the others.
func (s *survey) planRereads(own bool) (list []Reply) {
	for _, op := range s.Catalog.Operations {
		if !s.reads(op) || s.Caller.ExplainEnding() != "" {
			continue
		}
		if s.builder.readsOwn(op) != own || s.steady.known[op.Name] {
			continue
		}
		params, why := s.builder.BuildParams(op)
		if why == "" {
			list = append(list, Reply{Tool: op.Tool, Args: jsonv.ObjectOf("operation", op.Name, "params", params)})
		}
	}
	return list
}
