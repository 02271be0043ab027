package conn

import "slices"

// recent holds the latest of many values.
type recent[T comparable] struct {
	kept  []T
	limit int
}

func (r *recent[T]) has(v T) bool { return slices.Contains(r.kept, v) }

func (r *recent[T]) add(v T) {
	if len(r.kept) == r.limit {
		r.kept = r.kept[1:]
	}
	r.kept = append(r.kept, v)
}

// take removes a value and reports whether it was present.
func (r *recent[T]) take(v T) bool {
	i := slices.Index(r.kept, v)
	if i >= 0 {
		r.kept = slices.Delete(r.kept, i, i+1)
	}
	return i >= 0
}
