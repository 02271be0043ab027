package jsonv

import "math"

// scanner reads one JSON text (RFC 8259) and checks it. It is the only place that
// knows the grammar; its callers keep or drop the results. Its methods take the index
// at which to start and return the index after the text they read.
type scanner struct {
	data      []byte
	maxDepth  int
	maxValues int
	values    int // number of values begun
}

// newScanner returns a scanner with the default depth and an unlimited number of
// values.
func newScanner(text []byte) *scanner {
	return &scanner{data: text, maxDepth: DefaultMaxDepth, maxValues: math.MaxInt}
}

// span is the content of a string in the text.
type span struct {
	start, end int
	flags      strFlags
}

// kinds maps the first byte of a value to its kind.
var kinds = [256]Kind{
	'"': KindString, '{': KindObject, '[': KindArray, 't': KindBool, 'f': KindBool, 'n': KindNull, '-': KindNumber,
	'0': KindNumber, '1': KindNumber, '2': KindNumber, '3': KindNumber, '4': KindNumber,
	'5': KindNumber, '6': KindNumber, '7': KindNumber, '8': KindNumber, '9': KindNumber,
}

// begin returns the kind of the value that begins at i, inside depth arrays and
// objects. If it is not ok, refuse returns the error, if any. (A single function
// would be too large to be inlined.)
func (s *scanner) begin(i, depth int) (kind Kind, ok bool) {
	if i < len(s.data) {
		kind = kinds[s.data[i]]
	}
	s.values++
	return kind, kind != KindAbsent && s.values <= s.maxValues && depth < s.maxDepth
}

// refuse returns the error for a value at i that begin does not accept, if any.
func (s *scanner) refuse(i int, kind Kind) *SyntaxError {
	switch {
	case kind == KindAbsent:
		return explainBadValue(s.data, i)
	case s.values > s.maxValues:
		return newSyntaxError(i, "more than %d values in one text", s.maxValues)
	case kind >= KindArray:
		return newSyntaxError(i, "nested more than %d levels deep", s.maxDepth)
	}
	return nil
}

// scanString reads the string that begins at i.
func (s *scanner) scanString(i int) (span, int, *SyntaxError) {
	end, flags, err := scanString(s.data, i+1)
	if err != nil {
		return span{}, end, err
	}
	return span{i + 1, end, flags}, end + 1, nil
}

// scanWord reads the number, boolean or null that begins at i.
func (s *scanner) scanWord(i int) (int, *SyntaxError) {
	switch s.data[i] {
	case 't':
		return scanWord(s.data, i, "true")
	case 'f':
		return scanWord(s.data, i, "false")
	case 'n':
		return scanWord(s.data, i, "null")
	}
	return scanNumber(s.data, i)
}

// scanSeparator reports whether another element or member follows in an array or object that
// the byte closing ends. It reads the comma before it, or the end.
func (s *scanner) scanSeparator(i int, closing byte, first bool) (int, bool, *SyntaxError) {
	i = skipSpace(s.data, i)
	switch {
	case i < len(s.data) && s.data[i] == closing:
		return i + 1, false, nil
	case first:
		return i, true, nil
	case i < len(s.data) && s.data[i] == ',':
		i = skipSpace(s.data, i+1)
		if i >= len(s.data) || s.data[i] != closing {
			return i, true, nil
		}
		return i, false, newExtraComma(i, closing)
	}
	return i, false, newUnexpectedError(s.data, i, "',' or '"+string(closing)+"'")
}

// scanKey reads the key of a member and the colon after it.
func (s *scanner) scanKey(i int) (span, int, *SyntaxError) {
	if i >= len(s.data) || s.data[i] != '"' {
		return span{}, i, newUnexpectedError(s.data, i, "a key in double quotes")
	}
	end, flags, err := scanString(s.data, i+1)
	if err != nil {
		return span{}, end, err
	}
	key := span{i + 1, end, flags}
	if i = skipSpace(s.data, end+1); i >= len(s.data) || s.data[i] != ':' {
		return span{}, i, newUnexpectedError(s.data, i, "':' after the key")
	}
	return key, skipSpace(s.data, i+1), nil
}

// skip reads past the value at i.
func (s *scanner) skip(i, depth int) (end int, err *SyntaxError) {
	kind, ok := s.begin(i, depth)
	if !ok {
		if err = s.refuse(i, kind); err != nil {
			return i, err
		}
	}
	switch kind {
	case KindString:
		end, _, err = scanString(s.data, i+1)
		return end + 1, err
	case KindArray:
		return s.skipAll(i+1, depth+1, ']')
	case KindObject:
		return s.skipAll(i+1, depth+1, '}')
	}
	return s.scanWord(i)
}

// skipAll reads past the rest of an array or object.
func (s *scanner) skipAll(i, depth int, closing byte) (end int, err *SyntaxError) {
	for first := true; ; first = false {
		var more bool
		if i, more, err = s.scanSeparator(i, closing, first); !more {
			return i, err
		}
		if closing == '}' {
			if _, i, err = s.scanKey(i); err != nil {
				return i, err
			}
		}
		if i, err = s.skip(i, depth); err != nil {
			return i, err
		}
	}
}

// finish checks that only white space follows the value that ended at i.
func (s *scanner) finish(i int) error {
	if i = skipSpace(s.data, i); i < len(s.data) {
		return newSyntaxError(i, "unexpected %s after the value", showByte(s.data, i))
	}
	return nil
}
