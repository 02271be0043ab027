package suite

import (
	"reflect"
	"testing"
)

// Every list holds tests that call something, or a kind of test without a call.
func TestListsAreKinds(t *testing.T) {
	t.Parallel()
	for block, entry := range EntryTypes() {
		k, ok := reflect.New(entry).Interface().(kind)
		_, calls := subject[block]
		switch {
		case ok == calls:
			t.Errorf("%s: the tests of a list call something (a row of subject in checktest.go) or are a kind: got %t and %t", block, calls, ok)
		case ok && (k.action().Name() == "" || k.action().Plan() == ""):
			t.Errorf("%s: its action needs a name and a plan", block)
		}
	}
}
