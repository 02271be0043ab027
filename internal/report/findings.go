package report

import (
	"fmt"

	"mcptest/internal/result"
)

// folded are the findings of a run, each run of equal ones as a single one
// whose message says how many they were.
func folded(all []result.Finding) []result.Finding {
	var out []result.Finding
	for i := 0; i < len(all); {
		f, n := all[i], 1
		for i+n < len(all) && all[i+n] == f {
			n++
		}
		i += n
		if n > 1 {
			f.Message += fmt.Sprintf(" (%d times)", n)
		}
		out = append(out, f)
	}
	return out
}
