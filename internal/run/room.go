package run

import (
	"sync"

	"mcptest/internal/jsonv"
	"mcptest/internal/mcp"
)

// roomBytes is what the trees of large answers may take at the same time, as
// far as that can be told before they are built.
const roomBytes = 80 << 20

// smallAnswer is the size of an exchange below which its tree is not counted.
const smallAnswer = 256 << 10

// valueBytes is what a value of a tree takes, with its share of the array or
// object around it: an array of one number is the worst there is.
const valueBytes = 72

// room keeps the trees of large answers from being in memory all at once:
// what does not fit waits until another one was judged. The zero value is
// ready.
type room struct {
	mu    sync.Mutex
	freed sync.Cond
	taken int64
}

// take waits until n bytes are free and returns what gives them back. More
// than there are is as much as all of it.
func (r *room) take(n int64) (release func()) {
	if n == 0 {
		return func() {}
	}
	n = min(n, roomBytes)
	r.mu.Lock()
	if r.freed.L == nil {
		r.freed.L = &r.mu
	}
	for r.taken+n > roomBytes {
		r.freed.Wait()
	}
	r.taken += n
	r.mu.Unlock()
	return sync.OnceFunc(func() {
		r.mu.Lock()
		r.taken -= n
		r.mu.Unlock()
		r.freed.Broadcast()
	})
}

// treeBytes estimates what the trees of an exchange will take; 0 for a small
// one.
func treeBytes(x *mcp.Exchange, waited []mcp.Message) int64 {
	size, values := len(x.Response), 0
	for _, list := range [][]mcp.Message{x.During, waited} {
		for i := range list {
			size += len(list[i].Raw)
		}
	}
	if size < smallAnswer {
		return 0
	}
	values = jsonv.CountValues(x.Response)
	for _, list := range [][]mcp.Message{x.During, waited} {
		for i := range list {
			values += jsonv.CountValues(list[i].Raw)
		}
	}
	// The parser's copy of the text, and one of a string that is compared.
	return int64(values)*valueBytes + 2*int64(size)
}
