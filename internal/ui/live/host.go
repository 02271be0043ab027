package live

import (
	"context"

	"mcptest/internal/run/inspect"
	"mcptest/internal/spec/plan"
)

// Host is what the command line provides: which servers there are, and how to connect.
type Host interface {
	// Servers returns the servers of the command line as they are defined now. problem says
	// what is wrong with the suite, in which case the servers are those before.
	Servers() (list []*plan.Server, problem string)
	// Options returns how to connect to a server.
	Options(sv *plan.Server) inspect.Options
	// Diagnose examines a server that could not be connected to.
	Diagnose(ctx context.Context, o inspect.Options, found func(Layer))
}

// Layer is what was found out about one layer of a server.
type Layer struct {
	Name, State, Message string
	Details              []string
	Hint                 string
}
