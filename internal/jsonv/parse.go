package jsonv

import (
	"math"
	"slices"
	"strings"
	"unicode/utf8"
)

// The limits of Parse, Valid and EachMember.
const (
	DefaultMaxDepth = 1000      // arrays and objects inside one another
	DefaultMaxNodes = 4_000_000 // values in one text; about 200 MB as a tree
)

// Options bounds what a text may cost; zero fields mean the defaults.
type Options struct{ MaxDepth, MaxNodes int }

func (o Options) withDefaults() Options {
	if o.MaxDepth <= 0 {
		o.MaxDepth = DefaultMaxDepth
	}
	if o.MaxNodes <= 0 {
		o.MaxNodes = DefaultMaxNodes
	}
	return o
}

// Parse reads one JSON text (RFC 8259) that is the whole of data, but for
// white space. The error is a *SyntaxError.
func Parse(data []byte) (Value, error) {
	v, _, err := ParseWith(data, Options{})
	return v, err
}

// ParseWith is Parse with limits; it also returns what is legal to parse but
// worth telling: see Note.
func ParseWith(data []byte, o Options) (Value, []Note, error) {
	o = o.withDefaults()
	p := newParser(data, o)
	defer p.release()
	v, i, err := p.value(skipSpace(data, 0), 0)
	if err != nil {
		return Value{}, nil, err
	}
	if i = skipSpace(data, i); i < len(data) {
		return Value{}, nil, trailing(data, i)
	}
	return v, p.finishNotes(v), nil
}

// parser builds the tree. Strings without escapes are cut from src, the one
// copy of the input; arrays and objects are collected on stacks and moved to
// slabs when they close, so that a tree costs few allocations.
type parser struct {
	data     []byte
	src      string
	maxDepth int
	maxNodes int
	nodes    int

	valStack []Value
	keyStack []string
	vals     slab[Value]
	keys     slab[string]
	boxes    slab[container]
	buf      []byte
	dups     dupFinder
	marks    []mark
}

func (p *parser) value(i, depth int) (Value, int, *SyntaxError) {
	if i >= len(p.data) {
		return Value{}, i, badValue(p.data, i)
	}
	if p.nodes++; p.nodes > p.maxNodes {
		return Value{}, i, syntaxError(i, "more than %d values in one text", p.maxNodes)
	}
	var off uint32
	if uint64(i) < math.MaxUint32 {
		off = uint32(i + 1)
	}
	switch p.data[i] {
	case '"':
		s, end, err := p.str(i+1, false)
		return Value{kind: KindString, off: off, s: s}, end, err
	case '{':
		c, end, err := p.object(i, depth+1)
		return Value{kind: KindObject, off: off, c: c}, end, err
	case '[':
		c, end, err := p.array(i, depth+1)
		return Value{kind: KindArray, off: off, c: c}, end, err
	case '-', '0', '1', '2', '3', '4', '5', '6', '7', '8', '9':
		end, err := scanNumber(p.data, i)
		return Value{kind: KindNumber, off: off, s: p.src[i:end]}, end, err
	case 't':
		end, err := scanWord(p.data, i, "true")
		return Value{kind: KindBool, b: true, off: off}, end, err
	case 'f':
		end, err := scanWord(p.data, i, "false")
		return Value{kind: KindBool, off: off}, end, err
	case 'n':
		end, err := scanWord(p.data, i, "null")
		return Value{kind: KindNull, off: off}, end, err
	}
	return Value{}, i, badValue(p.data, i)
}

// array reads the array that opens at i.
func (p *parser) array(i, depth int) (*container, int, *SyntaxError) {
	if depth > p.maxDepth {
		return nil, i, tooDeep(i, p.maxDepth)
	}
	base := len(p.valStack)
	i = skipSpace(p.data, i+1)
	if i < len(p.data) && p.data[i] == ']' {
		return nil, i + 1, nil
	}
	for {
		if i >= len(p.data) || p.data[i] == ']' {
			return nil, i, badElement(p.data, i, true)
		}
		v, end, err := p.value(i, depth)
		if err != nil {
			return nil, end, err
		}
		p.valStack = append(p.valStack, v)
		i = skipSpace(p.data, end)
		if i < len(p.data) && p.data[i] == ',' {
			i = skipSpace(p.data, i+1)
			continue
		}
		if i < len(p.data) && p.data[i] == ']' {
			break
		}
		return nil, i, unexpected(p.data, i, "',' or ']'")
	}
	c := p.boxes.one()
	c.vals = p.popVals(base)
	return c, i + 1, nil
}

// largeStack is how many values are handed over with the stack, not copied.
const largeStack = 1 << 14

// popVals takes the values from base on off the stack. Where they are most of
// a large stack they keep it, and the few below them move: a copy would double
// what a long list takes.
func (p *parser) popVals(base int) []Value {
	if n := len(p.valStack) - base; n < largeStack || n < 8*base {
		out := p.vals.copy(p.valStack[base:])
		p.valStack = p.valStack[:base]
		return out
	}
	out := p.valStack[base:len(p.valStack):len(p.valStack)]
	p.valStack = append(make([]Value, 0, base+slabFirst), p.valStack[:base]...)
	return out
}

