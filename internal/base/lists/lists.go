package lists

// Map returns f(e) for each element e of a list; nil if it is empty.
func Map[T, U any](list []T, f func(T) U) []U {
	if len(list) == 0 {
		return nil
	}
	out := make([]U, len(list))
	for i, e := range list {
		out[i] = f(e)
	}
	return out
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
