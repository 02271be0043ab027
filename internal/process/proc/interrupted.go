package proc

// Interrupted is the cause of a context that a signal ended.
type Interrupted struct {
	Signal string // "SIGINT"
	Code   int    // 128 + its number
}

// Error names the signal.
func (i *Interrupted) Error() string { return "interrupted by " + i.Signal }
