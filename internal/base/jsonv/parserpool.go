package jsonv

import "sync"

// parsers are reused: most texts are small, and the stacks of a parser would cost
// more than their trees.
var parsers = sync.Pool{New: func() any { return new(parser) }}

// maxStack is the number of values or keys that the stacks of a reused parser may
// hold; larger stacks are dropped.
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

// release returns the parser to the pool without references to the text or its tree.
func (p *parser) release() {
	*p = parser{valStack: clearStack(p.valStack), keyStack: clearStack(p.keyStack), buf: p.buf[:0], dups: p.dups}
	if cap(p.buf) > 16*maxStack {
		p.buf = nil
	}
	if cap(p.dups.table) > 16*maxStack {
		p.dups.table = nil
	}
	parsers.Put(p)
}

// clearStack returns the stack emptied for reuse, or nil when it has grown large.
func clearStack[T any](stack []T) []T {
	if cap(stack) > maxStack {
		return nil
	}
	clear(stack[:cap(stack)])
	return stack[:0]
}
