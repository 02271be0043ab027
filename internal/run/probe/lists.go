package probe

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"mcptest/internal/base/jsonv"
	"mcptest/internal/client/mcp"
	"mcptest/internal/client/protocol"
	"mcptest/internal/offer/surface"
)

// maxPages is the number of pages of a list that are read.
const maxPages = 1000

// listing is a list of the server, as it was read first.
type listing struct {
	surface.List
	items  []jsonv.Value
	pages  []*mcp.Exchange
	repeat string // the cursor that came twice
	long   bool   // not read to its end
}

// listRules examines the rules of the family lists.
type listRules struct{ *visit }

// read requests all pages of a list in a session.
func (v *visit) read(ctx context.Context, l surface.List, send func(context.Context, mcp.Call) *mcp.Exchange) (out listing) {
	out.List = l
	seen := map[string]bool{}
	var params []byte
	for range maxPages {
		x := send(ctx, mcp.Call{Method: l.Method, Params: params})
		out.pages = append(out.pages, x)
		res := result(x)
		out.items = append(out.items, res.Lookup(l.Member).List()...)
		cursor := res.Lookup("nextCursor")
		if cursor.Kind() != jsonv.KindString || ctx.Err() != nil {
			return out
		}
		if seen[cursor.Text()] {
			out.repeat = cursor.Text()
			return out
		}
		seen[cursor.Text()] = true
		params = jsonv.ObjectOf("cursor", cursor).Append(nil)
	}
	out.long = true
	return out
}

// keys are the names or URIs of a list.
func (l listing) keys() (out []string) {
	for _, item := range l.items {
		out = append(out, item.Lookup(l.Key).Text())
	}
	return out
}

// lists examines lists and their pages.
func (v listRules) lists(ctx context.Context) {
	for _, l := range v.listed {
		v.check(ctx, "list-cursor-end", l.Method, func(context.Context) outcome {
			switch last := l.pages[len(l.pages)-1]; {
			case l.repeat != "":
				return broken(shown(last), "%s returned the cursor %q twice: a client would never reach the end", l.Method, l.repeat)
			case l.long:
				return unverified("%s has more than %d pages", l.Method, maxPages)
			}
			return held()
		})
		if len(l.pages) > 1 {
			v.check(ctx, "list-cursor-invalid", l.Method, func(ctx context.Context) outcome {
				return v.expectCode(ctx, l.Method, jsonv.ObjectOf("cursor", "mcptest-no-such-cursor"), protocol.CodeInvalidParams)
			})
		} else {
			v.enter("list-cursor-invalid", inapplicable("no list has a second page"))
		}
		rule := "list-unique-others"
		if l.Kind == surface.Tool {
			rule = "list-unique"
		}
		v.check(ctx, rule, l.Method, func(ctx context.Context) outcome { return v.unique(ctx, l) })
		if v.modern() && l.Kind != surface.Template {
			v.stable(ctx, l)
		}
	}
}

// expectCode sends a request that must get an error with one of the codes.
func (v *visit) expectCode(ctx context.Context, method string, params jsonv.Value, codes ...int64) outcome {
	x := v.do(ctx, method, params)
	got, ok := code(x)
	switch {
	case ok && slices.Contains(codes, got), another(x):
		return held()
	case !ok && x.Result == nil:
		return unverified("%s got %s", method, answer(x))
	}
	return broken(shown(x), "%s with %s got %s, expected the error %d", method, params.Short(120), answer(x), codes[0])
}

// another reports whether a result is no answer yet: it asks for input, or is a task.
func another(x *mcp.Exchange) bool {
	kind := result(x).Lookup("resultType").Text()
	return kind == "input_required" || kind == "task" || !result(x).Lookup("task").IsAbsent() && result(x).Lookup("content").IsAbsent()
}

func (v listRules) unique(ctx context.Context, l listing) outcome {
	twice := func(l listing) string {
		keys := l.keys()
		slices.Sort(keys)
		for i := 1; i < len(keys); i++ {
			if keys[i] == keys[i-1] && keys[i] != "" {
				return keys[i]
			}
		}
		return ""
	}
	if twice(l) == "" {
		return held()
	}
	again := v.read(ctx, l.List, v.send)
	if name := twice(again); name != "" {
		return broken(shown(again.pages[0]), "%s has %q twice", l.Method, name)
	}
	return unverified("an entry was listed twice, and once when the list was requested again")
}

// stable compares the lists of two connections: only a difference that stays with the
// connection breaks the rule.
func (v listRules) stable(ctx context.Context, l listing) {
	var other *mcp.Session
	defer func() {
		if other != nil {
			v.end(other)
		}
	}()
	set := func(l listing) string {
		keys := l.keys()
		slices.Sort(keys)
		return strings.Join(keys, "\n")
	}
	first := v.read(ctx, l.List, v.send)
	if l.Kind == surface.Tool {
		v.check(ctx, "list-order", l.Method, func(context.Context) outcome {
			again := v.read(ctx, l.List, v.send)
			if set(first) == set(again) && !slices.Equal(first.keys(), again.keys()) {
				return broken(shown(again.pages[0]), "%s lists the same tools in another order each time", l.Method)
			}
			return held()
		})
	}
	if v.stdio() && l.Kind != surface.Tool {
		return // a process for each list would cost more than it finds
	}
	v.check(ctx, "list-stable", l.Method, func(ctx context.Context) outcome {
		if other == nil {
			var err error
			if other, err = v.open(ctx, jsonv.Value{}); err != nil {
				return unverified("no second connection: %v", err)
			}
		}
		send := func(ctx context.Context, c mcp.Call) *mcp.Exchange {
			ctx, cancel := mcp.WithLimit(ctx, "response", v.Reply)
			defer cancel()
			return other.Do(ctx, c)
		}
		var sets [4]string
		var b listing
		for i := range sets {
			if i%2 == 0 {
				sets[i] = set(v.read(ctx, l.List, v.send))
			} else {
				b = v.read(ctx, l.List, send)
				sets[i] = set(b)
			}
			if i == 1 && sets[0] == sets[1] {
				return held()
			}
		}
		if sets[0] == sets[2] && sets[1] == sets[3] && b.pages[0].Result != nil {
			return broken(shown(b.pages[0]), "%s has %s on one connection and %s on another", l.Method, entries(sets[0]), entries(sets[1]))
		}
		return unverified("the list changes over time")
	})
}

func entries(set string) string {
	if set == "" {
		return "no entries"
	}
	return fmt.Sprintf("%d entries", strings.Count(set, "\n")+1)
}
