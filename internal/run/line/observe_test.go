package line

import (
	"testing"

	"mcptest/internal/base/source"
	"mcptest/internal/spec/plan"
	"mcptest/internal/spec/suite"
)

// Every kind of test without a call has an observer.
func TestKindsAreObserved(t *testing.T) {
	t.Parallel()
	found := 0
	for block := range suite.EntryTypes() {
		st := suite.DecodeTest(block, &source.Node{Kind: source.KindMap}, string(block), new(source.Decoder))
		if st.Call == (suite.Invocation{}) && st.Action == nil {
			t.Errorf("%s: a test without a call has no action", block)
		}
		if a := (&attempt{}); st.Action != nil && a.chooseObserver(&plan.Op{Action: st.Action}, nil) == nil {
			t.Errorf("%s: attempt.observer does not know %T", block, st.Action)
		}
		found++
	}
	if found < 6 {
		t.Errorf("%d lists, expected at least 6", found)
	}
}
