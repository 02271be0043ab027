package jsonv

import (
	"hash/maphash"
	"strconv"
)

// maxCells bounds the table of one alignment; above it arrays are compared by
// index. A million cells take a few milliseconds and 4 MB.
const maxCells = 1_000_000

// maxPairCells bounds the table that pairs changed elements by likeness.
const maxPairCells = 2_500

func (d *differ) diffArrays(path string, want, got Value) {
	w, g := want.List(), got.List()
	if len(w) == 1 && len(g) == 1 {
		d.diff(JoinIndex(path, 0), w[0], g[0])
		return
	}
	start := 0
	for start < len(w) && start < len(g) && d.hasher.isSame(w[start], g[start]) {
		start++
	}
	endW, endG := len(w), len(g)
	for endW > start && endG > start && d.hasher.isSame(w[endW-1], g[endG-1]) {
		endW--
		endG--
	}
	if (endW-start)*(endG-start) > maxCells {
		d.diffByIndex(path, w, g, start, endW, endG)
		return
	}
	wi, gi := start, start
	for _, m := range d.findCommon(w[start:endW], g[start:endG]) {
		d.diffGap(path, w, g, wi, start+m[0], gi, start+m[1])
		wi, gi = start+m[0]+1, start+m[1]+1
	}
	d.diffGap(path, w, g, wi, endW, gi, endG)
}

func (d *differ) diffByIndex(path string, w, g []Value, start, endW, endG int) {
	for i := start; i < max(endW, endG) && !d.full(); i++ {
		switch {
		case i >= endW:
			d.add(Change{Path: JoinIndex(path, i), Kind: Added, Got: g[i]})
		case i >= endG:
			d.add(Change{Path: JoinIndex(path, i), Kind: Removed, Want: w[i]})
		default:
			d.diff(JoinIndex(path, i), w[i], g[i])
		}
	}
}

// findCommon returns the index pairs of a longest common subsequence.
func (d *differ) findCommon(w, g []Value) [][2]int {
	if len(w) == 0 || len(g) == 0 {
		return nil
	}
	hw, hg := d.hasher.hashAll(w), d.hasher.hashAll(g)
	cols := len(g) + 1
	length := make([]int32, (len(w)+1)*cols) // of the LCS of w[i:] and g[j:]
	for i := len(w) - 1; i >= 0; i-- {
		for j := len(g) - 1; j >= 0; j-- {
			if hw[i] == hg[j] {
				length[i*cols+j] = length[(i+1)*cols+j+1] + 1
			} else {
				length[i*cols+j] = max(length[(i+1)*cols+j], length[i*cols+j+1])
			}
		}
	}
	var pairs [][2]int
	for i, j := 0, 0; i < len(w) && j < len(g); {
		switch {
		case hw[i] == hg[j]:
			pairs = append(pairs, [2]int{i, j})
			i++
			j++
		case length[(i+1)*cols+j] >= length[i*cols+j+1]:
			i++
		default:
			j++
		}
	}
	return pairs
}

// diffGap reports the elements between two common ones: w[wi:we] against g[gi:ge]. As
// many as both sides have are reported as changed, the rest as added or removed.
func (d *differ) diffGap(path string, w, g []Value, wi, we, gi, ge int) {
	if n, m := we-wi, ge-gi; n > 0 && m > 0 && n != m && n*m <= maxPairCells {
		d.diffAlike(path, w, g, wi, we, gi, ge)
		return
	}
	for ; wi < we && gi < ge; wi, gi = wi+1, gi+1 {
		d.diff(JoinIndex(path, gi), w[wi], g[gi])
	}
	d.addRest(path, w, g, wi, we, gi, ge)
}

func (d *differ) addRest(path string, w, g []Value, wi, we, gi, ge int) {
	for ; wi < we && !d.full(); wi++ {
		d.add(Change{Path: JoinIndex(path, wi), Kind: Removed, Want: w[wi]})
	}
	for ; gi < ge && !d.full(); gi++ {
		d.add(Change{Path: JoinIndex(path, gi), Kind: Added, Got: g[gi]})
	}
}

