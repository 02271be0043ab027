package jsonv

import (
	"hash/maphash"
	"slices"
	"sync/atomic"
)

// container holds the elements of an array or the members of an object; nil means
// empty. In an object, keys is parallel to vals.
type container struct {
	keys  []string
	vals  []Value
	dup   bool // some key occurs twice
	index atomic.Pointer[map[string]int]
}

// indexFrom is the object size from which Get builds an index on first use;
// below it a scan is as fast and costs no memory.
const indexFrom = 24

func (c *container) len() int {
	if c == nil {
		return 0
	}
	return len(c.vals)
}

// find returns the position of the last member with this key, -1 when missing.
func (c *container) find(key string) int {
	if c == nil {
		return -1
	}
	if len(c.keys) < indexFrom {
		for i := len(c.keys) - 1; i >= 0; i-- {
			if c.keys[i] == key {
				return i
			}
		}
		return -1
	}
	m := c.index.Load()
	if m == nil {
		built := make(map[string]int, len(c.keys))
		for i, k := range c.keys {
			built[k] = i
		}
		// Two goroutines may both build the index; the maps are equal, so either may
		// be stored.
		c.index.Store(&built)
		m = &built
	}
	if i, ok := (*m)[key]; ok {
		return i
	}
	return -1
}

// Get returns the member with this key, the last one when there are several.
func (v Value) Get(key string) (Value, bool) {
	if v.kind != KindObject {
		return Value{}, false
	}
	i := v.c.find(key)
	if i < 0 {
		return Value{}, false
	}
	return v.c.vals[i], true
}

// Lookup follows keys through nested objects. It returns an absent value when one is
// missing.
func (v Value) Lookup(keys ...string) Value {
	for _, k := range keys {
		v, _ = v.Get(k)
	}
	return v
}

// Keys returns the keys of an object in order, duplicates included; nil for
// every other kind.
func (v Value) Keys() []string {
	if v.kind != KindObject || v.c == nil {
		return nil
	}
	return slices.Clone(v.c.keys)
}

// With returns a copy of an object in which key has the value m, at the position of
// the first occurrence of key, or at the end. An absent m removes the member. A value
// that is not an object is treated as an empty object.
func (v Value) With(key string, m Value) Value {
	if m.kind == KindAbsent {
		return v.Without(key)
	}
	out := make([]Member, 0, v.Len()+1)
	placed := false
	for k, old := range v.Members() {
		if k != key {
			out = append(out, Member{k, old})
		} else if !placed {
			out = append(out, Member{k, m})
			placed = true
		}
	}
	if !placed {
		out = append(out, Member{key, m})
	}
	return keepOffset(Object(out...), v)
}

// Without returns a copy of an object without the members with this key. A value that
// is not an object is returned unchanged.
func (v Value) Without(key string) Value {
	if v.kind != KindObject || v.c.find(key) < 0 {
		return v
	}
	out := make([]Member, 0, v.Len())
	for k, old := range v.Members() {
		if k != key {
			out = append(out, Member{k, old})
		}
	}
	return keepOffset(Object(out...), v)
}

func keepOffset(v, from Value) Value {
	v.off = from.off
	return v
}

// Effective yields the members of an object after duplicates are resolved: each key
// once, with its last value.
func (v Value) Effective(yield func(string, Value) bool) {
	if v.kind != KindObject || v.c == nil {
		return
	}
	for i, k := range v.c.keys {
		if v.c.dup && v.c.find(k) != i {
			continue
		}
		if !yield(k, v.c.vals[i]) {
			return
		}
	}
}

// countDistinct returns the number of distinct keys of an object.
func (c *container) countDistinct() (n int) {
	if c == nil || !c.dup {
		return c.len()
	}
	for i, k := range c.keys {
		if c.find(k) == i {
			n++
		}
	}
	return n
}

// pairwiseUpTo is the object size up to which duplicate keys are found by
// comparing every pair, which beats hashing.
const pairwiseUpTo = 12

// dupFinder finds duplicate keys. It keeps its table between calls, so that a
// parser pays for it once.
type dupFinder struct {
	seed  maphash.Seed
	table []int32 // 1 + index of a key; 0 is free
}

// findFirst returns the index of the first key that occurred before, -1 when all
// are distinct.
func (d *dupFinder) findFirst(keys []string) int {
	if len(keys) <= pairwiseUpTo {
		for i := 1; i < len(keys); i++ {
			for j := range i {
				if keys[i] == keys[j] {
					return i
				}
			}
		}
		return -1
	}
	return d.hashKeys(keys)
}

func (d *dupFinder) hashKeys(keys []string) int {
	size := 32
	for size < 2*len(keys) {
		size *= 2
	}
	if cap(d.table) < size {
		d.table = make([]int32, size)
		d.seed = maphash.MakeSeed()
	}
	table := d.table[:size]
	clear(table)
	mask := uint64(size - 1)
	for i, k := range keys {
		slot := maphash.String(d.seed, k) & mask
		for table[slot] != 0 {
			if keys[table[slot]-1] == k {
				return i
			}
			slot = (slot + 1) & mask
		}
		table[slot] = int32(i + 1)
	}
	return -1
}

// Map returns a copy of an array or object in which each element, passed with the key
// "", or member is replaced by the result of fn. Members that become absent are
// omitted. Any other value is returned unchanged.
func (v Value) Map(fn func(key string, e Value) (string, Value)) Value {
	switch v.kind {
	case KindArray:
		out := make([]Value, 0, v.Len())
		for _, e := range v.Elems() {
			_, e = fn("", e)
			out = append(out, e)
		}
		return Array(out...)
	case KindObject:
		out := make([]Member, 0, v.Len())
		for k, e := range v.Members() {
			k, e = fn(k, e)
			out = append(out, Member{k, e})
		}
		return Object(out...)
	}
	return v
}
