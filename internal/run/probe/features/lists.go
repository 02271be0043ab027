package features

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"mcptest/internal/base/jsonv"
	"mcptest/internal/client/identity"
	"mcptest/internal/client/mcp"
	"mcptest/internal/client/protocol"
	"mcptest/internal/offer/surface"
	"mcptest/internal/run/probe/exam"
)

// listKeys returns the names or URIs of a list.
func listKeys(l exam.Listing) (out []string) {
	for _, item := range l.Items {
		out = append(out, item.Lookup(l.Key).Text())
	}
	return out
}

// sortKeys returns the keys in an order of their own.
func sortKeys(l exam.Listing) []string { return slices.Sorted(slices.Values(listKeys(l))) }

// findRepeatedKey returns a key that comes more than once, "" without any.
func findRepeatedKey(l exam.Listing) string {
	keys := sortKeys(l)
	for i := 1; i < len(keys); i++ {
		if keys[i] == keys[i-1] && keys[i] != "" {
			return keys[i]
		}
	}
	return ""
}

// Lists examines lists and their pages.
func Lists(ctx context.Context, v *exam.Visit) {
	v.Check(ctx, "list-quiet", "", func(ctx context.Context) exam.Outcome { return checkQuietReads(ctx, v) })
	for _, l := range v.Listed {
		last := l.Pages[len(l.Pages)-1]
		end := exam.BrokenIf(l.Repeat != "", last, "%s returned the cursor %q twice: a client would never reach the end", l.Method, l.Repeat)
		if l.Long {
			end = exam.Unverified("%s has more than %d pages", l.Method, exam.MaxPages)
		}
		cursor := exam.Result(last).Lookup("nextCursor")
		if v.Modern() && cursor.Kind() == jsonv.KindNull {
			end = exam.Broken(last, "nextCursor of the last page of %s is null, expected none", l.Method)
		}
		v.State(ctx, "list-cursor-end", l.Method, end)
		if len(l.Pages) > 1 {
			v.Refuses(ctx, "list-cursor-invalid", l.Method, l.Method, jsonv.ObjectOf("cursor", "mcptest-no-such-cursor"), protocol.CodeInvalidParams)
		} else {
			v.Enter(exam.Inapplicable("no list has a second page"), "list-cursor-invalid")
			v.Do(ctx, l.Method, jsonv.ObjectOf("cursor", "mcptest-no-such-cursor")) // any answer is right, none is not
			v.Settle(ctx)
		}
		rule := "list-unique-others"
		if l.Kind == surface.Tool {
			rule = "list-unique"
		}
		v.Check(ctx, rule, l.Method, func(ctx context.Context) exam.Outcome {
			if findRepeatedKey(l) == "" {
				return exam.Held()
			}
			again := exam.Read(ctx, l.List, v.Send)
			if name := findRepeatedKey(again); name != "" {
				return exam.Broken(again.Pages[0], "%s has %q twice", l.Method, name)
			}
			return exam.Unverified("an entry was listed twice, and once when the list was requested again")
		})
		if v.Modern() && l.Kind == surface.Tool {
			compareOrder(ctx, v, l)
			compareClients(ctx, v, l)
		}
	}
}

// checkQuietReads reads the lists of which a change was announced, and looks whether reading them is why.
func checkQuietReads(ctx context.Context, v *exam.Visit) exam.Outcome {
	sess, err := v.Session(ctx)
	if err != nil {
		return exam.Unverified("%v", err)
	}
	if loops := sess.SelfAnnouncing(ctx); len(loops) > 0 {
		x := v.Do(ctx, loops[0], jsonv.Value{})
		return exam.Broken(x, "each request for %s makes the server announce that it has changed: a client that then reads it again never stops", loops[0])
	}
	return exam.Held()
}

// compareOrder compares the order of the tools in two responses.
func compareOrder(ctx context.Context, v *exam.Visit, l exam.Listing) {
	v.Check(ctx, "list-order", l.Method, func(ctx context.Context) exam.Outcome {
		first := exam.Read(ctx, l.List, v.Send)
		again := exam.Read(ctx, l.List, v.Send)
		turned := slices.Equal(sortKeys(first), sortKeys(again)) && !slices.Equal(listKeys(first), listKeys(again))
		return exam.BrokenIf(turned, again.Pages[0], "%s lists the same tools in another order each time", l.Method)
	})
}

// wellKnown are the profiles of clients that servers are known to look for by name.
var wellKnown = []string{"claude-code", "claude-ai", "cursor", "chatgpt", "codex"}

