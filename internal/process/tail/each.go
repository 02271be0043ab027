package tail

// Each calls f with what is written, as it is written, until stop is closed; then with the
// rest. It returns after that.
func (t *Tail) Each(stop <-chan struct{}, f func(text string)) {
	var mark Mark
	for {
		changed := t.Changed()
		mark = t.pass(mark, f)
		select {
		case <-changed:
		case <-stop:
			t.pass(mark, f)
			return
		}
	}
}

// pass calls f with the output after a mark, if there is any, and returns its end.
func (t *Tail) pass(mark Mark, f func(text string)) Mark {
	text := t.Since(mark)
	if text == "" {
		return mark
	}
	mark = t.Mark()
	f(text)
	return mark
}
