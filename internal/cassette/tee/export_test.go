package tee

// SetLimit bounds the bytes that may wait to be recorded.
func (t *Tap) SetLimit(n int) { t.limit = n }
