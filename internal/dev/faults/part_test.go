package faults_test

import (
	"fmt"
	"os"
	"testing"
)

// part is every of-th row of a table, from a first one.
type part struct {
	first, of int
	asked     bool // by MCPTEST_FAULTS: the tests do nothing else
}

// readPart returns the part in MCPTEST_FAULTS (2/3: the second third; 1/1: all), or the
// usual one.
func readPart(t *testing.T, usual part) part {
	t.Helper()
	text := os.Getenv("MCPTEST_FAULTS")
	if text == "" {
		t.Logf("every %dth fault is tried; make faults tries all", usual.of)
		return usual
	}
	var number, of int
	if _, err := fmt.Sscanf(text, "%d/%d", &number, &of); err != nil || number < 1 || number > of {
		t.Fatalf("MCPTEST_FAULTS=%q: expected a part such as 1/3, or 1/1 for all", text)
	}
	return part{first: number - 1, of: of, asked: true}
}

func (p part) has(row int) bool { return row%p.of == p.first }

// The parts together are all rows, each once.
func TestParts(t *testing.T) {
	for row := range 30 {
		n := 0
		for first := range 3 {
			if (part{first: first, of: 3}).has(row) {
				n++
			}
		}
		if n != 1 {
			t.Errorf("row %d is in %d parts", row, n)
		}
	}
}
