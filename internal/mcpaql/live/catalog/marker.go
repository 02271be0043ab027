package catalog

import (
	"strings"

	"mcptest/internal/base/jsonv"
	"mcptest/internal/mcpaql/evidence"
)

// RunIDs returns the id of this run, as a list of run ids.
func (mk *Maker) RunIDs() []string { return []string{mk.runID} }

// Carries reports whether a text begins with the mark of a run. Case and separators
// are ignored: patterns of names allow few of them, and adapters change both.
func Carries(item jsonv.Value, runs []string) bool {
	plain := strings.NewReplacer("_", "", "-", "", " ", "")
	hit := false
	evidence.VisitTexts(item, func(s string) {
		for _, run := range runs {
			mark := plain.Replace(MakeMarker(run))
			begin := plain.Replace(s[:min(len(s), 2*len(mark))])
			hit = hit || run != "" && len(begin) >= len(mark) && strings.EqualFold(begin[:len(mark)], mark)
		}
	})
	return hit
}

// MakeMarker returns the prefix of the names that a run gives to its items.
func MakeMarker(runID string) string {
	if runID == "" {
		return MarkerPrefix
	}
	return MarkerPrefix + runID + "_"
}

// MarkerPrefix begins the names of everything that a live run creates.
const MarkerPrefix = "zz_conf_"
