package jsonv

import (
	"math"
	"slices"
	"strings"
	"unicode/utf8"
)

// The limits of Parse, Valid and VisitMembers.
const (
	DefaultMaxDepth = 1000      // nested arrays and objects
	DefaultMaxNodes = 4_000_000 // values in one text; about 200 MB as a tree
)

// Options limits the cost of parsing a text; zero fields mean the defaults.
type Options struct{ MaxDepth, MaxNodes int }

func (o Options) fillDefaults() Options {
	if o.MaxDepth <= 0 {
		o.MaxDepth = DefaultMaxDepth
	}
	if o.MaxNodes <= 0 {
		o.MaxNodes = DefaultMaxNodes
	}
	return o
}

// Parse parses data, which must be one JSON text (RFC 8259), optionally surrounded by
// white space. The error is a *SyntaxError.
func Parse(data []byte) (Value, error) {
	v, _, err := ParseWith(data, Options{})
	return v, err
}

// ParseWith is like Parse with limits. It also returns peculiarities that are legal
// but worth reporting: see Note.
func ParseWith(data []byte, o Options) (Value, []Note, error) {
	p := newParser(data, o.fillDefaults())
	defer p.release()
	v, end, serr := p.parseValue(skipSpace(data, 0), 0)
	if serr != nil {
		return Value{}, nil, explainSyntax(data, serr)
	}
	if err := p.scan.finish(end); err != nil {
		return Value{}, nil, err
	}
	return v, p.finishNotes(v), nil
}

// parser builds the tree. Strings without escapes are cut from src, the one
// copy of the input; arrays and objects are collected on stacks and moved to
// slabs when they close, so that a tree costs few allocations.
type parser struct {
	scan scanner
	src  string

	valStack []Value
	keyStack []string
	vals     slab[Value]
	keys     slab[string]
	boxes    slab[container]
	buf      []byte
	dups     dupFinder
	marks    []mark
}

// parseValue parses the value at i.
func (p *parser) parseValue(i, depth int) (v Value, end int, err *SyntaxError) {
	kind, ok := p.scan.begin(i, depth)
	if !ok {
		if err = p.scan.refuse(i, kind); err != nil {
			return Value{}, i, err
		}
	}
	v.kind = kind
	if uint64(i) < math.MaxUint32 {
		v.off = uint32(i + 1)
	}
	switch kind {
	case KindString:
		var content span
		content, end, err = p.scan.scanString(i)
		v.s = p.parseString(content, false)
	case KindObject:
		v.c, end, err = p.parseObject(i, depth+1)
	case KindArray:
		v.c, end, err = p.parseArray(i, depth+1)
	default:
		end, err = p.scan.scanWord(i)
		if kind == KindNumber {
			v.s = p.src[i:end]
		}
		v.b = p.scan.data[i] == 't'
	}
	return v, end, err
}

// parseArray parses the array that begins at i.
func (p *parser) parseArray(i, depth int) (*container, int, *SyntaxError) {
	base := len(p.valStack)
	i++
	for first := true; ; first = false {
		next, more, err := p.scan.scanSeparator(i, ']', first)
		if err != nil {
			return nil, next, err
		}
		if !more {
			return p.takeContainer(base), next, nil
		}
		v, end, err := p.parseValue(next, depth)
		if err != nil {
			return nil, end, err
		}
		p.valStack = append(p.valStack, v)
		i = end
	}
}

// takeContainer pops the values from base on off the stack.
func (p *parser) takeContainer(base int) *container {
	if len(p.valStack) == base {
		return nil
	}
	c := p.boxes.one()
	c.vals = p.popVals(base)
	return c
}

// largeStack is the number of values from which they are handed over with the stack
// instead of copied.
const largeStack = 1 << 14

// popVals pops the values from base on off the stack. If they are most of a large
// stack, they keep it, and the few below them move: a copy would double the memory of
// a long list.
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

// parseObject parses the object that begins at open.
func (p *parser) parseObject(open, depth int) (*container, int, *SyntaxError) {
	base, marks := len(p.valStack), len(p.marks)
	i := open + 1
	for first := true; ; first = false {
		next, more, err := p.scan.scanSeparator(i, '}', first)
		if err != nil {
			return nil, next, err
		}
		if !more {
			i = next
			break
		}
		key, next, err := p.scan.scanKey(next)
		if err != nil {
			return nil, next, err
		}
		name := p.parseString(key, true)
		v, end, err := p.parseValue(next, depth)
		if err != nil {
			return nil, end, err
		}
		p.keyStack = append(p.keyStack, name)
		p.valStack = append(p.valStack, v)
		i = end
	}
	n := len(p.valStack) - base
	c := p.takeContainer(base)
	if c != nil {
		c.keys = p.keys.copy(p.keyStack[len(p.keyStack)-n:])
		p.keyStack = p.keyStack[:len(p.keyStack)-n]
		p.finishObject(c, open, marks)
	}
	return c, i, nil
}

// parseString returns the content of a scanned string.
func (p *parser) parseString(at span, isKey bool) string {
	s := p.src[at.start:at.end]
	if at.flags == 0 {
		return s
	}
	if at.flags&strNonASCII != 0 && !utf8.ValidString(s) {
		p.mark(mark{kind: InvalidUTF8, offset: at.start + findInvalid(s), at: at.start - 1, key: isKey})
	}
	if at.flags&strEscaped != 0 {
		var lone int
		if p.buf, lone = unescape(slices.Grow(p.buf[:0], len(s)), s); lone >= 0 {
			p.mark(mark{kind: LoneSurrogate, offset: at.start + lone, at: at.start - 1, key: isKey})
		}
		s = string(p.buf)
	}
	return s
}

// unescape appends the content of a checked string. The second result is the index of
// the first escape that is half a surrogate pair, or -1.
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
			dst = append(dst, unescapeByte(s[i+1]))
			i += 2
			continue
		}
		r := parseHex4(s[i+2:])
		size := 6
		if r >= 0xD800 && r < 0xDC00 && len(s) >= i+12 && s[i+6] == '\\' && s[i+7] == 'u' {
			if low := parseHex4(s[i+8:]); low >= 0xDC00 && low < 0xE000 {
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

func unescapeByte(c byte) byte {
	if i := strings.IndexByte("bfnrt", c); i >= 0 {
		return "\b\f\n\r\t"[i]
	}
	return c
}

func parseHex4(s string) rune {
	return rune(parseHexDigit(s[0])<<12 | parseHexDigit(s[1])<<8 | parseHexDigit(s[2])<<4 | parseHexDigit(s[3]))
}

// slab hands out pieces of large allocations, whose sizes double starting at next.
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
