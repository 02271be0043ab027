package features

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"mcptest/internal/base/jsonv"
	"mcptest/internal/client/mcp"
	"mcptest/internal/client/protocol"
	"mcptest/internal/offer/surface"
	"mcptest/internal/run/probe/exam"
)

// keys are the names or URIs of a list.
func keys(l exam.Listing) (out []string) {
	for _, item := range l.Items {
		out = append(out, item.Lookup(l.Key).Text())
	}
	return out
}

// sorted are the keys in an order of their own.
func sorted(l exam.Listing) []string { return slices.Sorted(slices.Values(keys(l))) }

// repeated is a key that comes more than once, "" without any.
func repeated(l exam.Listing) string {
	keys := sorted(l)
	for i := 1; i < len(keys); i++ {
		if keys[i] == keys[i-1] && keys[i] != "" {
			return keys[i]
		}
	}
	return ""
}

// Lists examines lists and their pages.
func Lists(ctx context.Context, v *exam.Visit) {
	for _, l := range v.Listed {
		last := l.Pages[len(l.Pages)-1]
		end := exam.BrokenIf(l.Repeat != "", last, "%s returned the cursor %q twice: a client would never reach the end", l.Method, l.Repeat)
		if l.Long {
			end = exam.Unverified("%s has more than %d pages", l.Method, exam.MaxPages)
		}
		if cursor := exam.Result(last).Lookup("nextCursor"); v.Modern() && cursor.Kind() == jsonv.KindNull {
			end = exam.Broken(last, "nextCursor of the last page of %s is null, expected none", l.Method)
		}
		v.State(ctx, "list-cursor-end", l.Method, end)
		if len(l.Pages) > 1 {
			v.Refuses(ctx, "list-cursor-invalid", l.Method, l.Method, jsonv.ObjectOf("cursor", "mcptest-no-such-cursor"), protocol.CodeInvalidParams)
		} else {
			v.Enter(exam.Inapplicable("no list has a second page"), "list-cursor-invalid")
		}
		rule := "list-unique-others"
		if l.Kind == surface.Tool {
			rule = "list-unique"
		}
		v.Check(ctx, rule, l.Method, func(ctx context.Context) exam.Outcome {
			if repeated(l) == "" {
				return exam.Held()
			}
			again := exam.Read(ctx, l.List, v.Send)
			if name := repeated(again); name != "" {
				return exam.Broken(again.Pages[0], "%s has %q twice", l.Method, name)
			}
			return exam.Unverified("an entry was listed twice, and once when the list was requested again")
		})
		if v.Modern() && l.Kind != surface.Template {
			stable(ctx, v, l)
		}
	}
}

// stable compares the lists of two connections: only a difference that stays with the
// connection breaks the rule.
func stable(ctx context.Context, v *exam.Visit, l exam.Listing) {
	first := exam.Read(ctx, l.List, v.Send)
	if l.Kind == surface.Tool {
		v.Check(ctx, "list-order", l.Method, func(ctx context.Context) exam.Outcome {
			again := exam.Read(ctx, l.List, v.Send)
			return exam.BrokenIf(slices.Equal(sorted(first), sorted(again)) && !slices.Equal(keys(first), keys(again)), again.Pages[0],
				"%s lists the same tools in another order each time", l.Method)
		})
	}
	if v.Stdio() && l.Kind != surface.Tool {
		return // a process for each list would cost more than it finds
	}
	var other *mcp.Session
	defer func() {
		if other != nil {
			v.End(other)
		}
	}()
	v.Check(ctx, "list-stable", l.Method, func(ctx context.Context) exam.Outcome {
		if other == nil {
			var err error
			if other, err = v.Open(ctx, jsonv.Value{}); err != nil {
				return exam.Unverified("no second connection: %v", err)
			}
		}
		var sets [4]string
		var b exam.Listing
		for i := range sets {
			send := v.Send
			if i%2 == 1 {
				send = exam.Within(v.Reply, other)
			}
			b = exam.Read(ctx, l.List, send)
			sets[i] = strings.Join(sorted(b), "\n")
			if i == 1 && sets[0] == sets[1] {
				return exam.Held()
			}
		}
		if sets[0] == sets[2] && sets[1] == sets[3] && b.Pages[0].Result != nil {
			return exam.Broken(b.Pages[0], "%s has %s on one connection and %s on another", l.Method, entries(sets[0]), entries(sets[1]))
		}
		return exam.Unverified("the list changes over time")
	})
}

func entries(set string) string {
	if set == "" {
		return "no entries"
	}
	return fmt.Sprintf("%d entries", strings.Count(set, "\n")+1)
}
