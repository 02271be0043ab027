package aql

import (
	"maps"
	"slices"
	"testing"

	"mcptest/internal/mcpaql/rule"
)

// TestShapesAreComplete fails if shapes.json names a rule or a kind of values that does
// not exist.
func TestShapesAreComplete(t *testing.T) {
	t.Parallel()
	for name, s := range shapes() {
		rules := slices.AppendSeq([]string{s.closed, s.metadata}, maps.Values(s.special))
		for _, f := range s.fields {
			rules = append(rules, f.rule)
			want := f.want
			if list, ok := want.(sequence); ok {
				want, rules = list.of, append(rules, list.elemRule)
			}
			if w, ok := want.(words); ok && len(w.oneOf) == 1 {
				t.Errorf("%s.%s: %q is no kind of values", name, f.name, w.oneOf[0])
			}
		}
		for _, id := range rules {
			if id != "" && rule.ByID()[id] == nil {
				t.Errorf("%s: there is no rule %q", name, id)
			}
		}
	}
}
