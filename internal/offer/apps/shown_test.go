package apps_test

import (
	"slices"
	"testing"
)

// A view is shown with what hosts read: the policy of the content before that of the list.
func TestShown(t *testing.T) {
	t.Parallel()
	p := plan{
		meta:   csp(`{"connectDomains": ["https://content.example"]}`),
		listed: csp(`{"connectDomains": ["https://list.example"]}`),
	}
	all := p.server(t).Shown()
	if len(all) != 1 || all[0].URI != uri || !slices.Equal(all[0].Tools, []string{"cart"}) || all[0].Failure != "" {
		t.Fatalf("got %+v", all)
	}
	if got := all[0].Meta.Lookup("csp", "connectDomains").Texts(); !slices.Equal(got, []string{"https://content.example"}) {
		t.Errorf("got %q", got)
	}
	for _, broken := range []plan{{failure: "not found"}, {unknown: "HTTP 503"}, {content: `{"contents": []}`}} {
		if all := broken.server(t).Shown(); len(all) != 1 || all[0].Failure == "" {
			t.Errorf("%+v: got %+v", broken, all)
		}
	}
	if all := (plan{tools: "[]", resource: "file:///a"}).server(t).Shown(); len(all) != 0 {
		t.Errorf("got %+v", all)
	}
}