// object reads the object that opens at i.
func (p *parser) object(i, depth int) (*container, int, *SyntaxError) {
	if depth > p.maxDepth {
		return nil, i, tooDeep(i, p.maxDepth)
	}
	open, base, marks := i, len(p.valStack), len(p.marks)
	i = skipSpace(p.data, i+1)
	if i < len(p.data) && p.data[i] == '}' {
		return nil, i + 1, nil
	}
	for first := true; ; first = false {
		if i >= len(p.data) || p.data[i] != '"' {
			return nil, i, badKey(p.data, i, !first)
		}
		key, end, err := p.str(i+1, true)
		if err != nil {
			return nil, end, err
		}
		if i = skipSpace(p.data, end); i >= len(p.data) || p.data[i] != ':' {
			return nil, i, unexpected(p.data, i, "':' after the key")
		}
		v, end, err := p.value(skipSpace(p.data, i+1), depth)
		if err != nil {
			return nil, end, err
		}
		p.keyStack = append(p.keyStack, key)
		p.valStack = append(p.valStack, v)
		i = skipSpace(p.data, end)
		if i < len(p.data) && p.data[i] == ',' {
			i = skipSpace(p.data, i+1)
			continue
		}
		if i < len(p.data) && p.data[i] == '}' {
			break
		}
		return nil, i, unexpected(p.data, i, "',' or '}'")
	}
	n := len(p.valStack) - base
	c := p.boxes.one()
	c.vals = p.popVals(base)
	c.keys = p.keys.copy(p.keyStack[len(p.keyStack)-n:])
	p.keyStack = p.keyStack[:len(p.keyStack)-n]
	p.finishObject(c, open, marks)
	return c, i + 1, nil
}

// str reads the string whose content begins at i and returns the index behind
// its closing quote.
func (p *parser) str(i int, isKey bool) (string, int, *SyntaxError) {
	end, flags, err := scanString(p.data, i)
	if err != nil {
		return "", end, err
	}
	s := p.src[i:end]
	if flags == 0 {
		return s, end + 1, nil
	}
	var lone int
	if flags&strNonASCII != 0 && !utf8.ValidString(s) {
		p.mark(mark{kind: InvalidUTF8, offset: i + firstInvalid(s), at: i - 1, key: isKey})
	}
	if flags&strEscaped != 0 {
		if p.buf, lone = unescape(slices.Grow(p.buf[:0], len(s)), s); lone >= 0 {
			p.mark(mark{kind: LoneSurrogate, offset: i + lone, at: i - 1, key: isKey})
		}
		s = string(p.buf)
	}
	return s, end + 1, nil
}

// unescape appends the content of a checked string; the second result is the
// index of the first escape that is half a surrogate pair, -1 when none is.
func unescape(dst []byte, s string) ([]byte, int) {
	lone := -1
	for i := 0; i < len(s); {
		next := strings.IndexByte(s[i:], '\\')
		if next < 0 {
			return append(dst, s[i:]...), lone
		}
		dst = append(dst, s[i:i+next]...)
		i += next
		if s[i+1] != 'u' {
			dst = append(dst, unescaped(s[i+1]))
			i += 2
			continue
		}
		r := hex4(s[i+2:])
		size := 6
		if r >= 0xD800 && r < 0xDC00 && len(s) >= i+12 && s[i+6] == '\\' && s[i+7] == 'u' {
			if low := hex4(s[i+8:]); low >= 0xDC00 && low < 0xE000 {
				r = (r-0xD800)<<10 + (low - 0xDC00) + 0x10000
				size = 12
			}
		}
		if r >= 0xD800 && r < 0xE000 {
			if lone < 0 {
				lone = i
			}
			dst = append(dst, 0xED, byte(0x80|r>>6&0x3F), byte(0x80|r&0x3F))
		} else {
			dst = utf8.AppendRune(dst, r)
		}
		i += size
	}
	return dst, lone
}

func unescaped(c byte) byte {
	switch c {
	case 'b':
		return '\b'
	case 'f':
		return '\f'
	case 'n':
		return '\n'
	case 'r':
		return '\r'
	case 't':
		return '\t'
	}
	return c
}

func hex4(s string) rune {
	return rune(hexDigit(s[0])<<12 | hexDigit(s[1])<<8 | hexDigit(s[2])<<4 | hexDigit(s[3]))
}

// slab hands out pieces of large allocations that double in size, from next
// on.
type slab[T any] struct {
	free []T
	next int
}

const slabFirst, slabLast = 16, 1024

func (s *slab[T]) take(n int) []T {
	if len(s.free) < n {
		s.free = make([]T, max(n, s.next))
		s.next = min(2*s.next, slabLast)
	}
	out := s.free[:n:n]
	s.free = s.free[n:]
	return out
}

func (s *slab[T]) one() *T { return &s.take(1)[0] }

func (s *slab[T]) copy(from []T) []T {
	out := s.take(len(from))
	copy(out, from)
	return out
}
