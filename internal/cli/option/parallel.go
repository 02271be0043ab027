package option

import (
	"fmt"
	"strconv"
)

// Parallel is the value of --parallel: calls in flight on each server; 0
// when the flag was not given. It takes what `run_options: {parallel: …}`
// takes, but for false, which is a promise that only a suite can make.
type Parallel int

// maxParallel is the most calls in flight, of the key and the flag alike.
const maxParallel = 1024

// Set reads a number from 1 to maxParallel, or auto: one at a time.
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

// String returns the number, "" when the flag was not given.
func (p *Parallel) String() string {
	if *p == 0 {
		return ""
	}
	return strconv.Itoa(int(*p))
}

// Type names the value in the help.
func (p *Parallel) Type() string { return "n" }
