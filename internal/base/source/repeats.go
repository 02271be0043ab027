package source

import (
	"fmt"

	"mcptest/internal/base/lazy"
)

const fewRepeats = 3 // so many equal diagnostics are printed one by one

// index matches the position of an entry in the path of a diagnostic.
var index = lazy.Regexp(`\[\d+\]`)

// A repeat is what diagnostics have in common that say the same of several entries.
type repeat struct{ path, msg, hint, severity string }

// gatherRepeats returns the diagnostics that are printed, and for the first of many that say
// the same the positions of the others.
func gatherRepeats(ds Diagnostics) (printed Diagnostics, others [][]Pos) {
	said := func(d Diagnostic) repeat {
		return repeat{index().ReplaceAllString(d.Path, "[]"), d.Msg, d.Hint, fmt.Sprint(d.Severity)}
	}
	places := map[repeat][]Pos{}
	for _, d := range ds {
		places[said(d)] = append(places[said(d)], d.Pos)
	}
	seen := map[repeat]bool{}
	for _, d := range ds {
		all := places[said(d)]
		switch {
		case len(all) <= fewRepeats || len(d.Related) > 0:
			printed, others = append(printed, d), append(others, nil)
		case !seen[said(d)]:
			seen[said(d)] = true
			printed, others = append(printed, d), append(others, all[1:])
		}
	}
	return printed, others
}
