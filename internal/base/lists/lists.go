package lists

// Map returns the values made from the elements of a list; nil if it is empty.
func Map[T, U any](list []T, of func(T) U) []U {
	if len(list) == 0 {
		return nil
	}
	out := make([]U, len(list))
	for i, e := range list {
		out[i] = of(e)
	}
	return out
}

// Kept returns the values made from the elements of a list that of accepts.
func Kept[T, U any](list []T, of func(T) (U, bool)) (kept []U) {
	for _, e := range list {
		if made, ok := of(e); ok {
			kept = append(kept, made)
		}
	}
	return kept
}

// First returns the first element of a list that ok accepts, or the zero value.
func First[T any](list []T, ok func(T) bool) (first T) {
	for _, e := range list {
		if ok(e) {
			return e
		}
	}
	return first
}

// Count returns the number of elements of a list that ok accepts.
func Count[T any](list []T, ok func(T) bool) (n int) {
	for _, e := range list {
		if ok(e) {
			n++
		}
	}
	return n
}
