package tee

// SetLimit limits the bytes that wait to be recorded.
func (t *Tap) SetLimit(n int) { t.limit = n }
