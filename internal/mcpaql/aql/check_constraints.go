package aql

import (
	"mcptest/internal/mcpaql/evidence"
)

func (x *evaluation) checkEnforced() {
	x.incomplete = "constraint_tests is empty"
	for i, c := range x.e.Constraints {
		x.cases++
		at := placeOf("constraint_tests").elem(i).member("response")
		switch {
		case !evidence.IsRefused(c.Response):
			x.fail("enforced.refused", at, c.Response, "%s: not refused", c.Name)
		case !isEnforced(c):
			message := c.Response.Lookup("error", "message")
			place := at.member("error").member("message")
			x.fail("enforced.message", place, c.Response, "%s: the message is %s", c.Name, evidence.Describe(message))
		}
	}
}

func (x *evaluation) checkDisclosed() {
	x.incomplete = "no constraint was seen to be enforced"
	for i, c := range x.e.Constraints {
		if !isEnforced(c) {
			continue
		}
		x.cases++
		if !c.Documented {
			x.fail("disclosed.documented", placeOf("constraint_tests").elem(i).member("documented"), c.Response,
				"%s: enforced, but not documented", c.Name)
		}
	}
}
