package expect_test

import (
	"strings"
	"testing"
)

// TestUnseen: values that a passing assertion did not examine are reported.
func TestUnseen(t *testing.T) {
	const data = `{"structuredContent": {"products": [{"name": "a", "price": 4}, {"name": "b"}], "none": [], "lists": [[1], []]}}`
	const left = `1 of 2 elements left out: no key "price" in structured.products[*]; it has name`
	const empty = "the list is empty: each had nothing to check"
	const empty2 = "the list is empty: any had nothing to check"
	for _, c := range []struct{ target, matcher, want string }{
		{"structured.products[*].price", "each: {gt: 0}", left},
		{"structured.products[*].name", "each: {type: string}", ""},
		{"structured.none", "each: {gt: 0}", empty},
		{"structured.none", "all-of: [{type: array}, {each: {gt: 0}}]", empty},
		{"structured.none", "any-of: [{each: {gt: 0}}, {exact: 1}]", empty},
		{"structured.none", "any-of: [{each: {gt: 0}}, {length: 0}]", ""},
		{"structured.lists", "each: {each: {gt: 0}}", "[1]: " + empty},
		{"structured.products[*].price", "length: 1", left},
		{"structured.products[*].price", "exists: true", left},
		{"structured.products[*].price", "contains: 4", left},
		{"structured.products[*].price", "not: {contains: 5}", left},
		{"structured.products[*].price", "any: {gt: 0}", left},
		{"structured.products[*].price", "exact: [4]", left},
		{"structured.none", "not: {any: {gt: 0}}", empty2},
		{"structured.none", "none-of: [{any: {gt: 0}}, {contains: 1}]", empty2},
		{"structured.none", "not: {contains: 1}", ""},
		{"structured.none", "length: 0", ""},
		{"structured.products[*].price", "each: {gt: 9}", ""},
	} {
		v := evaluate(t, "expect: [{target: '"+c.target+"', matcher: {"+c.matcher+"}}]", result(t, data))
		if got := strings.Join(v.Items[0].Unseen, "; "); got != c.want {
			t.Errorf("%s %s: pass %v: %q, want %q", c.target, c.matcher, v.Pass, got, c.want)
		}
	}
}
