package jsonv

// Equal reports whether two values mean the same: objects by key in any order
// (the last of duplicate keys counting), arrays by element, numbers by exact
// decimal value (1 == 1.0 == 1e0; 2^53+1 != 2^53), strings by content.
func Equal(a, b Value) bool {
	if a.kind != b.kind {
		return false
	}
	switch a.kind {
	case KindBool:
		return a.b == b.b
	case KindNumber:
		return compareLiterals(a.s, b.s) == 0
	case KindString:
		return a.s == b.s
	case KindArray:
		return a.c == b.c || equalArrays(a.c, b.c)
	case KindObject:
		return a.c == b.c || equalObjects(a, b)
	}
	return true
}

func equalArrays(a, b *container) bool {
	if a.len() != b.len() {
		return false
	}
	for i := range a.len() {
		if !Equal(a.vals[i], b.vals[i]) {
			return false
		}
	}
	return true
}

func equalObjects(a, b Value) bool {
	if a.c.countDistinct() != b.c.countDistinct() {
		return false
	}
	plain := a.c != nil && b.c != nil && !a.c.dup && !b.c.dup
	for i := range a.c.len() {
		key := a.c.keys[i]
		if plain && b.c.keys[i] == key { // same order, the usual case
			if !Equal(a.c.vals[i], b.c.vals[i]) {
				return false
			}
			continue
		}
		if a.c.dup && a.c.find(key) != i {
			continue
		}
		if j := b.c.find(key); j < 0 || !Equal(a.c.vals[i], b.c.vals[j]) {
			return false
		}
	}
	return true
}
