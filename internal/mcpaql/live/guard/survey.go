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

// HarvestLists calls the list operations, or the others that may list something, and
// keeps the identifiers in their answers for other operations.
func (s *survey) HarvestLists(lists bool) {
	for _, op := range s.Catalog.Operations {
		if op.Category != "READ" || s.Gate.Skipped[op.Name] != "" || op.IDParam() != nil || op.Name == "introspect" || (op.Verb == "list") != lists {
			continue
		}
		if op.Verb != "list" && op.Verb != "get" && op.Verb != "search" && !strings.HasSuffix(op.Resource, "s") {
			continue
		}
		params, why := s.builder.Params(op)
		if why != "" {
			continue
		}
		r := s.Caller.Call(op, params)
		if !r.OK() {
			continue
		}
		s.lister.First[op.Name] = r
		for _, item := range catalog.Items(r.Data(), catalog.ListDepth) {
			if item.Lookup("type").Text() == "text" && item.Lookup("text").Kind() == jsonv.KindString {
				continue // content of MCP, which names nothing
			}
			for k, v := range item.Members() {
				at := [2]string{op.Resource, k}
				if kind := v.Kind(); (kind == jsonv.KindString || kind == jsonv.KindNumber) && len(s.builder.harvest[at]) < maxHarvested {
					s.builder.harvest[at] = append(s.builder.harvest[at], v)
				}
			}
		}
	}
}

// WatchTime calls every operation that only reads three times, the third time more
// than a second later, so that a clock or a counter shows. Those that read something of
// the run come last: it is created then, and the lists show it.
func (s *survey) WatchTime() {
	for _, own := range []bool{false, true} {
		var list []Reply
		for _, op := range s.Catalog.Operations {
			if op.Category != "READ" || op.Name == "introspect" || s.Gate.Skipped[op.Name] != "" || s.Caller.Ending() != "" || s.builder.readsOwn(op) != own || s.steady.known[op.Name] {
				continue
			}
			if params, why := s.builder.Params(op); why == "" {
				list = append(list, Reply{Tool: op.Tool, Args: jsonv.ObjectOf("operation", op.Name, "params", params)})
			}
		}
		for i, r := range list {
			if list[i] = s.Caller.Send(r.Tool, r.Args); list[i].OK() {
				s.steady.repeatCall(s.Catalog.Op(r.operation()), list[i])
			}
		}
		read := s.watcher.Reads()
		if len(list) == 0 || !s.Caller.Tape.Pause(s.Caller.Ctx, s.Options.Spread) {
			continue
		}
		for _, first := range list {
			if first.OK() {
				s.steady.repeatCall(s.Catalog.Op(first.operation()), first)
			}
		}
		if own {
			s.watcher.effects(read, s.watcher.Reads())
		}
	}
}
