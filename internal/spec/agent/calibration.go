package agent

import (
	"fmt"
	"strings"

	"mcptest/internal/assert/grading"
	"mcptest/internal/base/source"
)

// Confidence is that of the interval of the share of labels that a judge gives too.
const Confidence = 0.95

// Calibration holds the keys of a test of `calibration`, and is what it does.
type Calibration struct {
	// What a text must be, as in llm-judge.
	Rubric string `yaml:"rubric,required" example:"Names one issue with its number." schema:"minLength: 1"`
	// The model that grades; may be left out if the suite has one.
	Model string `yaml:"model" example:"judge"`
	// The least grade that counts as good.
	Threshold *float64 `yaml:"threshold" default:"0.7" example:"0.7" schema:"exclusiveMinimum: 0, maximum: 1"`
	// How often the model is asked for each text; the median counts.
	Votes *int `yaml:"votes" default:"1" example:"3" schema:"enum: [1, 3, 5, 7, 9]"`
	// What people say of texts, {text, good: true or false}: a list, or a CSV, JSON Lines or YAML file.
	Labels *source.Node `yaml:"labels,required" example:"labels.jsonl"`
	// The share of labels that the judge must give too. The test passes if the lower bound of its 95 % interval is not below it.
	Agreement float64 `yaml:"agreement" default:"0.8" example:"0.8" schema:"exclusiveMinimum: 0, exclusiveMaximum: 1"`

	// Texts are the labels, which the plan reads.
	Texts []Labeled
}

// Labeled is a text and what people say of it.
type Labeled struct {
	Text string
	Good bool
	Pos  source.Pos
}

// Check reports mistakes that need nothing but the entry.
func (c *Calibration) Check(n *source.Node, path string, d *source.Decoder) {
	if n.Get("agreement") == nil {
		c.Agreement = 0.8
	} else if !(c.Agreement > 0 && c.Agreement < 1) {
		d.Errorf(n.Get("agreement"), path+".agreement", "must be over 0 and below 1, got %v", c.Agreement).Hint = "no number of labels shows that a judge always agrees"
	}
}

// Grading returns what the judge is asked.
func (c *Calibration) Grading() *grading.Grading {
	return &grading.Grading{Rubric: c.Rubric, Model: c.Model, Threshold: c.Threshold, Votes: c.Votes}
}

// Name is the model.
func (c *Calibration) Name() string { return strings.TrimSuffix("calibration of "+c.Model, " of ") }

// Plan says how much is graded.
func (c *Calibration) Plan() string {
	return fmt.Sprintf("let the model %s grade %d texts with labels", c.Model, len(c.Texts))
}

// Connects is false: no server takes part.
func (*Calibration) Connects() bool { return false }

// Refuses nothing.
func (*Calibration) Refuses(bool) (why, hint string) { return "", "" }
