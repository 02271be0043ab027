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

// CompileCalibration reads the labels of a test of calibration, which is written in a node, and
// resolves its model.
func CompileCalibration(st *suite.Test, written *source.Node, s *suite.Suite, o rows.Options) {
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
	if !readLabels(k, rows.Read(k.Labels, written.Get("labels"), path, o), path, o.Dec) {
		return
	}
	if o.Dec.Count() == before && k.Agreement < 1 { // 1 was reported
		checkAgreement(k, path, o.Dec)
	}
}

// readLabels reads the labeled texts of a test. It returns false if one cannot be read.
func readLabels(k *agent.Calibration, labels *rows.Rows, path string, dec *source.Decoder) bool {
	seen := map[string]bool{}
	for i := range labels.Len() {
		text, good := labels.At(i).Lookup("text"), labels.At(i).Lookup("good")
		wrong := ""
		switch {
		case text.Kind() != jsonv.KindString || good.Kind() != jsonv.KindBool:
			wrong = "expected a label, {text: …, good: true or false}"
		case seen[text.Text()]:
			wrong = "this text has a label already, and would count twice"
		}
		if wrong != "" {
			dec.Add(source.Diagnostic{Pos: labels.Pos(i), Path: path, Msg: wrong})
			return false
		}
		seen[text.Text()] = true
		k.Texts = append(k.Texts, agent.Labeled{Text: text.Text(), Good: good.Bool(), Pos: labels.Pos(i)})
	}
	return true
}

// checkAgreement reports labels that cannot show the agreement which the test asks for: too
// few of them, or so many of one kind that a judge which always says the same would pass.
func checkAgreement(k *agent.Calibration, path string, dec *source.Decoder) {
	n, good := len(k.Texts), 0
	for _, t := range k.Texts {
		if t.Good {
			good++
		}
	}
	// leastAgreement is what is certain of a judge that agrees with some of the labels.
	leastAgreement := func(agreed, of int) float64 {
		least, _ := stats.ComputeClopperPearson(agreed, of, agent.Confidence)
		return least
	}
	enough := max(n, 1)
	if leastAgreement(enough, enough) < k.Agreement {
		for leastAgreement(enough, enough) < k.Agreement {
			enough++
		}
		diag := dec.Errorf(k.Labels, path, "%d labels cannot show an agreement of %v, even if the judge gives them all", n, k.Agreement)
		diag.Hint = fmt.Sprintf("at least %d labels are needed", enough)
		return
	}
	frequent := good >= n-good
	most := max(good, n-good)
	if leastAgreement(most, max(n, 1)) >= k.Agreement {
		diag := dec.Errorf(k.Labels, path, "a judge that finds every text good: %t would agree with %d of %d labels", frequent, most, n)
		diag.Hint = fmt.Sprintf("add labels with good: %t, or ask for a higher agreement", !frequent)
	}
}
