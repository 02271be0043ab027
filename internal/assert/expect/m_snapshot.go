package expect

import (
	"cmp"
	"context"
	"strings"

	"mcptest/internal/assert/snapshot"
	"mcptest/internal/base/source"
)

var rowSnapshot = Row{
	Name: "snapshot", Doc: "the value is the one that an earlier run stored in `__snapshots__/`, with timestamps, UUIDs, ids, durations and temporary paths masked; the argument is true, a name, or {name, ignore, mask}",
	Example: "snapshot: true", Passes: `"the stored value"`, Fails: `"another value"`,
	schema: snapshot.Schema, compile: compileSnapshot,
}

func compileSnapshot(c *compiler, n *source.Node, path string) Matcher {
	if !strings.HasSuffix(path, "matcher.snapshot") { // a value that must not match is never stored
		c.errorf(n, path, "write it as a separate assertion", "snapshot can't be used inside another matcher")
		return nil
	}
	if o := snapshot.Compile(c.d, n, path); o != nil {
		return snapshotMatcher{o}
	}
	return nil
}

// snapshotMatcher compares a value with the stored one.
type snapshotMatcher struct{ *snapshot.Options }

func (m snapshotMatcher) Match(_ context.Context, s Subject, env *Env) Outcome {
	if env == nil || env.Snapshot == nil {
		return Outcome{Unfit: true, Msg: "snapshots are not available here"}
	}
	c := env.Snapshot(cmp.Or(m.Name, s.name, s.Target), m.Options, s)
	o := Outcome{Pass: c.Pass, Msg: c.Problem, Notes: c.Notes}
	for _, path := range c.Unused {
		o.Unseen = append(o.Unseen, "ignore: "+path+" matches nothing")
	}
	if o.Actual = show(c.Got, shownAlone); !c.Pass && !c.Want.IsAbsent() {
		o.Expected = show(c.Want, shownAlone)
		o.Msg, o.Diff = difference(c.Want, c.Got)
		o.Msg = "differs from the snapshot: " + o.Msg
	}
	return o
}

// checkSnapshots reports items with the same snapshot name; first is the first item
// of each name.
func checkSnapshots(c *compiler, items []Item, first map[string]*Item) {
	for i := range items {
		item := &items[i]
		if item.Set != nil {
			checkSnapshots(c, item.Set.Items, first)
			continue
		}
		k, _ := item.Assertion.Matcher.(*check)
		if k == nil || k.row.Name != rowSnapshot.Name {
			continue
		}
		name := cmp.Or(k.m.(snapshotMatcher).Name, item.Name, item.Assertion.Target.src)
		if first[name] == nil {
			first[name] = item
			continue
		}
		diag := c.d.Errorf(at(item.Pos), item.Path, "two snapshots of this test are called %s", quoteKey(name))
		diag.Hint = "give one a name: snapshot: NAME"
		diag.Related = []source.Related{{Pos: first[name].Pos, Msg: "the other one"}}
	}
}
