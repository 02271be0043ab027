package proc

// TermName is what asks a process to exit, in messages; killName is what ends it.
const (
	TermName = "CTRL_BREAK"
	killName = "terminated"
)
