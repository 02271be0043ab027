package line

import (
	"sync"

	"mcptest/internal/base/jsonv"
	"mcptest/internal/client/mcp"
)

// budgetBytes limits the estimated size of all trees of large responses that exist
// at the same time.
const budgetBytes = 80 << 20

// smallResponse is the size of an exchange below which its tree is not counted.
const smallResponse = 256 << 10

// valueBytes is the size of a value in a tree, including its share of the
// surrounding array or object. The worst case is an array with one number.
const valueBytes = 72

// Budget is a weighted semaphore that limits the memory of the trees of large
// responses: a tree that exceeds the limit waits until another one has been
// evaluated. The zero value is ready to use.
type Budget struct {
	mu    sync.Mutex
	freed sync.Cond
	taken int64
}

// Acquire waits until n bytes are free and returns a function that releases them. A
// larger n than the whole budget counts as the whole budget.
func (b *Budget) Acquire(n int64) (release func()) {
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

// countTreeBytes estimates the size of the trees of an exchange; 0 for a small one.
func countTreeBytes(x *mcp.Exchange, waited []mcp.Message) int64 {
	size, values := len(x.Response), 0
	for _, list := range [][]mcp.Message{x.During, waited} {
		for i := range list {
			size += len(list[i].Raw)
		}
	}
	if size < smallResponse {
		return 0
	}
	values = jsonv.CountValues(x.Response)
	for _, list := range [][]mcp.Message{x.During, waited} {
		for i := range list {
			values += jsonv.CountValues(list[i].Raw)
		}
	}
	// The second term is the parser's copy of the text and the copy of a compared
	// string.
	return int64(values)*valueBytes + 2*int64(size)
}
