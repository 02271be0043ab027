package secret

import "strings"

// Matches reports whether masked matches text; each [Mask] in it matches any text but the
// empty one.
func Matches(masked, text string) bool {
	return masked == text || matchesPieces(strings.Split(masked, Mask), text, 1)
}

// Glob reports whether text matches a pattern, in which * is any text.
func Glob(pattern, text string) bool { return matchesPieces(strings.Split(pattern, "*"), text, 0) }

// matchesPieces reports whether text consists of pieces with at least so many bytes between
// two of them. Taking each piece at its first place is enough: whatever a later place leaves
// for the rest of the text, the first one leaves too.
func matchesPieces(pieces []string, text string, least int) bool {
	first, last := pieces[0], pieces[len(pieces)-1]
	if len(pieces) == 1 {
		return first == text
	}
	if len(text) < len(first)+len(last) || !strings.HasPrefix(text, first) || !strings.HasSuffix(text, last) {
		return false
	}
	text = text[len(first) : len(text)-len(last)]
	for _, piece := range pieces[1 : len(pieces)-1] {
		at := strings.Index(text[min(least, len(text)):], piece)
		if at < 0 || len(text) < least {
			return false
		}
		text = text[least+at+len(piece):]
	}
	return len(text) >= least
}

// Matcher compares the texts of a recorded message with those of a live one.
type Matcher struct {
	known   *Redactor
	unknown string // the value that was accepted for a whole mask
	tries   int    // number of values that were examined
}

// maxTries limits the values that a matcher examines: texts with many masks have very
// many ways to be divided.
const maxTries = 2_000

// Matcher returns a matcher for one live message, with the secrets of r.
func (r *Redactor) Matcher() *Matcher { return &Matcher{known: r} }

// Matches reports whether masked matches text. A [Mask] matches one secret that is known
// now, or a mask. In place of a whole text, value or segment of a path, it also matches a
// value that looks random, because the recorded secret may be unknown now; it is the same
// value in all texts of the message. A path that consists of masks has no such place.
func (m *Matcher) Matches(masked, text string) bool {
	if isPathOfMasks(masked) {
		return m.matchesAfter(0, masked, text)
	}
	return m.matchesAfter('/', masked, text)
}

// isPathOfMasks reports whether a masked text is a path without a segment that can be read.
func isPathOfMasks(masked string) bool {
	segments := strings.ReplaceAll(masked, Mask, "")
	return strings.HasPrefix(masked, "/") && strings.Trim(segments, "/") == ""
}

// matchesAfter is Matches for texts that follow the byte before, which is 0 if no value that is
// unknown now may match.
func (m *Matcher) matchesAfter(before byte, masked, text string) bool {
	head, rest, hasMask := strings.Cut(masked, Mask)
	if !hasMask {
		return masked == text
	}
	text, ok := strings.CutPrefix(text, head)
	if !ok {
		return false
	}
	if head != "" && before != 0 {
		before = head[len(head)-1]
	}
	isWhole := strings.IndexByte(`/="`, before) >= 0 && endsValue(rest)
	piece, _, hasMore := strings.Cut(rest, Mask)
	for end := 1; end <= min(len(text), maxValue); end++ {
		if !hasMore { // the last piece is the end of the text
			end = max(end, len(text)-len(piece))
		}
		at := strings.Index(text[min(end, len(text)):], piece)
		if at < 0 {
			return false
		}
		end += at
		m.tries++
		if m.tries > maxTries {
			return false
		}
		former := m.unknown
		if m.accepts(text[:end], isWhole) && m.matchesAfter(before, rest, text[end:]) {
			return true
		}
		m.unknown = former
	}
	return false
}

// endsValue reports whether a value ends where rest begins.
func endsValue(rest string) bool { return rest == "" || rest[0] == '/' || rest[0] == '"' }

// accepts reports whether a mask matches v. isWhole says that the mask is a whole value.
func (m *Matcher) accepts(v string, isWhole bool) bool {
	if m.known.Whole(v, nil) == Mask {
		return true
	}
	isOneValue := isLearnable(v) && !strings.ContainsAny(v, "/\"\\&,")
	if !isWhole || !isOneValue {
		return false
	}
	if m.unknown != "" && m.unknown != v {
		return false // another value than in the texts before
	}
	m.unknown = v
	return true
}
