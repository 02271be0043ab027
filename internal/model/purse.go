package model

import (
	"errors"
	"sync"
)

// ErrSpent reports that a Purse is empty.
var ErrSpent = errors.New("the run has cost what --max-cost allows, so the model was not asked")

// Purse is what all requests of a run may cost. No request is sent once that is reached,
// also by requests in flight: of those only so many are sent at once that all but the last
// one stay below the limit. It is safe for concurrent use.
type Purse struct {
	Limit float64 // in USD

	mu          sync.Mutex
	spent, held float64 // held is what the requests in flight cost at most
	flying      int
	settled     *sync.Cond
}

// take waits until a request that costs at most so much may be sent, and returns false if
// the limit is reached. Each request that was taken is settled.
func (p *Purse) take(most float64) bool {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.settled == nil {
		p.settled = sync.NewCond(&p.mu)
	}
	for p.flying > 0 && p.spent < p.Limit && p.spent+p.held >= p.Limit {
		p.settled.Wait()
	}
	if p.spent >= p.Limit {
		return false
	}
	p.flying, p.held = p.flying+1, p.held+most
	return true
}

// settle adds what a taken request cost, which may be 0.
func (p *Purse) settle(most, cost float64) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.flying, p.spent, p.held = p.flying-1, p.spent+cost, p.held-most
	p.settled.Broadcast()
}
