package jsonv

// Valid checks that data is one JSON text within the default depth, without building
// a value. The error is a *SyntaxError.
func Valid(data []byte) error {
	s := newScanner(data)
	end, err := s.skip(skipSpace(data, 0), 0)
	if err != nil {
		return explainSyntax(data, err)
	}
	return s.finish(end)
}

// CountValues returns the number of values in one valid JSON text: the text itself,
// and each element and member of its arrays and objects, at every depth. It builds
// nothing. In an invalid text it counts the values before the error.
func CountValues(text []byte) int {
	s := newScanner(text)
	_, _ = s.skip(skipSpace(text, 0), 0)
	return s.values
}

// VisitMembers calls fn for every member of the object that is the whole of raw, in
// order, including duplicates. val is the checked text of the value, a sub-slice of
// raw without surrounding white space. An error of fn ends the walk and is returned
// unchanged; a text that is not a JSON object is a *SyntaxError. As members are
// passed on while the text is being read, fn may have been called before an error is
// found later in the text.
func VisitMembers(raw []byte, fn func(key string, val []byte) error) error {
	return visitEach(raw, KindObject, '}', func(s *scanner, key span, val []byte) error {
		return fn(s.readText(key), val)
	})
}

// Elements splits the array that is the whole of raw into the texts of its elements,
// sub-slices of raw without surrounding white space. The error is a *SyntaxError.
func Elements(raw []byte) ([][]byte, error) {
	var out [][]byte
	err := visitEach(raw, KindArray, ']', func(_ *scanner, _ span, val []byte) error {
		out = append(out, val)
		return nil
	})
	return out, err
}

// visitEach calls fn for each member or element of the object or array that is the
// whole of raw.
func visitEach(raw []byte, want Kind, closing byte, fn func(s *scanner, key span, val []byte) error) error {
	s := newScanner(raw)
	i := skipSpace(raw, 0)
	if kind, _ := s.begin(i, 0); kind != want {
		if _, err := s.skip(i, 0); err != nil {
			return err
		}
		return newSyntaxError(i, "expected %s, got %s", want.WithArticle(), kind.WithArticle())
	}
	i++
	for first := true; ; first = false {
		var more bool
		var err *SyntaxError
		if i, more, err = s.scanSeparator(i, closing, first); err != nil {
			return err
		} else if !more {
			return s.finish(i)
		}
		var key span
		if want == KindObject {
			if key, i, err = s.scanKey(i); err != nil {
				return err
			}
		}
		end, err := s.skip(i, 1)
		if err != nil {
			return err
		}
		if err := fn(s, key, raw[i:end:end]); err != nil {
			return err
		}
		i = end
	}
}

// readText returns the content of a string.
func (s *scanner) readText(at span) string {
	raw := string(s.data[at.start:at.end])
	if at.flags&strEscaped == 0 {
		return raw
	}
	buf, _ := unescape(make([]byte, 0, len(raw)), raw)
	return string(buf)
}
