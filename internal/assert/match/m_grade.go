package match

import (
	"context"

	"mcptest/internal/assert/grading"
	"mcptest/internal/assert/target"
	"mcptest/internal/base/jsonv"
	"mcptest/internal/base/source"
)

var rowGrade = Row{
	Name: "llm-judge", Aliases: []string{"llm_judge"},
	Doc:     "a model of the suite grades a text by a rubric, from 0 to 1; votes take the median. It sees the rubric and the text, nothing else. Without a usable grade the test is an error",
	Example: `llm-judge: {rubric: Names the day., threshold: 0.7}`, Passes: `"good"`, Fails: `"bad"`, schema: grading.Schema,
	compile: func(c *Compiler, n *source.Node, path string) Matcher {
		if g := grading.Decode(n, path, c.Models, c.Mistakes); g != nil {
			return graded{g}
		}
		return nil
	},
}

// graded implements the matcher llm-judge.
type graded struct{ *grading.Grading }

func (m graded) Match(ctx context.Context, s target.Subject, env *Env) Outcome {
	if s.Value.Kind() != jsonv.KindString {
		return unfit("a text", s.Value)
	}
	if env.Grade == nil {
		return Outcome{Unfit: true, Msg: "no model was asked: models cannot be asked here"}
	}
	grade, err := env.Grade(ctx, m.Grading, s.Value.Text())
	if err != nil {
		return Outcome{Unfit: true, Msg: "no grade: " + err.Error()}
	}
	pass, why := m.Passes(grade)
	if pass {
		return Outcome{Pass: true, Score: grade.Score, Notes: []string{why}, graded: true}
	}
	return Outcome{Score: grade.Score, Msg: why, graded: true}
}
