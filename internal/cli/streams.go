package cli

import "mcptest/internal/cmdutil"

// Streams are what a command reads, writes and is given by its environment.
type Streams = cmdutil.Streams
