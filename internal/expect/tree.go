package expect

import (
	"mcptest/internal/source"
)

// Tree is everything one test expects, its own and the baseline's. It is
// immutable after [Merge].
type Tree struct {
	Items       []Item
	Threshold   *float64 // of the combined score; nil: every item must pass
	MaxDuration *Gate
	Metrics     []Metric
}

// Parts is what one place of a suite contributes to a tree: a test, or the
// baseline of all tests.
type Parts struct {
	Expect    Expect
	Threshold *float64
	Metrics   []Metric
}

// Merge puts a test's own parts and the baseline's together: the test's items
// come first, its threshold and gate win, and its metrics replace baseline
// metrics of the same name, which otherwise come after its own.
func Merge(own, base Parts) *Tree {
	t := &Tree{
		Items:       joined(own.Expect.Items, base.Expect.Items),
		Threshold:   own.Threshold,
		MaxDuration: own.Expect.MaxDuration,
	}
	if t.Threshold == nil {
		t.Threshold = base.Threshold
	}
	if t.MaxDuration == nil {
		t.MaxDuration = base.Expect.MaxDuration
	}
	t.Metrics = own.Metrics[:len(own.Metrics):len(own.Metrics)]
	for _, m := range base.Metrics {
		if indexMetric(own.Metrics, m.Name) < 0 {
			m.baseline = true
			t.Metrics = append(t.Metrics, m)
		}
	}
	return t
}

func joined(a, b []Item) []Item {
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

// Check reports what only shows in the merged tree: weights that form no
// score, references that can never resolve, names that mean two things. path
// is the test's place in the document.
func (t *Tree) Check(path string, d *source.Decoder) {
	c := newCompiler(Compiler{}, d)
	checkSnapshots(c, t.Items, map[string]*Item{})
	if t.Threshold != nil && len(t.Items) > 0 {
		c.checkWeights(t.Items, at(t.Items[0].Pos), join(path, "expect"), "test")
	}
	for i := range t.Metrics {
		t.checkMetric(c, i)
	}
}

// at is a node that stands for a place.
func at(pos source.Pos) *source.Node { return &source.Node{Pos: pos} }

func (t *Tree) checkMetric(c *compiler, i int) {
	m := &t.Metrics[i]
	if named := t.named(m.Name); len(named) > 0 {
		diag := c.d.Errorf(at(m.Pos), m.Path, "the metric %s has the name of an item: a reference to it would mean two things", quoteKey(m.Name))
		diag.Hint = "rename one of them"
		diag.Related = append(diag.Related, source.Related{Pos: named[0].Pos, Msg: "the item of that name"})
	}
	for _, term := range m.Terms {
		named := t.named(term.Ref)
		j := indexMetric(t.Metrics, term.Ref)
		switch {
		case len(named) > 1:
			diag := c.d.Errorf(at(term.Pos), term.Path, "%s is the name of %d items", quoteKey(term.Ref), len(named))
			diag.Hint = "give each item that a metric refers to a name of its own"
			for _, item := range named {
				diag.Related = append(diag.Related, source.Related{Pos: item.Pos, Msg: "one of them"})
			}
		case len(named) == 1:
		case j == i:
			c.errorf(at(term.Pos), term.Path, "", "the metric %s refers to itself", quoteKey(m.Name))
		case j > i:
			diag := c.d.Errorf(at(term.Pos), term.Path, "the metric %s is declared later: metrics see earlier ones only", quoteKey(term.Ref))
			diag.Hint = "move it before " + quoteKey(m.Name)
			diag.Related = append(diag.Related, source.Related{Pos: t.Metrics[j].Pos, Msg: "declared here"})
		case j < 0 && !m.baseline:
			c.d.Warnf(at(term.Pos), term.Path, "%s", t.unknownRef(term.Ref, i))
		}
	}
}

// named returns the items of a name, those inside sets included.
func (t *Tree) named(name string) []*Item {
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

// unknownRef says that the metric i refers to a name that is nowhere.
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
	return "no assertion, set or earlier metric is named " + quoteKey(ref) + ": it counts as 0" + source.Aside(source.DidYouMean(ref, names))
}
