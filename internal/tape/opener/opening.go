package opener

import "mcptest/internal/base/jsonv"

// Opening is how one recorded client opened its connection.
type Opening struct {
	Session      int
	Info         jsonv.Value // clientInfo; absent if the client sent none
	Capabilities jsonv.Value
	Probe        *Step
	Modern       []Step
	Legacy       []Step
	Dropped      int // members of frames that held a masked secret
}

// Step is one frame of an opening.
type Step struct {
	Method   string
	ID       jsonv.Value // absent for a notification
	Version  string      // of initialize
	Params   jsonv.Value
	When     string
	Optional bool
	Listen   bool
	WaitMS   int64
}
