package manifest

import (
	"slices"
	"time"

	"mcptest/internal/base/source"
)

// Moment is when the list of tools changes: after the first call of a tool that has
// returned, or a time after the start.
type Moment struct {
	Tool   string // "": After counts
	After  time.Duration
	Silent bool // the change is not announced
}

// Happened reports whether the moment is over. called reports whether a tool was called.
func (m *Moment) Happened(began time.Time, called func(tool string) bool) bool {
	switch {
	case m == nil:
		return false
	case m.Tool != "":
		return called(m.Tool)
	}
	return time.Since(began) >= m.After
}

// momentKeys are the keys of the long form of a moment.
type momentKeys struct {
	// A tool, whose first call causes it, or a time since the start.
	After *source.Node `yaml:"after,required"`
	// false: no list_changed is sent.
	Announce *bool `yaml:"announce"`
}

// compileMoment reads a tool's name, a duration, or {after, announce}.
func compileMoment(n *source.Node, path string, d *source.Decoder) *Moment {
	m := &Moment{}
	if n.Kind == source.KindMap {
		var k momentKeys
		d.Decode(n, path, &k)
		m.Silent = k.Announce != nil && !*k.Announce
		if n = k.After; n == nil {
			return m
		}
		path += ".after"
	}
	after, err := source.ParseDuration(n.Text)
	switch {
	case n.Kind == source.KindMap || n.Kind == source.KindList || n.Text == "":
		d.ReportWrongType(n, path, "the name of a tool, or a time such as 500ms")
	case err == nil && after >= 0:
		m.After = after
	default:
		m.Tool = n.Text
	}
	return m
}

// compileChangedTool returns a tool as it is after its change: the keys of `changes` replace
// its own.
func compileChangedTool(n, change *source.Node, path string, d *source.Decoder) (*Tool, *Moment) {
	if change.Kind != source.KindMap {
		d.ReportWrongType(change, path, "a map with after and the keys that change")
		return nil, nil
	}
	when, after := *change, *n
	when.Fields = slices.DeleteFunc(slices.Clone(change.Fields), func(f source.Field) bool {
		return f.Key.Text != "after" && f.Key.Text != "announce"
	})
	replaced := func(f source.Field) bool {
		return f.Key.Text == "changes" || f.Key.Text == "appears" || f.Key.Text == "vanishes" || change.Get(f.Key.Text) != nil
	}
	after.Fields = slices.DeleteFunc(slices.Clone(n.Fields), replaced)
	for _, f := range change.Fields {
		if f.Key.Text != "after" && f.Key.Text != "announce" {
			after.Fields = append(after.Fields, f)
		}
	}
	if name := change.Get("name"); name != nil {
		d.Errorf(name, path+".name", "a change keeps the name: another name is another tool that appears")
	}
	return decodeTool(&after, path, d), compileMoment(&when, path, d)
}

// checkMoments reports moments after the call of a tool that does not exist.
func checkMoments(tools []*Tool, nodes []*source.Node, path string, d *source.Decoder) {
	names := make([]string, len(tools))
	for i, t := range tools {
		names[i] = t.Name
	}
	for i, t := range tools {
		for key, m := range map[string]*Moment{"appears": t.Appears, "vanishes": t.Vanishes, "changes": t.Changes} {
			if m != nil && m.Tool != "" && !slices.Contains(names, m.Tool) {
				at := source.PathKey(source.PathIndex(path, i), key)
				d.Errorf(nodes[i].Get(key), at, "no tool is called %q", m.Tool).Hint = source.Known(m.Tool, names)
			}
		}
	}
}
