package diff

import (
	"context"
	"slices"

	"mcptest/internal/offer/surface"
)

// Reading is what a server offers when it is asked again.
type Reading struct {
	Name    string // when that was: after 1 call
	Surface *surface.Surface
}

// Unstable appends to found the differences between two readings of the lists of one
// server, once for each definition, as a matter of trust.
func Unstable(ctx context.Context, found []Change, first *surface.Surface, again Reading, o Options) []Change {
	for _, ch := range Compare(ctx, []*surface.Surface{first}, []*surface.Surface{again.Surface}, o) {
		same := func(a Change) bool { return a.Kind == ch.Kind && a.Name == ch.Name }
		if !slices.ContainsFunc(found, same) {
			found = append(found, addLater(ch, "not stable: "+again.Name))
		}
	}
	return found
}

// Announced appends to found, the differences between a lock file and the first
// reading, those that only a later reading has: a server may announce a change that
// no person accepted. They are a matter of trust.
func Announced(ctx context.Context, found []Change, locked []*surface.Surface, again []Reading, o Options) []Change {
	known := slices.Clone(found)
	for _, r := range again {
		for _, ch := range Compare(ctx, locked, []*surface.Surface{r.Surface}, o) {
			if !slices.Contains(known, ch) {
				known, found = append(known, ch), append(found, addLater(ch, r.Name+", announced with list_changed"))
			}
		}
	}
	return found
}

// addLater returns a change that was seen when a server was asked again.
func addLater(ch Change, when string) Change {
	ch.Class, ch.Witness, ch.Message = Trust, "", when+": "+ch.Message
	return ch
}
