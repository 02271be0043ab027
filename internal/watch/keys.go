package watch

import (
	"bufio"
	"io"
	"os"

	"mcptest/internal/term"
)

// Keys returns the keys that are pressed on a terminal, nil if in is none. restore
// puts the terminal into its former state. Where a terminal can't report single
// keys, each needs Enter.
func Keys(in io.Reader) (keys <-chan rune, restore func()) {
	if !term.IsTerminal(in) {
		return nil, func() {}
	}
	restore, err := term.KeyMode(in.(*os.File))
	if err != nil {
		restore = func() {}
	}
	return read(in), restore
}

// read passes on what is typed. Its goroutine ends with the input.
func read(in io.Reader) <-chan rune {
	out := make(chan rune)
	go func() {
		defer close(out)
		for r := bufio.NewReader(in); ; {
			key, _, err := r.ReadRune()
			if err != nil {
				return
			}
			out <- key
		}
	}()
	return out
}
