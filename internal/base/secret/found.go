package secret

import (
	"slices"
	"strings"
)

// Found contains the values that a [Redactor] recognized without a declaration. The
// rest of a case must not show them either, although they may appear there without
// the name or form by which they were recognized.
type Found struct {
	// Named are the values of members and headers with the names of credentials, Seen
	// those that were recognized by their form.
	Named, Seen []string
}

// Empty reports whether nothing was found.
func (f *Found) Empty() bool { return len(f.Named) == 0 && len(f.Seen) == 0 }

// All returns the additional values to mask.
func (f *Found) All() []string {
	return slices.Concat(f.Named, f.Seen)
}

// Name adds the value of a credential's name, except for common words, which could
// have another meaning elsewhere.
func (f *Found) Name(v string) { note(v, f.addNamed) }

// see adds a value that was recognized by its form.
func (f *Found) see(v string) { note(v, f.addSeen) }

// note adds a value, and what it is after parsing if it has escapes.
func note(v string, add func(string)) {
	v = strings.TrimSpace(v)
	if strings.Contains(v, Mask) {
		return
	}
	add(v)
	if strings.IndexByte(v, '\\') >= 0 {
		add(strings.TrimSpace(decodeEscapes(v, false).text))
	}
}

func (f *Found) addSeen(v string) {
	f.Seen = appendPieces(f.Seen, v, "\n\r \\\",':@")
	if len(v) >= MinLength && len(v) < maxSeen {
		f.Seen = append(f.Seen, v)
	}
}

func (f *Found) addNamed(v string) {
	switch {
	case isLearnable(v):
		f.Named = append(f.Named, v)
	case len(v) >= 4 && len(v) < MinLength && strings.ContainsAny(v, "0123456789"):
		f.Seen = append(f.Seen, v)
	case strings.ContainsAny(v, " =;"):
		f.Seen = append(f.Seen, v)
		f.Named = appendPieces(f.Named, v, " =;,\"\\")
	}
}

// maxSeen is the maximum length of a value that is searched for as a whole.
const maxSeen = 4 << 10

// appendPieces adds the pieces of v that look random.
func appendPieces(list []string, v, separators string) []string {
	for piece := range strings.FieldsFuncSeq(v, func(r rune) bool { return strings.ContainsRune(separators, r) }) {
		if len(piece) < len(v) && isByChance(piece) {
			list = append(list, piece)
		}
	}
	return list
}
