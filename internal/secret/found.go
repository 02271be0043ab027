package secret

import "strings"

// Found is what a [Redactor] recognized without a declaration: the rest of a
// case must not show it either, though it may appear without the name or
// the form that gave it away.
type Found struct {
	// Named are the values of members and headers with the names of
	// credentials, Seen those with a form of their own.
	Named, Seen []string
}

// Empty reports whether nothing was found.
func (f *Found) Empty() bool { return len(f.Named) == 0 && len(f.Seen) == 0 }

// All are the values to mask besides.
func (f *Found) All() []string { return append(f.Named[:len(f.Named):len(f.Named)], f.Seen...) }

// Name adds the value of a name that holds a credential. Words that are used
// for no value, or too often for another one, are left out.
func (f *Found) Name(v string) { f.note(place{value: v, named: true}) }

func (f *Found) note(p place) {
	v := strings.TrimSpace(p.value)
	if strings.Contains(v, Mask) {
		return
	}
	f.add(v, p.named)
	if strings.IndexByte(v, '\\') >= 0 { // as it is shown once it was read
		f.add(strings.TrimSpace(unescaped(v, false).text), p.named)
	}
}

func (f *Found) add(v string, named bool) {
	if !named {
		f.Seen = appendPieces(f.Seen, v, "\n\r \\\",':@")
		if len(v) >= MinLength && len(v) < maxSeen {
			f.Seen = append(f.Seen, v)
		}
		return
	}
	switch {
	case learnable(v):
		f.Named = append(f.Named, v)
	case len(v) >= 4 && len(v) < MinLength && strings.ContainsAny(v, "0123456789"):
		f.Seen = append(f.Seen, v)
	case strings.ContainsAny(v, " =;"):
		f.Seen = append(f.Seen, v)
		f.Named = appendPieces(f.Named, v, " =;,\"\\")
	}
}

// maxSeen is the length up to which a value is searched for as a whole.
const maxSeen = 4 << 10

// appendPieces adds the pieces of v that look drawn by chance.
func appendPieces(list []string, v, separators string) []string {
	for piece := range strings.FieldsFuncSeq(v, func(r rune) bool { return strings.ContainsRune(separators, r) }) {
		if len(piece) < len(v) && chance(piece) {
			list = append(list, piece)
		}
	}
	return list
}

// learnable reports whether the value of a name is one that will hardly occur
// for anything else.
func learnable(v string) bool {
	return chance(v) || len(v) >= 2*MinLength && strings.IndexByte(v, ' ') < 0 && strings.ToLower(v) != v && strings.ToUpper(v) != v
}
