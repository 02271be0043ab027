package wire

import (
	"context"
	"net"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"mcptest/internal/client/protocol"
)

// calls is a receiver with one pending call at a time; any line is its response.
type calls struct {
	mu       sync.Mutex
	inFlight int
	answered []chan struct{}
	ready    chan struct{}
	drain    func() // called by OnDrained before it wakes the callers
}

func (c *calls) begin() chan struct{} {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.inFlight++
	c.ready = make(chan struct{}, 1)
	return c.ready
}

func (c *calls) OnFrame(Frame) bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.inFlight--
	c.answered = append(c.answered, c.ready)
	return false
}

func (c *calls) OnDrained() {
	if c.drain != nil {
		c.drain()
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	for _, r := range c.answered {
		r <- struct{}{}
	}
	c.answered = nil
}

func (c *calls) InFlight() (int, int) {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.inFlight, len(c.answered)
}

func (c *calls) OnOversize(OversizeMessage)             {}
func (c *calls) OnFailure(string, error, *HTTPInfo)     {}
func (c *calls) OnHTTP(string, *HTTPInfo)               {}
func (c *calls) Pending(string) bool                    { return false }
func (c *calls) OnViolation(string, protocol.Violation) {}
func (c *calls) OnEnd(*ClosedError)                     {}

// TestAwaitCompleted: a caller whose response the background reader has received must not
// start reading, because no more data comes.
func TestAwaitCompleted(t *testing.T) {
	for name, awake := range map[string]bool{"woken": true, "not yet woken": false} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				client, server := net.Pipe()
				s := newStream(client, client, Limits{})
				wake := make(chan struct{})
				if awake {
					close(wake)
				}
				var drained atomic.Bool
				c := &calls{drain: func() {
					if !drained.Swap(true) {
						<-wake
					}
				}}
				if err := s.Start(c); err != nil {
					t.Fatal(err)
				}
				time.Sleep(4 * idleDelay) // the background reads
				done := c.begin()
				if _, err := server.Write([]byte("{}\n")); err != nil {
					t.Fatal(err)
				}
				synctest.Wait() // the background has put the role down
				start := time.Now()
				early := s.Await(done, time.Time{})
				if !awake {
					close(wake)
				}
				if !early {
					<-done
				}
				if d := time.Since(start); d > 0 {
					t.Errorf("the caller waited %s for a response that had arrived", d)
				}
				server.Close()
				s.Close(context.Background())
			})
		})
	}
}
