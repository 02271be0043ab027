package expect

import (
	"math"

	"mcptest/internal/assert/shown"
	"mcptest/internal/base/source"
)

// Metric is a compiled derived metric: a weighted sum or average over the
// scores of named items and earlier metrics.
type Metric struct {
	Pos       source.Pos
	Path      string
	Name      string
	Average   bool // weighted_average; else weighted_sum
	Terms     []Term
	Threshold *float64 // any finite number; below it the test fails

	baseline bool // from defaultTest
}

// Term is one term of a metric.
type Term struct {
	Pos    source.Pos
	Path   string
	Ref    string
	Weight float64
}

// Kinds of aggregation, as written in a suite.
const (
	keySum     = "weighted_sum"
	keyAverage = "weighted_average"
)

// CompileMetrics compiles a `derivedMetrics:` value. Mistakes are added to d;
// [Tree.Check], which knows the names, checks references. A nil node has no metrics.
func CompileMetrics(n *source.Node, path string, d *source.Decoder) []Metric {
	c := newCompiler(Compiler{}, d)
	if n == nil || n.Kind == source.KindNull && n.Text == "" {
		return nil
	}
	if n.Kind != source.KindList {
		c.Errorf(n, path, "", "expected a list of metrics, got %s", shown.Node(n))
		return nil
	}
	var out []Metric
	for i, entry := range n.Items {
		m := c.metric(entry, source.PathIndex(path, i))
		if m == nil {
			continue
		}
		for j := range out {
			if out[j].Name == m.Name {
				diag := c.Mistakes.Errorf(entry.Get("name"), source.PathKey(m.Path, "name"), "the metric %s is declared twice", shown.Key(m.Name))
				diag.Related = append(diag.Related, source.Related{Pos: out[j].Pos, Msg: "the first one"})
			}
		}
		out = append(out, *m)
	}
	return out
}

func (c *compiler) metric(n *source.Node, path string) *Metric {
	m := Metric{Pos: n.Pos, Path: path}
	if !c.Keys(n, path, "a metric: a map with name and value", []string{"name", "value", "threshold"}, []string{"name", "value"},
		func(key, at string, _, v *source.Node) (ok bool) {
			switch key {
			case "name":
				m.Name, ok = c.name(v, at)
			case "value":
				ok = c.aggregation(v, at, &m)
			case "threshold":
				var t float64
				t, ok = c.Number(v, at)
				m.Threshold = &t
				if ok {
					WarnThreshold(c.Mistakes, v, at, t, "metric")
				}
			}
			return ok
		}) {
		return nil
	}
	return &m
}

// aggregation compiles {weighted_sum: […]} or {weighted_average: […]}.
func (c *compiler) aggregation(n *source.Node, path string, m *Metric) bool {
	const what = "a map with weighted_sum or weighted_average"
	found := 0
	if !c.Keys(n, path, what, []string{keySum, keyAverage}, nil, func(key, at string, k, v *source.Node) bool {
		found++
		if found > 1 {
			c.Errorf(k, path, "", "must have one of weighted_sum and weighted_average, not both")
			return false
		}
		m.Average = key == keyAverage
		terms, ok := c.List(v, at, "references")
		for i, t := range terms {
			ok = c.term(t, source.PathIndex(at, i), m) && ok
		}
		return ok && c.checkTotal(v, at, m)
	}) {
		return false
	}
	if found == 0 && len(n.Fields) == 0 {
		c.Errorf(n, path, "", "expected %s, got an empty map", what)
	}
	return found == 1 && len(n.Fields) == 1
}

// term compiles {ref, weight}.
func (c *compiler) term(n *source.Node, path string, m *Metric) bool {
	t := Term{Pos: n.Pos, Path: path, Weight: 1}
	valid := c.Keys(n, path, "a map with ref and weight", []string{"ref", "weight"}, []string{"ref"}, func(key, at string, _, v *source.Node) (ok bool) {
		if key == "ref" {
			t.Ref, ok = c.name(v, at)
			t.Pos, t.Path = v.Pos, at
		} else {
			t.Weight, ok = c.weight(v, at)
		}
		return ok
	})
	m.Terms = append(m.Terms, t)
	return valid
}

// checkTotal reports weights without a valid average, or whose sum is not finite.
func (c *compiler) checkTotal(n *source.Node, path string, m *Metric) bool {
	total := 0.0
	for _, t := range m.Terms {
		total += t.Weight
	}
	switch {
	case m.Average && total == 0:
		c.Errorf(n, path, "give one of them a weight above 0", "every weight of this average is 0: it has no value")
		return false
	case math.IsInf(total, 0):
		c.Errorf(n, path, "use smaller weights", "the weights add up to more than a number can hold")
		return false
	}
	return true
}