// compareClients compares the tools that clients of several names are shown, which declare
// the same.
func compareClients(ctx context.Context, v *exam.Visit, l exam.Listing) {
	own := v.Meta().Lookup(protocol.MetaClient)
	for _, name := range wellKnown {
		profile, _ := identity.Named(name)
		other := jsonv.ObjectOf("name", profile.ClientName, "version", profile.ClientVersion)
		v.Check(ctx, "client-info-list", "as "+profile.ClientName, func(ctx context.Context) exam.Outcome {
			return compareClientsInTurn(ctx, v, l, own, other)
		})
	}
}

// compareClientsInTurn requests a list as two clients in turn: only a difference that stays with
// the name breaks the rule.
func compareClientsInTurn(ctx context.Context, v *exam.Visit, l exam.Listing, own, other jsonv.Value) exam.Outcome {
	var sets [4]string
	var last *mcp.Exchange
	for i, client := range []jsonv.Value{own, other, own, other} {
		send := func(ctx context.Context, call mcp.Call) *mcp.Exchange { return sendAs(ctx, v, call, client) }
		as := exam.Read(ctx, l.List, send)
		if last = as.Pages[len(as.Pages)-1]; last.Result == nil {
			return exam.Unverified("%s got %s", l.Method, exam.Answer(last))
		}
		sets[i] = strings.Join(sortKeys(as), "\n")
		if i == 1 && sets[0] == sets[1] {
			return exam.Held()
		}
	}
	if sets[0] == sets[2] && sets[1] == sets[3] {
		return exam.Broken(last, "%s has %s for %s and %s for %s, which declares the same capabilities",
			l.Method, entries(sets[0]), own.Lookup("name").Text(), entries(sets[1]), other.Lookup("name").Text())
	}
	return exam.Unverified("the list changes over time")
}

// sendAs sends a request with another clientInfo.
func sendAs(ctx context.Context, v *exam.Visit, call mcp.Call, client jsonv.Value) *mcp.Exchange {
	params, _ := jsonv.Parse(call.Params) // absent without any
	message := v.Frame(7003, call.Method, params)
	meta := v.Meta().With(protocol.MetaClient, client)
	message = message.With("params", message.Lookup("params").With("_meta", meta))
	if v.Stdio() {
		return v.Raw(ctx, message)
	}
	return v.Tell(ctx, message, nil)
}

// Stable compares the lists of two connections that exist at the same time. Whether the
// server can be there twice is found out here, as the last thing next to a living session:
// what a second one breaks counts for nothing.
func Stable(ctx context.Context, v *exam.Visit) {
	const rule = "list-stable"
	if !v.Applies(rule) {
		return
	}
	var other *mcp.Session
	var refused error
	for _, l := range v.Listed {
		if l.Kind == surface.Template || v.Stdio() && l.Kind != surface.Tool {
			continue // a process for each list would cost more than it finds
		}
		v.Check(ctx, rule, l.Method, func(ctx context.Context) exam.Outcome {
			if other == nil && refused == nil {
				other, refused = openSecond(ctx, v)
			}
			if refused != nil {
				return exam.Unverified("only one at a time: %v", refused)
			}
			return compareConnections(ctx, v, l, other)
		})
	}
	if other != nil {
		v.End(other)
	}
	v.Close() // it may have been harmed
}

// openSecond opens a second session next to the living one. The error says why the server is
// not there twice.
func openSecond(ctx context.Context, v *exam.Visit) (*mcp.Session, error) {
	first, err := v.Session(ctx)
	if err != nil {
		return nil, err
	}
	other, err := v.Open(ctx, jsonv.Value{})
	if err != nil {
		return nil, fmt.Errorf("a second connection could not be opened: %w", err)
	}
	first.AwaitIdle(ctx)
	if !first.Alive() {
		v.End(other)
		return nil, fmt.Errorf("the first connection ended when a second one was opened: %w", first.Err())
	}
	return other, nil
}

// compareConnections requests a list on two connections in turn: only a difference that stays
// with the connection breaks the rule.
func compareConnections(ctx context.Context, v *exam.Visit, l exam.Listing, other *mcp.Session) exam.Outcome {
	var sets [4]string
	var last exam.Listing
	for i := range sets {
		send := v.Send
		if i%2 == 1 {
			send = v.Within(v.Reply, other)
		}
		last = exam.Read(ctx, l.List, send)
		if page := last.Pages[0]; page.Result == nil {
			return exam.Unverified("only one at a time: %s got %s", l.Method, exam.Answer(page))
		}
		sets[i] = strings.Join(sortKeys(last), "\n")
		if i == 1 && sets[0] == sets[1] {
			return exam.Held()
		}
	}
	if sets[0] == sets[2] && sets[1] == sets[3] {
		return exam.Broken(last.Pages[0], "%s has %s on one connection and %s on another", l.Method, entries(sets[0]), entries(sets[1]))
	}
	return exam.Unverified("the list changes over time")
}

func entries(set string) string {
	if set == "" {
		return "no entries"
	}
	return fmt.Sprintf("%d entries", strings.Count(set, "\n")+1)
}
