package agent

import (
	"strings"
	"testing"

	"mcptest/internal/base/jsonv"
)

// TestNearTools: a misspelled tool is named with the near one, also if several servers have it,
// or another one than the name says.
func TestNearTools(t *testing.T) {
	list := func(names ...string) (out []jsonv.Value) {
		for _, name := range names {
			out = append(out, jsonv.ObjectOf("name", name))
		}
		return out
	}
	tools := Tools([]Offer{
		{Server: "shop", Tools: list("search_orders", "refund_order", "status")},
		{Server: "mail@eu", Tools: list("send_mail", "status")},
	})
	for name, want := range map[string]string{
		"serch_orders":        `did you mean "search_orders"?`,
		"send_mial":           `did you mean "send_mail"?`,
		"SearchOrders":        `did you mean "search_orders"?`,
		"shop__serch_orders":  `did you mean "shop__search_orders"?`,
		"shop.search_orders":  `did you mean "shop__search_orders"?`,
		"mail_send_mail":      `did you mean "mail__send_mail"?`,
		"mail__search_orders": `did you mean "shop__search_orders"?`,
		"mail__serch_orders":  `did you mean "shop__search_orders"?`,
		"files.search_orders": `did you mean "shop__search_orders"?`,
		"stats":               `did you mean "shop__status" or "mail__status"?`,
		"files__status":       `did you mean "shop__status" or "mail__status"?`,
		"xyz":                 `known: shop__search_orders, shop__refund_order, shop__status, mail__send_mail, mail__status`,
	} {
		if got := explainUnknown(tools, name); !strings.HasSuffix(got, " ("+want+")") {
			t.Errorf("%s: got %s, want %s", name, got, want)
		}
	}
	if got := explainUnknown(tools, "status"); !strings.HasSuffix(got, "is ambiguous: it is shop__status or mail__status") {
		t.Error(got)
	}
}
