package verdict

import (
	"strings"

	"mcptest/internal/aql/evidence"
	"mcptest/internal/aql/rule"
	"mcptest/internal/jsonv"
	"mcptest/internal/source"
)

// JSON returns the report in the specification's form (S 6.1), with two spaces of
// indentation and a newline at the end. Members that the form does not define follow
// those that it defines.
func (r *Report) JSON() []byte {
	v := evidence.Encode(*r)
	if r.AchievedLevel < 0 {
		v = v.Without("achievedLevel").Without("complete").Without("coverage")
	}
	return append(v.Indent("", "  "), '\n')
}

// ReadReport reads a JSON report in the specification's form, of this tool or of
// another one. Every mistake is a diagnostic with line, column and JSON pointer; if
// one is an error, the report must not be used.
func ReadReport(f *source.File) (*Report, source.Diagnostics) {
	r := evidence.NewReader(f)
	out := &Report{AchievedLevel: -1, RequestedLevel: rule.LevelOne}
	root, _, ok := r.Parse()
	if !ok {
		return out, r.Problems
	}
	if root.Kind() != jsonv.KindObject {
		r.Errorf(root, "", "a report is a JSON object, this is %s", evidence.Describe(root))
		return out, r.Problems
	}
	r.Object(root, "", out)
	for _, c := range out.Categories {
		for i := range c.Tests {
			c.Tests[i].complete(c.Name)
		}
	}
	r.Problems.Sort()
	return out, r.Problems
}

// complete derives what the JSON form of a row does not contain.
func (t *TestResult) complete(category string) {
	for i := range t.Findings {
		t.Findings[i].Offset = -1
	}
	for _, known := range rule.Tests() {
		if known.Category == category && (strings.EqualFold(known.Name, t.Name) || known.ID == "semantic") {
			t.Test = known.ID
		}
	}
	t.Unproven = t.Result == Skipped && strings.HasPrefix(t.Detail, "No evidence")
}
