package run

import (
	"sync"

	"mcptest/internal/jsonv"
	"mcptest/internal/mcp"
)

// budgetBytes is what the trees of large answers may take at the same time, as
// estimated before they are built.
const budgetBytes = 80 << 20

// smallAnswer is the size of an exchange below which its tree is not counted.
const smallAnswer = 256 << 10

// valueBytes is the size of a value of a tree, with its share of the array or
// object around it. The worst case is an array of one number.
const valueBytes = 72

// byteBudget is a weighted semaphore that limits the memory of the trees of large
// answers: a tree that does not fit waits until another one was judged. The zero
// value is ready.
type byteBudget struct {
	mu    sync.Mutex
	freed sync.Cond
	taken int64
}

// Acquire waits until n bytes are free and returns the function that releases
// them. More than the whole budget counts as the whole budget.
func (b *byteBudget) Acquire(n int64) (release func()) {
	if n == 0 {
		return func() {}
	}
	n = min(n, budgetBytes)
	b.mu.Lock()
	if b.freed.L == nil {
		b.freed.L = &b.mu
	}
	for b.taken+n > budgetBytes {
		b.freed.Wait()
	}
	b.taken += n
	b.mu.Unlock()
	return sync.OnceFunc(func() {
		b.mu.Lock()
		b.taken -= n
		b.mu.Unlock()
		b.freed.Broadcast()
	})
}

// treeBytes estimates the size of the trees of an exchange; 0 for a small one.
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
