package option

import (
	"fmt"
	"strconv"
)

// Parallel is the value of --parallel: calls in flight on each server; 0 if the flag
// is not set. It accepts the values of `run_options: {parallel: …}` except false,
// which only a suite can set.
type Parallel int

// maxParallel is the largest value of the key and the flag.
const maxParallel = 1024

// Set parses a number from 1 to maxParallel, or auto: one at a time.
func (p *Parallel) Set(text string) error {
	if text == "auto" {
		*p = 1
		return nil
	}
	n, err := strconv.Atoi(text)
	if err != nil || n < 1 || n > maxParallel {
		return fmt.Errorf("expected auto or a number from 1 to %d", maxParallel)
	}
	*p = Parallel(n)
	return nil
}

// String returns the number, or "" if the flag is not set.
func (p *Parallel) String() string {
	if *p == 0 {
		return ""
	}
	return strconv.Itoa(int(*p))
}

// Type returns the type in the help.
func (p *Parallel) Type() string { return "n" }
