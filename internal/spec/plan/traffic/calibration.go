package traffic

import (
	"fmt"

	"mcptest/internal/assert/grading"
	"mcptest/internal/base/jsonv"
	"mcptest/internal/base/source"
	"mcptest/internal/base/stats"
	"mcptest/internal/spec/agent"
	"mcptest/internal/spec/plan/rows"
	"mcptest/internal/spec/suite"
)

// Calibration reads the labels of a test of calibration, which is written in a node, and
// resolves its model.
func Calibration(st *suite.Test, written *source.Node, s *suite.Suite, o rows.Options) {
	k, ok := st.Action.(*agent.Calibration)
	if !ok || k.Labels == nil {
		return
	}
	g, before := k.Grading(), o.Dec.Count()
	g.Check(st.Node, st.Path, append([]string{}, s.Models.Keys()...), o.Dec)
	if g.NamesPrompt() {
		o.Dec.Errorf(st.Node.Get("rubric"), st.Path+".rubric", "contains %s, and labels have no prompt", grading.Prompt)
	}
	k.Model = g.Model
	path := st.Path + ".labels"
	labels := rows.Read(k.Labels, written.Get("labels"), path, o)
	seen, kinds := map[string]bool{}, map[bool]int{}
	for i := range labels.Len() {
		text, good := labels.At(i).Lookup("text"), labels.At(i).Lookup("good")
		if text.Kind() != jsonv.KindString || good.Kind() != jsonv.KindBool {
			o.Dec.Add(source.Diagnostic{Pos: labels.Pos(i), Path: path, Msg: "expected a label, {text: …, good: true or false}"})
			return
		}
		if seen[text.Text()] {
			o.Dec.Add(source.Diagnostic{Pos: labels.Pos(i), Path: path, Msg: "this text has a label already, and would count twice"})
			return
		}
		seen[text.Text()] = true
		kinds[good.Bool()]++
		k.Texts = append(k.Texts, agent.Labeled{
			Text: text.Text(),
			Good: good.Bool(),
			Pos:  labels.Pos(i),
		})
	}
	low := func(n int) float64 { l, _ := stats.ClopperPearson(n, n, agent.Confidence); return l }
	n, most := max(len(k.Texts), 1), max(kinds[true], kinds[false])
	if o.Dec.Count() > before || !(k.Agreement < 1) { // 1 was reported
		return
	}
	if low(n) >= k.Agreement {
		if least, _ := stats.ClopperPearson(most, n, agent.Confidence); least >= k.Agreement {
			frequent := kinds[true] == most
			diag := o.Dec.Errorf(k.Labels, path, "a judge that finds every text good: %t would agree with %d of %d labels", frequent, most, n)
			diag.Hint = fmt.Sprintf("add labels with good: %t, or ask for a higher agreement", !frequent)
		}
		return
	}
	enough := n
	for low(enough) < k.Agreement {
		enough++
	}
	o.Dec.Errorf(k.Labels, path, "%d labels cannot show an agreement of %v, even if the judge gives them all", len(k.Texts), k.Agreement).Hint = fmt.Sprintf("at least %d labels are needed", enough)
}
