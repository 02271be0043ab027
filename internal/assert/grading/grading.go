package grading

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"mcptest/internal/base/source"
)

// Script is the name of the model that answers from the suite. It grades nothing.
const Script = "script"

// Prompt is replaced in a rubric by the prompt of the test.
const Prompt = "{{prompt}}"

// Grading says how a model grades a text.
type Grading struct {
	// What a text must be, in words.
	Rubric string `yaml:"rubric,required"`
	// The model of the suite that grades.
	Model string `yaml:"model"`
	// The least grade that passes, from 0 to 1.
	Threshold *float64 `yaml:"threshold"`
	// How often the model is asked; the median counts.
	Votes *int `yaml:"votes"`
}

// Grade is what a model says of a text.
type Grade struct {
	Score  float64 // from 0 to 1
	Reason string
	Votes  []float64 // in order
}

// Schema is the JSON Schema of a grading.
const Schema = `{"type":"object","required":["rubric"],"additionalProperties":false,"properties":{
	"rubric":{"type":"string","minLength":1},"model":{"type":"string","minLength":1},
	"threshold":{"type":["number","null"],"exclusiveMinimum":0,"maximum":1},"votes":{"enum":[1,3,5,7,9,null]}}}`

// Least is the default threshold.
const Least = 0.7

// Decode reads a grading; models are the names of the suite's models, nil if they are not
// known. It returns nil if it reported a mistake.
func Decode(n *source.Node, path string, models []string, d *source.Decoder) *Grading {
	before := d.Count()
	g := new(Grading)
	if n.Kind == source.KindString {
		d.Errorf(n, path, "expected a map, got a text").Hint = "write {rubric: " + n.Text + "}"
		return nil
	}
	d.Decode(n, path, g)
	if d.Count() > before {
		return nil
	}
	g.Check(n, path, models, d)
	if d.Count() > before {
		return nil
	}
	return g
}

// Check reports mistakes in a grading that was decoded from a node. A grading that names no
// model gets the only one of the suite.
func (g *Grading) Check(n *source.Node, path string, models []string, d *source.Decoder) {
	fail := func(key, hint, format string, args ...any) {
		at, where := n, path
		if v := n.Get(key); v != nil {
			at, where = v, source.PathKey(path, key)
		}
		d.Errorf(at, where, format, args...).Hint = hint
	}
	for _, key := range []string{"rubric", "model"} {
		if v := n.Get(key); v != nil && v.Origin == source.FromServer {
			fail(key, "", "the server under test must not choose the %s", key)
		}
	}
	if strings.TrimSpace(g.Rubric) == "" {
		fail("rubric", "", "the rubric is empty")
	}
	if t := g.threshold(); !(t > 0 && t <= 1) {
		fail("threshold", "", "must be over 0 and at most 1, got %v", t)
	}
	if v := g.Ask(); v < 1 || v > 9 || v%2 == 0 {
		fail("votes", "an even number of votes has no median", "must be 1, 3, 5, 7 or 9, got %d", v)
	}
	if models != nil {
		g.chooseModel(models, fail)
	}
}

// chooseModel reports a model that can't grade, with fail(key, hint, message …).
func (g *Grading) chooseModel(models []string, fail func(key, hint, format string, args ...any)) {
	switch {
	case g.Model == Script:
		fail("model", "", "the model %s answers from the suite and grades nothing", Script)
	case g.Model == "" && len(models) == 1:
		g.Model = models[0]
	case len(models) == 0:
		fail("model", "models: {judge: {api: openai, url: \"http://localhost:11434/v1\", model: NAME}}", "the suite declares no model that could grade")
	case g.Model == "":
		fail("model", "the models are "+strings.Join(models, ", "), "missing key \"model\"")
	case !slices.Contains(models, g.Model):
		fail("model", "", "the suite declares no model %q%s", g.Model, source.Parenthesis(source.DidYouMean(g.Model, models)))
	}
}

// NamesPrompt reports whether the rubric contains the prompt of the test.
func (g *Grading) NamesPrompt() bool { return strings.Contains(g.Rubric, Prompt) }

func (g *Grading) threshold() float64 {
	if g.Threshold != nil {
		return *g.Threshold
	}
	return Least
}

// Ask returns the number of votes.
func (g *Grading) Ask() int {
	if g.Votes != nil {
		return *g.Votes
	}
	return 1
}

// Passes reports whether a grade passes, and why in one line.
func (g *Grading) Passes(grade Grade) (pass bool, why string) {
	t := g.threshold()
	said := fmt.Sprintf("%s grades it %.3g", cmp.Or(g.Model, "the model"), grade.Score)
	if len(grade.Votes) > 1 {
		said += fmt.Sprintf(", the median of %.3g", grade.Votes)
	}
	if pass = grade.Score >= t; !pass {
		said += fmt.Sprintf(", below the threshold %.3g", t)
	}
	return pass, said + ": " + cmp.Or(grade.Reason, "without a reason")
}
