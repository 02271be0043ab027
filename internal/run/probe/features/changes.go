package features

import (
	"context"
	"slices"
	"time"

	"mcptest/internal/base/jsonv"
	"mcptest/internal/client/mcp"
	"mcptest/internal/offer/surface"
	"mcptest/internal/run/allow"
	"mcptest/internal/run/probe/argument"
	"mcptest/internal/run/probe/exam"
)

// announcement is the time in which a change of a list must be announced.
const announcement = time.Second

// listChanges calls tools that may change a list, and looks whether a list that changed was
// announced. Most calls change nothing: then nothing is known.
func listChanges(ctx context.Context, v *exam.Visit) {
	const rule = "list-changed"
	if !v.Applies(rule) {
		return
	}
	var lists []exam.Listing
	for _, l := range v.Listed {
		if l.Kind != surface.Template && v.Caps.Lookup(l.Capability, "listChanged").Bool() {
			lists = append(lists, l)
		}
	}
	switch {
	case len(lists) == 0:
		v.Enter(exam.Inapplicable("the server does not declare listChanged"), rule)
		return
	case !v.Stdio() && !v.Modern():
		v.Enter(exam.Unverified("over HTTP it is not known whether the stream of GET is open"), rule)
		return
	}
	v.Check(ctx, rule, "", func(ctx context.Context) exam.Outcome { return provokeChange(ctx, v, lists) })
}

// provokeChange calls the tools that may be called, one after the other, until a list changes.
func provokeChange(ctx context.Context, v *exam.Visit, lists []exam.Listing) exam.Outcome {
	sess, err := v.Session(ctx)
	if err != nil {
		return exam.Unverified("%v", err)
	}
	mark := sess.Mark()
	if v.Modern() {
		if x := subscribe(ctx, v); exam.Refused(x) || len(x.During) == 0 {
			return exam.Unverified("subscriptions/listen got %s", exam.Answer(x))
		}
	}
	before, ok := readKeySets(ctx, v, lists)
	if !ok {
		return exam.Unverified("a list could not be read")
	}
	for _, tool := range v.Tools {
		if v.Slow(tool) || allow.Destructive(tool) || ctx.Err() != nil {
			continue
		}
		x, why := v.Call(ctx, tool, argument.Valid(tool))
		if why != "" || x.Elapsed > exam.Long {
			continue
		}
		after, ok := readKeySets(ctx, v, lists)
		if v.Sess != sess {
			return exam.Unverified("the session ended, and with it what would announce a change")
		}
		if !ok || slices.EqualFunc(before, after, slices.Equal) {
			continue
		}
		for i, l := range lists {
			if slices.Equal(before[i], after[i]) || isAnnounced(ctx, sess, mark, l.Capability) {
				continue
			}
			o := exam.Broken(x, "after a call of %s, %s has other entries, but the change was not announced", tool.Lookup("name").Text(), l.Method)
			o.Once = true // a call may have its effect once
			return o
		}
		return exam.Held()
	}
	return exam.Unverified("no call that may be made changes a list")
}

// subscribe asks for changes of all lists.
func subscribe(ctx context.Context, v *exam.Visit) *mcp.Exchange {
	all := jsonv.ObjectOf("toolsListChanged", true, "promptsListChanged", true, "resourcesListChanged", true)
	return v.Listen(ctx, all)
}

// readKeySets reads lists: the keys of each, sorted. ok is false if one could not be read.
func readKeySets(ctx context.Context, v *exam.Visit, lists []exam.Listing) (sets [][]string, ok bool) {
	for _, l := range lists {
		read := exam.Read(ctx, l.List, v.Once)
		if read.Pages[len(read.Pages)-1].Result == nil {
			return nil, false
		}
		sets = append(sets, sortKeys(read))
	}
	return sets, true
}

// isAnnounced reports whether the change of a list was announced since a mark, or is within a
// moment.
func isAnnounced(ctx context.Context, sess *mcp.Session, mark mcp.Mark, kind string) bool {
	method := "notifications/" + kind + "/list_changed"
	ctx, cancel := context.WithTimeout(ctx, announcement)
	defer cancel()
	for {
		if slices.ContainsFunc(sess.Messages(mark), func(m mcp.Message) bool { return m.Method == method }) {
			return true
		}
		select {
		case <-ctx.Done():
			return false
		case <-time.After(announcement / 50):
		}
	}
}