// diffAlike pairs the elements of a gap so that the total likeness of the pairs is
// greatest: an inserted element next to a changed one is not mistaken for the changed
// one.
func (d *differ) diffAlike(path string, w, g []Value, wi, we, gi, ge int) {
	n, m := we-wi, ge-gi
	cols := m + 1
	score := make([]int, (n+1)*cols) // best total likeness of w[i:] and g[j:]
	like := make([]int, n*m)
	for i := n - 1; i >= 0; i-- {
		for j := m - 1; j >= 0; j-- {
			like[i*m+j] = d.measureLikeness(w[wi+i], g[gi+j])
			score[i*cols+j] = max(score[(i+1)*cols+j+1]+like[i*m+j], score[(i+1)*cols+j], score[i*cols+j+1])
		}
	}
	i, j := 0, 0
	for i < n && j < m {
		switch score[i*cols+j] {
		case score[(i+1)*cols+j+1] + like[i*m+j]:
			d.diff(JoinIndex(path, gi+j), w[wi+i], g[gi+j])
			i++
			j++
		case score[(i+1)*cols+j]:
			d.addRest(path, w, g, wi+i, wi+i+1, gi+j, gi+j)
			i++
		default:
			d.addRest(path, w, g, wi+i, wi+i, gi+j, gi+j+1)
			j++
		}
	}
	d.addRest(path, w, g, wi+i, we, gi+j, ge)
}

// measureLikeness scores two elements: above zero for values of the same kind, more for
// every member or element they share, up to 100.
func (d *differ) measureLikeness(a, b Value) int {
	if a.kind != b.kind {
		return 1
	}
	n := max(a.c.len(), b.c.len())
	if n == 0 {
		return 5
	}
	shared := 0
	switch a.kind {
	case KindObject:
		for k, x := range a.Effective {
			if y, ok := b.Get(k); ok && d.hasher.isSame(x, y) {
				shared++
			}
		}
	case KindArray:
		for i := range min(a.c.len(), b.c.len()) {
			if d.hasher.isSame(a.c.vals[i], b.c.vals[i]) {
				shared++
			}
		}
	}
	return 5 + 95*shared/n
}

// Hasher gives equal values equal hashes. Each container is hashed once, so that
// repeated comparisons of elements stay cheap. Seeded 64-bit hashes of different
// values do not collide in practice.
type Hasher struct {
	seed maphash.Seed
	memo map[*container]uint64
}

// NewHasher returns a Hasher with its own random seed.
func NewHasher() *Hasher { return &Hasher{seed: maphash.MakeSeed(), memo: map[*container]uint64{}} }

func (h *Hasher) isSame(a, b Value) bool {
	if a.kind != b.kind {
		return false
	}
	if a.kind != KindArray && a.kind != KindObject {
		return Equal(a, b)
	}
	return a.c == b.c || h.Hash(a) == h.Hash(b)
}

func (h *Hasher) hashAll(vals []Value) []uint64 {
	out := make([]uint64, len(vals))
	for i, v := range vals {
		out[i] = h.Hash(v)
	}
	return out
}

// Hash returns the hash of a value.
func (h *Hasher) Hash(v Value) uint64 {
	switch v.kind {
	case KindBool:
		return h.hashText(v.kind, strconv.FormatBool(v.b))
	case KindNumber:
		return h.hashText(v.kind, parseDecimal(v.s).formatCanonical())
	case KindString:
		return h.hashText(v.kind, v.s)
	case KindArray, KindObject:
	default:
		return h.hashText(v.kind, "")
	}
	if v.c == nil {
		return h.hashText(v.kind, "")
	}
	if sum, ok := h.memo[v.c]; ok {
		return sum
	}
	sum := h.hashText(v.kind, "")
	if v.kind == KindArray {
		for _, e := range v.c.vals {
			sum = h.mix(sum, h.Hash(e))
		}
	} else {
		for k, e := range v.Effective { // the order of members must not matter
			sum += h.mix(h.hashText(KindString, k), h.Hash(e))
		}
	}
	h.memo[v.c] = sum
	return sum
}

func (h *Hasher) hashText(kind Kind, s string) uint64 {
	return h.mix(uint64(kind), maphash.String(h.seed, s))
}

func (h *Hasher) mix(a, b uint64) uint64 { return maphash.Comparable(h.seed, [2]uint64{a, b}) }
