package basics

import (
	"context"

	"mcptest/internal/client/wire"
	"mcptest/internal/run/probe/exam"
	"mcptest/internal/run/probe/verdict"
)

// checkOfferedStream looks what became of the stream of the session, if the server declares what
// needs it.
func checkOfferedStream(ctx context.Context, v *exam.Visit) exam.Outcome {
	const declared = "resources.subscribe" // a change of a list can be announced in a response
	if !v.Caps.Lookup("resources", "subscribe").Bool() {
		return exam.Inapplicable("the server does not declare %s", declared)
	}
	sess, err := v.Session(ctx)
	if err != nil {
		return exam.Unverified("%v", err)
	}
	for _, event := range sess.SideEvents() {
		if event.Kind == wire.SideStream {
			return exam.BrokenBy(verdict.Evidence{Sent: "GET", Received: event.Text}, "the server declares %s, and %s", declared, event.Text)
		}
	}
	return exam.Held()
}
