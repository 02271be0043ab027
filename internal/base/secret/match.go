package secret

import "strings"

// Matches reports whether masked matches text; each [Mask] in it matches any text but the
// empty one.
func Matches(masked, text string) bool {
	return masked == text || matchesPieces(strings.Split(masked, Mask), text, 1)
}

// Glob reports whether text matches a pattern, in which * is any text.
func Glob(pattern, text string) bool { return matchesPieces(strings.Split(pattern, "*"), text, 0) }

// matchesPieces reports whether text consists of pieces with at least as many bytes between
// two of them.
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
	place := byte('/')
	if strings.HasPrefix(masked, "/") && strings.Trim(strings.ReplaceAll(masked, Mask, ""), "/") == "" {
		place = 0
	}
	return m.matchesAfter(place, masked, text)
}

// matchesAfter is Matches for texts that follow the byte before.
func (m *Matcher) matchesAfter(before byte, masked, text string) bool {
	head, rest, masks := strings.Cut(masked, Mask)
	if !masks {
		return masked == text
	}
	text, ok := strings.CutPrefix(text, head)
	if !ok {
		return false
	}
	if head != "" && before != 0 {
		before = head[len(head)-1]
	}
	whole := strings.IndexByte(`/="`, before) >= 0 && (rest == "" || rest[0] == '/' || rest[0] == '"')
	next, _, more := strings.Cut(rest, Mask)
	for end := 1; end <= min(len(text), maxValue); end++ {
		if !more {
			end = max(end, len(text)-len(next))
		}
		at := strings.Index(text[min(end, len(text)):], next)
		if at < 0 {
			return false
		}
		end += at
		m.tries++
		if m.tries > maxTries {
			return false
		}
		had := m.unknown
		if m.accepts(text[:end], whole) && m.matchesAfter(before, rest, text[end:]) {
			return true
		}
		m.unknown = had
	}
	return false
}

// accepts reports whether a mask matches v. whole says that the mask is a whole value.
func (m *Matcher) accepts(v string, whole bool) bool {
	if m.known.Whole(v, nil) == Mask {
		return true
	}
	if !whole || !isLearnable(v) || strings.ContainsAny(v, "/\"\\&,") || m.unknown != "" && m.unknown != v {
		return false
	}
	m.unknown = v
	return true
}
