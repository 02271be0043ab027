package diff

import (
	"fmt"
	"slices"
	"strings"

	"mcptest/internal/offer/surface"
	"mcptest/internal/report/gate"
)

// UnknownClass returns a message if no class of changes has the name, or "". Classes
// are the rules of a baseline.
func UnknownClass(name string) string {
	if slices.Contains(Classes(), Class(name)) {
		return ""
	}
	return fmt.Sprintf("unknown class %q of changes: breaking, trust, review or safe", name)
}

// Accept returns the changes without those of a baseline. An entry that accepts none is
// a breaking change, so that it is removed.
func Accept(changes []Change, b *gate.Baseline) []Change {
	places := make([]gate.Place, len(changes))
	for i, ch := range changes {
		places[i] = gate.Place{Rule: string(ch.Class), Server: ch.Server, Path: ch.Pointer}
		places[i].Tool = ch.Name
		if ch.Kind != surface.Tool {
			places[i].Tool, places[i].Subject = "", strings.TrimSpace(ch.Kind.Noun()+" "+ch.Name)
		}
	}
	accepted, stale := b.Split(places)
	var out []Change
	for _, e := range stale {
		out = append(out, Change{
			Class: Breaking, Kind: surface.Server, Pointer: e.Path, File: e.Pos.File.Name, Line: e.Pos.Line,
			Message: fmt.Sprintf("line %d of the baseline accepts %s in %s, which is no longer found: remove the entry", e.Pos.Line, e.Rule, e.Tool+e.Subject),
		})
	}
	for i, ch := range changes {
		if !accepted[i] {
			out = append(out, ch)
		}
	}
	return out
}
