package term

// Flush paints the wanted line immediately.
func (s *Status) Flush() {
	if !s.Live() {
		return
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	s.paint()
}

// Enabled reports whether painted text holds escape sequences at all.
func (p Palette) Enabled() bool { return p.profile != None }
