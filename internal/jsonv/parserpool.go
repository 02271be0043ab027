package jsonv

import "sync"

// parsers are kept for the next text: most texts are small, and the stacks of
// a parser would cost more than their trees.
var parsers = sync.Pool{New: func() any { return new(parser) }}

// maxStack is how many values or keys a kept parser's stacks may hold; those
// of a large text go with it.
const maxStack = 256

func newParser(data []byte, o Options) *parser {
	p := parsers.Get().(*parser)
	p.scan = scanner{data: data, maxDepth: o.MaxDepth, maxValues: o.MaxNodes}
	p.src = string(data)
	// The first piece of a slab is no larger than the text can fill.
	p.vals.next = min(max(len(data)/12, 2), slabFirst)
	p.keys.next = min(max(len(data)/14, 2), slabFirst)
	p.boxes.next = min(max(len(data)/24, 1), slabFirst)
	return p
}

// release gives the parser back without anything of the text or its tree.
func (p *parser) release() {
	*p = parser{valStack: emptied(p.valStack), keyStack: emptied(p.keyStack), buf: p.buf[:0], dups: p.dups}
	if cap(p.buf) > 16*maxStack {
		p.buf = nil
	}
	if cap(p.dups.table) > 16*maxStack {
		p.dups.table = nil
	}
	parsers.Put(p)
}

// emptied is a stack to be used again, nil when it grew large.
func emptied[T any](stack []T) []T {
	if cap(stack) > maxStack {
		return nil
	}
	clear(stack[:cap(stack)])
	return stack[:0]
}
