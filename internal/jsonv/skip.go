package jsonv

// Valid checks that data is one JSON text within the default depth, without
// building anything. The error is a *SyntaxError.
func Valid(data []byte) error {
	i, err := skipValue(data, skipSpace(data, 0), 0, DefaultMaxDepth)
	if err != nil {
		return err
	}
	if i = skipSpace(data, i); i < len(data) {
		return trailing(data, i)
	}
	return nil
}

// EachMember calls fn for every member of the object that is the whole of raw,
// in order, duplicates included. val is the checked text of the value, a
// sub-slice of raw without white space around it. An error of fn ends the walk
// and is returned as it is; a text that is no JSON object is a *SyntaxError.
// As members are passed on while the text is being read, fn may have been
// called before an error is found behind them.
func EachMember(raw []byte, fn func(key string, val []byte) error) error {
	i := skipSpace(raw, 0)
	if i >= len(raw) || raw[i] != '{' {
		return notAnObject(raw, i)
	}
	i = skipSpace(raw, i+1)
	if i < len(raw) && raw[i] == '}' {
		return endOfText(raw, i+1)
	}
	for first := true; ; first = false {
		if i >= len(raw) || raw[i] != '"' {
			return badKey(raw, i, !first)
		}
		keyAt := i + 1
		keyEnd, flags, err := scanString(raw, keyAt)
		if err != nil {
			return err
		}
		if i = skipSpace(raw, keyEnd+1); i >= len(raw) || raw[i] != ':' {
			return unexpected(raw, i, "':' after the key")
		}
		valAt := skipSpace(raw, i+1)
		valEnd, err := skipValue(raw, valAt, 1, DefaultMaxDepth)
		if err != nil {
			return err
		}
		key := string(raw[keyAt:keyEnd])
		if flags&strEscaped != 0 {
			buf, _ := unescape(make([]byte, 0, len(key)), key)
			key = string(buf)
		}
		if err := fn(key, raw[valAt:valEnd:valEnd]); err != nil {
			return err
		}
		i = skipSpace(raw, valEnd)
		if i < len(raw) && raw[i] == ',' {
			i = skipSpace(raw, i+1)
			continue
		}
		if i < len(raw) && raw[i] == '}' {
			return endOfText(raw, i+1)
		}
		return unexpected(raw, i, "',' or '}'")
	}
}

func notAnObject(raw []byte, i int) error {
	if _, err := skipValue(raw, i, 0, DefaultMaxDepth); err != nil {
		return err
	}
	kind := "a number"
	switch raw[i] {
	case '[':
		kind = "an array"
	case '"':
		kind = "a string"
	case 't', 'f':
		kind = "a boolean"
	case 'n':
		kind = "null"
	}
	return syntaxError(i, "want an object, got %s", kind)
}

func endOfText(raw []byte, i int) error {
	if i = skipSpace(raw, i); i < len(raw) {
		return trailing(raw, i)
	}
	return nil
}

// skipValue checks the value at i and returns the index behind it. depth is
// the number of arrays and objects around it.
func skipValue(data []byte, i, depth, maxDepth int) (int, *SyntaxError) {
	if i >= len(data) {
		return i, badValue(data, i)
	}
	switch c := data[i]; {
	case c == '"':
		end, _, err := scanString(data, i+1)
		return end + 1, err
	case c == '{':
		return skipObject(data, i, depth+1, maxDepth)
	case c == '[':
		return skipArray(data, i, depth+1, maxDepth)
	case c == '-' || isDigit(c):
		return scanNumber(data, i)
	case c == 't':
		return scanWord(data, i, "true")
	case c == 'f':
		return scanWord(data, i, "false")
	case c == 'n':
		return scanWord(data, i, "null")
	}
	return i, badValue(data, i)
}

func skipArray(data []byte, i, depth, maxDepth int) (int, *SyntaxError) {
	if depth > maxDepth {
		return i, tooDeep(i, maxDepth)
	}
	i = skipSpace(data, i+1)
	if i < len(data) && data[i] == ']' {
		return i + 1, nil
	}
	for {
		if i >= len(data) || data[i] == ']' {
			return i, badElement(data, i, true)
		}
		end, err := skipValue(data, i, depth, maxDepth)
		if err != nil {
			return end, err
		}
		i = skipSpace(data, end)
		if i < len(data) && data[i] == ',' {
			i = skipSpace(data, i+1)
			continue
		}
		if i < len(data) && data[i] == ']' {
			return i + 1, nil
		}
		return i, unexpected(data, i, "',' or ']'")
	}
}

func skipObject(data []byte, i, depth, maxDepth int) (int, *SyntaxError) {
	if depth > maxDepth {
		return i, tooDeep(i, maxDepth)
	}
	i = skipSpace(data, i+1)
	if i < len(data) && data[i] == '}' {
		return i + 1, nil
	}
	for first := true; ; first = false {
		if i >= len(data) || data[i] != '"' {
			return i, badKey(data, i, !first)
		}
		end, _, err := scanString(data, i+1)
		if err != nil {
			return end, err
		}
		if i = skipSpace(data, end+1); i >= len(data) || data[i] != ':' {
			return i, unexpected(data, i, "':' after the key")
		}
		if end, err = skipValue(data, skipSpace(data, i+1), depth, maxDepth); err != nil {
			return end, err
		}
		i = skipSpace(data, end)
		if i < len(data) && data[i] == ',' {
			i = skipSpace(data, i+1)
			continue
		}
		if i < len(data) && data[i] == '}' {
			return i + 1, nil
		}
		return i, unexpected(data, i, "',' or '}'")
	}
}
