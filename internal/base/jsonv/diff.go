package jsonv

// ChangeKind describes how two values differ at one path.
type ChangeKind uint8

// The kinds of change.
const (
	Added   ChangeKind = iota // only got has it
	Removed                   // only want has it
	Changed                   // both have it, with different values
)

// String returns "added", "removed" or "changed".
func (k ChangeKind) String() string {
	switch k {
	case Added:
		return "added"
	case Removed:
		return "removed"
	}
	return "changed"
}

// Change is one difference between the expected and the actual value.
type Change struct {
	Path string // items[2].id; "" is the whole value. Indexes count in got, but for Removed in want
	Kind ChangeKind
	Want Value // absent for Added
	Got  Value // absent for Removed
}

// maxChanges bounds the number of changes in a diff; a longer list is of no use to a
// reader.
const maxChanges = 10_000

// Diff returns the differences between two values in the order of want, none
// exactly when they are Equal. Arrays are aligned by their longest common
// subsequence, so that one element inserted at the front is one change; where
// that would cost too much they are compared index by index. At most 10,000
// changes are returned.
func Diff(want, got Value) []Change {
	d := &differ{hasher: NewHasher()}
	d.diff("", want, got)
	return d.changes
}

type differ struct {
	hasher  *Hasher
	changes []Change
}

func (d *differ) full() bool { return len(d.changes) >= maxChanges }

func (d *differ) add(c Change) {
	if !d.full() {
		d.changes = append(d.changes, c)
	}
}

func (d *differ) diff(path string, want, got Value) {
	switch {
	case d.full():
	case want.kind == KindObject && got.kind == KindObject:
		d.diffObjects(path, want, got)
	case want.kind == KindArray && got.kind == KindArray:
		d.diffArrays(path, want, got)
	case want.kind == KindAbsent && got.kind != KindAbsent:
		d.add(Change{Path: path, Kind: Added, Got: got})
	case want.kind != KindAbsent && got.kind == KindAbsent:
		d.add(Change{Path: path, Kind: Removed, Want: want})
	case !Equal(want, got):
		d.add(Change{Path: path, Kind: Changed, Want: want, Got: got})
	}
}

func (d *differ) diffObjects(path string, want, got Value) {
	for k, w := range want.Effective {
		g, _ := got.Get(k)
		d.diff(JoinKey(path, k), w, g)
	}
	for k, g := range got.Effective {
		if _, ok := want.Get(k); !ok {
			d.add(Change{Path: JoinKey(path, k), Kind: Added, Got: g})
		}
	}
}
