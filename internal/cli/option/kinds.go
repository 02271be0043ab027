package option

import (
	"slices"
	"strings"

	"mcptest/internal/base/filekind"
)

// RefuseOther returns the error of a file that is certainly of none of the wanted kinds; of
// what is unknown its reader reports more. option is the flag that named it, "" for an
// argument.
func RefuseOther(option, path string, wanted ...filekind.Kind) error {
	kind := filekind.OfFile(path)
	if kind == filekind.Unknown || slices.Contains(wanted, kind) {
		return nil
	}
	var names []string
	for _, w := range wanted {
		if w == filekind.ClientConfig && len(wanted) > 1 {
			continue // it is only read to be refused
		}
		names = append(names, string(w))
	}
	text := path + " is " + string(kind) + "; wanted: " + strings.Join(names, ", or ")
	if option != "" {
		text = option + ": " + text
	}
	if reader := kind.Reader(path); reader != "" {
		text += " (what reads it: " + reader + ")"
	}
	return Invalid("%s", text)
}
