package engine

import "maps"

// evaluated is what of an object or array was evaluated.
type evaluated struct {
	all        bool
	properties map[string]bool
	first      int // that many items from the first on
	items      map[int]bool
}

func (s *evaluated) property(name string) {
	if s == nil || s.all {
		return
	}
	if s.properties == nil {
		s.properties = map[string]bool{}
	}
	s.properties[name] = true
}

func (s *evaluated) item(i int) {
	if s == nil || s.all || i < s.first {
		return
	}
	if s.items == nil {
		s.items = map[int]bool{}
	}
	s.items[i] = true
}

func (s *evaluated) upTo(n int) {
	if s != nil {
		s.first = max(s.first, n)
	}
}

func (s *evaluated) everything() {
	if s != nil {
		s.all = true
	}
}

// add adds what another schema evaluated in the same value.
func (s *evaluated) add(other evaluated) {
	s.all = s.all || other.all
	s.first = max(s.first, other.first)
	if s.properties == nil {
		s.properties = other.properties
	} else {
		maps.Copy(s.properties, other.properties)
	}
	if s.items == nil {
		s.items = other.items
	} else {
		maps.Copy(s.items, other.items)
	}
}
