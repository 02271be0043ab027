package expect

import (
	"cmp"

	"mcptest/internal/assert/shown"
	"mcptest/internal/base/source"
)

// Tree holds the expectations of one test, including those of defaultTest. It is
// immutable after [Merge].
type Tree struct {
	Items       []Item
	Threshold   *float64 // of the combined score; nil: every item must pass
	MaxDuration *Gate
	Metrics     []Metric
}

// Parts are the expectations from one place of a suite: a test, or defaultTest.
type Parts struct {
	Expect    Expect
	Threshold *float64
	Metrics   []Metric
}

// Merge combines a test's own parts with those of defaultTest: the test's items come
// first, its threshold and gate take precedence, and its metrics replace those of
// defaultTest with the same name; the others follow.
func Merge(own, base Parts) *Tree {
	t := &Tree{
		Items:       joinItems(own.Expect.Items, base.Expect.Items),
		Threshold:   own.Threshold,
		MaxDuration: own.Expect.MaxDuration,
	}
	t.Threshold = cmp.Or(t.Threshold, base.Threshold)
	t.MaxDuration = cmp.Or(t.MaxDuration, base.Expect.MaxDuration)
	t.Metrics = own.Metrics[:len(own.Metrics):len(own.Metrics)]
	for _, m := range base.Metrics {
		if indexMetric(own.Metrics, m.Name) < 0 {
			m.baseline = true
			t.Metrics = append(t.Metrics, m)
		}
	}
	return t
}

func joinItems(a, b []Item) []Item {
	if len(b) == 0 {
		return a
	}
	return append(a[:len(a):len(a)], b...)
}

func indexMetric(metrics []Metric, name string) int {
	for i := range metrics {
		if metrics[i].Name == name {
			return i
		}
	}
	return -1
}

// Check reports mistakes that are only visible in the merged tree: weights that form
// no score, references that cannot be resolved, ambiguous names. path is the test's
// position in the document.
func (t *Tree) Check(path string, d *source.Decoder) {
	c := newCompiler(Compiler{}, d)
	checkSnapshots(c, t.Items, map[string]*Item{})
	if t.Threshold != nil && len(t.Items) > 0 {
		c.checkWeights(t.Items, at(t.Items[0].Pos), source.PathKey(path, "expect"), "test")
	}
	for i := range t.Metrics {
		t.checkMetric(c, i)
	}
}

// at returns a node for a position.
func at(pos source.Pos) *source.Node { return &source.Node{Pos: pos} }

func (t *Tree) checkMetric(c *compiler, i int) {
	m := &t.Metrics[i]
	if named := t.itemsNamed(m.Name); len(named) > 0 {
		diag := c.Mistakes.Errorf(at(m.Pos), m.Path, "the metric %s has the name of an item: a reference to it would be ambiguous", shown.Key(m.Name))
		diag.Hint = "rename one of them"
		diag.Related = append(diag.Related, source.Related{Pos: named[0].Pos, Msg: "the item of that name"})
	}
	for _, term := range m.Terms {
		named := t.itemsNamed(term.Ref)
		j := indexMetric(t.Metrics, term.Ref)
		switch {
		case len(named) > 1:
			diag := c.Mistakes.Errorf(at(term.Pos), term.Path, "%s is the name of %d items", shown.Key(term.Ref), len(named))
			diag.Hint = "give each item that a metric refers to a unique name"
			for _, item := range named {
				diag.Related = append(diag.Related, source.Related{Pos: item.Pos, Msg: "one of them"})
			}
		case len(named) == 1:
		case j == i:
			c.Errorf(at(term.Pos), term.Path, "", "the metric %s refers to itself", shown.Key(m.Name))
		case j > i:
			diag := c.Mistakes.Errorf(at(term.Pos), term.Path, "the metric %s is declared later: metrics can refer only to earlier ones", shown.Key(term.Ref))
			diag.Hint = "move it before " + shown.Key(m.Name)
			diag.Related = append(diag.Related, source.Related{Pos: t.Metrics[j].Pos, Msg: "declared here"})
		case j < 0 && !m.baseline:
			c.Mistakes.Warnf(at(term.Pos), term.Path, "%s", t.unknownRef(term.Ref, i))
		}
	}
}

// itemsNamed returns the items called name, including those inside sets.
func (t *Tree) itemsNamed(name string) []*Item {
	var found []*Item
	for i := range t.Items {
		item := &t.Items[i]
		if item.Name == name {
			found = append(found, item)
		}
		if item.Set == nil {
			continue
		}
		for j := range item.Set.Items {
			if item.Set.Items[j].Name == name {
				found = append(found, &item.Set.Items[j])
			}
		}
	}
	return found
}

// unknownRef reports that the metric i refers to an unknown name.
func (t *Tree) unknownRef(ref string, i int) string {
	var names []string
	for j := range t.Items {
		names = append(names, t.Items[j].Name)
		if set := t.Items[j].Set; set != nil {
			for k := range set.Items {
				names = append(names, set.Items[k].Name)
			}
		}
	}
	for j := range i {
		names = append(names, t.Metrics[j].Name)
	}
	return "no assertion, set or earlier metric is named " + shown.Key(ref) + ": it counts as 0" + source.Parenthesis(source.DidYouMean(ref, names))
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
		o := item.Assertion.Matcher.Snapshot()
		if o == nil {
			continue
		}
		name := cmp.Or(o.Name, item.Name, item.Assertion.Target.String())
		if first[name] == nil {
			first[name] = item
			continue
		}
		diag := c.Mistakes.Errorf(at(item.Pos), item.Path, "two snapshots of this test are called %s", shown.Key(name))
		diag.Hint = "give one a name: snapshot: NAME"
		diag.Related = []source.Related{{Pos: first[name].Pos, Msg: "the other one"}}
	}
}
