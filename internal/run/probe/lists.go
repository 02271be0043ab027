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

// keys are the names or URIs of a list.
func keys(l listing) (out []string) {
	for _, item := range l.items {
		out = append(out, item.Lookup(l.Key).Text())
	}
	return out
}

// sorted are the keys in an order of their own.
func sorted(l listing) []string { return slices.Sorted(slices.Values(keys(l))) }

// repeated is a key that comes more than once, "" without any.
func repeated(l listing) string {
	keys := sorted(l)
	for i := 1; i < len(keys); i++ {
		if keys[i] == keys[i-1] && keys[i] != "" {
			return keys[i]
		}
	}
	return ""
}

// lists examines lists and their pages.
func lists(ctx context.Context, v *visit) {
	for _, l := range v.listed {
		last := l.pages[len(l.pages)-1]
		end := brokenIf(l.repeat != "", last, "%s returned the cursor %q twice: a client would never reach the end", l.Method, l.repeat)
		if l.long {
			end = unverified("%s has more than %d pages", l.Method, maxPages)
		}
		v.state(ctx, "list-cursor-end", l.Method, end)
		if len(l.pages) > 1 {
			v.refuses(ctx, "list-cursor-invalid", l.Method, l.Method, jsonv.ObjectOf("cursor", "mcptest-no-such-cursor"), protocol.CodeInvalidParams)
		} else {
			v.enter(inapplicable("no list has a second page"), "list-cursor-invalid")
		}
		rule := "list-unique-others"
		if l.Kind == surface.Tool {
			rule = "list-unique"
		}
		v.check(ctx, rule, l.Method, func(ctx context.Context) outcome {
			if repeated(l) == "" {
				return held()
			}
			again := read(ctx, l.List, v.send)
			if name := repeated(again); name != "" {
				return broken(again.pages[0], "%s has %q twice", l.Method, name)
			}
			return unverified("an entry was listed twice, and once when the list was requested again")
		})
		if v.modern() && l.Kind != surface.Template {
			stable(ctx, v, l)
		}
	}
}

// stable compares the lists of two connections: only a difference that stays with the
// connection breaks the rule.
func stable(ctx context.Context, v *visit, l listing) {
	first := read(ctx, l.List, v.send)
	if l.Kind == surface.Tool {
		v.check(ctx, "list-order", l.Method, func(ctx context.Context) outcome {
			again := read(ctx, l.List, v.send)
			return brokenIf(slices.Equal(sorted(first), sorted(again)) && !slices.Equal(keys(first), keys(again)), again.pages[0],
				"%s lists the same tools in another order each time", l.Method)
		})
	}
	if v.stdio() && l.Kind != surface.Tool {
		return // a process for each list would cost more than it finds
	}
	var other *mcp.Session
	defer func() {
		if other != nil {
			v.end(other)
		}
	}()
	v.check(ctx, "list-stable", l.Method, func(ctx context.Context) outcome {
		if other == nil {
			var err error
			if other, err = v.open(ctx, jsonv.Value{}); err != nil {
				return unverified("no second connection: %v", err)
			}
		}
		var sets [4]string
		var b listing
		for i := range sets {
			send := v.send
			if i%2 == 1 {
				send = within(v.Reply, other)
			}
			b = read(ctx, l.List, send)
			sets[i] = strings.Join(sorted(b), "\n")
			if i == 1 && sets[0] == sets[1] {
				return held()
			}
		}
		if sets[0] == sets[2] && sets[1] == sets[3] && b.pages[0].Result != nil {
			return broken(b.pages[0], "%s has %s on one connection and %s on another", l.Method, entries(sets[0]), entries(sets[1]))
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
