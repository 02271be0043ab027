package plan

import (
	"fmt"

	"mcptest/internal/assert/grading"
	"mcptest/internal/base/jsonv"
	"mcptest/internal/base/stats"
	"mcptest/internal/spec/agent"
	"mcptest/internal/spec/plan/rows"
	"mcptest/internal/spec/suite"
)

// calibration reads the labels of a test of calibration and resolves its model.
func (c *compiler) calibration(st *suite.Test, e entry) {
	k, ok := st.Action.(*agent.Calibration)
	if !ok || k.Labels == nil {
		return
	}
	g, before := k.Grading(), c.errors()
	g.Check(st.Node, st.Path, append([]string{}, c.suite.Models.Keys()...), c.dec)
	if g.NamesPrompt() {
		c.dec.Errorf(st.Node.Get("rubric"), st.Path+".rubric", "contains %s, and labels have no prompt", grading.Prompt)
	}
	k.Model = g.Model
	path := st.Path + ".labels"
	labels := rows.Read(k.Labels, e.Node.Get("labels"), path, rows.Options{Dec: c.dec, Dir: c.suite.Dir, AllowOutside: c.set.AllowOutside, Opened: c.file.inputs.add})
	for i := range labels.Len() {
		text, good := labels.At(i).Lookup("text"), labels.At(i).Lookup("good")
		if text.Kind() != jsonv.KindString || good.Kind() != jsonv.KindBool {
			report(c.dec, labels.Pos(i), path, "expected a label, {text: …, good: true or false}", "")
			return
		}
		k.Texts = append(k.Texts, agent.Labeled{Text: text.Text(), Good: good.Bool(), Pos: labels.Pos(i)})
	}
	low := func(n int) float64 { l, _ := stats.ClopperPearson(n, n, agent.Confidence); return l }
	n := max(len(k.Texts), 1)
	if c.errors() > before || !(k.Agreement < 1) || low(n) >= k.Agreement { // 1 was reported
		return
	}
	enough := n
	for low(enough) < k.Agreement {
		enough++
	}
	c.dec.Errorf(k.Labels, path, "%d labels cannot show an agreement of %v, even if the judge gives them all", len(k.Texts), k.Agreement).Hint = fmt.Sprintf("at least %d labels are needed", enough)
}
