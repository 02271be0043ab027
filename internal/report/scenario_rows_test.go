package report_test

import (
	"fmt"

	"mcptest/internal/report/result"
)

// rowsScenario is a table of which most rows fail at the same assertion, with
// other values, one at another assertion, and one that also breaks the
// protocol.
func rowsScenario() []result.Event {
	s := newScenario(40, result.Suite{Name: "prices", File: "prices.mcptest.yaml"})
	s.add(result.ServerUp{Server: stdio("shop", "node build/shop.js")})
	for i := range 40 {
		c := result.Case{Name: fmt.Sprintf("price of article %d", i+1), Status: result.Fail, DurationMS: 1.5, Server: "shop", Call: "tools/call price", Line: 12}
		price := result.Assertion{Target: "structured.price", Matcher: "exact", Line: 17, Column: 9, Source: `      - {target: structured.price, matcher: {exact: "${case.price}"}}`}
		refused := result.Assertion{Target: "result.isError", Matcher: "exact", Line: 18, Column: 9, Source: `      - {target: result.isError, matcher: {exact: false}}`}
		switch i {
		case 0:
			c.Status, price.Pass, refused.Pass = result.Pass, true, true
		case 7:
			price.Pass = true
			refused.Message, refused.Expected, refused.Actual = "result.isError: want false, got true", "false", "true"
			c.Message = refused.Message
		default:
			refused.Pass = true
			price.Message = fmt.Sprintf("structured.price: want %d, got 0", 10*i)
			price.Expected, price.Actual = fmt.Sprint(10*i), "0"
			c.Message = price.Message
		}
		if i > 0 {
			c.Row = &result.Row{File: "prices.csv", Line: i + 2, Values: fmt.Sprintf(`{"article":%d,"price":%d}`, i+1, 10*i)}
		}
		if i == 9 {
			c.Violations = []result.Violation{{Kind: "output-schema", Message: "price is under its minimum", Excerpt: `{"price":0}`}}
		}
		c.Assertions = []result.Assertion{price, refused}
		s.test(c)
	}
	return s.finish(1, "")
}
