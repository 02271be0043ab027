package match

import (
	"cmp"
	"context"
	"strings"

	"mcptest/internal/assert/shown"
	"mcptest/internal/assert/snapshot"
	"mcptest/internal/assert/target"
	"mcptest/internal/base/source"
)

var rowSnapshot = Row{
	Name: "snapshot", Doc: "the value is the one that an earlier run stored in `__snapshots__/`, with timestamps, UUIDs, ids, durations and temporary paths masked; the argument is true, a name, or {name, ignore, mask}",
	Example: "snapshot: true", Passes: `"the stored value"`, Fails: `"another value"`,
	schema: snapshot.Schema, compile: compileSnapshot,
}

func compileSnapshot(c *Compiler, n *source.Node, path string) Matcher {
	if !strings.HasSuffix(path, "matcher.snapshot") { // a value that must not match is never stored
		c.Errorf(n, path, "write it as a separate assertion", "snapshot can't be used inside another matcher")
		return nil
	}
	if o := snapshot.Compile(c.Mistakes, n, path); o != nil {
		return snapshotMatcher{o}
	}
	return nil
}

// snapshotMatcher compares a value with the stored one.
type snapshotMatcher struct{ *snapshot.Options }

func (m snapshotMatcher) Match(_ context.Context, s target.Subject, env *Env) Outcome {
	if env == nil || env.Snapshot == nil {
		return Outcome{Unfit: true, Msg: "snapshots are not available here"}
	}
	c := env.Snapshot(cmp.Or(m.Name, s.Name, s.Target), m.Options, s)
	o := Outcome{Pass: c.Pass, Msg: c.Problem, Notes: c.Notes}
	for _, path := range c.Unused {
		o.Unseen = append(o.Unseen, "ignore: "+path+" matches nothing")
	}
	o.Actual = shown.Value(c.Got, shown.Alone)
	if !c.Pass && !c.Want.IsAbsent() {
		o.Expected = shown.Value(c.Want, shown.Alone)
		o.Msg, o.Diff = Difference(c.Want, c.Got)
		o.Msg = "differs from the snapshot: " + o.Msg
	}
	return o
}
